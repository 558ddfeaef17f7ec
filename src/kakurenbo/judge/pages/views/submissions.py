"""Handing in: by script in a stream, by plain form, or by filling in; then what the check found."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from kakurenbo.contest import Counting
from kakurenbo.core import InputError, Problems, gather
from kakurenbo.judge.contests import permissions
from kakurenbo.judge.contests.models import Entry, Phase, Role
from kakurenbo.judge.contests.rulebooks import declared_phase
from kakurenbo.judge.pages.access import (
    UserRequest,
    contest_for,
    for_users,
    own_membership,
    own_submission,
    phase_of,
    telling,
)
from kakurenbo.judge.pages.files import files_of_phase
from kakurenbo.judge.pages.filled_forms import FilledForm, blank_files
from kakurenbo.judge.pages.judged import judged_context
from kakurenbo.judge.pages.scene import scene
from kakurenbo.judge.scoring import queries as scoring
from kakurenbo.judge.serve.arrival import arrived_at
from kakurenbo.judge.submissions import queries as submissions
from kakurenbo.judge.submissions import rules, store
from kakurenbo.judge.submissions.models import UNDER_WAY, Blob, State, Submission

_OPEN_TO_TEAM = (State.RECEIVING, State.RECEIVED)


@require_POST
@for_users
def submit(request: UserRequest, slug: str, round_name: str, kind: str) -> HttpResponse:
    """Hand in by a plain form, without script."""
    phase, entry = _own_entry(request, slug, round_name, kind)
    with telling(request, "page.handed_in"):
        return redirect("submission", pk=_handed_in(request, entry, phase, []).pk)
    return redirect("phase", slug=slug, round_name=round_name, kind=kind)


@require_POST
@for_users
def begin(request: UserRequest, slug: str, round_name: str, kind: str) -> JsonResponse:
    """Open a submission for a script, which then sends each file in a stream."""
    phase, entry = _own_entry(request, slug, round_name, kind)
    try:
        pk = rules.begin(request.user, entry, phase, arrived_at(request)).pk
    except InputError as error:
        return _refusal(error.problems)
    return JsonResponse(
        {"files": f"/api/v1/submissions/{pk}/files/", "finish": reverse("finish", args=[pk])}
    )


@require_POST
@for_users
def finish(request: UserRequest, pk: UUID) -> JsonResponse:
    """All files are there: it is handed in."""
    try:
        rules.finish(_own(request, pk), arrived_at(request))
    except InputError as error:
        return _refusal(error.problems)
    return JsonResponse({"page": reverse("submission", args=[pk])})


@require_http_methods(["GET", "POST"])
@for_users
def questionnaire(
    request: UserRequest, slug: str, round_name: str, kind: str, file: str
) -> HttpResponse:
    """A file of the entry as a form: handed in with the release, or given back as the file to keep."""
    phase, entry = _own_entry(request, slug, round_name, kind)
    blanks = blank_files(files_of_phase(request.user, phase, entry, timezone.now()), phase, entry)
    blank = next((blank for blank in blanks if blank.name == file), None)
    if blank is None:
        return redirect("phase", slug=slug, round_name=round_name, kind=kind)
    form = FilledForm(blank, request.POST or None, phase.round.contest.rulebook)
    if request.method == "POST" and form.is_valid():
        if "hand_in" in request.POST:
            filled = [(blank.name, store.put(form.file_bytes()))]
            with telling(request, "page.handed_in"):
                return redirect("submission", pk=_handed_in(request, entry, phase, filled).pk)
            return redirect("phase", slug=slug, round_name=round_name, kind=kind)
        response = HttpResponse(form.file_bytes(), content_type="application/json")
        response["Content-Disposition"] = f'attachment; filename="{blank.name}"'
        return response
    known = {
        "phase": phase,
        "entry": entry,
        "blank": blank,
        "form": form,
        "may_hand_in": permissions.may_hand_in(request.user, entry, phase, timezone.now()),
        "sections": form.sections(),
    }
    return render(
        request, "judge/questionnaire.html", scene(request, phase.round.contest, "play", **known)
    )


@require_GET
@for_users
def submission(request: UserRequest, pk: UUID) -> HttpResponse:
    """What was handed in, what the check found, every score, and whether it counts."""
    found = own_submission(request, pk)
    refresh = request.headers.get("HX-Target") == "judged"
    if refresh and request.GET.get("seen") == found.state:
        return HttpResponse(
            status=204
        )  # nothing is put in the place of the same: focus and an open question stay
    now = timezone.now()
    counting = {one.pk: reason for one, reason in submissions.counting(found.entry, found.phase)}
    known = {
        "submission": found,
        "phase": found.phase,
        "files": found.files.select_related("blob"),
        **judged_context(found.entry.team.contest, scoring.scores(found, request.user, now)),
        "counts": submissions.why_it_counts(found, counting),
        "stays_published": found.state == State.INVALID
        and found.targets.filter(published=True).exists(),
        "busy": found.state in UNDER_WAY,
        "declared": declared_phase(found.phase),
        "may_act": _may_act(request, found),
        "may_choose": _to_choose(found),
        "may_withdraw": found.state in _OPEN_TO_TEAM,
        "too_late": found.state
        not in (*_OPEN_TO_TEAM, State.INVALID, State.FAILED, State.WITHDRAWN),
    }
    context = scene(request, found.entry.team.contest, "play", **known)
    return render(
        request, "judge/part/judged.html" if refresh else "judge/submission.html", context
    )


@require_POST
@for_users
def withdraw(request: UserRequest, pk: UUID) -> HttpResponse:
    """Take it back."""
    found = _own(request, pk)
    with telling(request, "page.withdrawn"):
        rules.withdraw(request.user, found, arrived_at(request))
    return redirect("submission", pk=pk)


@require_POST
@for_users
def choose(request: UserRequest, pk: UUID) -> HttpResponse:
    """Say that this one counts."""
    found = _own(request, pk)
    with telling(request, "page.chosen"):
        rules.choose(request.user, found, arrived_at(request))
    return redirect("submission", pk=pk)


def _to_choose(submission: Submission) -> bool:
    return (
        declared_phase(submission.phase).counts is Counting.CHOSEN
        and submission.state == State.SCORED
    )


def _may_act(request: UserRequest, submission: Submission) -> bool:
    """Whether the viewer may do something to a submission: of the own team, and no adviser."""
    membership = permissions.membership(request.user, submission.entry.team.contest)
    return (
        membership is not None
        and membership.team_id == submission.entry.team_id
        and membership.role != Role.ADVISER
    )


def _handed_in(
    request: UserRequest, entry: Entry, phase: Phase, made: list[tuple[str, Blob]]
) -> Submission:
    """The files of a plain form, and those that were made here, as one submission."""
    begun = rules.begin(request.user, entry, phase, arrived_at(request))
    sent = [
        (given.name or "", store.put(given.chunks())) for given in request.FILES.getlist("files")
    ]
    try:
        with gather() as problems:
            for name, blob in (*sent, *made):
                problems.of(rules.add_file, begun, name, blob)
        return rules.finish(begun, arrived_at(request))
    except InputError:
        with suppress(InputError):  # one that came too late is withdrawn already
            rules.withdraw(request.user, begun, arrived_at(request))
        raise


def _own_entry(request: UserRequest, slug: str, round_name: str, kind: str) -> tuple[Phase, Entry]:
    contest = contest_for(request, slug)
    membership = own_membership(request, contest)
    phase = phase_of(contest, round_name, kind)
    return phase, get_object_or_404(
        Entry.objects.select_related("team", "round__contest"),
        round=phase.round,
        team=membership.team,
    )


def _own(request: UserRequest, pk: UUID) -> Submission:
    """A submission that the viewer may change: of the own team, and no adviser's business."""
    found = own_submission(request, pk)
    if not _may_act(request, found):
        raise PermissionDenied
    return found


def _refusal(problems: Problems) -> JsonResponse:
    return JsonResponse({"problems": [problem.sentence for problem in problems]}, status=409)
