"""Contests, teams and people for tests, made by the rules themselves."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from django.db import connection

from kakurenbo.contest import ANONYMIZE, ATTACK
from kakurenbo.core import Problems
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import rules
from kakurenbo.judge.contests.models import Contest, Entry, Phase, PhaseState, Role, Round, Team
from kakurenbo.judge.submissions.models import Blob

T = TypeVar("T")
START = datetime(2026, 4, 1, 0, tzinfo=UTC)


def codes(outcome: object) -> list[str]:
    """The codes of a refusal, each of which has words in both languages."""
    assert isinstance(outcome, Problems), outcome
    for problem in outcome:
        for language in ("en", "ja"):
            assert problem.code not in problem.in_language(language)
    return [problem.code for problem in outcome]


def user(name: str = "hanako", *, is_organizer: bool = False) -> User:
    """Somebody; the same for the same name. Nobody logs in, so that no password need be hashed."""
    made, _ = User.objects.get_or_create(
        email=f"{name}@example.org", defaults={"name": name, "is_organizer": is_organizer}
    )
    return made


def organizer() -> User:
    return user("organizer", is_organizer=True)


def plan(
    start: datetime = START, rounds: tuple[str, ...] = ("pre",), **changes: Any
) -> list[rules.PhasePlan]:
    """A week to anonymize and, after a day, a week to attack, for each round after the other."""
    plans, at = [], start
    for name in rounds:
        for kind in (ANONYMIZE, ATTACK):
            plans.append(rules.PhasePlan(name, kind, at, at + timedelta(days=7), **changes))
            at += timedelta(days=8)
    return plans


def contest(slug: str = "cup", **changes: Any) -> Contest:
    """A small contest."""
    given: dict[str, Any] = {
        "title": "Cup",
        "slug": slug,
        "rulebook": "amic2020",
        "options": {"scale": "small", "data": "embedded"},
        "zone": "Asia/Tokyo",
        "places": 5,
        "phases": plan(),
        "now": START
        - timedelta(
            days=2
        ),  # plans of the past serve as well as any, where a test moves time itself
    }
    return rules.make_contest(organizer(), **{**given, **changes})


def team(
    contest: Contest, name: str = "foxes", *people: User, role: str = Role.MEMBER, **fields: Any
) -> Team:
    """A team with these people."""
    made = rules.add_team(organizer(), contest, name, **fields)
    for one in people:
        _, text = rules.invite(organizer(), made, role)
        rules.join(one, text)
    return made


def phase(contest: Contest, kind: str = ANONYMIZE, round_name: str = "pre") -> Phase:
    return Phase.objects.select_related("round__contest").get(
        round__contest=contest, round__name=round_name, kind=kind
    )


def entry(team: Team, round_name: str = "pre") -> Entry:
    return Entry.objects.select_related("team__contest", "round__contest").get(
        team=team, round__name=round_name
    )


def opened(contest: Contest, kind: str = ANONYMIZE, round_name: str = "pre") -> Phase:
    """A phase, open without waiting for its time; the phases before it in its round are closed, and the round is prepared."""
    found = phase(contest, kind, round_name)
    Round.objects.filter(pk=found.round_id).update(prepared_at=found.opens_at)
    found.round.phases.filter(opens_at__lt=found.opens_at).update(state=PhaseState.CLOSED)
    Phase.objects.filter(pk=found.pk).update(state=PhaseState.OPEN)
    return phase(contest, kind, round_name)


def at_once(call: Callable[[int], T], count: int) -> list[T]:
    """What a function gives to so many threads that call it at once."""
    outcomes: list[T] = []
    barrier = threading.Barrier(count)

    def run(number: int) -> None:
        barrier.wait()
        try:
            outcomes.append(call(number))
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[number]) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def blob(size: int = 5, digest: str = "a" * 64) -> Blob:
    """A blob of so many bytes, which nobody reads here."""
    return Blob.objects.get_or_create(digest=digest, defaults={"size": size})[0]
