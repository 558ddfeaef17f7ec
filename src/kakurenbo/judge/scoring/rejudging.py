"""Judging again, after a scorer or the rules changed: asked for by an organizer, laid beside what counts, applied or cancelled.

Workers judge every submission once more into judgings that are not in effect. What would change is shown to organizers alone.
To apply it is one transaction of a worker: judgings, credits, what became of releases and standings, all of it or nothing.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from kakurenbo.core import InputError
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import permissions
from kakurenbo.judge.contests.models import Contest, Round
from kakurenbo.judge.scoring.judging import published
from kakurenbo.judge.scoring.models import (
    Job,
    JobKind,
    JobState,
    Judging,
    RejudgedCredit,
    Rejudging,
    RejudgingState,
)
from kakurenbo.judge.scoring.rules import enqueue
from kakurenbo.judge.submissions.models import State, Submission
from kakurenbo.judge.trust.rules import record

LONGEST_REASON = 2000
JUDGED = (State.SCORED, State.INVALID, State.FAILED)
UNDECIDED = (RejudgingState.WORKING, RejudgingState.READY, RejudgingState.APPLYING)
_ANEW = (JobKind.REJUDGE, JobKind.RESAMPLE)
_KINDS = (*_ANEW, JobKind.PREVIEW, JobKind.SETTLE)


# -- what an organizer asks for ------------------------------------------------------------------------------------------


def ask(
    by: User,
    contest: Contest,
    reason: str,
    round: Round | None = None,
    submission: Submission | None = None,
) -> Rejudging:
    """Have a contest, a round or one submission judged again; nothing counts before it is applied."""
    permissions.demand(permissions.may_manage(by, contest, timezone.now()))
    reason = "\n".join(line.strip() for line in reason.strip().splitlines())
    if not 0 < len(reason) <= LONGEST_REASON or not reason.replace("\n", "").isprintable():
        raise InputError.of("rejudging.no_reason", "", column="reason", longest=LONGEST_REASON)
    with transaction.atomic():
        if Contest.objects.select_for_update(no_key=True).get(pk=contest.pk).erased_at is not None:
            raise InputError.of("contests.erased", "")
        if contest.rejudgings.filter(state__in=UNDECIDED).exists():
            raise InputError.of("rejudging.another", "")
        asked = Rejudging(
            contest=contest, round=round, submission=submission, reason=reason, asked_by=by
        )
        every = list(scope(asked))
        if not every:
            raise InputError.of("rejudging.nothing", "")
        asked.save()
        _judge_anew(asked, every)
        if submission is None:
            for one in rounds_of(asked):
                for target in published(one):
                    enqueue(JobKind.RESAMPLE, contest, one, subject=f"{asked.pk} {target.name}")
        record(contest, "rejudging.asked", {**told(asked), "entries": len(every)})
    return asked


def apply(by: User, rejudging: Rejudging) -> Rejudging:
    """Let a worker put a rejudging into effect whose preview is there."""
    permissions.demand(permissions.may_manage(by, rejudging.contest, timezone.now()))
    if len(rejudging.preview.get("fingerprints", [])) > 1:
        raise InputError.of("rejudging.several_scorers", "")
    with transaction.atomic():
        ready = Rejudging.objects.filter(pk=rejudging.pk, state=RejudgingState.READY)
        if not ready.update(state=RejudgingState.APPLYING, decided_by=by):
            raise InputError.of("rejudging.not_ready", "")
        enqueue(JobKind.SETTLE, rejudging.contest, subject=str(rejudging.pk))
    rejudging.refresh_from_db()
    return rejudging


def cancel(by: User, rejudging: Rejudging) -> Rejudging:
    """Give a rejudging up; everything stays as it is."""
    permissions.demand(permissions.may_manage(by, rejudging.contest, timezone.now()))
    now = timezone.now()
    with transaction.atomic():
        undecided = Rejudging.objects.filter(
            pk=rejudging.pk, state__in=(RejudgingState.WORKING, RejudgingState.READY)
        )
        if not undecided.update(
            state=RejudgingState.CANCELLED, decided_by=by, decided_at=now, preview={}
        ):
            raise InputError.of("rejudging.decided", "")
        jobs_of(rejudging).filter(state__in=(JobState.WAITING, JobState.PARKED)).update(
            state=JobState.DONE, finished_at=now
        )
        enqueue(JobKind.SETTLE, rejudging.contest, subject=str(rejudging.pk))
        record(rejudging.contest, "rejudging.cancelled", told(rejudging))
    rejudging.refresh_from_db()
    return rejudging


def told(rejudging: Rejudging) -> dict[str, Any]:
    """A rejudging as the log is told it."""
    about = {
        "round": "" if rejudging.round is None else rejudging.round.name,
        "submission": "" if rejudging.submission_id is None else str(rejudging.submission_id),
    }
    return {"rejudging": rejudging.pk, **about, "reason": rejudging.reason}


# -- what it is about ----------------------------------------------------------------------------------------------------


def scope(rejudging: Rejudging) -> QuerySet[Submission]:
    """The judged submissions that it is about, as things are now."""
    judged = Submission.objects.filter(entry__round__contest=rejudging.contest, state__in=JUDGED)
    if rejudging.submission_id is not None:
        return judged.filter(pk=rejudging.submission_id)
    if rejudging.round is not None:
        judged = judged.filter(entry__round=rejudging.round)
    return judged.select_related("entry__round").order_by("received_at")


def rounds_of(rejudging: Rejudging) -> list[Round]:
    """The rounds whose figures it may change."""
    if rejudging.submission is not None:
        return [rejudging.submission.entry.round]
    if rejudging.round is not None:
        return [rejudging.round]
    return list(rejudging.contest.rounds.exclude(prepared_at=None))


def jobs_of(rejudging: Rejudging) -> QuerySet[Job]:
    """The work that it asked for."""
    own = Q(subject=str(rejudging.pk)) | Q(subject__startswith=f"{rejudging.pk} ")
    return Job.objects.filter(own, contest=rejudging.contest, kind__in=_KINDS)


def open_jobs(rejudging: Rejudging) -> QuerySet[Job]:
    """Judgings that are still to be made, or were put aside."""
    return jobs_of(rejudging).filter(kind__in=_ANEW).exclude(state=JobState.DONE)


def judge_uncovered(rejudging: Rejudging) -> int:
    """Have judged again what came, or was judged by hand, since: how many there are.

    What the same scorer judged meanwhile is as good: it is not judged twice.
    """
    every, known = list(scope(rejudging)), _Known(rejudging)
    lacking = [one for one in every if known.lacks(one)]
    if lacking:
        RejudgedCredit.objects.filter(rejudging=rejudging, submission__in=lacking).delete()
        rejudging.judgings.filter(submission__in=lacking, in_effect=False).delete()
        _judge_anew(rejudging, lacking)
    return len(lacking)


class _Known:
    """What of a rejudging is there, and what counts meanwhile."""

    def __init__(self, rejudging: Rejudging) -> None:
        self._made = {judging.submission_id: judging for judging in rejudging.judgings.all()}
        self._scorers = {judging.fingerprint for judging in self._made.values()}
        counting = Judging.objects.filter(submission__in=scope(rejudging), in_effect=True)
        self._counting = {judging.submission_id: judging for judging in counting}
        self._sealed = {
            one.pk: [target.sealed_at for target in published(one)] for one in rounds_of(rejudging)
        }

    def lacks(self, submission: Submission) -> bool:
        """Whether a submission is to be judged again, or once more."""
        made, counting = self._made.get(submission.pk), self._counting.get(submission.pk)
        if made is None:
            return counting is None or counting.fingerprint not in self._scorers
        another_target = "targets" in made.result and any(
            at > made.made_at for at in self._sealed[submission.entry.round_id]
        )
        return another_target or (counting is not None and counting.pk > made.pk)


def _judge_anew(rejudging: Rejudging, every: list[Submission]) -> None:
    for one in every:
        enqueue(JobKind.REJUDGE, rejudging.contest, one.entry.round, one, subject=str(rejudging.pk))
    enqueue(JobKind.PREVIEW, rejudging.contest, subject=str(rejudging.pk))
