"""The schedule of a contest before it is made: what a rulebook suggests, and what is wrong with a plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from kakurenbo.contest import ANONYMIZE, ATTACK, AnyRulebook, Tries
from kakurenbo.core import Problems
from kakurenbo.judge.contests.models import Visibility
from kakurenbo.judge.contests.rulebooks import find_rulebook

_DAYS = {ANONYMIZE: 14, ATTACK: 7}
_BETWEEN = timedelta(hours=1)  # for sealing what was handed in, and for people
_LONGEST = timedelta(days=3660)
SHORTEST = timedelta(minutes=1)
"""Of a phase that people play; bots need no more than a moment."""


@dataclass(frozen=True)
class PhasePlan:
    """One phase of a contest to be made.

    Attributes
    ----------
    round, kind : str
    opens_at, closes_at : datetime
        Aware.
    visibility : str
        Where none is given, hidden while teams attack: a board that moves with every guess tells who tries often enough
        what the answers are. Live else.
    tries_in_all, tries_per_day, tries_per_target : int or None
        None for no limit.
    reset_hour : int
        When a day begins, o'clock in the contest's zone.
    """

    round: str
    kind: str
    opens_at: datetime
    closes_at: datetime
    visibility: str = ""
    tries_in_all: int | None = None
    tries_per_day: int | None = None
    tries_per_target: int | None = None
    reset_hour: int = 0

    def __post_init__(self) -> None:
        if not self.visibility:
            object.__setattr__(
                self, "visibility", Visibility.HIDDEN if self.kind == ATTACK else Visibility.LIVE
            )


@dataclass(frozen=True)
class Span:
    """When a phase is, and what it is called where another is in its way."""

    title: str
    opens_at: datetime
    closes_at: datetime

    @classmethod
    def of(cls, plan: PhasePlan) -> Span:
        return cls(f"{plan.round} {plan.kind}", plan.opens_at, plan.closes_at)


def default_plan(rulebook: str, starts_at: datetime, zone: str) -> list[PhasePlan]:
    """The rounds and phases of a rulebook one after the other, with its tries; wall times stay the same all along.

    Parameters
    ----------
    rulebook : str
        Name of an installed one.
    starts_at : datetime
        When the first phase opens; aware.
    zone : str
        Of the contest.
    """
    known = find_rulebook(rulebook)
    if known is None:
        return []
    plan: list[PhasePlan] = []
    opens = starts_at.astimezone(ZoneInfo(zone))  # arithmetic on it is that of the wall clock
    for round_name in known.rounds:
        for phase in known.phases:
            closes = opens + timedelta(days=_DAYS.get(phase.name, _DAYS[ATTACK]))
            plan.append(
                PhasePlan(
                    round=round_name,
                    kind=phase.name,
                    opens_at=opens,
                    closes_at=closes,
                    tries_in_all=phase.tries.in_all,
                    tries_per_day=phase.tries.per_day,
                    tries_per_target=phase.tries.per_target,
                    reset_hour=_hour_in(zone, phase.tries, opens),
                )
            )
            opens = closes + _BETWEEN
        opens = closes + timedelta(days=1)
    return plan


def told_time(moment: datetime, zone: str) -> str:
    """A moment as people of a contest are told it: by the clocks of its zone, and by those of everybody."""
    local, everywhere = moment.astimezone(ZoneInfo(zone)), moment.astimezone(UTC)
    also = f"; {everywhere:%Y-%m-%d %H:%M:%S} UTC" if zone != "UTC" else ""
    return f"{local:%Y-%m-%d %H:%M:%S} ({zone}{also})"


def plan_problems(
    rulebook: type[AnyRulebook],
    plans: Sequence[PhasePlan],
    now: datetime,
    zone: str,
    shortest: timedelta = SHORTEST,
) -> Problems:
    """Everything that is wrong with a plan: rounds, phases, order, times, numbers; empty where nothing is.

    Parameters
    ----------
    rulebook : type of Rulebook
    plans : sequence of PhasePlan
    now : datetime
        A phase that would be over by then is refused; one that would be open opens at once.
    zone : str
        Of the contest, in which times are told.
    shortest : timedelta
        How long a phase must last.
    """
    if not plans:
        return Problems.of("contests.no_phases", "")
    wrong: list[Problems] = []
    kinds = [phase.name for phase in rulebook.phases]
    for round_name in dict.fromkeys(plan.round for plan in plans):
        own = [plan for plan in plans if plan.round == round_name]
        if round_name not in rulebook.rounds:
            wrong.append(
                Problems.of(
                    "contests.unknown_round", "", value=round_name, rounds=list(rulebook.rounds)
                )
            )
        if sorted(plan.kind for plan in own) != sorted(kinds):
            wrong.append(Problems.of("contests.wrong_phases", "", round=round_name, phases=kinds))
        wrong += [
            problems
            for plan in own
            for problems in (*_number_problems(plan), _span_problems(plan, now, zone, shortest))
        ]
    whole = [
        plan
        for plan in plans
        if sorted(one.kind for one in plans if one.round == plan.round) == sorted(kinds)
    ]
    return Problems.join([*wrong, order_problems(rulebook, whole, zone)])


def zone_problems(zone: str) -> Problems:
    """What is wrong with the name of a time zone."""
    try:
        ZoneInfo(zone)
    except (
        ValueError,
        KeyError,
        OSError,
    ):  # no such name; a folder of names; a path that leads elsewhere
        return Problems.of("contests.unknown_zone", "", value=zone)
    return Problems([])


def times_problems(
    round_name: str,
    kind: str,
    opens_at: datetime,
    closes_at: datetime,
    shortest: timedelta = SHORTEST,
) -> Problems:
    """What is wrong with the times of one phase by itself."""
    if (
        opens_at.tzinfo is None
        or closes_at.tzinfo is None
        or not opens_at < closes_at <= opens_at + _LONGEST
    ):
        return Problems.of("contests.closes_before_it_opens", "", round=round_name, phase=kind)
    if closes_at - opens_at < shortest:
        seconds = int(shortest.total_seconds())
        return Problems.of(
            "contests.phase_too_short", "", round=round_name, phase=kind, seconds=seconds
        )
    return Problems([])


def overlap_problems(before: Span, after: Span, zone: str) -> Problems:
    """What is wrong with two phases of which one comes after the other; both are named, and what to do about it."""
    if after.opens_at >= before.closes_at:
        return Problems([])
    return Problems.of(
        "contests.phases_overlap",
        "",
        before=before.title,
        after=after.title,
        closes=told_time(before.closes_at, zone),
        opens=told_time(after.opens_at, zone),
    )


def order_problems(rulebook: type[AnyRulebook], plans: Sequence[PhasePlan], zone: str) -> Problems:
    """Phases and rounds follow each other as in the rulebook; those whose own times are wrong are told elsewhere."""
    kinds = [phase.name for phase in rulebook.phases]
    known = [
        plan
        for plan in plans
        if plan.round in rulebook.rounds
        and plan.kind in kinds
        and not times_problems(plan.round, plan.kind, plan.opens_at, plan.closes_at, timedelta(0))
    ]
    in_order = sorted(
        known, key=lambda plan: (rulebook.rounds.index(plan.round), kinds.index(plan.kind))
    )
    return Problems.join(
        overlap_problems(Span.of(before), Span.of(after), zone)
        for before, after in pairwise(in_order)
    )


def _span_problems(plan: PhasePlan, now: datetime, zone: str, shortest: timedelta) -> Problems:
    wrong = times_problems(plan.round, plan.kind, plan.opens_at, plan.closes_at, shortest)
    if wrong or plan.closes_at > now:
        return wrong
    time = told_time(plan.closes_at, zone)
    return Problems.of(
        "contests.closes_in_the_past", "", round=plan.round, phase=plan.kind, time=time
    )


def _number_problems(plan: PhasePlan) -> Iterable[Problems]:
    tries = {
        "in_all": plan.tries_in_all,
        "per_day": plan.tries_per_day,
        "per_target": plan.tries_per_target,
    }
    for name, number in tries.items():
        if number is not None and not 1 <= number <= 1_000_000:
            yield Problems.of("contests.bad_tries", "", column=f"tries_{name}", value=str(number))
    if not 0 <= plan.reset_hour <= 23:
        yield Problems.of("contests.bad_hour", "", column="reset_hour", value=str(plan.reset_hour))
    if plan.visibility not in Visibility.values:
        yield Problems.of(
            "contests.bad_visibility",
            "",
            column="visibility",
            value=plan.visibility,
            known=list(Visibility.values),
        )


def _hour_in(zone: str, tries: Tries, day: datetime) -> int:
    """The hour at which the rulebook's day begins, as clocks in the contest's zone show it."""
    begins = datetime(day.year, day.month, day.day, tries.reset_hour, tzinfo=ZoneInfo(tries.zone))
    return begins.astimezone(ZoneInfo(zone)).hour
