"""Routes by which organizers have entries judged again, see what would change, and apply or cancel it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Status

from kakurenbo.judge.api import schemas
from kakurenbo.judge.api.authentication import somebody
from kakurenbo.judge.api.organizing import managed
from kakurenbo.judge.api.refusals import not_there
from kakurenbo.judge.scoring import queries, rejudging
from kakurenbo.judge.scoring.models import Rejudging
from kakurenbo.judge.submissions.models import Submission

router = Router(tags=["organizers"])


@router.get(
    "/contests/{slug}/rejudgings",
    response=schemas.RejudgingsOut,
    summary="Rejudgings, and entries that need one",
)
def every(request: HttpRequest, slug: str) -> dict[str, Any]:
    contest = managed(request, slug)
    found = queries.rejudgings(contest, somebody(request), timezone.now())
    return {
        "judged_by_others": queries.judged_by_others(contest),
        "rejudgings": [_line(one) for one in found],
    }


@router.post(
    "/contests/{slug}/rejudgings",
    response={201: schemas.RejudgingOut, 422: schemas.Refusal},
    summary="Have a contest, a round or one submission judged again, beside what counts",
)
def ask(request: HttpRequest, slug: str, asked: schemas.RejudgingIn) -> Status[dict[str, Any]]:
    contest = managed(request, slug)
    named = (one for one in contest.rounds.all() if one.name == asked.round)
    round_ = None if asked.round is None else next(named, None) or not_there()
    submission = None
    if asked.submission is not None:
        submission = (
            Submission.objects.filter(pk=asked.submission, entry__team__contest=contest).first()
            or not_there()
        )
    return Status(
        201,
        _whole(rejudging.ask(somebody(request), contest, asked.reason, round_, submission)),
    )


@router.get(
    "/contests/{slug}/rejudgings/{int:pk}",
    response=schemas.RejudgingOut,
    summary="What a rejudging would change",
)
def one(request: HttpRequest, slug: str, pk: int) -> dict[str, Any]:
    return _whole(_found(request, slug, pk))


@router.post(
    "/contests/{slug}/rejudgings/{int:pk}/apply",
    response={200: schemas.RejudgingOut, 422: schemas.Refusal},
    summary="Let a rejudging count",
)
def apply(request: HttpRequest, slug: str, pk: int) -> dict[str, Any]:
    return _whole(rejudging.apply(somebody(request), _found(request, slug, pk)))


@router.post(
    "/contests/{slug}/rejudgings/{int:pk}/cancel",
    response={200: schemas.RejudgingOut, 422: schemas.Refusal},
    summary="Give a rejudging up",
)
def cancel(request: HttpRequest, slug: str, pk: int) -> dict[str, Any]:
    return _whole(rejudging.cancel(somebody(request), _found(request, slug, pk)))


def _found(request: HttpRequest, slug: str, pk: int) -> Rejudging:
    found = queries.rejudgings(managed(request, slug), somebody(request), timezone.now())
    return found.filter(pk=pk).first() or not_there()


def _line(found: Rejudging) -> dict[str, Any]:
    names = ("id", "state", "reason", "asked_at", "decided_at")
    about = {
        "round": None if found.round is None else found.round.name,
        "submission": found.submission_id,
    }
    return {**{name: getattr(found, name) for name in names}, **about}


def _whole(found: Rejudging) -> dict[str, Any]:
    return {**_line(found), "changes": found.preview}
