"""Files: single ones of a round, a team's handout, all targets, what a team handed in, the archive."""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from kakurenbo.core import Problems
from kakurenbo.judge.contests import archive as archives
from kakurenbo.judge.contests import permissions, queries, site
from kakurenbo.judge.downloads import download
from kakurenbo.judge.pages.access import (
    UserRequest,
    contest_for,
    for_users,
    own_submission,
    round_of,
)
from kakurenbo.judge.pages.files import HANDOUT, TARGETS, files_of_kinds
from kakurenbo.judge.scoring.models import RoundFile
from kakurenbo.judge.submissions.models import Blob, SubmittedFile

_RETRY_SECONDS = 5


@require_GET
def round_file(request: HttpRequest, slug: str, round_name: str, file: str) -> HttpResponseBase:
    """One file of a round, to who may have it now; others do not learn whether it is there."""
    contest = contest_for(request, slug)
    found = get_object_or_404(
        RoundFile.objects.select_related("round__contest", "blob"),
        round=round_of(contest, round_name),
        path=file,
    )
    if not permissions.may_fetch(request.user, found, timezone.now()):
        raise Http404
    return _stored(request, found.path.rpartition("/")[2], found.blob)


@require_GET
@for_users
def handout(request: UserRequest, slug: str, round_name: str) -> HttpResponseBase:
    """What a team is given, as one zip."""
    return _zip(request, slug, round_name, HANDOUT, "handout")


@require_GET
@for_users
def targets(request: UserRequest, slug: str, round_name: str) -> HttpResponseBase:
    """Everything that attackers are given, as one zip."""
    return _zip(request, slug, round_name, TARGETS, "targets")


@require_GET
@for_users
def submitted_file(request: UserRequest, pk: UUID, name: str) -> HttpResponseBase:
    """A file as it was handed in, to its own team."""
    submission = own_submission(request, pk)
    found = get_object_or_404(
        SubmittedFile.objects.select_related("blob"), submission=submission, name=name
    )
    if not permissions.may_fetch_submitted(request.user, submission.entry.team, timezone.now()):
        raise Http404
    return _stored(request, found.name, found.blob)


@require_GET
def archive(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Everything of a contest that the viewer may have, as one zip."""
    contest = contest_for(request, slug)
    now = timezone.now()
    if not archives.may_have(request.user, contest, now):
        raise PermissionDenied
    if contest.erased_at is not None:
        return render(request, "judge/archive_incomplete.html", {"contest": contest}, status=410)
    if archives.is_incomplete(contest):
        page = render(request, "judge/archive_incomplete.html", {"contest": contest}, status=409)
        page.headers["Retry-After"] = str(_RETRY_SECONDS)
        return page
    lost = archives.lost_parts(request.user, contest, now)
    if lost:
        return _lost(request, lost)
    return download(request, archives.archive(request.user, contest, now), f"{contest.slug}.zip")


@require_GET
def results_site(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The results as a site of plain files."""
    contest = contest_for(request, slug)
    if not archives.may_have(request.user, contest, timezone.now()):
        raise PermissionDenied
    made = site.site(contest)
    if made is None:
        raise Http404
    return download(request, made, f"{contest.slug}-results.zip")


def _stored(request: HttpRequest, name: str, blob: Blob) -> HttpResponseBase:
    lost = archives.lost_files([(name, blob.digest)])
    return (
        _lost(request, lost)
        if lost
        else download(request, archives.blob_chunks(blob.digest), name, blob.size)
    )


def _lost(request: HttpRequest, lost: Problems) -> HttpResponseBase:
    """The store has lost a file: said before anything is sent, since afterwards nobody could."""
    return render(
        request, "judge/lost.html", {"lost": lost, "more": lost.total - len(lost)}, status=500
    )


def _zip(
    request: UserRequest, slug: str, round_name: str, kinds: tuple[str, ...], what: str
) -> HttpResponseBase:
    contest = contest_for(request, slug)
    round_ = round_of(contest, round_name)
    files = files_of_kinds(
        request.user, round_, queries.entry_of(request.user, round_), kinds, timezone.now()
    )
    if not files:
        raise Http404
    lost = archives.lost_files((file.path, file.blob_id) for file in files)
    if lost:
        return _lost(request, lost)
    parts = ((file.path, archives.blob_chunks(file.blob_id)) for file in files)
    return download(request, archives.zipped(parts), f"{contest.slug}-{round_.name}-{what}.zip")
