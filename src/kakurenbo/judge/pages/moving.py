"""Moving a phase in one step: open or close it now, begin later, or give it more time, with the phases after it moved along."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from kakurenbo.core import gather
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import queries, rules
from kakurenbo.judge.contests.models import Phase, PhaseState

OPEN, CLOSE = "open", "close"
_SOON = timedelta(seconds=10)  # what is being sent at this moment still arrives
_HOUR, _DAY, _NOT = timedelta(hours=1), timedelta(days=1), timedelta(0)
_LATER = {"later_hour": (_HOUR, _HOUR), "later_day": (_DAY, _DAY)}
_LONGER = {"hour": (_NOT, _HOUR), "day": (_NOT, _DAY)}
_SHIFTS = {**_LATER, **_LONGER}
"""What a step adds to the beginning and to the end of a phase."""


@dataclass(frozen=True)
class Moved:
    """A phase with its new times."""

    phase: Phase
    opens_at: datetime
    closes_at: datetime


@dataclass(frozen=True)
class Move:
    """A step that can be taken, and all that moves by it: the phase itself first."""

    how: str
    moved: list[Moved]

    @property
    def is_final(self) -> bool:
        """Whether nothing leads back."""
        return self.how in (OPEN, CLOSE)


def moves(phase: Phase, now: datetime) -> list[Move]:
    """What can be done to a phase in one step."""
    return [Move(how, _moved(phase, how, now)) for how in _possible(phase, now)]


def move(by: User, chosen: Move) -> None:
    """Do it: all that has to move moves, or nothing does."""
    with transaction.atomic(), gather() as problems:
        # The last first: it makes room for the one before it.
        for one in reversed(chosen.moved):
            problems.of(rules.reschedule, by, one.phase, one.opens_at, one.closes_at)


def _possible(phase: Phase, now: datetime) -> tuple[str, ...]:
    if phase.state == PhaseState.OPEN:
        return (CLOSE, *_LONGER)
    if phase.state != PhaseState.WAITING:
        return ()
    before = queries.neighbours(phase).before
    free = phase.opens_at > now and (before is None or before.closes_at <= now)
    return (*([OPEN] if free else []), *_SHIFTS)


def _moved(phase: Phase, how: str, now: datetime) -> list[Moved]:
    """A phase with its new times; of those after it each that would begin before the one before it ends, too."""
    if how == OPEN:
        return [Moved(phase, now, phase.closes_at)]
    if how == CLOSE:
        return [Moved(phase, phase.opens_at, now + _SOON)]
    begins, ends = _SHIFTS[how]
    moved = [Moved(phase, phase.opens_at + begins, phase.closes_at + ends)]
    for one in queries.schedule(phase.round.contest):
        waits = one.state == PhaseState.WAITING and one.opens_at > phase.opens_at
        if waits and one.opens_at < moved[-1].closes_at:
            moved.append(Moved(one, one.opens_at + ends, one.closes_at + ends))
    return moved
