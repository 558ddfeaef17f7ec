"""Speaks to each viewer in a language of the catalogue: that of the account, of the cookie, of the browser."""

from __future__ import annotations

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import render
from django.utils import translation

from kakurenbo.core.messages import LANGUAGES, speaking_to
from kakurenbo.judge.accounts.models import User


def spoken_language(request: HttpRequest) -> str:
    """The language of who asks; Django has looked at cookie and browser already."""
    if isinstance(request.user, User) and request.user.language in LANGUAGES:
        return request.user.language
    asked = (translation.get_language() or "")[:2]
    return asked if asked in LANGUAGES else LANGUAGES[0]


class LanguageMiddleware:
    """Puts catalogue and Django's own words into the viewer's language, for one request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        language = spoken_language(request)
        with translation.override(language), speaking_to(language):
            response = self._get_response(request)
        response.headers.setdefault("Content-Language", language)
        return response


class NothingUnstorableMiddleware:
    """An address with a character that the database cannot hold is that of nothing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not _storable(request.path_info):
            raise Http404
        return self._get_response(request)


class WordedRefusalsMiddleware:
    """A page where Django has none: an address that only takes what a form sends, opened by itself."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        if (
            isinstance(response, HttpResponseNotAllowed)
            and not response.content
            and request.method in ("GET", "HEAD")
        ):
            page = render(request, "405.html", status=response.status_code)
            page.headers["Allow"] = response.headers["Allow"]
            return page
        return response


def _storable(words: str) -> bool:
    """Whether PostgreSQL takes a text: it has no NUL in it, and no half of a character."""
    return "\0" not in words and not any("\ud800" <= letter <= "\udfff" for letter in words)
