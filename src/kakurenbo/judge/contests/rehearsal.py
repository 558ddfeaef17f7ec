"""A rehearsal: the same contest, played by bots through all its phases within minutes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from kakurenbo.arena.teams_file import Entrant, default_teams
from kakurenbo.core.messages import text
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import permissions, queries
from kakurenbo.judge.contests.making import LONGEST_SLUG, LONGEST_TITLE, make_contest
from kakurenbo.judge.contests.models import Contest, Phase
from kakurenbo.judge.contests.planning import PhasePlan
from kakurenbo.judge.contests.rulebooks import chosen_options, rules_of
from kakurenbo.judge.contests.rules import add_team

_FEWEST_BOTS = 3
_LONGEST_SUFFIX = 16
_SHORTEST = timedelta(seconds=1)


def rehearse(by: User, contest: Contest, minutes: float = 5) -> Contest:
    """A copy of a contest that bots play at once: the same phases, squeezed into so many minutes.

    Phases wait for bots that are still at work, so that on a slow machine it takes longer but is played to its end.

    Raises
    ------
    InputError
        Where the contest cannot be made again as it is, such as with a rulebook that was changed since.
    """
    now = timezone.now()
    permissions.demand(permissions.may_manage(by, contest, now))
    chosen_options(contest.rulebook, contest.options)  # of a rulebook that may have been changed
    bots = bots_of(contest)
    plans = squeezed(list(queries.schedule(contest)), now, timedelta(minutes=minutes))
    with transaction.atomic():
        made = make_contest(
            by,
            title=text("contests.rehearsal_title", title=contest.title)[:LONGEST_TITLE],
            slug=_free_slug(contest.slug),
            rulebook=contest.rulebook,
            options=contest.options,
            zone=contest.zone,
            places=len(bots),
            phases=plans,
            rehearsal=True,
        )
        for bot in bots:
            add_team(by, made, bot.name)
    return made


def bots_of(contest: Contest) -> tuple[Entrant, ...]:
    """The first of the rulebook's default field, about as many as the contest has places."""
    return default_teams(rules_of(contest)).entrants[: max(_FEWEST_BOTS, contest.places)]


def squeezed(phases: Sequence[Phase], start: datetime, length: timedelta) -> list[PhasePlan]:
    """The phases of a contest from ``start`` on, in proportion, within ``length`` but for those too short to be played."""
    first, last = min(phase.opens_at for phase in phases), max(phase.closes_at for phase in phases)

    def at(moment: datetime) -> datetime:
        return start + length * ((moment - first) / (last - first))

    plans: list[PhasePlan] = []
    for phase in phases:
        opens_at = max(at(phase.opens_at), plans[-1].closes_at if plans else start)
        closes_at = max(at(phase.closes_at), opens_at + _SHORTEST)
        plans.append(
            PhasePlan(
                phase.round.name,
                phase.kind,
                opens_at=opens_at,
                closes_at=closes_at,
                visibility=phase.visibility,
                tries_in_all=phase.tries_in_all,
                tries_per_day=phase.tries_per_day,
                tries_per_target=phase.tries_per_target,
                reset_hour=phase.reset_hour,
            )
        )
    return plans


def rehearsals_of(contest: Contest) -> QuerySet[Contest]:
    """The rehearsals of a contest, the latest first."""
    return Contest.objects.filter(
        rehearsal=True, slug__regex=rf"^{_stem(contest.slug)}[0-9]+$"
    ).order_by("-created_at")


def _stem(slug: str) -> str:
    """How the addresses of a contest's rehearsals begin."""
    return f"{slug[: LONGEST_SLUG - _LONGEST_SUFFIX]}-rehearsal-"


def _free_slug(slug: str) -> str:
    """An address for the next rehearsal of a contest."""
    number = 1
    while Contest.objects.filter(slug=(free := f"{_stem(slug)}{number}")).exists():
        number += 1
    return free
