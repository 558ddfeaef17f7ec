"""A contest is made whole: rounds, phases, the key that signs its log, and its first entry there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import IntegrityError, transaction
from django.utils import timezone

from kakurenbo.contest import AnyRulebook
from kakurenbo.core import InputError, Problems, gather
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import permissions
from kakurenbo.judge.contests.models import Contest, Phase, Round
from kakurenbo.judge.contests.planning import SHORTEST, PhasePlan, plan_problems, zone_problems
from kakurenbo.judge.contests.rulebooks import chosen_options, known_rulebook
from kakurenbo.judge.trust import rules as trust
from kakurenbo.judge.unseen import is_seen

LONGEST_TITLE, LONGEST_SLUG = 200, 50


def make_contest(
    by: User,
    *,
    title: str,
    slug: str,
    rulebook: str,
    options: Mapping[str, Any],
    zone: str,
    places: int,
    phases: Sequence[PhasePlan],
    rehearsal: bool = False,
    now: datetime | None = None,
) -> Contest:
    """A contest with its rounds and phases; every problem of what was given at once.

    Parameters
    ----------
    by : User
        An organizer.
    title, slug : str
        What it is called, and in addresses.
    rulebook : str
    options : mapping of str to object
        Of the rulebook: values, or texts as a form gives them.
    zone : str
        In which its times are announced.
    places : int
        How many team numbers data is drawn for.
    phases : sequence of PhasePlan
        Of the rounds that are played, every phase that the rulebook has, one after the other; none may be over already.
    rehearsal : bool
    now : datetime or None
        When it is made; this moment where none is given.
    """
    permissions.demand(permissions.is_organizer(by))
    rules = known_rulebook(rulebook)
    no_zone = zone_problems(zone)
    shortest = timedelta(0) if rehearsal else SHORTEST
    made_at, told_zone = now or timezone.now(), "UTC" if no_zone else zone
    with gather() as problems:
        problems.add(words_problems("title", title, LONGEST_TITLE))
        problems.add(_slug_problems(slug))
        problems.add(no_zone)
        chosen = problems.of(chosen_options, rulebook, options)
        problems.add(_place_problems(rules, places))
        problems.add(plan_problems(rules, phases, made_at, told_zone, shortest))
    contest = Contest(
        title=title.strip(), slug=slug, rulebook=rulebook, zone=zone, places=places, made_by=by
    )
    contest.options, contest.rehearsal = chosen, rehearsal
    try:
        with transaction.atomic():
            contest.save(force_insert=True)
            _complete(contest, rules, phases)
    except IntegrityError as error:
        raise InputError.of("contests.slug_taken", "", column="slug", value=slug) from error
    return contest


def words_problems(column: str, words: str, longest: int) -> Problems:
    """What is wrong with a title or a name."""
    if words.strip() and len(words.strip()) <= longest and is_seen(words.strip()):
        return Problems([])
    return Problems.of("contests.bad_words", "", column=column, value=words, longest=longest)


def _complete(contest: Contest, rulebook: type[AnyRulebook], plans: Sequence[PhasePlan]) -> None:
    trust.new_key(contest)
    played = {plan.round for plan in plans}
    for position, name in enumerate(name for name in rulebook.rounds if name in played):
        round_ = Round.objects.create(contest=contest, name=name, position=position)
        Phase.objects.bulk_create(_phase(round_, plan) for plan in plans if plan.round == name)
    told = {
        "title": contest.title,
        "rulebook": contest.rulebook,
        "rulebook_version": rulebook.version,
        "options": {name: json.dumps(value) for name, value in contest.options.items()},
        "zone": contest.zone,
        "places": contest.places,
        "rehearsal": contest.rehearsal,
        "created_at": contest.created_at.isoformat(),
        "phases": [_told_plan(plan) for plan in plans],
    }
    trust.record(contest, "contest.made", told)


def _told_plan(plan: PhasePlan) -> dict[str, Any]:
    limits = {
        name: getattr(plan, name)
        for name in ("tries_in_all", "tries_per_day", "tries_per_target", "reset_hour")
    }
    times = told_phase(plan.round, plan.kind, plan.opens_at, plan.closes_at)
    return {**times, **limits, "visibility": str(plan.visibility)}


def told_phase(round_name: str, kind: str, opens_at: Any, closes_at: Any) -> dict[str, str]:
    """A phase and its times, as the log has them."""
    return {
        "round": round_name,
        "phase": kind,
        "opens_at": opens_at.isoformat(),
        "closes_at": closes_at.isoformat(),
    }


def _phase(round_: Round, plan: PhasePlan) -> Phase:
    return Phase(
        round=round_,
        kind=plan.kind,
        opens_at=plan.opens_at,
        closes_at=plan.closes_at,
        visibility=plan.visibility,
        tries_in_all=plan.tries_in_all,
        tries_per_day=plan.tries_per_day,
        tries_per_target=plan.tries_per_target,
        reset_hour=plan.reset_hour,
    )


def _slug_problems(slug: str) -> Problems:
    try:
        validate_slug(slug)
    except ValidationError:
        return Problems.of("contests.bad_slug", "", column="slug", value=slug, longest=LONGEST_SLUG)
    fits = len(slug) <= LONGEST_SLUG
    return (
        Problems([])
        if fits
        else Problems.of("contests.bad_slug", "", column="slug", value=slug, longest=LONGEST_SLUG)
    )


def _place_problems(rulebook: type[AnyRulebook], places: int) -> Problems:
    if 1 <= places <= rulebook.max_teams:
        return Problems([])
    return Problems.of(
        "contests.bad_places", "", column="places", value=str(places), most=rulebook.max_teams
    )
