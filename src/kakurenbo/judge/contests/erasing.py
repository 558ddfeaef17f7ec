"""Deleting the files of a contest that is over: what was handed out, handed in and kept secret goes; log and results stay.

An organizer decides it, and the sweep does it, since nobody else may touch the store of secrets.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from kakurenbo.core import InputError
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import permissions
from kakurenbo.judge.contests.models import Contest, Invite
from kakurenbo.judge.contests.planning import told_time
from kakurenbo.judge.scoring.models import JobState, RoundFile, SecretFile
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import SubmittedFile
from kakurenbo.judge.trust import rules as trust


def erasable_from(contest: Contest) -> datetime | None:
    """From when on the files of a contest can be deleted, so that everybody has had time to fetch them; None before its end."""
    return (
        None
        if contest.ended_at is None
        else contest.ended_at + timedelta(days=settings.RETAIN_DAYS)
    )


def erase(by: User, contest: Contest, confirmed: str) -> Contest:
    """Decide that the files of a contest are deleted; it cannot be undone, and no archive can be made any more.

    Parameters
    ----------
    by : User
    contest : Contest
    confirmed : str
        The short name of the contest, which somebody typed.
    """
    now = timezone.now()
    permissions.demand(permissions.may_manage(by, contest, now))
    with transaction.atomic():
        contest = Contest.objects.select_for_update(no_key=True).get(pk=contest.pk)
        when = erasable_from(contest)
        if when is None:
            raise InputError.of("contests.not_ended", "")
        if contest.erased_at is not None:
            raise InputError.of("contests.erased", "")
        if contest.jobs.filter(state__in=(JobState.WAITING, JobState.RUNNING)).exists():
            raise InputError.of("contests.at_work", "")
        if now < when:
            raise InputError.of("contests.erasable_later", "", time=told_time(when, contest.zone))
        if confirmed != contest.slug:
            raise InputError.of(
                "contests.not_confirmed", "", column="confirm", value=confirmed, slug=contest.slug
            )
        contest.erased_at = now
        contest.save(update_fields=["erased_at"])
        trust.record(contest, "contest.erased", {"at": now.isoformat()})
    return contest


def erase_files() -> int:
    """Delete what is left of contests whose files are to go; says how many files were."""
    rounds = list(Contest.objects.exclude(erased_at=None).values_list("rounds__pk", flat=True))
    secrets = SecretFile.objects.filter(round_id__in=rounds)
    digests = set(secrets.values_list("digest", flat=True))
    removed = SubmittedFile.objects.filter(submission__entry__round__in=rounds).delete()[0]
    removed += RoundFile.objects.filter(round__in=rounds).delete()[
        0
    ]  # the store forgets what nothing refers to
    for digest in digests - set(
        SecretFile.objects.exclude(round_id__in=rounds).values_list("digest", flat=True)
    ):
        store.forget_secret(digest)
    return removed + secrets.delete()[0]  # last, so that whoever is interrupted goes on


def forget_old_invites(now: datetime, days: int) -> int:
    """Remove links that opened nothing for so many days; says how many."""
    before = now - timedelta(days=days)
    over = Invite.objects.filter(expires_at__lt=before) | Invite.objects.filter(
        revoked_at__lt=before
    )
    return over.delete()[0]
