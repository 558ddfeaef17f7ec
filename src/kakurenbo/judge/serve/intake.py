"""The body of an upload goes straight to disk, before Django sees the request: a hundred at once leave the pages quick.

The route is asked first whether the file may come at all and how large it may be, with the same headers and through the same
middleware as every request; then the body is written as it comes; then the route is told where it lies. A body that does not
come to its end leaves nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hashlib
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kakurenbo.judge import halves
from kakurenbo.judge.serve.bodies import CutOff, Pace, TooLarge, TooSlow, announced, drop, paced
from kakurenbo.judge.serve.clients import Client, Clients
from kakurenbo.judge.serve.messages import Answer, Application, Message, Receive, Scope, Send
from kakurenbo.judge.serve.uploads import AT_ONCE, KEY, LIMIT_HEADER, Question, Received

_UPLOAD = re.compile(r"/api/v1/submissions/[^/]+/files/.+")
_OK, _TOO_LARGE, _TOO_MANY, _BUSY, _FULL = 200, 413, 429, 503, 507
_PIECE = 1 << 20  # bytes in memory for each upload
_WRITERS = 4  # more threads would not make a disk faster
_MOST_AT_ONCE, _MOST_OF_ONE = 300, 20
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_RETRY = ((b"retry-after", b"5"),)
_OF_THE_BODY = (b"content-length", b"content-type", b"transfer-encoding", b"expect")


class Intake:
    """An ASGI application in front of another.

    Parameters
    ----------
    inner : ASGI application
        Django.
    folder : callable
        Where bodies are written while they come.
    clients : Clients
    has_room : callable
        Whether the disk takes so many bytes more.
    """

    def __init__(
        self,
        inner: Application,
        folder: Callable[[], Path],
        clients: Clients,
        has_room: Callable[[int], bool] = lambda _size: True,
    ) -> None:
        self._inner, self._folder, self._clients, self._has_room = inner, folder, clients, has_room
        self._writers = ThreadPoolExecutor(_WRITERS, "intake")
        self._asking = asyncio.Semaphore(
            AT_ONCE
        )  # fewer than turns: who waits for the disk takes none of a page
        self._under_way: Counter[Client] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] != "http"
            or scope["method"] != "PUT"
            or not _UPLOAD.fullmatch(scope["path"])
        ):
            await self._inner(scope, receive, send)
            return
        client = self._clients.behind(scope)
        self._under_way[client] += 1
        try:
            answer, unread = await self._take(scope, receive, client)
        finally:
            self._under_way[client] -= 1
            self._under_way += Counter()  # which leaves out those that have none
        if unread:
            await drop(receive)
        await answer.give(send)

    async def _take(self, scope: Scope, receive: Receive, client: Client) -> tuple[Answer, bool]:
        """The answer to an upload, and whether its body is still to come: who is refused takes nobody's place meanwhile."""
        if self._under_way.total() > _MOST_AT_ONCE:
            return Answer.refusal(_BUSY, "busy", scope, _RETRY), False
        if self._under_way[client] > _MOST_OF_ONE and not client.shared:
            return Answer.refusal(_TOO_MANY, "too_many", scope, _RETRY), False
        permit = await self._ask(scope, Question())
        if permit.status != _OK:
            return permit, True
        limit = int(permit.headers[LIMIT_HEADER.lower().encode()])
        if announced(scope) > limit:
            return Answer.refusal(_TOO_LARGE, "too_large", scope, limit=limit), True
        if not self._has_room(announced(scope)):
            return Answer.refusal(_FULL, "no_room", scope, _RETRY), True
        return await self._write(scope, receive, limit)

    async def _write(self, scope: Scope, receive: Receive, limit: int) -> tuple[Answer, bool]:
        body = None
        try:
            body = _Body(self._folder(), self._writers, self._has_room)
            await body.fill(receive, limit)
            return await self._ask(scope, await body.complete()), False
        except TooLarge as error:
            return Answer.refusal(_TOO_LARGE, "too_large", scope, limit=limit), error.unread
        except (CutOff, TooSlow) as error:
            return error.answer(scope), False
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            return Answer.refusal(_FULL, "no_room", scope, _RETRY), body is None or body.unread
        finally:
            if body is not None:
                body.discard()

    async def _ask(self, scope: Scope, said: Question | Received) -> Answer:
        """Django's answer to a request without its body, with what the intake says of it."""
        headers = [
            (name, value) for name, value in scope["headers"] if name.lower() not in _OF_THE_BODY
        ]
        answer, asked = Answer(), False

        async def receive() -> Message:
            nonlocal asked
            if asked:
                await asyncio.Event().wait()  # the client stays: Django listens for it to go
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}

        async with self._asking:
            await self._inner({**scope, "headers": headers, KEY: said}, receive, answer.hear)
        return answer


class _Body:
    """A file that grows while its bytes come in."""

    def __init__(
        self, folder: Path, writers: ThreadPoolExecutor, has_room: Callable[[int], bool]
    ) -> None:
        self._file = tempfile.NamedTemporaryFile(dir=folder, prefix=halves.prefix(), delete=False)  # noqa: SIM115 - ``discard``
        self._path, self._writers, self._has_room = Path(self._file.name), writers, has_room
        self._digest, self._size = hashlib.sha256(), 0
        self.unread = True

    async def fill(self, receive: Receive, limit: int) -> None:
        parts: list[bytes] = []
        more, pace = True, Pace()
        while more:
            message = await paced(receive, pace)
            parts.append(message.get("body", b""))
            more = message.get("more_body", False)
            self.unread = more
            if pace.bytes > limit:
                raise TooLarge(unread=more)
            if pace.bytes - self._size >= _PIECE or not more:
                await self._in_thread(self._write, parts)
                parts.clear()

    async def complete(self) -> Received:
        await self._in_thread(self._synchronise)
        return Received(self._path, self._digest.hexdigest(), self._size)

    def discard(self) -> None:
        """Leave nothing, unless the store has taken the file."""
        with contextlib.suppress(
            OSError
        ):  # a disk without room does not take what is still in memory
            self._file.close()
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()

    def _write(self, parts: list[bytes]) -> None:
        if not self._has_room(sum(map(len, parts))):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        for part in parts:
            self._digest.update(part)
            self._size += self._file.write(part)

    def _synchronise(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    async def _in_thread(self, call: Callable[..., None], *arguments: object) -> None:
        await asyncio.get_running_loop().run_in_executor(self._writers, call, *arguments)
