"""What views ask before they show anything. Who may what is decided in ``contests.permissions`` alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils import timezone

from kakurenbo.core import InputError
from kakurenbo.core.messages import text
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import permissions, queries
from kakurenbo.judge.contests.models import Contest, Membership, Phase, Round, Team
from kakurenbo.judge.submissions.models import Submission

P = ParamSpec("P")


class UserRequest(HttpRequest):
    """A request of somebody who is logged in."""

    user: User


View = Callable[Concatenate[UserRequest, P], HttpResponseBase]


def for_users(view: View[P]) -> Callable[..., HttpResponseBase]:
    """A page for everybody who is logged in."""
    return login_required(view)


def for_organizers(view: View[P]) -> Callable[..., HttpResponseBase]:
    """A page for organizers; others are refused."""

    @login_required
    @wraps(view)
    def checked(request: UserRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not permissions.is_organizer(request.user):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return checked


def contest_for(request: HttpRequest, slug: str) -> Contest:
    """A contest that the viewer may know of."""
    return get_object_or_404(queries.contests_for(request.user), slug=slug)


def managed_contest(request: UserRequest, slug: str) -> Contest:
    """A contest that the viewer manages."""
    contest = contest_for(request, slug)
    if not permissions.may_manage(request.user, contest, timezone.now()):
        raise PermissionDenied
    return contest


def own_membership(request: UserRequest, contest: Contest) -> Membership:
    """The viewer's part in a contest; nobody else has a team page."""
    membership = permissions.membership(request.user, contest)
    if membership is None:
        raise Http404
    return membership


def round_of(contest: Contest, name: str) -> Round:
    """A round by its name."""
    return get_object_or_404(contest.rounds, name=name)


def phase_of(contest: Contest, round_name: str, kind: str) -> Phase:
    """A phase by the names of its round and kind."""
    return get_object_or_404(
        Phase.objects.select_related("round__contest"),
        round__contest=contest,
        round__name=round_name,
        kind=kind,
    )


def team_of(contest: Contest, number: str) -> Team:
    """A team by its number."""
    return get_object_or_404(contest.teams, number=number)


@contextmanager
def telling(request: HttpRequest, code: str, **parameters: object) -> Iterator[None]:
    """Tell the viewer how it went: every problem, or that it is done."""
    try:
        yield
    except InputError as error:
        for problem in error.problems:
            messages.error(request, str(problem) if problem.file else problem.sentence)
    else:
        messages.success(request, text(code, **parameters))


def own_submission(request: UserRequest, pk: UUID) -> Submission:
    """A submission of a team that the viewer may look into; others do not learn whether it is there."""
    found = get_object_or_404(
        Submission.objects.select_related("entry__team__contest", "phase__round__contest", "user"),
        pk=pk,
    )
    if not permissions.may_see_team(request.user, found.entry.team, timezone.now()):
        raise Http404
    return found
