"""What every page of a contest shows around its own content: the contest, its phases, and the viewer's part in it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from kakurenbo.judge.contests import permissions, queries
from kakurenbo.judge.contests.models import Contest, Entry, Phase, PhaseState


def scene(request: HttpRequest, contest: Contest, tab: str, **more: Any) -> dict[str, Any]:
    """The context of a page of a contest."""
    phases = list(queries.schedule(contest))
    current = current_phase(phases)
    out = None if current is None else queries.entry_of(request.user, current.round)
    if out is not None and not out.disqualified:
        out = None
    return {
        "contest": contest,
        "tab": tab,
        "phases": phases,
        "current": current,
        "out": out,
        "plays_on": "" if out is None else ", ".join(_rounds_in_play(out)),
        "membership": permissions.membership(request.user, contest),
        "may_manage": permissions.may_manage(request.user, contest, timezone.now()),
        **more,
    }


def _rounds_in_play(out: Entry) -> list[str]:
    """The rounds that a team still plays in which it is not disqualified."""
    entries = (
        out.team.entries.filter(disqualified="").exclude(round=out.round).select_related("round")
    )
    under_way = set(Phase.objects.exclude(state=PhaseState.CLOSED).values_list("round", flat=True))
    return [
        entry.round.name
        for entry in entries.order_by("round__position")
        if entry.round_id in under_way
    ]


def current_phase(phases: list[Phase]) -> Phase | None:
    """The phase that matters now: the open one, else the next, else the last."""
    under_way = [phase for phase in phases if phase.state in (PhaseState.OPEN, PhaseState.SEALING)]
    waiting = [phase for phase in phases if phase.state == PhaseState.WAITING]
    return next(iter([*under_way, *waiting, *phases[-1:]]), None)
