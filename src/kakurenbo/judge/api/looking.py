"""Routes that read: contests, files of rounds, standings."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone
from ninja import Router

from kakurenbo.judge.api import schemas
from kakurenbo.judge.api.authentication import Asker, asker, somebody
from kakurenbo.judge.api.refusals import all_there, not_there
from kakurenbo.judge.contests import archive, permissions, queries
from kakurenbo.judge.contests.models import Contest, Phase, Round
from kakurenbo.judge.contests.rulebooks import rules_of
from kakurenbo.judge.downloads import download
from kakurenbo.judge.scoring import queries as scoring
from kakurenbo.judge.scoring.models import StandingSnapshot

router = Router(tags=["contests"])
_OF_A_FILE = ("template", "max_bytes", "optional", "instead_of")


def contest_of(user: Asker, slug: str) -> Contest:
    """A contest that the asker may know of."""
    return queries.contests_for(user).filter(slug=slug).first() or not_there()


def round_of(user: Asker, slug: str, name: str) -> Round:
    """A round of such a contest."""
    return contest_of(user, slug).rounds.filter(name=name).first() or not_there()


@router.get("/me", response=schemas.Me, summary="Whose token this is")
def me(request: HttpRequest) -> dict[str, Any]:
    user = somebody(request)
    listed = [_line(user, contest) for contest in queries.contests_for(user)]
    return {
        "email": user.email,
        "name": user.name,
        "is_organizer": permissions.is_organizer(user),
        "contests": listed,
    }


@router.get("/contests", response=list[schemas.ContestLine], summary="Contests that you may see")
def contests(request: HttpRequest) -> list[dict[str, Any]]:
    return [_line(asker(request), contest) for contest in queries.contests_for(asker(request))]


@router.get(
    "/contests/{slug}",
    response=schemas.ContestOut,
    summary="A contest: rounds, phases, teams, announcements",
)
def contest(request: HttpRequest, slug: str) -> dict[str, Any]:
    user = asker(request)
    found = contest_of(user, slug)
    return {
        **_line(user, found),
        "options": found.options,
        "rounds": [
            {
                "name": one.name,
                "prepared_at": one.prepared_at,
                "phases": [_phase(found, phase) for phase in one.phases.all()],
            }
            for one in found.rounds.all()
        ],
        "teams": found.teams.all(),
        "announcements": found.announcements.all(),
    }


@router.get(
    "/contests/{slug}/log",
    response=schemas.LogOut,
    summary="The log: leaves and signed roots; at the end its entries",
)
def log(request: HttpRequest, slug: str) -> dict[str, Any]:
    user = asker(request)
    return archive.log(user, contest_of(user, slug), timezone.now())


@router.get(
    "/contests/{slug}/standings", response=schemas.StandingsOut, summary="Standings over all rounds"
)
def contest_standings(request: HttpRequest, slug: str) -> dict[str, Any]:
    user = asker(request)
    found = contest_of(user, slug)
    return _standings(found, scoring.standings(found, user, timezone.now()))


@router.get(
    "/contests/{slug}/rounds/{name}/standings",
    response=schemas.StandingsOut,
    summary="Standings of a round",
)
def round_standings(request: HttpRequest, slug: str, name: str) -> dict[str, Any]:
    user = asker(request)
    found = round_of(user, slug, name)
    return _standings(found.contest, scoring.standings(found, user, timezone.now()))


@router.get(
    "/contests/{slug}/rounds/{name}/files",
    response=list[schemas.RoundFileOut],
    summary="Files of a round that you may fetch",
)
def round_files(request: HttpRequest, slug: str, name: str) -> list[dict[str, Any]]:
    user, now = asker(request), timezone.now()
    return [
        {"path": file.path, "size": file.blob.size, "sha256": file.blob.digest}
        for file in round_of(user, slug, name).files.select_related("blob", "round__contest")
        if permissions.may_fetch(user, file, now)
    ]


@router.get(
    "/contests/{slug}/rounds/{name}/files/{path:path}", summary="One of these files", response=bytes
)
def round_file(request: HttpRequest, slug: str, name: str, path: str) -> StreamingHttpResponse:
    user = asker(request)
    file = (
        round_of(user, slug, name)
        .files.select_related("blob", "round__contest")
        .filter(path=path)
        .first()
    )
    if file is None or not permissions.may_fetch(user, file, timezone.now()):
        not_there()
    return download_blob(request, file.blob.digest, path.rsplit("/", 1)[-1], file.blob.size)


def download_blob(request: HttpRequest, digest: str, name: str, size: int) -> StreamingHttpResponse:
    """A file of the open store."""
    all_there(archive.lost_files([(name, digest)]))
    return download(request, archive.blob_chunks(digest), name, size)


def _line(user: Asker, contest: Contest) -> dict[str, Any]:
    own = None if isinstance(user, AnonymousUser) else permissions.membership(user, contest)
    team = (
        None
        if own is None
        else {"number": own.team.number, "name": own.team.name, "role": own.role}
    )
    names = ("slug", "title", "rulebook", "zone", "rehearsal", "ended_at")
    return {**{name: getattr(contest, name) for name in names}, "team": team}


def _phase(contest: Contest, phase: Phase) -> dict[str, Any]:
    declared = rules_of(contest).phase(phase.kind)
    names = ("kind", "opens_at", "closes_at", "visibility", "reset_hour")
    tries = ("tries_in_all", "tries_per_day", "tries_per_target")
    return {
        **{name: getattr(phase, name) for name in (*names, *tries)},
        "state": phase.shown_state,
        "counts": declared.counts.value,
        "files": [{name: getattr(file, name) for name in _OF_A_FILE} for file in declared.files],
    }


def _standings(contest: Contest, snapshot: StandingSnapshot | None) -> dict[str, Any]:
    if snapshot is None:
        not_there()
    return {
        "contest": contest.slug,
        "round": None if snapshot.round is None else snapshot.round.name,
        "taken_at": snapshot.taken_at,
        "standings": snapshot.standings,
        "results": snapshot.results,
    }
