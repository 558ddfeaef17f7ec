"""Routes by which a team hands in, and sees what became of it.

A submission is begun, gets its files one by one, and is finished: it was received when that request had arrived. The route
that takes a file is asked by the intake of ``serve`` whether it may come, and told where it lies; without an intake it reads
the body.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from ninja import Router, Status
from ninja.errors import HttpError

from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.api import schemas
from kakurenbo.judge.api.authentication import somebody
from kakurenbo.judge.api.judged import judging_of
from kakurenbo.judge.api.looking import contest_of, download_blob, round_of
from kakurenbo.judge.api.refusals import not_there
from kakurenbo.judge.contests import permissions
from kakurenbo.judge.contests import queries as contests
from kakurenbo.judge.contests.models import Entry, Phase
from kakurenbo.judge.downloads import CHUNK
from kakurenbo.judge.serve.arrival import arrived_at
from kakurenbo.judge.serve.uploads import LIMIT_HEADER, Question, Received, upload_of
from kakurenbo.judge.submissions import queries, rules, store
from kakurenbo.judge.submissions.models import Submission

router = Router(tags=["submissions"])
_BYTES = {"type": "string", "format": "binary"}


@router.get(
    "/contests/{slug}/status",
    response=schemas.TeamStatus,
    summary="What your team handed in, what counts, tries left",
)
def status(request: HttpRequest, slug: str) -> dict[str, Any]:
    user = somebody(request)
    contest = contest_of(user, slug)
    own = permissions.membership(user, contest)
    if own is None:
        not_there()
    phases = [
        _phase_status(user, entry, phase)
        for entry in _entries(user, slug)
        for phase in entry.round.phases.all()
    ]
    return {"contest": contest.slug, "team": own.team.number, "phases": phases}


@router.post(
    "/contests/{slug}/rounds/{name}/phases/{kind}/submissions",
    response={201: schemas.SubmissionOut, 422: schemas.Refusal},
    summary="Begin a submission",
)
def begin(request: HttpRequest, slug: str, name: str, kind: str) -> Status[dict[str, Any]]:
    user = somebody(request)
    entry = contests.entry_of(user, round_of(user, slug, name)) or not_there()
    phase = (
        entry.round.phases.select_related("round__contest").filter(kind=kind).first() or not_there()
    )
    begun = rules.begin(user, entry, phase, arrived_at(request))
    return Status(201, {**_begun(begun), "files": [], "counts": None, "judging": {}})


@router.put(
    "/submissions/{uuid:submission_id}/files/{path:name}",
    response={201: schemas.SubmittedFileOut, 422: schemas.Refusal},
    summary="Send a file of a submission: its bytes are the body",
    openapi_extra={"requestBody": {"content": {"application/octet-stream": {"schema": _BYTES}}}},
)
def add_file(
    request: HttpRequest, submission_id: UUID, name: str
) -> Status[dict[str, Any]] | HttpResponse:
    submission = _own(somebody(request), submission_id, to_change=True)
    said = upload_of(request)
    if isinstance(said, Received):  # the intake has asked for the limit
        added = rules.add_file(submission, name, store.adopt(said.path, said.digest, said.size))
    else:
        limit = rules.most_bytes(submission, name)
        if isinstance(said, Question):
            return HttpResponse(headers={LIMIT_HEADER: str(limit)})
        added = rules.add_file(submission, name, store.put(_body(request, limit)))
    return Status(201, _file(added))


@router.post(
    "/submissions/{uuid:submission_id}/finish",
    response={200: schemas.SubmissionOut, 422: schemas.Refusal},
    summary="Hand in: every file is there",
)
def finish(request: HttpRequest, submission_id: UUID) -> dict[str, Any]:
    user = somebody(request)
    return described(
        user, rules.finish(_own(user, submission_id, to_change=True), arrived_at(request))
    )


@router.get(
    "/submissions/{uuid:submission_id}",
    response=schemas.SubmissionOut,
    summary="A submission and its judging",
)
def submission(request: HttpRequest, submission_id: UUID) -> dict[str, Any]:
    user = somebody(request)
    return described(user, _own(user, submission_id))


@router.get(
    "/submissions/{uuid:submission_id}/files/{path:name}",
    summary="A file as it was handed in",
    response=bytes,
)
def submitted_file(request: HttpRequest, submission_id: UUID, name: str) -> StreamingHttpResponse:
    user = somebody(request)
    submission = _own(user, submission_id)
    file = submission.files.select_related("blob").filter(name=name).first()
    if file is None or not permissions.may_fetch_submitted(
        user, submission.entry.team, timezone.now()
    ):
        not_there()
    return download_blob(request, file.blob.digest, file.name, file.blob.size)


@router.delete(
    "/submissions/{uuid:submission_id}",
    response={200: schemas.SubmissionOut, 422: schemas.Refusal},
    summary="Take a submission back",
)
def withdraw(request: HttpRequest, submission_id: UUID) -> dict[str, Any]:
    user = somebody(request)
    return described(
        user,
        rules.withdraw(user, _own(user, submission_id, to_change=True), arrived_at(request)),
    )


@router.post(
    "/submissions/{uuid:submission_id}/choose",
    response={200: schemas.SubmissionOut, 422: schemas.Refusal},
    summary="Let this submission count, where the rulebook lets teams choose",
)
def choose(request: HttpRequest, submission_id: UUID) -> dict[str, Any]:
    user = somebody(request)
    return described(
        user,
        rules.choose(user, _own(user, submission_id, to_change=True), arrived_at(request)),
    )


def described(user: User, submission: Submission) -> dict[str, Any]:
    """A submission with what the asker may know of its judging."""
    return _submission(user, submission, _counting(submission.entry, submission.phase))


def _own(user: User, submission_id: UUID, *, to_change: bool = False) -> Submission:
    """A submission that the asker may see; ``to_change``: and may do something to."""
    related = ("entry__team__contest", "entry__round", "phase")
    try:
        submission = Submission.objects.select_related(*related).get(pk=submission_id)
    except Submission.DoesNotExist:
        not_there()
    # One contest and one round, however they are reached: to join them again for each way would take longer than the rest.
    submission.phase.round = submission.entry.round
    submission.entry.round.contest = submission.entry.team.contest
    team = submission.entry.team
    if to_change and permissions.may_act_for(user, team):
        return submission
    if not permissions.may_see_team(user, team, timezone.now()):
        not_there()
    if to_change:
        raise HttpError(403, "forbidden")
    return submission


def _entries(user: User, slug: str) -> list[Entry]:
    found = (contests.entry_of(user, one) for one in contest_of(user, slug).rounds.all())
    return [entry for entry in found if entry is not None]


def _phase_status(user: User, entry: Entry, phase: Phase) -> dict[str, Any]:
    counting = _counting(entry, phase)
    left = contests.left_to_use(entry, phase, timezone.now())
    return {
        "round": phase.round.name,
        "kind": phase.kind,
        "state": phase.shown_state,
        "opens_at": phase.opens_at,
        "closes_at": phase.closes_at,
        "disqualified": entry.disqualified,
        "left": {"count": left.count, "again_at": left.again_at, "resets_at": left.resets_at},
        "submissions": [_submission(user, one, counting) for one in queries.history(entry, phase)],
    }


def _counting(entry: Entry, phase: Phase) -> dict[UUID, str]:
    """What counts and why, as a team is told: nothing of one that is out of the round."""
    return (
        {}
        if entry.disqualified
        else {one.pk: reason for one, reason in queries.counting(entry, phase)}
    )


def _submission(user: User, submission: Submission, counting: dict[UUID, str]) -> dict[str, Any]:
    return {
        **_begun(submission),
        "files": [_file(file) for file in submission.files.select_related("blob")],
        "counts": queries.why_it_counts(submission, counting) or None,
        "judging": judging_of(submission, user),
    }


def _begun(submission: Submission) -> dict[str, Any]:
    """What there is to tell of a submission before it has a file."""
    entry = submission.entry
    return {
        "id": submission.pk,
        "contest": entry.team.contest.slug,
        "round": entry.round.name,
        "phase": submission.phase.kind,
        "team": entry.team.number,
        "number": submission.number,
        "state": submission.state,
        "began_at": submission.began_at,
        "received_at": submission.received_at,
    }


def _file(file: Any) -> dict[str, Any]:
    return {
        "name": file.name,
        "target": file.target,
        "size": file.blob.size,
        "sha256": file.blob.digest,
    }


def _body(request: HttpRequest, limit: int) -> Iterator[bytes]:
    """The body piece by piece, where no intake took it."""
    size = 0
    while chunk := request.read(CHUNK):
        size += len(chunk)
        if size > limit:
            raise HttpError(413, "too_large")
        yield chunk
