"""A player's pages: the team, and each phase with all there is to do in it."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from kakurenbo.contest import ANONYMIZE, ATTACK
from kakurenbo.judge.contests import permissions, queries
from kakurenbo.judge.contests.models import Entry, Phase, Role
from kakurenbo.judge.contests.rulebooks import declared_phase
from kakurenbo.judge.pages.access import (
    UserRequest,
    contest_for,
    for_users,
    own_membership,
    phase_of,
)
from kakurenbo.judge.pages.files import files_of_phase
from kakurenbo.judge.pages.filled_forms import blank_files
from kakurenbo.judge.pages.scene import current_phase, scene
from kakurenbo.judge.pages.shown import (
    counts_rule,
    file_parts,
    history_rows,
    submit_ways,
    target_rows,
)
from kakurenbo.judge.scoring import queries as scoring
from kakurenbo.judge.submissions import queries as submissions
from kakurenbo.judge.submissions.models import UNDER_WAY


@require_GET
@for_users
def team(request: UserRequest, slug: str) -> HttpResponse:
    """Who is in the team, and how it stands in each round."""
    contest = contest_for(request, slug)
    membership = own_membership(request, contest)
    known = {
        "team": membership.team,
        "advises": membership.role == Role.ADVISER,
        "members": membership.team.memberships.select_related("user").order_by("joined_at"),
        "entries": membership.team.entries.select_related("round").order_by("round__position"),
    }
    return render(request, "judge/team.html", scene(request, contest, "team", **known))


@require_GET
@for_users
def current(request: UserRequest, slug: str) -> HttpResponse:
    """Go to the phase that matters now."""
    contest = contest_for(request, slug)
    own_membership(request, contest)
    found = current_phase(list(queries.schedule(contest)))
    if found is None:
        return redirect("contest", slug=slug)
    return redirect("phase", slug=slug, round_name=found.round.name, kind=found.kind)


@require_GET
@for_users
def phase(request: UserRequest, slug: str, round_name: str, kind: str) -> HttpResponse:
    """Handout or targets, upload, what is left, history, and which of it counts."""
    contest = contest_for(request, slug)
    membership = own_membership(request, contest)
    found = phase_of(contest, round_name, kind)
    entry = queries.entry_of(request.user, found.round)
    known = {
        "phase": found,
        "team": membership.team,
        "entry": entry,
        **(_of_entry(request, found, entry) if entry else {}),
    }
    context = scene(request, contest, "play", **known)
    return render(
        request, "judge/part/history.html" if _is_refresh(request) else "judge/phase.html", context
    )


def _is_refresh(request: UserRequest) -> bool:
    return request.headers.get("HX-Target") == "history"


def _of_entry(request: UserRequest, phase: Phase, entry: Entry) -> dict[str, object]:
    """What a team sees of a phase."""
    now = timezone.now()
    declared = declared_phase(phase)
    files = files_of_phase(request.user, phase, entry, now)
    history = list(submissions.history(entry, phase))
    counting = {submission.pk: reason for submission, reason in submissions.counting(entry, phase)}
    parts = file_parts(declared, entry)
    return {
        "declared": declared,
        "takes_zips": not declared.takes_no_zip("any.zip"),
        "most_bytes": max(pattern.max_bytes for pattern in declared.files),
        "parts": parts,
        "names_target": any(
            submissions.ANY_TARGET in way.first for part in parts for way in part.ways
        ),
        "submit_ways": submit_ways(declared, entry),
        "files": files,
        "bytes": sum(file.blob.size for file in files),
        "targets": target_rows(phase, entry, scoring.targets(phase.round, request.user, now))
        if phase.kind == ATTACK
        else [],
        "is_adviser": not permissions.may_act_for(request.user, entry.team),
        "may_hand_in": permissions.may_hand_in(request.user, entry, phase, now),
        "left": queries.left_to_use(entry, phase, now),
        "history": history_rows(history, counting),
        "counts_rule": counts_rule(declared),
        "busy": any(submission.state in UNDER_WAY for submission in history),
        "blanks": blank_files(files, phase, entry) if phase.kind == ANONYMIZE else [],
    }
