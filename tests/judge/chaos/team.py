"""A team that hands in whatever happens to the judge: what was not acknowledged is sent again, what was is remembered."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.judge.waiting import PATIENCE

_PAUSE_SECONDS = 0.2
_BAD_EVERY = 4
_UNDER_WAY = ("received", "checking", "scoring")
_AGAIN = frozenset((408, 429, 502, 503, 507))
"""Answers after which a client tries once more."""
_NOT_YET = "unsigned"
"""A sweep that was killed signs a little later: the judge says to ask again."""
_BEGIN_AGAIN = {"submissions.withdrawn", "submissions.finished"}
"""A clock that was set on while something was sent: it took too long, and is begun again."""


class Refusal(Exception):
    """The judge says no, for a reason that another try does not change."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(f"{status} {body}")
        self.error = body.get("error")
        self.codes = [problem["code"] for problem in body.get("problems", [])]


class Team:
    """One team's program.

    Attributes
    ----------
    releases : list of (str, bytes)
        What it hands in, by turns.
    measured : dict
        The scores of each, as the command line measures them.
    acknowledged : list of dict
        What the judge said of every submission that it took, with the bytes.
    refused : int
        How often the judge said that no try is left.
    faults : list of str
        Answers that nobody should ever get.
    answers : Counter
        How often each status came; 0 for a connection that broke.
    """

    def __init__(self, address: str, contest: str, round: str, number: str, token: str) -> None:
        self._host, self.contest, self.round, self.number = (
            urlsplit(address).netloc,
            contest,
            round,
            number,
        )
        self.headers = {"Authorization": f"Bearer {token}"}
        self.releases: list[tuple[str, bytes]] = []
        self.measured: dict[bytes, dict[str, float]] = {}
        self.acknowledged: list[dict[str, Any]] = []
        self.refused = 0
        self.faults: list[str] = []
        self.answers: Counter[int] = Counter()
        self._lock = threading.Lock()

    # -- asking ------------------------------------------------------------------------------------------------------------

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Status and body of one request; 0 where the connection broke."""
        connection = http.client.HTTPConnection(self._host, timeout=60)
        try:
            connection.request(method, f"/api/v1/{path}", body=body, headers=self.headers)
            answer = connection.getresponse()
            status, content = answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            status, content = 0, b""
        finally:
            connection.close()
        with self._lock:
            self.answers[status] += 1
            if status >= 500 and status not in _AGAIN:
                self.faults.append(f"{method} {path}: {status} {content[:300]!r}")
        return status, content

    def insist(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Ask until there is an answer that is more than a passing trouble."""
        until = time.monotonic() + PATIENCE
        while True:
            status, content = self.ask(method, path, body)
            if 200 <= status < 300:
                return content
            if status and status < 500 and status not in _AGAIN:
                refusal = Refusal(status, json.loads(content))
                if refusal.error != _NOT_YET:
                    raise refusal
            assert time.monotonic() < until, f"{method} {path}: {status} {content!r}"
            time.sleep(_PAUSE_SECONDS)

    def get(self, path: str) -> Any:
        return json.loads(self.insist("GET", path))

    def download(self, path: str) -> bytes:
        return self.insist("GET", path)

    def fetch(self, folder: Path) -> Path:
        """The team's handout."""
        place = f"contests/{self.contest}/rounds/{self.round}/files"
        for file in self.get(place):
            if file["path"].startswith(f"teams/{self.number}/"):
                target = folder / file["path"]
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(self.download(f"{place}/{file['path']}"))
        return folder / "teams" / self.number

    # -- handing in --------------------------------------------------------------------------------------------------------

    def begin(self) -> str:
        place = f"contests/{self.contest}/rounds/{self.round}/phases/anonymize/submissions"
        return str(json.loads(self.insist("POST", place))["id"])

    def hand_in(self, name: str, content: bytes, kind: str = "good") -> None:
        """Until the judge acknowledges it; :class:`Refusal` where it takes no more."""
        while True:
            try:
                self._send(self.begin(), name, content, kind)
            except Refusal as refusal:
                if not set(refusal.codes) <= _BEGIN_AGAIN:
                    raise
                time.sleep(_PAUSE_SECONDS)
            else:
                return

    def resume(self, begun: str) -> None:
        """Send a release for a submission that was begun; where the last try was used meanwhile, it is refused."""
        name, content = self.releases[0]
        try:
            self._send(begun, name, content, "good")
        except Refusal as refusal:
            if not set(refusal.codes) <= {
                *_BEGIN_AGAIN,
                "submissions.no_try_left",
                "submissions.tries_in_checking",
            }:
                raise

    def _send(self, begun: str, name: str, content: bytes, kind: str) -> None:
        self.insist("PUT", f"submissions/{begun}/files/{name}", content)
        told = json.loads(self.insist("POST", f"submissions/{begun}/finish"))
        with self._lock:
            self.acknowledged.append({**told, "kind": kind, "content": content})

    def play(self, tries: int, pause: float, over: threading.Event, *, patient: bool) -> None:
        """Hand in until there is no try left, or it is enough; now and then something that is no release, which costs none.

        Parameters
        ----------
        tries : int
            How many there are.
        pause : float
            Seconds between them.
        over : Event
            It is enough.
        patient : bool
            Wait for what was handed in to be judged before the next: there is always something to score, and never much.
        """
        while not over.is_set():
            number = self.good
            name, content = self.releases[number % len(self.releases)]
            try:
                if (
                    number % _BAD_EVERY == 0
                    and number // _BAD_EVERY == len(self.acknowledged) - number
                ):
                    self.hand_in(name, b"this is no release\n", "bad")
                self.hand_in(name, content)
            except Refusal as refusal:
                if "submissions.no_try_left" not in refusal.codes:
                    raise
                if self.good >= tries:
                    self.refused += 1
                    return
            over.wait(pause)
            while patient and not over.is_set() and self._state_of_last() in _UNDER_WAY:
                time.sleep(_PAUSE_SECONDS)

    def _state_of_last(self) -> str:
        return str(self.get(f"submissions/{self.acknowledged[-1]['id']}")["state"])

    @property
    def good(self) -> int:
        """How many releases were acknowledged."""
        return sum(one["kind"] == "good" for one in self.acknowledged)

    def half_upload(self, size: int) -> tuple[str, socket.socket]:
        """Begin a submission, and send the first half of a file; the connection stays open."""
        name, content = self.releases[0]
        begun = self.begin()
        host, port = self._host.split(":")
        connection = socket.create_connection((host, int(port)), timeout=60)
        head = f"PUT /api/v1/submissions/{begun}/files/{name} HTTP/1.1\r\nHost: {self._host}\r\n"
        head += "".join(f"{key}: {value}\r\n" for key, value in self.headers.items())
        connection.sendall(f"{head}Content-Length: {size}\r\n\r\n".encode() + content[: size // 2])
        return begun, connection
