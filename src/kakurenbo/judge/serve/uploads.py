"""What the intake and the route that takes a file say to each other, in the request's scope, which no client can write to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.http import HttpRequest

KEY = "kakurenbo.upload"
AT_ONCE = 2
"""For so many uploads Django answers at once, each in a process of its own: one has work while the other waits for the disk."""
LIMIT_HEADER = "X-Upload-Limit"
"""By which the route answers a question: so many bytes the file may have."""


@dataclass(frozen=True)
class Question:
    """May this file be sent, and how large may it be? Asked before a byte of it is read."""


@dataclass(frozen=True)
class Received:
    """A file that is complete and on disk.

    Attributes
    ----------
    path : Path
        Where it waits to be adopted by the store.
    digest : str
        Its SHA-256.
    size : int
    """

    path: Path
    digest: str
    size: int


def upload_of(request: HttpRequest) -> Question | Received | None:
    """What the intake says of a request; None where the body is in the request itself."""
    said = getattr(request, "scope", {}).get(KEY)
    return said if isinstance(said, Question | Received) else None
