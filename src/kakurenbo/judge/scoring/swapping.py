"""Putting a rejudging into effect, in one transaction of a worker: judgings, what became of releases, credits.

The preview does the very same and takes it back, so that what it tells is what would be.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Q

from kakurenbo.contest.results import PUBLISHED
from kakurenbo.judge.contests.models import PhaseState, Round
from kakurenbo.judge.scoring.models import (
    Earned,
    JobKind,
    Judging,
    RejudgedCredit,
    Rejudging,
    RoundFile,
    SecretFile,
    Target,
)
from kakurenbo.judge.scoring.rejudging import JUDGED, jobs_of, rounds_of
from kakurenbo.judge.scoring.results import ANONYMIZE, ATTACK, gathered
from kakurenbo.judge.submissions import queries as submissions
from kakurenbo.judge.submissions.models import Submission
from kakurenbo.proofs.judging import settled

Gathered = dict[str, dict[str, Any]]


def tried(rejudging: Rejudging) -> tuple[Gathered, list[str]]:
    """What the ranking of every round would be given, and whose release would be sealed anew; nothing is changed."""
    with transaction.atomic():
        unsealed = swap(rejudging)
        prepared = rejudging.contest.rounds.exclude(prepared_at=None).order_by("position")
        known = {one.name: gathered(one) for one in prepared}
        transaction.set_rollback(True)
    return known, unsealed


def swap(rejudging: Rejudging) -> list[str]:
    """Let the new judgings count, as part of the caller's transaction; the teams, by round, whose release is yet to be sealed.

    A submission that is being judged at the moment is passed over: its own judging counts.
    """
    every = list(
        rejudging.judgings.filter(submission__state__in=JUDGED).select_related("submission")
    )
    submitted = [judging.submission_id for judging in every]
    Judging.objects.filter(submission__in=submitted, in_effect=True).update(in_effect=False)
    Judging.objects.filter(pk__in=[judging.pk for judging in every]).update(in_effect=True)
    for verdict in {judging.verdict for judging in every}:
        own = [judging.submission_id for judging in every if judging.verdict == verdict]
        Submission.objects.filter(pk__in=own).update(state=verdict)
    records = {
        judging.submission_id: judging.result["record"]
        for judging in every
        if "record" in judging.result
    }
    for target in Target.objects.filter(submission__in=records):
        assert target.submission_id is not None
        target.record = settled(
            records[target.submission_id], PUBLISHED if target.published else target.record["state"]
        )
        target.save(update_fields=["record"])
    _swap_credits(rejudging, submitted)
    return [team for one in rounds_of(rejudging) for team in _unseal(one)]


def _swap_credits(rejudging: Rejudging, submitted: list[Any]) -> None:
    new = RejudgedCredit.objects.filter(rejudging=rejudging).filter(
        Q(submission=None) | Q(submission__in=submitted)
    )
    Earned.objects.filter(submission__in=submitted).delete()
    for job in jobs_of(rejudging).filter(kind=JobKind.RESAMPLE):
        attacked = {"target__round": job.round, "target__name": job.subject.partition(" ")[2]}
        Earned.objects.filter(attacker=None, **attacked).delete()
    names = ("target_id", "attacker_id", "sample", "submission_id", "file", "credit")
    Earned.objects.bulk_create(
        Earned(**{name: getattr(one, name) for name in names}) for one in new.order_by("pk")
    )


def _unseal(round: Round) -> list[str]:
    """Open what was sealed of teams of which nothing was published, and something is good now, while others can attack it."""
    phases = {phase.kind: phase for phase in round.phases.all()}
    attack = phases.get(ATTACK)
    if round.contest.ended_at is not None or attack is None or attack.state == PhaseState.CLOSED:
        return []
    teams = []
    sealed = (
        round.entries.filter(disqualified="").exclude(targets=None).exclude(targets__published=True)
    )
    for entry in sealed.select_related("team").distinct():
        counting = [one for one, _ in submissions.counting(entry, phases[ANONYMIZE])]
        judgings = Judging.objects.filter(submission__in=counting, in_effect=True)
        if any(judging.result.get("record", {}).get("state") == PUBLISHED for judging in judgings):
            for name in entry.targets.values_list("name", flat=True):
                for kind in (
                    "targets",
                    "answers",
                ):  # what the judge kept of a release that was turned down
                    RoundFile.objects.filter(
                        round=round, path__startswith=f"{kind}/{name}/"
                    ).delete()
                    SecretFile.objects.filter(
                        round_id=round.pk, path__startswith=f"{kind}/{name}/"
                    ).delete()
            entry.targets.all().delete()
            teams.append(f"{round.name}/{entry.team.number}")
    return teams


def forget(rejudging: Rejudging) -> None:
    """Remove what a rejudging leaves when it is decided: credits beside those that count, and judgings that never did."""
    RejudgedCredit.objects.filter(rejudging=rejudging).delete()
    rejudging.judgings.filter(in_effect=False).delete()
