"""The list of contests, and the front page of one."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import queries
from kakurenbo.judge.contests.rulebooks import rules_of
from kakurenbo.judge.pages.access import contest_for
from kakurenbo.judge.pages.files import files_of_kinds
from kakurenbo.judge.pages.scene import current_phase, scene
from kakurenbo.judge.pages.views.making import about_rulebook
from kakurenbo.judge.scoring.models import StandingSnapshot, Visible


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """The contests; on a fresh judge the way to the set-up."""
    if not request.user.is_authenticated and not User.objects.exists():
        return redirect("setup")
    contests = queries.contests_for(request.user).order_by("rehearsal", "-created_at")
    shown = [(contest, current_phase(list(queries.schedule(contest)))) for contest in contests]
    return render(request, "judge/home.html", {"contests": shown, "here": "home"})


@require_GET
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """What a contest is about, when what happens, and what its organizers said."""
    contest = contest_for(request, slug)
    rules = type(rules_of(contest))
    rounds = list(contest.rounds.all())
    now = timezone.now()
    known = {
        "rules": rules,
        "about": about_rulebook(rules),
        "announcements": contest.announcements.all(),
        "public_files": [(one, files_of_kinds(request.user, one, None, [Visible.PUBLIC], now)) for one in rounds],
        "rounds": rounds,
        "has_results": StandingSnapshot.objects.filter(contest=contest).exclude(document={}).exists(),
        "team_count": contest.teams.count(),
    }
    return render(request, "judge/contest.html", scene(request, contest, "overview", **known))
