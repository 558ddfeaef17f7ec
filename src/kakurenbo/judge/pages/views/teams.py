"""Teams, their invite links, and decisions about their entries."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from kakurenbo.core import InputError
from kakurenbo.core.messages import text
from kakurenbo.judge.contests import rules
from kakurenbo.judge.contests.models import Entry, Invite, Team
from kakurenbo.judge.pages.access import (
    UserRequest,
    for_organizers,
    managed_contest,
    team_of,
    telling,
)
from kakurenbo.judge.pages.forms.managing import InviteForm, ReasonForm, TeamForm
from kakurenbo.judge.pages.once import forgotten_on, secret_of, shown_on
from kakurenbo.judge.pages.scene import scene
from kakurenbo.judge.pages.shown import team_rows
from kakurenbo.judge.submissions.models import Submission

_SHOWN_SUBMISSIONS = 50
_DECISIONS = {"disqualify": rules.disqualify, "excuse": rules.excuse}


@dataclass(frozen=True)
class EntryRow:
    """A team in a round, and what may be decided about it there."""

    entry: Entry
    disqualify: ReasonForm
    excuse: ReasonForm


@require_GET
@for_organizers
def teams(request: UserRequest, slug: str) -> HttpResponse:
    """Every place, taken or free."""
    contest = managed_contest(request, slug)
    known = {"teams": team_rows(contest), "team_count": contest.teams.count(), "form": TeamForm()}
    return render(request, "judge/teams.html", scene(request, contest, "teams", **known))


@require_http_methods(["POST"])
@for_organizers
def add(request: UserRequest, slug: str) -> HttpResponse:
    """A team on the place that was asked for, or on the next that is free."""
    contest = managed_contest(request, slug)
    form = TeamForm(request.POST)
    if form.is_valid():
        given = form.cleaned_data
        try:
            rules.add_team(
                request.user, contest, given["team_name"], given["number"], given["unranked"]
            )
            messages.success(request, text("page.team_added", team=given["team_name"]))
            return redirect("teams", slug=slug)
        except InputError as error:
            for problem in error.problems:
                form.add_error(None, problem.sentence)
    known = {
        "teams": team_rows(contest),
        "team_count": contest.teams.count(),
        "form": form,
        "address": reverse("teams", args=[slug]),
    }
    return render(request, "judge/teams.html", scene(request, contest, "teams", **known))


@never_cache
@require_GET
@for_organizers
def team(request: UserRequest, slug: str, number: str) -> HttpResponse:
    """One team: members, links, entries."""
    return _page(request, slug, number, link=secret_of(request, _address(slug, number)))


@require_POST
@for_organizers
def invite(request: UserRequest, slug: str, number: str) -> HttpResponse:
    """A new link, shown on the team's page for a few minutes: only its hash is kept."""
    contest = managed_contest(request, slug)
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _page(request, slug, number, invite_form=form)
    given = form.cleaned_data
    try:
        _, secret = rules.invite(
            request.user, team_of(contest, number), given["role"], days=given["days"]
        )
    except InputError as error:
        for problem in error.problems:
            form.add_error(None, problem.sentence)
        return _page(request, slug, number, invite_form=form)
    link = request.build_absolute_uri(reverse("join", args=[secret]))
    return shown_on(_address(slug, number), request, link)


@require_POST
@for_organizers
def revoke_invite(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """A link that opens nothing any more."""
    contest = managed_contest(request, slug)
    found = get_object_or_404(Invite.objects.select_related("team"), team__contest=contest, pk=pk)
    rules.revoke_invite(request.user, found)
    messages.success(request, text("page.invite_revoked"))
    return forgotten_on(_address(slug, found.team.number))


@require_POST
@for_organizers
def decide(request: UserRequest, slug: str, pk: int, what: str) -> HttpResponse:
    """Disqualify, take back, or excuse a team in a round; the reason is kept and shown."""
    contest = managed_contest(request, slug)
    entry = get_object_or_404(
        Entry.objects.select_related("team", "round"), round__contest=contest, pk=pk
    )
    if what == "reinstate":
        with telling(request, "page.reinstated"):
            rules.reinstate(request.user, entry)
    elif what in _DECISIONS:
        form = ReasonForm(entry, what, request.POST)
        if not form.is_valid():
            return _page(request, slug, entry.team.number, refused=form)
        with telling(request, f"page.{what}_done"):
            _DECISIONS[what](request.user, entry, form.cleaned_data["reason"])
    else:
        raise Http404
    return redirect("manage-team", slug=slug, number=entry.team.number)


def _handed_in(team: Team) -> QuerySet[Submission]:
    """The last that a team handed in, in every round and phase."""
    known = Submission.objects.filter(entry__team=team, number__isnull=False).select_related(
        "phase__round", "user"
    )
    return known.order_by("-received_at")[:_SHOWN_SUBMISSIONS]


def _asked(entry: Entry, refused: ReasonForm | None) -> EntryRow:
    """A team in a round with empty forms, but for the one that was refused."""
    forms = (ReasonForm(entry, what) for what in _DECISIONS)
    return EntryRow(
        entry,
        *(
            refused if refused is not None and refused.about == form.about else form
            for form in forms
        ),
    )


def _address(slug: str, number: str) -> str:
    return reverse("manage-team", args=[slug, number])


def _page(
    request: UserRequest,
    slug: str,
    number: str,
    refused: ReasonForm | None = None,
    **changed: object,
) -> HttpResponse:
    contest = managed_contest(request, slug)
    found = team_of(contest, number)
    entries = found.entries.select_related("round").order_by("round__position")
    known = {
        "address": _address(slug, number),
        "team": found,
        "members": found.memberships.select_related("user").order_by("joined_at"),
        "invites": found.invites.filter(
            revoked_at__isnull=True, expires_at__gt=timezone.now()
        ).order_by("-created_at"),
        "entries": [_asked(entry, refused) for entry in entries],
        "refused": refused,
        "handed_in": _handed_in(found),
        "invite_form": InviteForm(),
    }
    return render(
        request, "judge/manage_team.html", scene(request, contest, "teams", **{**known, **changed})
    )
