"""The schedule of a contest before it is made: what a rulebook suggests, and what is wrong with a plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from kakurenbo.contracts import ANONYMIZE, ATTACK, AnyRulebook, Tries
from kakurenbo.judge.contests.models import Visibility
from kakurenbo.judge.contests.rulebooks import known_rulebook
from kakurenbo.tables import Problems, refused

_DAYS = {ANONYMIZE: 14, ATTACK: 7}
_BETWEEN = timedelta(hours=1)  # for sealing what was handed in, and for people
_LONGEST = timedelta(days=3660)


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
            object.__setattr__(self, "visibility", Visibility.HIDDEN if self.kind == ATTACK else Visibility.LIVE)


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
    known = known_rulebook(rulebook)
    if isinstance(known, Problems):
        return []
    plan: list[PhasePlan] = []
    opens = starts_at.astimezone(ZoneInfo(zone))  # arithmetic on it is that of the wall clock
    for round_name in known.value.rounds:
        for phase in known.value.phases:
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


def plan_problems(rulebook: type[AnyRulebook], plans: Sequence[PhasePlan]) -> Problems:
    """Everything that is wrong with a plan: rounds, phases, order, numbers; empty where nothing is."""
    if not plans:
        return refused("contests.no_phases", "")
    wrong: list[Problems] = []
    kinds = [phase.name for phase in rulebook.phases]
    for round_name in dict.fromkeys(plan.round for plan in plans):
        own = [plan for plan in plans if plan.round == round_name]
        if round_name not in rulebook.rounds:
            wrong.append(refused("contests.unknown_round", "", value=round_name, rounds=list(rulebook.rounds)))
        if sorted(plan.kind for plan in own) != sorted(kinds):
            wrong.append(refused("contests.wrong_phases", "", round=round_name, phases=kinds))
        else:
            wrong += _order_problems(sorted(own, key=lambda plan: kinds.index(plan.kind)))
        wrong += [problems for plan in own for problems in _number_problems(plan)]
    return Problems.of(*wrong)


def zone_problems(zone: str) -> Problems:
    """What is wrong with the name of a time zone."""
    try:
        ZoneInfo(zone)
    except (ValueError, KeyError, OSError):  # no such name; a folder of names; a path that leads elsewhere
        return refused("contests.unknown_zone", "", value=zone)
    return Problems([])


def times_problems(round_name: str, kind: str, opens_at: datetime, closes_at: datetime) -> Problems:
    """What is wrong with the times of one phase."""
    if opens_at.tzinfo is None or closes_at.tzinfo is None or not opens_at < closes_at <= opens_at + _LONGEST:
        return refused("contests.closes_before_it_opens", "", round=round_name, phase=kind)
    return Problems([])


def _order_problems(in_order: Sequence[PhasePlan]) -> Iterable[Problems]:
    for plan in in_order:
        yield times_problems(plan.round, plan.kind, plan.opens_at, plan.closes_at)
    for before, after in pairwise(in_order):
        if after.opens_at < before.closes_at:
            yield refused("contests.phases_overlap", "", round=after.round, before=before.kind, after=after.kind)


def _number_problems(plan: PhasePlan) -> Iterable[Problems]:
    tries = {"in_all": plan.tries_in_all, "per_day": plan.tries_per_day, "per_target": plan.tries_per_target}
    for name, number in tries.items():
        if number is not None and not 1 <= number <= 1_000_000:
            yield refused("contests.bad_tries", "", column=f"tries_{name}", value=str(number))
    if not 0 <= plan.reset_hour <= 23:
        yield refused("contests.bad_hour", "", column="reset_hour", value=str(plan.reset_hour))
    if plan.visibility not in Visibility.values:
        yield refused("contests.bad_visibility", "", column="visibility", value=plan.visibility, known=list(Visibility.values))


def _hour_in(zone: str, tries: Tries, day: datetime) -> int:
    """The hour at which the rulebook's day begins, as clocks in the contest's zone show it."""
    begins = datetime(day.year, day.month, day.day, tries.reset_hour, tzinfo=ZoneInfo(tries.zone))
    return begins.astimezone(ZoneInfo(zone)).hour
