"""What is due on every contest, done without hands: data drawn, phases opened and closed, releases sealed.

Each step is found by reading alone and then done under the lock of its contest, where it is found again: of several processes
that advance at once, one does it. Nothing is computed here; steps only ask for jobs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, QuerySet

from kakurenbo.contest import ANONYMIZE
from kakurenbo.judge.contests.models import Contest, Entry, Phase, PhaseState, Round
from kakurenbo.judge.scoring import rules as scoring
from kakurenbo.judge.scoring.models import Job, JobKind, JobState
from kakurenbo.judge.submissions.models import UNDER_WAY, State, Submission
from kakurenbo.judge.trust import rules as trust

PREPARED_AHEAD = timedelta(days=1)
"""So long before its first phase opens, the data of a round is drawn and committed to."""
GRACE = timedelta(seconds=5)
"""What arrived in time may still wait for its turn: so long after its end a phase turns to what was handed in."""
_PATIENCE = timedelta(seconds=15)
"""In a rehearsal phases wait for bots that are still at work, so long at a time."""
_NOT_DONE = (JobState.WAITING, JobState.RUNNING)

_log = logging.getLogger(__name__)
Step = Callable[[], str]
"""Changes something, in a transaction under the contest's lock, and says what."""


def advance(now: datetime) -> list[str]:
    """Do what is due on every contest that is not over; what was done comes back, a line each."""
    done: list[str] = []
    for pk in Contest.objects.filter(ended_at=None).order_by("pk").values_list("pk", flat=True):
        try:
            done += _advance_contest(pk, now)
        except (OperationalError, InterfaceError):
            raise  # the database is away: it is away for the others, too
        except (
            Exception
        ):  # such as a rulebook that is no longer installed: no reason for the others to wait
            _log.exception("contest %s cannot be advanced", pk)
    return done


def end_contest(contest: Contest, now: datetime) -> None:
    """Note that a contest is over, in the caller's transaction: everything may be seen now, the last standings too."""
    contest.ended_at = now
    contest.save(update_fields=["ended_at"])
    for round_ in contest.rounds.exclude(prepared_at=None):
        scoring.enqueue(JobKind.STANDINGS, contest, round_)
    trust.record(contest, "contest.ended", {"at": now.isoformat()})


def _advance_contest(pk: int, now: datetime) -> Iterable[str]:
    while _next_step(Contest.objects.get(pk=pk), now) is not None:
        with transaction.atomic():
            contest = (
                Contest.objects.select_for_update(no_key=True, skip_locked=True)
                .filter(pk=pk, ended_at=None)
                .first()
            )
            step = None if contest is None else _next_step(contest, now)
            if step is None:  # another process is at it, or was faster
                return
            told = step()
        yield told


def _next_step(contest: Contest, now: datetime) -> Step | None:
    """The first thing that is due."""
    rounds = list(contest.rounds.prefetch_related("phases"))
    for round_ in rounds:
        phases = sorted(round_.phases.all(), key=lambda phase: phase.opens_at)
        for phase in phases:
            phase.round, round_.contest = round_, contest
        step = _preparing(round_, phases, now) or _next_phase_step(phases, now)
        if step is not None:
            return step
    over = all(
        phase.state == PhaseState.CLOSED for round_ in rounds for phase in round_.phases.all()
    )
    if contest.rehearsal and over and not contest.jobs.filter(state__in=_NOT_DONE).exists():
        return partial(_end_rehearsal, contest, now)
    return None


def _next_phase_step(phases: Sequence[Phase], now: datetime) -> Step | None:
    for place, phase in enumerate(phases):
        if phase.state == PhaseState.WAITING:
            return _opening(phase, phases[:place], now)
        find = {PhaseState.OPEN: _closing, PhaseState.SEALING: _sealing}.get(
            PhaseState(phase.state)
        )
        step = None if find is None else find(phase, now)
        if step is not None:
            return step
    return None


# -- drawing data ----------------------------------------------------------------------------------------------------------


def _preparing(round_: Round, phases: Sequence[Phase], now: datetime) -> Step | None:
    due = bool(phases) and phases[0].opens_at - PREPARED_AHEAD <= now
    asked = round_.jobs.filter(
        kind=JobKind.PREPARE
    )  # one that was put aside waits for an organizer
    return (
        partial(_prepare, round_)
        if due and round_.prepared_at is None and not asked.exists()
        else None
    )


def _prepare(round_: Round) -> str:
    scoring.enqueue(JobKind.PREPARE, round_.contest, round_)
    return f"{round_.contest.slug}: {round_.name} is being prepared"


# -- opening ---------------------------------------------------------------------------------------------------------------


def _opening(phase: Phase, earlier: Sequence[Phase], now: datetime) -> Step | None:
    """A phase opens in its time, with data, after those before it; one whose time went by waits for an organizer."""
    ready = phase.round.prepared_at is not None and all(
        other.state == PhaseState.CLOSED for other in earlier
    )
    in_time = phase.opens_at <= now and (now < phase.closes_at or phase.round.contest.rehearsal)
    return partial(_open, phase, now) if ready and in_time else None


def _open(phase: Phase, now: datetime) -> str:
    contest = phase.round.contest
    if contest.rehearsal:
        _postpone(phase, now - phase.opens_at)
        for number in phase.round.entries.values_list("team__number", flat=True):
            scoring.enqueue(JobKind.BOT, contest, phase.round, subject=number)
    return _turn(phase, PhaseState.OPEN, "phase.opened")


# -- closing ---------------------------------------------------------------------------------------------------------------


def _closing(phase: Phase, now: datetime) -> Step | None:
    if phase.round.contest.rehearsal and _bots_at_work(phase.round):
        return (
            partial(_wait_for_bots, phase, now) if now >= phase.closes_at - _PATIENCE / 3 else None
        )
    return partial(_close, phase) if now >= phase.closes_at + GRACE else None


def _close(phase: Phase) -> str:
    return _turn(phase, PhaseState.SEALING, "phase.closed")


def _wait_for_bots(phase: Phase, now: datetime) -> str:
    later = now + _PATIENCE - phase.closes_at
    _postpone(phase, later, keep_beginning=True)
    return f"{_told(phase)} waits for bots"


def _bots_at_work(round_: Round) -> bool:
    return round_.jobs.filter(kind=JobKind.BOT, state__in=_NOT_DONE).exists()


# -- what was handed in is judged, releases are sealed ---------------------------------------------------------------------


def _sealing(phase: Phase, now: datetime) -> Step | None:  # noqa: ARG001
    """After its end a phase lasts until everything that was handed in is judged, and every release is sealed.

    Nothing waits for a team that is excused; what it handed in all the same is sealed like everybody's.
    """
    if phase.kind != ANONYMIZE:
        return None if _under_way(phase).exists() else partial(_end, phase)
    unsealed = list(
        phase.round.entries.filter(targets=None).select_related("team").order_by("team__number")
    )
    asked = set(
        Job.objects.filter(kind=JobKind.SEAL, round=phase.round).values_list("subject", flat=True)
    )
    judging = set(_under_way(phase).values_list("entry_id", flat=True))
    scored = set(
        Submission.objects.filter(phase=phase, state=State.SCORED).values_list(
            "entry_id", flat=True
        )
    )
    expected = [entry for entry in unsealed if not entry.excused or entry.pk in scored]
    ready = [
        entry for entry in expected if entry.team.number not in asked and entry.pk not in judging
    ]
    if ready:
        return partial(_seal, phase, ready)
    return None if any(not entry.excused for entry in unsealed) else partial(_end, phase)


def _seal(phase: Phase, entries: Sequence[Entry]) -> str:
    numbers = [entry.team.number for entry in entries]
    for number in numbers:
        scoring.enqueue(JobKind.SEAL, phase.round.contest, phase.round, subject=number)
    return f"{_told(phase)}: sealing {', '.join(numbers)}"


def _end(phase: Phase) -> str:
    return _turn(phase, PhaseState.CLOSED, "phase.sealed")


def _under_way(phase: Phase) -> QuerySet[Submission]:
    return Submission.objects.filter(phase=phase, state__in=UNDER_WAY)


# -- rehearsals ------------------------------------------------------------------------------------------------------------


def _end_rehearsal(contest: Contest, now: datetime) -> str:
    end_contest(contest, now)
    return f"{contest.slug} is over"


def _postpone(phase: Phase, by: timedelta, *, keep_beginning: bool = False) -> None:
    """Move what is left of a rehearsal: nobody was promised its times, and every phase is to have its length."""
    if by <= timedelta(0):
        return
    later = Phase.objects.filter(round__contest=phase.round.contest, opens_at__gt=phase.opens_at)
    later.update(opens_at=F("opens_at") + by, closes_at=F("closes_at") + by)
    phase.closes_at += by
    if not keep_beginning:
        phase.opens_at += by
    phase.save(update_fields=["opens_at", "closes_at"])


# -- in common -------------------------------------------------------------------------------------------------------------


def _turn(phase: Phase, state: PhaseState, kind: str) -> str:
    """Change the state of a phase, make the standings anew that may show more or less now, and tell the log."""
    # Who hands in holds the same lock while it counts: what was received is received before, or not at all.
    Phase.objects.select_for_update(no_key=True, of=("self",)).get(pk=phase.pk)
    Phase.objects.filter(pk=phase.pk).update(state=state)
    contest = phase.round.contest
    scoring.enqueue(JobKind.STANDINGS, contest, phase.round)
    trust.record(contest, kind, {"round": phase.round.name, "phase": phase.kind})
    return f"{_told(phase)} is {state.value}"


def _told(phase: Phase) -> str:
    return f"{phase.round.contest.slug}: {phase.round.name} {phase.kind}"
