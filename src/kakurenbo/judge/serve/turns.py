"""Requests take turns: nobody has more than a few in work at once, however many are sent, and the others go on.

Who waits holds neither a thread nor a connection of the database. Of those that wait, the next is one of whom the least is in
work, so that a single request of one team does not stand behind a thousand of another. The moment at which a request had
arrived is noted before it waits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from django.utils import timezone

from kakurenbo.judge.serve.arrival import KEY
from kakurenbo.judge.serve.clients import Client, Clients
from kakurenbo.judge.serve.messages import Answer, Application, Message, Receive, Scope, Send

AT_ONCE = 12
"""In work for everybody together; the web has a few connections more, so that no request waits for one in vain."""
_UNTOLD = ("/health", "/metrics")
"""Who watches over the judge does not wait with others."""
_TOO_MANY, _RETRY_SECONDS = 429, 2


@dataclass(frozen=True)
class Share:
    """How much one client may have at once.

    Attributes
    ----------
    in_work : int
        Requests that are being answered.
    sending : int
        Answers on their way, beside those in work: long downloads.
    waiting : int
        Requests that wait for their turn; more are refused.
    """

    in_work: int
    sending: int
    waiting: int


OF_ONE, OF_MANY = Share(4, 8, 32), Share(8, 64, 400)


@dataclass
class _Queue:
    share: Share
    users: int = (
        0  # requests that hold it, whatever they are at: while there are some it is not given up
    )
    in_work: int = 0
    sending: int = 0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    @property
    def may_begin(self) -> bool:
        return self.in_work < self.share.in_work and self.sending < self.share.sending


class Turns:
    """An ASGI application in front of another.

    Parameters
    ----------
    inner : ASGI application
        Django.
    clients : Clients
    """

    def __init__(self, inner: Application, clients: Clients) -> None:
        self._inner, self._clients = inner, clients
        self._queues: dict[Client, _Queue] = {}
        self._in_work = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _UNTOLD:
            await self._inner(scope, receive, send)
            return
        client = self._clients.behind(scope)
        queue = self._queues.setdefault(client, _Queue(OF_MANY if client.shared else OF_ONE))
        if len(queue.waiting) >= queue.share.waiting:
            headers = ((b"retry-after", str(_RETRY_SECONDS).encode()),)
            await Answer.refusal(_TOO_MANY, "too_many", scope, headers).give(send)
            return
        queue.users += 1
        try:
            await self._answer(_Turn(self, queue), scope, receive, send)
        finally:
            queue.users -= 1
            if not queue.users:
                del self._queues[client]

    async def _answer(self, turn: _Turn, scope: Scope, receive: Receive, send: Send) -> None:
        async def heard() -> Message:
            message = await receive()
            if (
                not turn.taken
                and message["type"] == "http.request"
                and not message.get("more_body", False)
            ):
                scope[KEY] = timezone.now()
                await turn.take()
            return message

        async def said(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._clients.learn(scope)
                turn.begin_sending()
            await send(message)

        async with turn.kept():
            await self._inner(scope, heard, said)

    # -- for turns -----------------------------------------------------------------------------------------------------------

    async def wait(self, queue: _Queue) -> None:
        """Until it is the next one's turn, which is in work then."""
        turn = asyncio.get_running_loop().create_future()
        queue.waiting.append(turn)
        self.go_on()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was given in the same moment
                self.done(queue)
            else:
                queue.waiting.remove(turn)
            raise

    def done(self, queue: _Queue) -> None:
        """One of a queue is no longer in work."""
        queue.in_work -= 1
        self._in_work -= 1
        self.go_on()

    def go_on(self) -> None:
        """Let begin who may."""
        while self._in_work < AT_ONCE:
            ready = [queue for queue in self._queues.values() if queue.waiting and queue.may_begin]
            if not ready:
                return
            queue = min(ready, key=lambda one: one.in_work)
            queue.in_work += 1
            self._in_work += 1
            queue.waiting.popleft().set_result(None)


class _Turn:
    """One request's turn: waited for, in work, then an answer on its way."""

    def __init__(self, turns: Turns, queue: _Queue) -> None:
        self._turns, self._queue = turns, queue
        self.taken = self._sending = False

    async def take(self) -> None:
        await self._turns.wait(self._queue)
        self.taken = True

    def begin_sending(self) -> None:
        """What is left is to send the answer, which takes as long as its reader likes."""
        if self.taken and not self._sending:
            self._sending = True
            self._queue.sending += 1
            self._turns.done(self._queue)

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Give it back at the end, however that comes."""
        try:
            yield
        finally:
            if self._sending:
                self._queue.sending -= 1
                self._turns.go_on()
            elif self.taken:
                self._turns.done(self._queue)
