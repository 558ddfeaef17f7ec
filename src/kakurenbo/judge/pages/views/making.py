"""An organizer makes a contest: choose a rulebook, fill in one form."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from kakurenbo.contest import AnyRulebook
from kakurenbo.core import InputError, Problems
from kakurenbo.core.messages import text
from kakurenbo.judge.contests import rules as contests
from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.contests.planning import order_problems
from kakurenbo.judge.contests.rulebooks import find_rulebook
from kakurenbo.judge.pages.access import UserRequest, for_organizers
from kakurenbo.judge.pages.forms.making import (
    ContestForm,
    OptionsForm,
    PhaseForm,
    phase_forms,
    zones,
)
from kakurenbo.methods import registry

_ZONE = "Asia/Tokyo"
_MORNING = 9


@require_GET
@for_organizers
def choose(request: UserRequest) -> HttpResponse:
    """Every rulebook that is installed."""
    rulebooks = [find_rulebook(name) for name in registry.names("rulebooks")]
    shown = [(one, about_rulebook(one)) for one in rulebooks if one is not None]
    return render(request, "judge/choose_rulebook.html", {"rulebooks": shown, "here": "new"})


@require_http_methods(["GET", "POST"])
@for_organizers
def make(request: UserRequest, rulebook: str) -> HttpResponse:
    """The whole contest in one form."""
    rules = find_rulebook(rulebook)
    if rules is None:
        raise Http404
    data = request.POST if request.method == "POST" else None
    zone = _asked_zone(request)
    form = ContestForm(
        rules.rounds, data, initial={"slug": _free_slug(rules), "zone": zone, "places": 10}
    )
    options = OptionsForm(rulebook, data)
    plans = contests.default_plan(rulebook, _start(zone), zone)
    played = form.cleaned_data.get("played", rules.rounds) if form.is_valid() else rules.rounds
    phases = phase_forms([plan for plan in plans if plan.round in played], zone, data)
    left_out = phase_forms(
        [plan for plan in plans if plan.round not in played], zone
    )  # what is left out need not be right
    valid = [
        one.is_valid() for one in (form, options, *phases)
    ]  # each is asked, so that every mistake is shown at once
    if request.method == "POST" and not all(valid):
        timed = [plan for plan in (phase.timed(zone) for phase in phases) if plan is not None]
        _show(form, order_problems(rules, timed, zone))
    elif request.method == "POST":
        try:
            made = _made(request, rules, form, options, phases)
            messages.success(request, text("page.contest_made"))
            return redirect("manage", slug=made.slug)
        except InputError as error:
            _show(form, error.problems)
    shown: dict[str, Any] = {"rules": rules, "about": about_rulebook(rules), "here": "new"}
    return render(
        request,
        "judge/make_contest.html",
        {**shown, "form": form, "options": options, "phases": [*phases, *left_out]},
    )


def about_rulebook(rules: type[AnyRulebook]) -> str:
    """What a rulebook's contest is about, in the viewer's language."""
    return text(f"rulebooks.{rules.name}", rules.title)


def _made(
    request: UserRequest,
    rules: type[AnyRulebook],
    form: ContestForm,
    options: OptionsForm,
    phases: list[PhaseForm],
) -> Any:
    given = form.cleaned_data
    return contests.make_contest(
        request.user,
        title=given["title"],
        slug=given["slug"],
        rulebook=rules.name,
        options=options.cleaned_data,
        zone=given["zone"],
        places=given["places"],
        phases=[phase.planned(given["zone"]) for phase in phases],
    )


def _show(form: ContestForm, problems: Problems) -> None:
    for problem in problems:
        form.add_error(problem.column if problem.column in form.fields else None, problem.sentence)


def _asked_zone(request: UserRequest) -> str:
    asked = request.POST.get("zone") or _ZONE
    return asked if asked in zones() else _ZONE


def _start(zone: str) -> datetime:
    """Tomorrow morning, where the contest is."""
    tomorrow = timezone.now().astimezone(ZoneInfo(zone)) + timedelta(days=1)
    return tomorrow.replace(hour=_MORNING, minute=0, second=0, microsecond=0)


def _free_slug(rules: type[AnyRulebook]) -> str:
    wanted = f"{rules.name}-{timezone.now().year}"
    taken = set(Contest.objects.filter(slug__startswith=wanted).values_list("slug", flat=True))
    return next(
        slug
        for number in range(1, len(taken) + 2)
        if (slug := wanted if number == 1 else f"{wanted}-{number}") not in taken
    )
