"""Around every request: an id by which it can be found again, a line in the log, and figures; whatever answers it.

The door gives the id before anybody looks at the request, so that a refusal of the door has one too. Django says afterwards
by which pattern the address was found.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from http import HTTPMethod, HTTPStatus

from django.http import HttpRequest, HttpResponseBase

from kakurenbo.judge.operations import metrics
from kakurenbo.judge.operations.logs import REQUESTS, Noted, current, route_of
from kakurenbo.judge.serve.clients import ASKER
from kakurenbo.judge.serve.messages import Application, Message, Receive, Scope, Send

KEY, HEADER = "kakurenbo.noted", "X-Request-Id"
_STATIC, _NOWHERE = "static", "none"
_QUIET = frozenset(("health", "metrics", _STATIC))
"""Routes that are asked for all day, of which the figures tell enough."""
_IDS = {"slug": "contest", "number": "team", "submission_id": "submission", "pk": "id"}
_ID_BYTES = 8
_BROKEN_OFF = 499
_log = logging.getLogger(REQUESTS)


class Watched:
    """An ASGI application around all others."""

    def __init__(self, inner: Application) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        noted = scope[KEY] = new_note()
        began, status, received = time.monotonic(), _BROKEN_OFF, 0

        async def heard() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            return message

        async def said(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {
                    **message,
                    "headers": [*message["headers"], (HEADER.lower().encode(), noted.id.encode())],
                }
            await send(message)

        token = current.set(noted)
        try:
            await self._inner(scope, heard, said)
        finally:
            noted.about |= {"user": scope[ASKER]} if ASKER in scope else {}
            _note(scope, noted, status, time.monotonic() - began, received)
            current.reset(token)


def _note(scope: Scope, noted: Noted, status: int, seconds: float, received: int) -> None:
    route = noted.route or (_STATIC if scope["path"].startswith("/static/") else _NOWHERE)
    metrics.count_request(route, scope["method"], status, seconds, received)
    if route not in _QUIET:
        fields = {
            "method": _method(scope),
            "status": status,
            "seconds": round(seconds, 4),
            "received": received,
        }
        _log.info("request", extra={"fields": fields})


def _method(scope: Scope) -> str:
    """As HTTP knows it: anybody can invent others."""
    return scope["method"] if scope["method"] in HTTPMethod.__members__ else "other"


class RouteNotes:
    """Tells the door by which pattern an address was found; where there is no door, gives the id itself."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        by_door = getattr(request, "scope", {}).get(KEY)
        noted = by_door or new_note()
        token = current.set(noted)
        try:
            response = self._get_response(request)
        finally:
            current.reset(token)
        match = request.resolver_match
        if match is not None:
            noted.route = route_of(match)
            if (
                response.status_code != HTTPStatus.NOT_FOUND
            ):  # of what there is not, an address may hold anything
                noted.about |= {
                    _IDS[name]: str(value) for name, value in match.kwargs.items() if name in _IDS
                }
        if by_door is None:
            response.headers[HEADER] = noted.id
        return response


def new_note() -> Noted:
    """Of a request that has just come."""
    return Noted(secrets.token_hex(_ID_BYTES))
