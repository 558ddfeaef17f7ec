"""Bodies of requests: no more of one comes in than somebody needs, nor so slowly that it stays for ever.

Django keeps the whole body of a request on disk before it looks at it, however large it is and whoever sends it. Here it is
counted first. Files of a plain form may be large where somebody known sends them; everything else is a form of some fields.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from dataclasses import dataclass, field

from django.conf import settings

from kakurenbo.contest.submissions import MAX_BYTES
from kakurenbo.judge.serve.clients import Clients
from kakurenbo.judge.serve.messages import Answer, Application, Message, Receive, Scope, Send
from kakurenbo.judge.serve.uploads import KEY

_CUT_OFF, _TIMEOUT, _TOO_LARGE = 400, 408, 413
_WITH_FILES = re.compile(r"/contests/[^/]+/play/[^/]+/[^/]+/(?:submit|form/[^/]+)")
_SILENCE_SECONDS = 60.0  # after which a sender is taken for lost
_SLOWEST = 2000  # bytes a second on average, after the first minute
_DROPPED_BYTES, _DROPPED_SECONDS = (
    1 << 24,
    5.0,
)  # of a refused body that are read, so that its sender sees why


class CutOff(Exception):
    """The sender went away in the middle."""

    def answer(self, scope: Scope) -> Answer:
        """For whoever still listens."""
        return Answer.refusal(_CUT_OFF, "cut_off", scope)


class TooSlow(Exception):
    """The sender fell silent, or sends so little that it would never end."""

    def answer(self, scope: Scope) -> Answer:
        return Answer.refusal(_TIMEOUT, "too_slow", scope, slowest=_SLOWEST)


class TooLarge(Exception):
    """More came than may come.

    Attributes
    ----------
    unread : bool
        Whether there is still more.
    """

    def __init__(self, *, unread: bool) -> None:
        super().__init__()
        self.unread = unread


@dataclass
class Pace:
    """How fast a body comes."""

    bytes: int = 0
    _began: float = field(default_factory=time.monotonic)

    def seconds_left(self) -> float:
        """How long its sender may take for the next piece."""
        until = self._began + _SILENCE_SECONDS + self.bytes / _SLOWEST
        return max(0.0, min(_SILENCE_SECONDS, until - time.monotonic()))


async def paced(receive: Receive, pace: Pace) -> Message:
    """The next piece of a body.

    Raises
    ------
    CutOff, TooSlow
        Where the rest of it will not come.
    """
    try:
        async with asyncio.timeout(
            pace.seconds_left()
        ):  # unlike ``wait_for``, without a task for each piece
            message = await receive()
    except TimeoutError:
        raise TooSlow from None
    if message["type"] == "http.disconnect":
        raise CutOff
    pace.bytes += len(message.get("body", b""))
    return message


async def drop(receive: Receive) -> None:
    """Read some of what is still to come of a body that was refused."""
    dropped, more = 0, True
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DROPPED_SECONDS):
            while more and dropped < _DROPPED_BYTES:
                message = await receive()
                dropped += len(message.get("body", b""))
                more = message["type"] == "http.request" and message.get("more_body", False)


def announced(scope: Scope) -> int:
    """How many bytes a request says that it has."""
    given = dict(scope["headers"]).get(b"content-length", b"0")
    return int(given) if given.isdigit() else 0


class Bodies:
    """An ASGI application in front of another, for all that is no upload.

    Parameters
    ----------
    inner : ASGI application
        Django.
    clients : Clients
    """

    def __init__(self, inner: Application, clients: Clients) -> None:
        self._inner, self._clients = inner, clients

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or KEY in scope:
            await self._inner(scope, receive, send)
            return
        limit = self._limit(scope)
        too_large = Answer.refusal(_TOO_LARGE, "request_too_large", scope, limit=limit)
        if announced(scope) > limit:
            await drop(receive)
            await too_large.give(send)
            return
        try:
            await self._inner(scope, _counted(receive, limit), send)
        except TooLarge as error:
            if error.unread:
                await drop(receive)
            await too_large.give(send)
        except (CutOff, TooSlow) as error:
            await error.answer(scope).give(send)

    def _limit(self, scope: Scope) -> int:
        known = not self._clients.behind(scope).shared
        return (
            MAX_BYTES
            if known and _WITH_FILES.fullmatch(scope["path"])
            else 2 * settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        )


def _counted(receive: Receive, limit: int) -> Receive:
    """A body that is given up where it is too large, too slow or not whole; what comes after it passes."""
    pace, whole = Pace(), False

    async def counted() -> Message:
        nonlocal whole
        if whole:
            return await receive()
        message = await paced(receive, pace)
        whole = not message.get("more_body", False)
        if pace.bytes > limit:
            raise TooLarge(unread=not whole)
        return message

    return counted
