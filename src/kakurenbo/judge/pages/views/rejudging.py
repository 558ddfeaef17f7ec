"""Judging again: asked for with a reason, looked at, then applied or cancelled; for organizers alone."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.pages.access import UserRequest, for_organizers, managed_contest, telling
from kakurenbo.judge.pages.forms.managing import RejudgingForm
from kakurenbo.judge.pages.rejudged import award_rows, effects, entry_rows, rank_rows
from kakurenbo.judge.pages.scene import scene
from kakurenbo.judge.scoring import comparing, queries, rejudging
from kakurenbo.judge.scoring.models import JobState, Rejudging, RejudgingState


@require_http_methods(["GET", "POST"])
@for_organizers
def every(request: UserRequest, slug: str) -> HttpResponse:
    """Ask for a rejudging; the earlier ones stand below."""
    contest = managed_contest(request, slug)
    form = RejudgingForm(contest, request.POST or None, request.GET.get("submission", ""))
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        with telling(request, "page.rejudge_asked"):
            asked = rejudging.ask(
                request.user, contest, given["reason"], form.round, given["submission_id"]
            )
            return redirect("rejudging", slug, asked.pk)
    known = {
        "form": form,
        "rejudgings": queries.rejudgings(contest, request.user, timezone.now()),
        "others": queries.judged_by_others(contest),
    }
    return render(request, "judge/rejudgings.html", scene(request, contest, "manage", **known))


@require_GET
@for_organizers
def one(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """How far it is, and what would change; the page asks again while workers are at it."""
    contest = managed_contest(request, slug)
    found = _found(request, contest, pk)
    jobs = rejudging.jobs_of(found)
    known = {
        "rejudging": found,
        "busy": found.state in (RejudgingState.WORKING, RejudgingState.APPLYING),
        "left": jobs.exclude(state=JobState.DONE).count(),
        "parked": jobs.filter(state=JobState.PARKED).count(),
        "nothing": bool(found.preview) and comparing.is_nothing(found.preview),
        "effects": effects(found.preview),
        "tables": [
            ("entries", entry_rows(found.preview)),
            ("ranks", rank_rows(found.preview)),
            ("awards", award_rows(found.preview)),
        ],
    }
    part = request.headers.get("HX-Target") == "rejudging"
    return render(
        request,
        "judge/part/rejudging.html" if part else "judge/rejudging.html",
        scene(request, contest, "manage", **known),
    )


@require_POST
@for_organizers
def apply(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Let it count."""
    contest = managed_contest(request, slug)
    with telling(request, "page.rejudge_applying"):
        rejudging.apply(request.user, _found(request, contest, pk))
    return redirect("rejudging", slug, pk)


@require_POST
@for_organizers
def cancel(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Give it up."""
    contest = managed_contest(request, slug)
    with telling(request, "page.rejudge_cancelled"):
        rejudging.cancel(request.user, _found(request, contest, pk))
    return redirect("rejudging", slug, pk)


def _found(request: UserRequest, contest: Contest, pk: int) -> Rejudging:
    return get_object_or_404(queries.rejudgings(contest, request.user, timezone.now()), pk=pk)
