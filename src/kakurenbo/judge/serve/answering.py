"""Django's answers, each made in one thread from the first middleware to the last.

Django's own handler for ASGI goes back and forth between its loop and a new thread several times in every request, because
middleware, views and the database are synchronous. Under load that costs more than the answers themselves.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import IO

from asgiref.sync import ThreadSensitiveContext
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.http import HttpResponseBase
from django.urls import set_script_prefix

from kakurenbo.judge.serve.beside import Beside
from kakurenbo.judge.serve.messages import Receive, Scope, Send
from kakurenbo.judge.serve.turns import AT_ONCE
from kakurenbo.judge.serve.uploads import KEY

_AT_ANY_TIME = 4
"""Threads for those who do not wait for a turn."""
_SWITCH_SECONDS = 0.001
"""So soon a thread lets others go on: the loop, which moves the bytes of everybody, waits behind all of them."""


class Answers(ASGIHandler):
    """An ASGI application: Django."""

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        self._threads = ThreadPoolExecutor(AT_ONCE + _AT_ANY_TIME, "answer")
        self._beside: Beside | None = None
        sys.setswitchinterval(_SWITCH_SECONDS)

    def answer_uploads_beside(self, processes: int) -> Beside:
        """From now on, have other processes answer for uploads; called before there is any thread."""
        self._beside = Beside(self._answer, processes)
        return self._beside

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        context = contextvars.copy_context()
        beside = self._beside is not None and KEY in scope
        answer = self._answer_beside if beside else self._answer
        response = await asyncio.get_running_loop().run_in_executor(
            self._threads, context.run, answer, scope, body
        )
        if response.streaming:
            async with ThreadSensitiveContext():
                await self._stream(response, receive, send)
        else:
            await self.send_response(response, send)

    def _answer(self, scope: Scope, body: IO[bytes]) -> HttpResponseBase:
        """Where it is not a stream, the answer is whole, and what it needed is given back."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        request, refusal = self.create_request(scope, body)
        response = self.get_response(request) if request is not None else refusal
        assert response is not None, "there is a request or a refusal"
        if not response.streaming:
            response.close()
            body.close()
        return response

    def _answer_beside(self, scope: Scope, body: IO[bytes]) -> HttpResponseBase:
        assert self._beside is not None, "it is asked only where there is one"
        body.close()
        return self._beside.answer(scope)

    async def _stream(self, response: HttpResponseBase, receive: Receive, send: Send) -> None:
        """Send piece after piece, as long as somebody is there to take them."""
        sending = asyncio.create_task(self.send_response(response, send))
        listening = asyncio.create_task(self.listen_for_disconnect(receive))
        try:
            await asyncio.wait([sending, listening], return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            for task in (sending, listening):
                task.cancel()
            await asyncio.gather(sending, listening, return_exceptions=True)
            await asyncio.get_running_loop().run_in_executor(self._threads, response.close)
