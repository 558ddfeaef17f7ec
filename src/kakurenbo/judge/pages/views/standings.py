"""Standings, as far as the viewer may see them now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from kakurenbo.core.messages import text
from kakurenbo.judge.contests import permissions
from kakurenbo.judge.contests.models import Contest, PhaseState, Round, Visibility
from kakurenbo.judge.pages.access import contest_for
from kakurenbo.judge.pages.boards import beside, boards, charts, found_rows, parts
from kakurenbo.judge.pages.scene import scene
from kakurenbo.judge.pages.shown import awards
from kakurenbo.judge.scoring import queries as scoring

_ALL = "all"


@dataclass(frozen=True)
class _Choice:
    """A board that can be chosen: a round's, or that of all rounds together."""

    name: str
    title: str
    what: Round | Contest


@require_GET
def standings(request: HttpRequest, slug: str) -> HttpResponse:
    """Rankings, with chance and sample attack beside every figure; the page asks again every few seconds."""
    contest = contest_for(request, slug)
    choices = _choices(contest)
    chosen = _chosen(choices, request.GET.get("round", "") or (_ALL if contest.ended_at else ""))
    snapshot = scoring.standings(chosen.what, request.user, timezone.now())
    membership = permissions.membership(request.user, contest)
    own = membership.team if membership else None
    seen = f"{snapshot.pk if snapshot else 0}-{contest.ended_at is not None:d}"
    refresh = request.headers.get("HX-Target") == "board"
    if refresh and request.GET.get("seen") == seen:
        return HttpResponse(status=204)  # the same standings: focus and what was scrolled stay
    known: dict[str, Any] = {
        "boards": choices, "board": chosen.name, "shown": snapshot, "live": _has(chosen.what, Visibility.LIVE), "seen": seen,
        "frozen": _has(chosen.what, Visibility.FROZEN), "moves_here": permissions.is_organizer(request.user),
    }  # fmt: skip
    if snapshot is not None:
        known |= {
            "rankings": boards(contest, snapshot, own),
            "beside": beside(contest, snapshot),
            "parts": parts(contest, snapshot),
            "found": found_rows(contest, snapshot, own),
            "charts": charts(snapshot),
            "awards": awards(contest, snapshot),
        }
    context = scene(request, contest, "standings", **known)
    return render(
        request, "judge/part/standings.html" if refresh else "judge/standings.html", context
    )


def _choices(contest: Contest) -> list[_Choice]:
    rounds = [_Choice(one.name, one.name, one) for one in contest.rounds.all()]
    return [*rounds, _Choice(_ALL, text("page.overall"), contest)] if len(rounds) > 1 else rounds


def _chosen(choices: list[_Choice], name: str) -> _Choice:
    """The one that was asked for, after the end that of all rounds; else the last round that began, or the first."""
    asked = [one for one in choices if one.name == name]
    begun = [
        one
        for one in choices
        if isinstance(one.what, Round)
        and one.what.phases.exclude(state=PhaseState.WAITING).exists()
    ]
    return next(iter([*asked, *reversed(begun), *choices]))


def _has(what: Round | Contest, visibility: Visibility) -> bool:
    """Whether a phase of a round is open whose standings are shown in this way."""
    return (
        isinstance(what, Round)
        and what.phases.filter(state=PhaseState.OPEN, visibility=visibility).exists()
    )
