"""Whatever is refused under ``/api/`` is refused in the API's own shape, also where no route, or no code of ours, answered."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase, JsonResponse

from kakurenbo.judge.api.refusals import refusal
from kakurenbo.judge.operations.logs import request_id

_PLACE = "/api/"
_JSON = "application/json"
_FIRST_REFUSAL, _FIRST_FAULT = 400, 500
_CODES = {
    401: "token",
    403: "forbidden",
    404: "missing",
    405: "method",
    413: "too_large",
    429: "too_fast",
    503: "busy",
}
_KEPT = ("Allow", "Retry-After", "WWW-Authenticate")
"""Headers of a refusal that tell a program what to do."""


class JsonRefusals:
    """Turns pages of refusal, such as Django's own, into what programs read; nothing of a fault but that there was one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        status = response.status_code
        if (
            status < _FIRST_REFUSAL
            or not request.path_info.startswith(_PLACE)
            or _is_ours(response)
        ):
            return response
        content = refusal(_CODES.get(status, "fault" if status >= _FIRST_FAULT else "malformed"))
        if status >= _FIRST_FAULT:  # by which whoever runs the judge finds it in the log
            content["request_id"] = request_id()
        told = JsonResponse(content, status=status)
        for name in _KEPT:
            if name in response.headers:
                told.headers[name] = response.headers[name]
        return told


def _is_ours(response: HttpResponseBase) -> bool:
    return response.headers.get("Content-Type", "").split(";")[0] == _JSON
