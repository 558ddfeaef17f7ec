"""What holds for every answer of the judge, page or API, whoever makes it."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.serve.clients import ASKER

_PROBED, _LOOPBACK = frozenset(("/health", "/metrics")), frozenset(("127.0.0.1", "::1"))
_LOCAL_NAMES = frozenset(("127.0.0.1", "localhost", "::1"))
_CACHING, _OF_THIS_PERSON = "Cache-Control", "private, no-store"


class LocalProbes:
    """Who asks on this machine how the judge is, by the machine's own name, asks as if by the judge's; for no other page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        behind_proxy = (
            settings.SECURE_PROXY_SSL_HEADER
        )  # without one, the machine's own names are the judge's too
        local = request.META.get("REMOTE_ADDR") in _LOOPBACK and _names_this_machine(request)
        if behind_proxy and local and request.path_info in _PROBED:
            request.META["HTTP_HOST"] = urlsplit(settings.PUBLIC_URL).netloc
            name, value = behind_proxy
            request.META[name] = value
        return self._get_response(request)


def _names_this_machine(request: HttpRequest) -> bool:
    try:
        return urlsplit(f"//{request.META.get('HTTP_HOST', '')}").hostname in _LOCAL_NAMES
    except ValueError:  # no name of anything
        return False


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
