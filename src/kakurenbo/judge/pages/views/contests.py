"""The list of contests, and the front page of one."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from kakurenbo.core.messages import text
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import archive as archives
from kakurenbo.judge.contests import permissions, queries
from kakurenbo.judge.contests.models import Contest, Membership, Phase
from kakurenbo.judge.contests.rulebooks import rules_of
from kakurenbo.judge.pages.access import contest_for
from kakurenbo.judge.pages.files import files_of_kinds
from kakurenbo.judge.pages.forms.making import changed_options
from kakurenbo.judge.pages.scene import current_phase, scene
from kakurenbo.judge.pages.views.making import about_rulebook
from kakurenbo.judge.scoring.models import StandingSnapshot, Visible


@dataclass(frozen=True)
class ContestCard:
    """A contest in a list: where it is, and the viewer's part in it."""

    contest: Contest
    phase: Phase | None
    membership: Membership | None
    teams: int

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.contest.ended_at is not None


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """The contests; on a fresh judge the way to the set-up."""
    if not request.user.is_authenticated and not User.objects.exists():
        return redirect("setup")
    shown = [_card(request, contest) for contest in queries.contests_for(request.user)]
    groups = {
        "page.group_own": [card for card in shown if card.membership and not card.over],
        "page.group_running": [
            card
            for card in shown
            if not card.membership and not card.over and not card.contest.rehearsal
        ],
        "page.group_ended": [card for card in shown if card.over and not card.contest.rehearsal],
        "page.group_rehearsals": [
            card
            for card in shown
            if card.contest.rehearsal and not (card.membership and not card.over)
        ],
    }
    known = {
        "groups": [(text(code), cards) for code, cards in groups.items() if cards],
        "here": "home",
    }
    return render(request, "judge/home.html", known)


def _card(request: HttpRequest, contest: Contest) -> ContestCard:
    return ContestCard(
        contest=contest,
        phase=current_phase(list(queries.schedule(contest))),
        membership=permissions.membership(request.user, contest),
        teams=contest.teams.count(),
    )


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
        "options": changed_options(contest),
        "public_files": [
            (one, files_of_kinds(request.user, one, None, [Visible.PUBLIC], now)) for one in rounds
        ],
        "rounds": rounds,
        "archive_incomplete": archives.is_incomplete(contest),
        "has_results": StandingSnapshot.objects.filter(contest=contest)
        .exclude(document={})
        .exists(),
        "team_count": contest.teams.count(),
    }
    return render(request, "judge/contest.html", scene(request, contest, "overview", **known))
