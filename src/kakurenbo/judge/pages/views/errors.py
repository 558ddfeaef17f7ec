"""Pages for what goes wrong before or beside a view; they ask neither the database nor who is there."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import translation

from kakurenbo import __version__
from kakurenbo.core.messages import LANGUAGES, speaking_to
from kakurenbo.judge.operations.logs import request_id
from kakurenbo.judge.pages.context import chosen_theme


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - as Django calls it
    """What was sent cannot be read: too much of it, or by an address that is not this judge's."""
    return error_page(request, 400)


def server_error(request: HttpRequest) -> HttpResponse:
    """Something broke; what it was is in the log, not on the page."""
    return error_page(request, 500)


def error_page(request: HttpRequest, status: int) -> HttpResponse:
    """The page of a status, in the language that cookie or browser ask for."""
    asked = translation.get_language_from_request(request)[:2]
    language = asked if asked in LANGUAGES else LANGUAGES[0]
    known = {
        "language": language,
        "theme": chosen_theme(request),
        "version": __version__,
        "request_id": request_id(),
    }
    with translation.override(language), speaking_to(language):
        return HttpResponse(render_to_string(f"{status}.html", known), status=status)
