"""What anybody needs to keep the judge honest: the signed log of a contest, its commitments, a team's receipts."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_GET

from kakurenbo.contest.commitments import digest
from kakurenbo.core import json_bytes
from kakurenbo.core.messages import text
from kakurenbo.judge.contests import permissions
from kakurenbo.judge.downloads import download
from kakurenbo.judge.pages.access import UserRequest, contest_for, for_users, own_submission
from kakurenbo.judge.pages.scene import scene
from kakurenbo.judge.trust import queries


@require_GET
def log(request: HttpRequest, slug: str) -> HttpResponse:
    """The latest signed root, the key that signed it, the commitments of every round, and how to check all of it."""
    contest = contest_for(request, slug)
    signed = queries.latest_checkpoint(contest)
    known = {
        "signed": None if signed is None else signed.as_json(),
        "signed_at": None if signed is None else parse_datetime(signed.at),
        "public_key": bytes(contest.public_key).hex(),
        "commitments": [
            (one, digest(one.commitments.encode()) if one.prepared_at is not None else "")
            for one in contest.rounds.all()
        ],
        "revealed": permissions.has_ended(contest, timezone.now()),
        "address": request.build_absolute_uri(f"/contests/{contest.slug}/"),
    }
    return render(request, "judge/log.html", scene(request, contest, "overview", **known))


@require_GET
@for_users
def receipt(request: UserRequest, pk: UUID) -> HttpResponseBase:
    """The receipt of a submission, as a file to keep."""
    submission = own_submission(request, pk)
    if submission.number is None:
        raise Http404
    found = queries.receipt(submission)
    if found is None:
        messages.error(request, text("judge_api.unsigned"))
        return redirect("submission", pk=pk)
    name = (
        f"receipt-{submission.entry.team.number}-{submission.phase.kind}-{submission.number}.json"
    )
    return download(request, [json_bytes(found.as_json())], name)
