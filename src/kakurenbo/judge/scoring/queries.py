"""Reading what was judged: the queue, what somebody may know of a submission, standings and targets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, QuerySet
from django.utils import timezone

from kakurenbo.core.messages import with_message
from kakurenbo.judge.contests import permissions
from kakurenbo.judge.contests.models import Contest, PhaseState, Round
from kakurenbo.judge.contests.permissions import Anybody
from kakurenbo.judge.scoring.models import (
    Earned,
    Job,
    JobKind,
    JobState,
    Judging,
    Rejudging,
    RejudgingState,
    StandingSnapshot,
    Target,
)
from kakurenbo.judge.scoring.results import ATTACK
from kakurenbo.judge.scoring.rules import enqueue
from kakurenbo.judge.submissions.models import Submission

_SHOWN_STANDINGS = ("anonymization", "attack", "overall", "awards", "beside")
"""What of standings tells no more than the board: their details may tell what one attacker found in one release."""


@dataclass(frozen=True)
class QueuedJob:
    """A job that is not done.

    Attributes
    ----------
    job : Job
    age : timedelta
        Since it was asked for.
    under_way : timedelta or None
        Since its worker began.
    """

    job: Job
    age: timedelta
    under_way: timedelta | None

    @property
    def parked(self) -> bool:
        """Whether an organizer has to look at it."""
        return self.job.state == JobState.PARKED


def queue(contest: Contest | None = None, now: datetime | None = None) -> list[QueuedJob]:
    """Everything that waits, runs or was put aside, with its age, worker and cause: those put aside first, then the oldest."""
    moment = now or timezone.now()
    jobs = Job.objects.exclude(state=JobState.DONE).select_related(
        "contest", "round", "submission__entry__team"
    )
    if contest is not None:
        jobs = jobs.filter(contest=contest)
    found = [
        QueuedJob(
            job,
            moment - job.created_at,
            moment - job.started_at
            if job.started_at is not None and job.state == JobState.RUNNING
            else None,
        )
        for job in jobs
    ]
    return sorted(found, key=lambda one: (not one.parked, -one.age))


def scores(submission: Submission, user: Anybody, now: datetime) -> dict[str, Any]:
    """What somebody may know of how a submission was judged; empty where that is nothing, or it was not judged yet.

    Keys: ``verdict``; of a release ``state``, ``cause``, ``problems`` and their ``total``, and where the rulebook's feedback
    gives scores ``measurements`` and ``notices``; of guesses ``targets``, ``refused``, ``notices``. ``rejudged`` tells what
    each rejudging that was applied changed of all this. What guesses ``earned`` only after the end.
    """
    from kakurenbo.contest import Feedback
    from kakurenbo.judge.contests.rulebooks import declared_phase

    ended = permissions.has_ended(submission.entry.round.contest, now)
    if not permissions.may_see_team(user, submission.entry.team, now) and not (
        ended and permissions.may_see_contest(user, submission.entry.round.contest, now)
    ):
        return {}
    judging = Judging.objects.filter(submission=submission, in_effect=True).first()
    if judging is None:
        return {}
    told: dict[str, Any] = {
        "verdict": judging.verdict,
        "made_at": judging.made_at,
        "fingerprint": judging.fingerprint,
    }
    figures = ended or declared_phase(submission.phase).feedback is Feedback.SCORES
    told["rejudged"] = _rejudged(submission, figures=figures, ended=ended)
    if submission.phase.kind == ATTACK:
        told |= judging.result
        return {**told, "earned": _earned(submission)} if ended else told
    record = judging.result["record"]
    messages = record.get("messages", {})  # none in what an earlier version stored
    told |= {
        "state": record["state"],
        "cause": with_message(record["cause"], messages),
        "problems": judging.result["problems"],
    }
    told |= {"total": judging.result["total"]}
    if figures:
        notices = [with_message(notice, messages) for notice in record["notices"]]
        told |= {"measurements": record["measurements"], "notices": notices}
    return told


def standings(of: Round | Contest, user: Anybody, now: datetime) -> StandingSnapshot | None:
    """The standings that somebody may see; None for none, or while they are hidden.

    Organizers see the latest. Players see the last that was shown, and until the attack is over nothing of it from which
    could be told what one attacker found in one release: ``results`` and ``document`` are empty then. They are empty, too,
    where an older version of the software wrote them: those are being made anew.
    """
    contest, round = (of, None) if isinstance(of, Contest) else (of.contest, of)
    if round is None and contest.rounds.count() == 1:
        round = contest.rounds.get()
    concerned = [round] if round is not None else list(contest.rounds.all())
    if not all(permissions.may_see_standings(user, one, now) for one in concerned):
        return None
    snapshots = StandingSnapshot.objects.filter(contest=contest, round=round)
    if permissions.is_organizer(user):
        return _readable(snapshots.first())
    found = _readable(snapshots.filter(shown=True).first())
    if found is not None and not permissions.has_ended(contest, now):
        found.results, found.document = {}, {}
        found.standings = {
            name: found.standings[name] for name in _SHOWN_STANDINGS if name in found.standings
        }
    return found


def makes_standings(contest: Contest) -> bool:
    """Whether standings of a contest are being made, or wait for it."""
    return contest.jobs.filter(
        kind=JobKind.STANDINGS, state__in=(JobState.WAITING, JobState.RUNNING)
    ).exists()


def _readable(snapshot: StandingSnapshot | None) -> StandingSnapshot | None:
    """A snapshot without what this version cannot read, which is asked for anew."""
    if snapshot is not None and snapshot in made_anew(snapshot.contest):
        snapshot.results, snapshot.document = {}, {}
    return snapshot


def made_anew(contest: Contest) -> list[StandingSnapshot]:
    """The snapshots of a contest that an older version of the software wrote; they are asked for anew.

    Not again where there are new ones, which a frozen board does not show yet, or where an organizer has to look first.
    """
    from kakurenbo.reports.document import (
        FORMAT,
    )  # with all that makes reports: loaded where it is needed

    taken = StandingSnapshot.objects.filter(contest=contest)
    parked = contest.jobs.filter(kind=JobKind.STANDINGS, state=JobState.PARKED)
    older = list(taken.exclude(format=FORMAT).select_related("contest", "round"))
    for round in {snapshot.round for snapshot in older}:
        if (
            not taken.filter(round=round, format=FORMAT).exists()
            and not parked.filter(round=round).exists()
        ):
            enqueue(JobKind.STANDINGS, contest, round)
    return older


def targets(round: Round, user: Anybody, now: datetime | None = None) -> QuerySet[Target]:
    """The releases of a round: everybody's when the attack is open, before that an organizer's alone."""
    moment = now or timezone.now()
    opened = round.phases.filter(kind=ATTACK).exclude(state=PhaseState.WAITING).exists()
    known = permissions.is_organizer(user) or (
        opened and permissions.may_see_contest(user, round.contest, moment)
    )
    found = Target.objects.filter(round=round).select_related("entry__team")
    return found if known else found.none()


def _rejudged(submission: Submission, *, figures: bool, ended: bool) -> list[dict[str, Any]]:
    """When and why a submission was judged again, with old and new of what changed, as far as its team may know it."""
    applied = Rejudging.objects.filter(
        state=RejudgingState.APPLIED, judgings__submission=submission
    ).order_by("decided_at")
    shown = (
        "verdict",
        "state",
        "files",
        *(["figures"] if figures else []),
        *(["credits"] if ended else []),
    )
    found, untold = [], submission.phase.kind == ATTACK and not ended  # what guesses earned
    for one in applied:
        changed = [
            entry for entry in one.preview["entries"] if entry["submission"] == str(submission.pk)
        ]
        differs = {name: entry[name] for entry in changed for name in shown if entry[name]}
        found.append(
            {"at": one.decided_at, "reason": one.reason, "changes": differs, "untold": untold}
        )
    return found


def judged_by_others(contest: Contest) -> dict[str, int]:
    """By round, how many entries count by another scorer than the one that is installed here; no round without any."""
    from kakurenbo.proofs.fingerprint import fingerprint_of  # with the rulebook

    installed = fingerprint_of({"name": contest.rulebook, "options": contest.options})
    others = Judging.objects.filter(
        submission__entry__round__contest=contest, in_effect=True
    ).exclude(fingerprint=installed)
    counted = others.values_list("submission__entry__round__name").annotate(Count("pk"))
    return dict(counted.order_by("submission__entry__round__position"))


def rejudgings(contest: Contest, user: Anybody, now: datetime) -> QuerySet[Rejudging]:
    """The rejudgings of a contest, the latest first: the organizers' own affair, whoever is told of those that were applied."""
    found = Rejudging.objects.filter(contest=contest).select_related(
        "round", "submission__entry__team", "submission__phase"
    )
    return found if permissions.may_manage(user, contest, now) else found.none()


def _earned(submission: Submission) -> list[dict[str, Any]]:
    earned = (
        Earned.objects.filter(submission=submission)
        .select_related("target")
        .order_by("target__name", "file")
    )
    return [{"target": one.target.name, "file": one.file, "credit": one.credit} for one in earned]
