"""What holds for every answer of the judge, page or API, whoever makes it."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.serve.clients import ASKER

_CACHING, _OF_THIS_PERSON = "Cache-Control", "private, no-store"


class PersonalAnswers:
    """An answer to somebody is kept by nobody else, and the door is told who it was."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        by_token = "Authorization" in request.headers
        asker = getattr(request, "auth", None) if by_token else request.user
        if isinstance(asker, User) and hasattr(request, "scope"):
            request.scope[ASKER] = str(asker.pk)
        if by_token or isinstance(asker, User) or request.user.is_authenticated:
            response.headers[_CACHING] = _OF_THIS_PERSON
        return response


class HeadLikeGet:
    """Whatever can be got can be asked for without its content."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.method != "HEAD":
            return self._get_response(request)
        request.method = "GET"
        response = self._get_response(request)
        bare = HttpResponse(status=response.status_code, headers=dict(response.headers))
        bare.cookies = response.cookies
        if isinstance(response, HttpResponse):
            bare.headers["Content-Length"] = str(len(response.content))
        return bare
