"""What the parts of the door have in common: the shapes of ASGI, and an answer that is given without Django."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation.trans_real import parse_accept_lang_header

from kakurenbo.core.messages import LANGUAGES, render

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]


@dataclass
class Answer:
    """An answer as a whole: one that Django gave, or a refusal."""

    status: int = 500
    headers: dict[bytes, bytes] = field(default_factory=dict)
    body: bytes = b""
    _raw: list[tuple[bytes, bytes]] = field(default_factory=list)

    @classmethod
    def refusal(
        cls,
        status: int,
        code: str,
        scope: Scope,
        headers: Sequence[tuple[bytes, bytes]] = (),
        **more: object,
    ) -> Answer:
        """As the API refuses: a code for programs, a sentence for people in the language they ask for."""
        message = render(f"judge_serve.upload.{code}", more, _language(scope)).message
        body = json.dumps(
            {"error": code, "message": message, "problems": [], "problem_count": 0, **more}
        ).encode()
        raw = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        raw += headers
        return cls(status, dict(raw), body, raw)

    async def hear(self, message: Message) -> None:
        """Take what Django sends."""
        if message["type"] == "http.response.start":
            self.status, self._raw = message["status"], list(message["headers"])
            self.headers = {name.lower(): value for name, value in self._raw}
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")

    async def give(self, send: Send) -> None:
        """Send it."""
        await send({"type": "http.response.start", "status": self.status, "headers": self._raw})
        await send({"type": "http.response.body", "body": self.body})


def _language(scope: Scope) -> str:
    asked = dict(scope["headers"]).get(b"accept-language", b"").decode("latin-1")
    return next(
        (name[:2] for name, _ in parse_accept_lang_header(asked) if name[:2] in LANGUAGES),
        LANGUAGES[0],
    )
