"""What every page of a contest shows around its own content: the contest, its phases, and the viewer's part in it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from kakurenbo.judge.contests import permissions, queries
from kakurenbo.judge.contests.models import Contest, Phase, PhaseState


def scene(request: HttpRequest, contest: Contest, tab: str, **more: Any) -> dict[str, Any]:
    """The context of a page of a contest."""
    phases = list(queries.schedule(contest))
    return {
        "contest": contest,
        "tab": tab,
        "phases": phases,
        "current": current_phase(phases),
        "membership": permissions.membership(request.user, contest),
        "may_manage": permissions.may_manage(request.user, contest, timezone.now()),
        **more,
    }


def current_phase(phases: list[Phase]) -> Phase | None:
    """The phase that matters now: the open one, else the next, else the last."""
    under_way = [phase for phase in phases if phase.state in (PhaseState.OPEN, PhaseState.SEALING)]
    waiting = [phase for phase in phases if phase.state == PhaseState.WAITING]
    return next(iter([*under_way, *waiting, *phases[-1:]]), None)
