"""Who asks: the owner of a bearer token, somebody who is logged in by the pages, or nobody in particular."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from ninja.errors import HttpError
from ninja.security import HttpBearer
from ninja.utils import check_csrf

from kakurenbo.judge.accounts import rules as accounts
from kakurenbo.judge.accounts.models import User

Asker = User | AnonymousUser


class TokenOrSession(HttpBearer):
    """A token where there is one, else the session of the pages, else anonymous: what that may see is for the rules to say.

    A token that is wrong or revoked is refused even where everybody may see the answer: its owner should learn of it.
    """

    openapi_name = "token"

    def __call__(self, request: HttpRequest) -> Asker | None:
        if request.headers.get(self.header):
            return super().__call__(request)
        if not request.user.is_authenticated:
            return AnonymousUser()
        if check_csrf(request) is not None:  # a session is sent by browsers unasked, a token is not
            raise HttpError(403, "csrf")
        return request.user

    def authenticate(self, request: HttpRequest, token: str) -> User | None:
        return accounts.user_of_token(token)


def asker(request: HttpRequest) -> Asker:
    """Whom :class:`TokenOrSession` found."""
    found: Asker = request.auth  # type: ignore[attr-defined]
    return found


def somebody(request: HttpRequest) -> User:
    """The asker of what nobody may do without an account; 401 for others."""
    found = asker(request)
    if isinstance(found, AnonymousUser):
        raise HttpError(401, "anonymous")
    return found
