"""A judge as programs reach it: its address and a token from the environment, calls of its API, refusals as problems."""

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

import click

from kakurenbo import __version__
from kakurenbo.cli.common import PATH, option
from kakurenbo.core import write_file
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import escaped, language, shorten, text
from kakurenbo.methods import registry

SERVER_VARIABLE, TOKEN_VARIABLE = "KAKURENBO_SERVER", "KAKURENBO_TOKEN"
_SECONDS = 60
_AGAIN_AFTER = (0.5, 1.0, 2.0, 4.0)  # seconds; a judge that is restarted is back by then
_BUSY = frozenset({429, 502, 503, 504})
_MOST_TOKEN_BYTES = 1000
_MOST_ANSWER_BYTES = 50_000_000


class JudgeRefused(Exception):
    """The judge was reached and says no: problems as its API tells them."""

    def __init__(self, problems: list[dict[str, Any]], count: int) -> None:
        super().__init__(count)
        self.problems, self.count = problems, count


@dataclass(frozen=True)
class Judge:
    """Calls of one judge's API.

    Attributes
    ----------
    address : str
        Such as ``https://judge.example.org``.
    token : str
    """

    address: str
    token: str = field(repr=False)

    def get(self, *path: str) -> Any:
        """What the API says at a path; asked again a few times where the judge is away."""
        for seconds in _AGAIN_AFTER:
            try:
                with self._called("GET", path) as answer:
                    return json.loads(answer.read(_MOST_ANSWER_BYTES))
            except _Away:
                time.sleep(seconds)
        return self._once("GET", path)

    def contest(self, slug: str, *path: str) -> Any:
        """What the API says of a contest.

        Raises
        ------
        UsageError
            Where this account has no such contest, with the one that was probably meant.
        """
        try:
            return self.get("contests", slug, *path)
        except NotThere:
            near = registry.nearest_name(
                slug, [str(one["slug"]) for one in self.get("me")["contests"]]
            )
            hint = (
                text("judge_client.contest_meant", contest=near)
                if near
                else text("judge_client.contests_of_yours")
            )
            raise UsageError(text("judge_client.no_contest", contest=slug, hint=hint)) from None

    def post(self, *path: str) -> Any:
        """Ask the judge to do something, once."""
        return self._once("POST", path, b"")

    def put(self, file: Path, *path: str) -> Any:
        """Send a file."""
        with file.open("rb") as content:
            return self._once("PUT", path, content, {"Content-Length": str(file.stat().st_size)})

    def give_up(self, *path: str) -> None:
        """Take back what was begun, if the judge still hears it; else it forgets by itself."""
        with suppress(_Away, UsageError, JudgeRefused), self._called("DELETE", path):
            pass

    def fetch(self, to: Path, size: int, sha256: str, *path: str) -> None:
        """Write a file that the judge has, if it is the one that was announced."""
        try:
            with self._called("GET", path) as answer:
                content = answer.read(size + 1)
        except _Away as away:
            raise UsageError(str(away)) from None
        if hashlib.sha256(content).hexdigest() != sha256:
            raise UsageError(text("judge_client.other_bytes", file="/".join(path)))
        write_file(to, content)

    def download(self, to: Path, *path: str) -> None:
        """Write something that the judge makes while it is read, however large."""
        try:
            with self._called("GET", path) as answer, to.open("wb") as file:
                shutil.copyfileobj(answer, file)
        except _Away as away:
            raise UsageError(str(away)) from None

    def _once(
        self,
        method: str,
        path: tuple[str, ...],
        body: bytes | BinaryIO | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        try:
            with self._called(method, path, body, headers) as answer:
                return json.loads(answer.read(_MOST_ANSWER_BYTES))
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
        told = {
            **({"Authorization": f"Bearer {self.token}"} if self.token else {}),
            "Accept-Language": language(),
            "User-Agent": f"kakurenbo/{__version__}",
            "Content-Type": "application/octet-stream",
            **(headers or {}),
        }
        request = urllib.request.Request(address, data=body, headers=told, method=method)
        try:
            with urllib.request.build_opener(_NoRedirect, _Http, _Https).open(
                request, timeout=_SECONDS
            ) as answer:
                yield answer
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from None
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise _Away(
                text("judge_client.away", address=self.address, error=shorten(str(reason), 200))
            ) from None

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        if 300 <= error.code < 400:
            return UsageError(
                text(
                    "judge_client.moved",
                    address=self.address,
                    to=str(error.headers.get("Location", "")),
                )
            )
        if error.code in _BUSY:
            return _Away(text("judge_client.busy", address=self.address, status=error.code))
        try:
            told = json.loads(error.read(_MOST_ANSWER_BYTES))
            if told.get("problems"):
                return JudgeRefused(told["problems"], told["problem_count"])
            message = str(told["message"])
        except (ValueError, KeyError, AttributeError, OSError):
            return UsageError(
                text("judge_client.no_judge", address=self.address, status=error.code)
            )
        kind = NotThere if error.code == HTTPStatus.NOT_FOUND else UsageError
        return kind(text("judge_client.refused", address=self.address, message=message))


class NotThere(UsageError):
    """The judge was reached and has nothing at an address, or nothing for this account."""


class _Away(Exception):
    """The judge cannot be reached now."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing: a token belongs to the address that it was meant for."""

    def redirect_request(self, *_arguments: Any, **_named: Any) -> None:
        return None


class _Heeding(HTTPConnection):
    """Listens to a judge that answers in the middle of a file and takes no more of it: the answer says why."""

    def request(self, *arguments: Any, **named: Any) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):
            super().request(*arguments, **named)


class _SecureHeeding(_Heeding, HTTPSConnection):
    """The same under TLS."""


class _Http(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_Heeding, req)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_SecureHeeding, req)


def judge_options() -> list[click.Parameter]:
    """``--server`` and ``--token-file``."""
    return [
        option("--server", code="option.server", envvar=SERVER_VARIABLE, metavar="ADDRESS"),
        option("--token-file", code="option.token_file", type=PATH),
    ]


def judge_of(server: str | None, token_file: Path | None) -> Judge:
    """The judge that a call means; the token never stands on the command line, where every process can read it."""
    if not server:
        raise UsageError(text("judge_client.no_server", variable=SERVER_VARIABLE))
    parts = urlsplit(server)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(text("judge_client.bad_server", address=server))
    token = _token(token_file)
    if not token:
        raise UsageError(text("judge_client.no_token", variable=TOKEN_VARIABLE))
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(text("judge_client.bad_token"))
    return Judge(server.rstrip("/"), token)


def _token(file: Path | None) -> str:
    if file is None:
        return os.environ.get(TOKEN_VARIABLE, "").strip()
    if not file.is_file():
        raise UsageError(text("usage.no_place", path=str(file)))
    with file.open("rb") as opened:
        return opened.read(_MOST_TOKEN_BYTES).decode("ascii", "replace").strip()


def shown_problem(problem: Mapping[str, Any]) -> str:
    """A problem that a judge told, as this program shows its own: ``FILE:ROW: COLUMN: message; fix``; of no file, alone."""
    where = str(problem.get("file") or "")
    if problem.get("row") is not None:
        where = f"{where or text('problem.input')}:{problem['row']}"
    place = f"{where}: " if where else ""
    column = f"{problem['column']}: " if problem.get("column") is not None else ""
    message, fix = str(problem.get("message", "")), str(problem.get("fix", ""))
    sentence = text("problem.sentence", message=message, fix=fix) if fix else message
    return escaped(f"{place}{column}{sentence}")
