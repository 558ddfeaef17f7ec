"""What is answered where something broke: a fault, or only that everybody came at once."""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse, JsonResponse
from psycopg_pool import PoolTimeout

from kakurenbo.judge.api.refusals import refusal
from kakurenbo.judge.pages.views import errors

_BUSY, _RETRY_SECONDS = 503, 5


def server_error(request: HttpRequest) -> HttpResponse:
    """Something broke; where no connection to the database was free, it is worth trying again."""
    if not _is_crowded(sys.exc_info()[1]):
        return errors.server_error(request)
    by_program = request.path_info.startswith("/api/")
    answer = JsonResponse(refusal("busy"), status=_BUSY) if by_program else errors.error_page(request, _BUSY)
    answer.headers["Retry-After"] = str(_RETRY_SECONDS)
    return answer


def _is_crowded(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, PoolTimeout):
        error = error.__cause__ or error.__context__
    return error is not None
