"""Secrets that a page shows once: a link, a token. The judge keeps their hashes alone.

They come back with the browser that asked for them, for a few minutes and for one page, so that a reload or another language
shows them again: no address, no log and no database has them.
"""

from __future__ import annotations

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect

from kakurenbo.judge.pages.access import UserRequest

_COOKIE = "shown-once"
_SECONDS = 600


def shown_on(page: str, request: UserRequest, secret: str) -> HttpResponse:
    """Go to the page that shows a secret to this user."""
    response = redirect(page)
    response.set_signed_cookie(
        _COOKIE,
        secret,
        salt=_salt(request, page),
        max_age=_SECONDS,
        path=page,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )
    return response


def secret_of(request: UserRequest, page: str) -> str:
    """The secret that a page is to show; empty for another user, for another page and after a few minutes."""
    return (
        request.get_signed_cookie(_COOKIE, default="", salt=_salt(request, page), max_age=_SECONDS)
        or ""
    )


def forgotten_on(page: str) -> HttpResponse:
    """Go to a page that shows no secret any more."""
    response = redirect(page)
    response.delete_cookie(_COOKIE, path=page, samesite="Lax")
    return response


def _salt(request: UserRequest, page: str) -> str:
    return f"{_COOKIE} {request.user.pk} {page}"
