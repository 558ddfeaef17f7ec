"""Routes for organizers: the queue, work that is parked, and everything as one file."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone
from ninja import Router
from ninja.errors import HttpError

from kakurenbo.judge.accounts.forgetting import delete_account as delete
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.api import schemas
from kakurenbo.judge.api.authentication import asker, somebody
from kakurenbo.judge.api.looking import contest_of
from kakurenbo.judge.api.refusals import Gone, NotYet, all_there, not_there
from kakurenbo.judge.contests import archive as archives
from kakurenbo.judge.contests import erasing, permissions
from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.contests.site import site
from kakurenbo.judge.downloads import download
from kakurenbo.judge.scoring import queries as scoring
from kakurenbo.judge.scoring import rules
from kakurenbo.judge.scoring.models import Job

router = Router(tags=["organizers"])


@router.get(
    "/contests/{slug}/queue",
    response=list[schemas.JobOut],
    summary="Work that waits, runs or is parked",
)
def queue(request: HttpRequest, slug: str) -> list[dict[str, Any]]:
    return [_job(queued.job) for queued in scoring.queue(managed(request, slug), timezone.now())]


@router.post(
    "/jobs/{int:job_id}/rerun", response=schemas.JobOut, summary="Do a piece of work again"
)
def rerun(request: HttpRequest, job_id: int) -> dict[str, Any]:
    user = somebody(request)
    job = Job.objects.select_related("contest").filter(pk=job_id).first()
    if job is None or not permissions.may_manage(user, job.contest, timezone.now()):
        not_there()
    return _job(rules.rerun(user, job))


@router.get(
    "/contests/{slug}/archive.zip",
    response={200: bytes, 409: schemas.Refusal, 410: schemas.Refusal, 500: schemas.Refusal},
    summary="Everything of a contest that you may have, in one file",
)
def archive(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    user, now = asker(request), timezone.now()
    contest = contest_of(user, slug)
    if not archives.may_have(user, contest, now):
        raise HttpError(403, "forbidden")
    if contest.erased_at is not None:
        raise Gone("erased")
    if archives.is_incomplete(contest):
        raise NotYet("archive_incomplete")
    all_there(archives.lost_parts(user, contest, now))
    return download(request, archives.archive(user, contest, now), f"{contest.slug}.zip")


@router.get(
    "/contests/{slug}/results-site.zip",
    response=bytes,
    summary="The results as a site of plain files",
)
def results_site(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    user = asker(request)
    contest = contest_of(user, slug)
    if not archives.may_have(user, contest, timezone.now()):
        raise HttpError(403, "forbidden")
    pieces = site(contest) or not_there()
    return download(request, pieces, f"{contest.slug}-results.zip")


@router.post(
    "/contests/{slug}/erase",
    response={200: schemas.Erased, 422: schemas.Refusal},
    summary="Delete the files of a contest that is long over",
)
def erase(request: HttpRequest, slug: str, confirm: str = "") -> Contest:
    return erasing.erase(somebody(request), managed(request, slug), confirm)


@router.get("/accounts", response=list[schemas.AccountOut], summary="Everybody who can log in")
def accounts(request: HttpRequest) -> QuerySet[User]:
    _organizer(request)
    return User.objects.filter(is_active=True).order_by("pk")


@router.delete(
    "/accounts/{int:account_id}",
    response={200: schemas.AccountOut, 422: schemas.Refusal},
    summary="Delete an account; a pseudonym stays",
)
def delete_account(request: HttpRequest, account_id: int) -> User:
    _organizer(request)
    return delete(User.objects.filter(pk=account_id, is_active=True).first() or not_there())


def _organizer(request: HttpRequest) -> None:
    if not permissions.is_organizer(somebody(request)):
        raise HttpError(403, "forbidden")


def managed(request: HttpRequest, slug: str) -> Contest:
    """A contest that the asker manages."""
    user: User = somebody(request)
    found = contest_of(user, slug)
    if not permissions.may_manage(user, found, timezone.now()):
        raise HttpError(403, "forbidden")
    return found


def _job(job: Job) -> dict[str, Any]:
    names = (
        "id",
        "kind",
        "state",
        "subject",
        "attempts",
        "worker",
        "cause",
        "created_at",
        "started_at",
    )
    return {
        **{name: getattr(job, name) for name in names},
        "round": None if job.round is None else job.round.name,
        "submission": job.submission_id,
    }
