"""Client of a judge's API: its address and a token from the environment, refusals as problems."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote, urlsplit

from kakurenbo import __version__
from kakurenbo.cli.options import PATH, Option
from kakurenbo.core import write_file
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import escaped, language, shorten, text
from kakurenbo.methods import registry

SERVER_VARIABLE, TOKEN_VARIABLE = "KAKURENBO_SERVER", "KAKURENBO_TOKEN"
JUDGE_OPTIONS = (
    Option("--server", envvar=SERVER_VARIABLE, metavar="ADDRESS"),
    Option("--token-file", type=PATH),
)
_TIMEOUT_SECONDS = 60
_AGAIN_AFTER = (0.5, 1.0, 2.0, 4.0)  # seconds; a judge that is restarted is back by then
_BUSY = frozenset({429, 502, 503, 504})
_MAX_TOKEN_BYTES = 1000
_MAX_ANSWER_BYTES = 50_000_000


class JudgeRefused(Exception):
    """The judge was reached and refuses, with problems as its API tells them."""

    def __init__(self, problems: list[dict[str, Any]], count: int) -> None:
        super().__init__(count)
        self.problems, self.count = problems, count


class NotThere(UsageError):
    """The judge was reached and has nothing at an address, or nothing for this account."""


class _Away(Exception):
    """The judge cannot be reached now."""


@dataclass(frozen=True)
class Judge:
    """Calls of one judge's API, at an address such as ``https://judge.example.org``."""

    address: str
    token: str = field(repr=False)

    def get(self, *path: str) -> Any:
        """Return the answer at a path; ask again a few times where the judge is away."""
        for seconds in _AGAIN_AFTER:
            try:
                with self._called("GET", path) as answer:
                    return json.loads(answer.read(_MAX_ANSWER_BYTES))
            except _Away:
                time.sleep(seconds)
        return self._once("GET", path)

    def contest(self, slug: str, *path: str) -> Any:
        """Return an answer about a contest; name the nearest contest if this account has none."""
        try:
            return self.get("contests", slug, *path)
        except NotThere:
            known = [str(contest["slug"]) for contest in self.get("me")["contests"]]
            near = registry.nearest_name(slug, known)
            code = "judge_client.contest_meant" if near else "judge_client.contests_of_yours"
            hint = text(code, contest=near)
            raise UsageError("judge_client.no_contest", contest=slug, hint=hint) from None

    def post(self, *path: str) -> Any:
        return self._once("POST", path, b"")

    def put(self, file: Path, *path: str) -> Any:
        """Send a file."""
        with file.open("rb") as content:
            return self._once("PUT", path, content, {"Content-Length": str(file.stat().st_size)})

    def give_up(self, *path: str) -> None:
        """Take back what was begun, if the judge still answers."""
        with suppress(_Away, UsageError, JudgeRefused), self._called("DELETE", path):
            pass

    def fetch(self, to: Path, size: int, sha256: str, *path: str) -> None:
        """Write a file of the judge, if it is the one that was announced."""
        with self._reached("GET", path) as answer:
            content = answer.read(size + 1)
        if hashlib.sha256(content).hexdigest() != sha256:
            raise UsageError("judge_client.other_bytes", file="/".join(path))
        write_file(to, content)

    def download(self, to: Path, *path: str) -> None:
        """Write an answer of any size."""
        with self._reached("GET", path) as answer, to.open("wb") as file:
            shutil.copyfileobj(answer, file)

    def _once(
        self,
        method: str,
        path: tuple[str, ...],
        body: bytes | BinaryIO | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        with self._reached(method, path, body, headers) as answer:
            return json.loads(answer.read(_MAX_ANSWER_BYTES))

    @contextmanager
    def _reached(self, *call: Any) -> Iterator[Any]:
        try:
            with self._called(*call) as answer:
                yield answer
        except _Away as away:
            raise UsageError(str(away)) from None

    @contextmanager
    def _called(
        self,
        method: str,
        path: tuple[str, ...],
        body: bytes | BinaryIO | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Any]:
        address = "/".join([self.address, "api/v1", *(quote(part, safe="") for part in path)])
        all_headers = {
            "Accept-Language": language(),
            "User-Agent": f"kakurenbo/{__version__}",
            "Content-Type": "application/octet-stream",
            **(headers or {}),
        }
        if self.token:
            all_headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(address, data=body, headers=all_headers, method=method)
        opener = urllib.request.build_opener(_NoRedirect, _Http, _Https)
        try:
            with opener.open(request, timeout=_TIMEOUT_SECONDS) as answer:
                yield answer
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from None
        except (OSError, HTTPException) as error:
            reason = shorten(str(getattr(error, "reason", error)), 200)
            raise _Away(text("judge_client.away", address=self.address, error=reason)) from None

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        about = {"address": self.address, "status": error.code}
        if 300 <= error.code < 400:
            place = str(error.headers.get("Location", ""))
            return UsageError("judge_client.moved", address=self.address, to=place)
        if error.code in _BUSY:
            return _Away(text("judge_client.busy", **about))
        try:
            answer = json.loads(error.read(_MAX_ANSWER_BYTES))
            if answer.get("problems"):
                return JudgeRefused(answer["problems"], answer["problem_count"])
            message = str(answer["message"])
        except (ValueError, KeyError, AttributeError, OSError):
            return UsageError("judge_client.no_judge", **about)
        kind = NotThere if error.code == HTTPStatus.NOT_FOUND else UsageError
        return kind(text("judge_client.refused", address=self.address, message=message))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing: a token belongs to the address that it was meant for."""

    def redirect_request(self, *_arguments: Any, **_named: Any) -> None:
        return None


class _Connection(HTTPConnection):
    """Reads the answer of a judge that answers in the middle of a file and takes no more."""

    def request(self, *arguments: Any, **named: Any) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):
            super().request(*arguments, **named)


class _SecureConnection(_Connection, HTTPSConnection):
    """The same under TLS."""


class _Http(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_Connection, req)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_SecureConnection, req)


def judge_of(server: str | None, token_file: Path | None) -> Judge:
    """Return the judge of a call; the token is never on the command line, which others can read."""
    if not server:
        raise UsageError("judge_client.no_server", variable=SERVER_VARIABLE)
    parts = urlsplit(server)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("judge_client.bad_server", address=server)
    if token_file is None:
        token = os.environ.get(TOKEN_VARIABLE, "").strip()
    elif not token_file.is_file():
        raise UsageError("usage.no_place", path=str(token_file))
    else:
        with token_file.open("rb") as file:
            token = file.read(_MAX_TOKEN_BYTES).decode("ascii", "replace").strip()
    if not token:
        raise UsageError("judge_client.no_token", variable=TOKEN_VARIABLE)
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError("judge_client.bad_token")
    return Judge(server.rstrip("/"), token)


def problem_text(problem: Mapping[str, Any]) -> str:
    """Show a problem that a judge told as ``FILE:ROW: COLUMN: message; fix``."""
    place = str(problem.get("file") or "")
    if problem.get("row") is not None:
        place = f"{place or text('problem.input')}:{problem['row']}"
    sentence, fix = str(problem.get("message", "")), str(problem.get("fix", ""))
    if fix:
        sentence = text("problem.sentence", message=sentence, fix=fix)
    if problem.get("column") is not None:
        sentence = f"{problem['column']}: {sentence}"
    return escaped(f"{place}: {sentence}" if place else sentence)
