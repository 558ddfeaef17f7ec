"""Who is behind a request, as far as the door can know without asking the database.

Django says afterwards whose session or token it was. From then on all that somebody sends counts as one client, by whatever
session, token or address it comes; a credential of which nothing is known counts as its address, so that inventing some gains
nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from kakurenbo.judge.accounts.addresses import address_behind

ASKER = "kakurenbo.asker"
"""Where in the scope Django says who it was."""
_MOST_KNOWN = 20_000


@dataclass(frozen=True)
class Client:
    """Somebody with an account, or an address.

    Attributes
    ----------
    name : str
    shared : bool
        Whether many people may be behind it.
    """

    name: str
    shared: bool


class Clients:
    """Credentials, and whose they turned out to be."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, str] = OrderedDict()
        self._cookie = re.compile(
            rb"(?:^|;\s*)" + re.escape(settings.SESSION_COOKIE_NAME.encode()) + rb"=([^;]+)"
        )

    def behind(self, scope: dict[str, Any]) -> Client:
        """Who sends a request."""
        credential = self._credential(scope)
        user = None if credential is None else self._known.get(credential)
        return (
            Client(f"address {_address(scope)}", shared=True)
            if user is None
            else Client(f"user {user}", shared=False)
        )

    def learn(self, scope: dict[str, Any]) -> None:
        """Take note of what Django said of a request; a credential that is no longer anybody's is forgotten."""
        credential, user = self._credential(scope), scope.get(ASKER)
        if credential is None:
            return
        self._known.pop(credential, None)
        if user is not None:
            self._known[credential] = str(user)
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)

    def _credential(self, scope: dict[str, Any]) -> bytes | None:
        """A digest of what a request shows for itself: the door keeps no secret of anybody."""
        headers = dict(scope["headers"])
        session = self._cookie.search(headers.get(b"cookie", b""))
        shown = headers.get(b"authorization") or (session and b"session " + session[1])
        return hashlib.sha256(shown).digest() if shown else None


def _address(scope: dict[str, Any]) -> str:
    forwarded = dict(scope["headers"]).get(b"x-forwarded-for", b"").decode("latin-1")
    return address_behind(str((scope.get("client") or ("", 0))[0]), forwarded)
