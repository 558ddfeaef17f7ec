"""Moving a phase's end in one step: close it now, or give it more time, with the phases after it moved along."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import queries, rules
from kakurenbo.judge.contests.models import Phase, PhaseState
from kakurenbo.tables import Problems

CLOSE = "close"
LONGER = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
DONE = {CLOSE: "page.moved_close", "hour": "page.moved_hour", "day": "page.moved_day"}
_SOON = timedelta(seconds=10)  # what is being sent at this moment still arrives


@dataclass(frozen=True)
class Neighbours:
    """The phases before and after one in its round: it opens after the one closes, and closes before the other opens."""

    before: Phase | None
    after: Phase | None


def neighbours(phase: Phase) -> Neighbours:
    """The phases of the same round that limit a phase."""
    own = [one for one in queries.schedule(phase.round.contest) if one.round_id == phase.round_id]
    place = [one.pk for one in own].index(phase.pk)
    return Neighbours(own[place - 1] if place else None, next(iter(own[place + 1 :]), None))


def moves(phase: Phase) -> tuple[str, ...]:
    """What can be done to a phase in one step."""
    if phase.state == PhaseState.OPEN:
        return (CLOSE, *LONGER)
    return tuple(LONGER) if phase.state == PhaseState.WAITING else ()


def move(by: User, phase: Phase, how: str, now: datetime) -> Problems:
    """Do it: all that has to move moves, or nothing does."""
    if how == CLOSE:
        return Problems.of(rules.reschedule(by, phase, phase.opens_at, now + _SOON))
    with transaction.atomic():
        outcomes = [
            rules.reschedule(by, one, one.opens_at if one.pk == phase.pk else one.opens_at + LONGER[how], closes)
            for one, closes in reversed(moved_along(phase, LONGER[how]))
        ]
        problems = Problems.of(*outcomes)
        if problems:
            transaction.set_rollback(True)
    return problems


def moved_along(phase: Phase, longer: timedelta) -> list[tuple[Phase, datetime]]:
    """A phase with more time, and of those after it each that would begin before the one before it ends; with new ends."""
    moved = [(phase, phase.closes_at + longer)]
    later = [one for one in queries.schedule(phase.round.contest) if one.opens_at > phase.opens_at]
    for one in later:
        if one.state == PhaseState.WAITING and one.opens_at < moved[-1][1]:
            moved.append((one, one.closes_at + longer))
    return moved
