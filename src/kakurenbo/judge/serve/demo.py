"""``serve --demo``: an organizer's account, a contest, and its rehearsal by bots: something to look at within minutes."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from kakurenbo.core.messages import text
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.accounts.rules import make_first_organizer
from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.contests.rehearsal import rehearse
from kakurenbo.judge.contests.rulebooks import contest_options
from kakurenbo.judge.contests.rules import default_plan, make_contest
from kakurenbo.methods import registry

_EMAIL = "organizer@example.com"
_ZONE = "Asia/Tokyo"
_MINUTES = 3
_PASSWORD_BYTES = 9
_TEAMS = 6
_SMALL = "small"


def main() -> None:
    """Begin the demo and say how to look at it; a judge that has accounts is left alone."""
    if User.objects.exists():
        print(text("judge_serve.demo_not_needed"), flush=True)
        return
    password = secrets.token_urlsafe(_PASSWORD_BYTES)
    organizer = make_first_organizer(_EMAIL, password, "Demo")
    rehearsed = rehearse(organizer, _contest(organizer), minutes=_MINUTES)
    told = {
        "url": settings.PUBLIC_URL + reverse("contest", args=[rehearsed.slug]),
        "email": _EMAIL,
        "password": password,
        "minutes": _MINUTES,
    }
    print(text("judge_serve.demo", **told), flush=True)


def _contest(organizer: User) -> Contest:
    """A contest by the first rulebook that knows a small scale, which opens in a week."""
    playable = ((name, registry.load("rulebooks", name)) for name in registry.names("rulebooks"))
    name, rulebook = next(
        (name, rulebook) for name, rulebook in playable if rulebook.demo_settings is not None
    )
    offered = {option.name: option.choices for option in contest_options(name)}
    quick = {"scale": _SMALL} if _SMALL in offered.get("scale", ()) else {}
    wanted = {**rulebook.demo_settings, **quick}
    planned = default_plan(name, timezone.now() + timedelta(days=7), _ZONE)
    return make_contest(
        organizer,
        title=text("judge_serve.demo_title"),
        slug="demo",
        rulebook=name,
        options={option: value for option, value in wanted.items() if option in offered},
        zone=_ZONE,
        places=_TEAMS,
        phases=[
            phase
            for phase in planned
            if phase.round == rulebook.demo_settings.get("round", phase.round)
        ],
    )
