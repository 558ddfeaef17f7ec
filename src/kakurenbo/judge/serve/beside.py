"""Processes beside the web's own, in which Django answers for uploads: while a hundred teams upload, pages wait for none of it.

One interpreter runs one thread at a time. What Django does for an upload, before its body comes and after, is done by
processes that are forked from the web before it begins, with its rights and no more; everything that is kept in memory, from
turns to figures, is kept by the web alone. Where one of them ends, so does the web, and all of them are started again.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http.cookies import SimpleCookie
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import IO

from django.http import HttpResponse, HttpResponseBase

from kakurenbo.judge.operations.logs import Noted
from kakurenbo.judge.operations.watching import KEY as NOTED
from kakurenbo.judge.serve.arrival import KEY as ARRIVED
from kakurenbo.judge.serve.clients import ASKER
from kakurenbo.judge.serve.messages import Scope
from kakurenbo.judge.serve.processes import fork, wait_for
from kakurenbo.judge.serve.uploads import KEY as UPLOAD

_ASKED = (
    "type",
    "http_version",
    "method",
    "scheme",
    "path",
    "raw_path",
    "query_string",
    "root_path",
    "headers",
    "client",
)
_NOTES = ("server", UPLOAD, NOTED, ARRIVED)

AnswerOf = Callable[[Scope, IO[bytes]], HttpResponseBase]


@dataclass(frozen=True)
class _Reply:
    """What Django said, and what it noted of the request for the door."""

    status: int
    headers: dict[str, str]
    cookies: SimpleCookie
    content: bytes
    noted: Noted | None
    asker: str | None


class Beside:
    """Some processes, each of which answers one request at a time.

    Parameters
    ----------
    answer : callable
        Django's answer to a request and its body.
    processes : int
    """

    def __init__(self, answer: AnswerOf, processes: int) -> None:
        self._free: SimpleQueue[Connection] = SimpleQueue()
        self._connections: list[Connection] = []
        self.pids: list[int] = []
        for number in range(1, processes + 1):
            own, other = Pipe()
            self._connections.append(own)
            self.pids.append(fork(f"uploads-{number}", partial(_serve, other, answer), self._leave))
            other.close()
            self._free.put(own)

    def answer(self, scope: Scope) -> HttpResponseBase:
        """The answer to a request without a body; waits for a process that is free.

        Raises
        ------
        EOFError, OSError
            Where the process has ended.
        """
        connection = self._free.get()
        try:
            connection.send({name: scope[name] for name in (*_ASKED, *_NOTES) if name in scope})
            reply: _Reply = connection.recv()
        finally:
            self._free.put(connection)
        if reply.noted is not None:
            scope[NOTED].route = reply.noted.route
            scope[NOTED].about |= reply.noted.about
        if reply.asker is not None:
            scope[ASKER] = reply.asker
        response = HttpResponse(reply.content, status=reply.status, headers=reply.headers)
        response.cookies = reply.cookies
        return response

    def end(self) -> None:
        """Let them end, and wait until they have."""
        self._leave()
        for pid in self.pids:
            wait_for(pid)

    def _leave(self) -> None:
        for connection in self._connections:
            connection.close()


def _serve(web: Connection, answer: AnswerOf) -> None:
    """Answer until the web is gone."""
    while True:
        try:
            scope: Scope = web.recv()
        except (EOFError, OSError):
            return
        response = answer(scope, io.BytesIO())
        assert isinstance(response, HttpResponse), "no upload is answered by a stream"
        noted, asker = scope.get(NOTED), scope.get(ASKER)
        web.send(
            _Reply(
                response.status_code,
                dict(response.headers),
                response.cookies,
                response.content,
                noted,
                asker,
            )
        )
