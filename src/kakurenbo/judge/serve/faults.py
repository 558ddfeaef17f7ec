"""What is answered where something broke: a fault, or only that everybody came at once, or that something is away or full."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from psycopg.errors import DiskFull
from psycopg_pool import PoolTimeout

from kakurenbo.judge.api.refusals import refusal
from kakurenbo.judge.pages.views import errors
from kakurenbo.judge.submissions.store import is_full

_BUSY, _FULL, _RETRY_SECONDS = 503, 507, 5
_PASSING = (PoolTimeout, OperationalError, InterfaceError)
"""No connection to the database was free, or it went away in the middle: it comes back."""


def server_error(request: HttpRequest) -> HttpResponse:
    """Something broke; where the database was away or the disk is full, it is worth trying again."""
    causes = list(_causes(sys.exc_info()[1]))
    full = any(is_full(cause) or isinstance(cause, DiskFull) for cause in causes)
    if not full and not any(isinstance(cause, _PASSING) for cause in causes):
        return errors.server_error(request)
    if not request.path_info.startswith("/api/"):
        answer = errors.error_page(request, _BUSY)
    else:
        answer = (
            JsonResponse(refusal("no_room"), status=_FULL)
            if full
            else JsonResponse(refusal("busy"), status=_BUSY)
        )
    answer.headers["Retry-After"] = str(_RETRY_SECONDS)
    return answer


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
