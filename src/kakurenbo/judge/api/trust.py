"""Routes by which anybody can check the log: signed roots, proofs that it only grew, a team's own receipts."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema
from ninja.errors import HttpError

from kakurenbo.judge.api.authentication import asker, somebody
from kakurenbo.judge.api.looking import contest_of
from kakurenbo.judge.api.refusals import not_there
from kakurenbo.judge.contests import permissions
from kakurenbo.judge.submissions.models import Submission
from kakurenbo.judge.trust import queries

router = Router(tags=["trust"])


class SignedRootOut(Schema):
    """A checkpoint as anybody can keep it; ``kakurenbo verify`` reads it."""

    format: str
    contest: str
    public_key: str
    size: int
    root: str
    at: str
    signature: str


class ReceiptOut(Schema):
    """An entry of the log with all that proves that it is there; ``kakurenbo verify`` reads it."""

    format: str
    number: int
    entry: str
    salt: str
    path: list[str]
    checkpoint: SignedRootOut


class ConsistencyOut(Schema):
    """The proof of RFC 6962, section 2.1.2, that the log of ``second`` entries begins with that of ``first``."""

    first: int
    second: int
    proof: list[str]


@router.get(
    "/contests/{slug}/log/checkpoint",
    response=SignedRootOut,
    summary="The latest signed root of the log",
)
def checkpoint(request: HttpRequest, slug: str) -> dict[str, Any]:
    found = queries.latest_checkpoint(contest_of(asker(request), slug))
    return not_there() if found is None else found.as_json()


@router.get(
    "/contests/{slug}/log/consistency/{int:first}/{int:second}",
    response=ConsistencyOut,
    summary="A proof that the log only grew",
)
def consistency(request: HttpRequest, slug: str, first: int, second: int) -> dict[str, Any]:
    proof = queries.consistency(contest_of(asker(request), slug), first, second)
    if proof is None:
        not_there()
    return {"first": first, "second": second, "proof": [step.hex() for step in proof]}


@router.get(
    "/submissions/{uuid:submission_id}/receipt",
    response=ReceiptOut,
    summary="The receipt of a submission",
)
def receipt(request: HttpRequest, submission_id: UUID) -> dict[str, Any]:
    user = somebody(request)
    submission = (
        Submission.objects.select_related("entry__team__contest").filter(pk=submission_id).first()
    )
    if submission is None or not permissions.may_see_team(
        user, submission.entry.team, timezone.now()
    ):
        not_there()
    found = queries.receipt(submission)
    if found is None:
        raise HttpError(404, "unsigned")
    return found.as_json()
