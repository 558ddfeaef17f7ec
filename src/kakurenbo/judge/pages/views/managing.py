"""The organizer's dashboard: phases, queue, rehearsal, the end."""

from __future__ import annotations

from collections import Counter

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from kakurenbo.core import InputError, gather
from kakurenbo.core.messages import text
from kakurenbo.judge.contests import archive as archives
from kakurenbo.judge.contests import erasing, queries, rules
from kakurenbo.judge.contests.models import Contest, Phase
from kakurenbo.judge.contests.rehearsal import rehearsals_of
from kakurenbo.judge.contests.rehearsal import rehearse as make_rehearsal
from kakurenbo.judge.pages import moving, steps
from kakurenbo.judge.pages.access import UserRequest, for_organizers, managed_contest, telling
from kakurenbo.judge.pages.forms.managing import AnnouncementForm, RehearsalForm, ScheduleForm
from kakurenbo.judge.pages.scene import scene
from kakurenbo.judge.pages.shown import awards, job_rows, team_rows
from kakurenbo.judge.scoring import queries as scoring
from kakurenbo.judge.scoring import rules as scoring_rules
from kakurenbo.judge.scoring.models import Job, JobState, StandingSnapshot, Target
from kakurenbo.judge.submissions.models import State, Submission

_NOT_HANDED_IN = (State.RECEIVING, State.WITHDRAWN)


@require_GET
@for_organizers
def dashboard(request: UserRequest, slug: str) -> HttpResponse:
    """Everything that an organizer watches, on one page."""
    contest = managed_contest(request, slug)
    teams, context = team_rows(contest, free=False), scene(request, contest, "manage")
    phases, erasable_from = context["phases"], erasing.erasable_from(contest)
    known = {
        "teams": teams,
        "steps": []
        if contest.rehearsal or contest.ended_at
        else steps.steps(contest, teams, phases),
        "waits": steps.waiting(contest, teams, phases),
        "turnout": steps.handed_in(context["current"]),
        "awards": awards(contest, scoring.standings(contest, request.user, timezone.now())),
        "archive_incomplete": archives.is_incomplete(contest),
        "erasable_from": erasable_from,
        "erasable": erasable_from is not None and erasable_from <= timezone.now(),
        "has_results": StandingSnapshot.objects.filter(contest=contest)
        .exclude(document={})
        .exists(),
        "rounds": contest.rounds.prefetch_related("files"),
        "handed_in": Submission.objects.filter(entry__team__contest=contest)
        .exclude(state__in=_NOT_HANDED_IN)
        .count(),
        "sealed": Target.objects.filter(round__contest=contest).count(),
        "announcements": contest.announcements.all()[:5],
        "announcement_form": AnnouncementForm(),
        "rehearsal_form": RehearsalForm(),
        "rehearsals": rehearsals_of(contest)[:5],
        **_queue(contest),
    }
    return render(request, "judge/manage.html", {**context, **known})


@require_GET
@for_organizers
def queue(request: UserRequest, slug: str) -> HttpResponse:
    """The queue alone, for the page that asks for it every few seconds."""
    contest = managed_contest(request, slug)
    return render(
        request, "judge/part/queue.html", {"contest": contest, "anew": True, **_queue(contest)}
    )


@require_POST
@for_organizers
def rerun(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Try a parked piece of work again."""
    contest = managed_contest(request, slug)
    scoring_rules.rerun(request.user, get_object_or_404(Job, contest=contest, pk=pk))
    messages.success(request, text("page.rerun_done"))
    return redirect("manage", slug=slug)


@require_http_methods(["GET", "POST"])
@for_organizers
def edit_phase(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Other times, another visibility; or in one step the beginning, more time, or the end."""
    contest = managed_contest(request, slug)
    phase = get_object_or_404(
        Phase.objects.select_related("round__contest"), round__contest=contest, pk=pk
    )
    moves = {one.how: one for one in moving.moves(phase, timezone.now())}
    chosen = moves.get(request.POST.get("move", ""))
    if chosen is not None:
        with telling(request, f"page.moved.{chosen.how}"):
            moving.move(request.user, chosen)
            return redirect("manage", slug)
        return redirect("edit-phase", slug, pk)
    form = ScheduleForm(contest, phase, request.POST or None)
    if request.method == "POST" and form.is_valid() and _changed(request, phase, form):
        messages.success(request, text("page.saved"))
        return redirect("manage", slug=slug)
    known = {
        "phase": phase,
        "form": form,
        "neighbours": queries.neighbours(phase),
        "moves": list(moves.values()),
    }
    return render(request, "judge/edit_phase.html", scene(request, contest, "manage", **known))


def _changed(request: UserRequest, phase: Phase, form: ScheduleForm) -> bool:
    """Change what was filled in otherwise than it is; what is refused stands in the form."""
    given, user = form.cleaned_data, request.user
    try:
        with gather() as problems:
            if {"opens_at", "closes_at"} & set(form.changed_data):
                problems.of(rules.reschedule, user, phase, given["opens_at"], given["closes_at"])
            if "visibility" in form.changed_data:
                problems.of(rules.set_visibility, user, phase, given["visibility"])
    except InputError as error:
        for problem in error.problems:
            form.add_error(None, problem.sentence)
        return False
    return True


@require_POST
@for_organizers
def end(request: UserRequest, slug: str) -> HttpResponse:
    """The contest is over: answers are revealed."""
    contest = managed_contest(request, slug)
    if request.POST.get("confirm") != contest.slug:
        messages.error(request, text("page.end_not_confirmed", slug=contest.slug))
        return redirect("manage", slug=slug)
    with telling(request, "page.ended"):
        rules.end(request.user, contest)
    return redirect("manage", slug=slug)


@require_POST
@for_organizers
def erase(request: UserRequest, slug: str) -> HttpResponse:
    """The files of a contest that is long over are deleted."""
    contest = managed_contest(request, slug)
    with telling(request, "page.erasing"):
        erasing.erase(request.user, contest, request.POST.get("confirm", ""))
    return redirect("manage", slug=slug)


@require_POST
@for_organizers
def rehearse(request: UserRequest, slug: str) -> HttpResponse:
    """A copy of the contest that bots play in minutes."""
    contest = managed_contest(request, slug)
    form = RehearsalForm(request.POST)
    minutes = form.cleaned_data["minutes"] if form.is_valid() else 5
    with telling(request, "page.rehearsal_made", minutes=minutes):
        made = make_rehearsal(request.user, contest, minutes=minutes)
        return redirect("manage", slug=made.slug)
    return redirect("manage", slug=slug)


def _queue(contest: Contest) -> dict[str, object]:
    queued = scoring.queue(contest)
    states = Counter(one.job.state for one in queued)
    return {
        "jobs": job_rows(queued),
        "waiting": states[JobState.WAITING],
        "running": states[JobState.RUNNING],
    }
