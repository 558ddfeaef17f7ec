"""Uploads: asked first, written as they come, kept whole or not at all."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kakurenbo.judge.serve import bodies, intake
from kakurenbo.judge.serve.clients import Client, Clients
from kakurenbo.judge.serve.intake import Intake
from kakurenbo.judge.serve.uploads import KEY, LIMIT_HEADER, Question, Received

PLACE = "/api/v1/submissions/5f0c/files/D.csv"


class Route:
    """Stands for Django: says what may come, and keeps what it was told."""

    def __init__(self, limit: int = 10, refuses: int = 0, room: int = 1000) -> None:
        self.limit, self.refuses, self.room = limit, refuses, room
        self.kept: dict[str, bytes] = {}
        self.asked: list[object] = []

    def has_room(self, size: int) -> bool:
        self.room -= size
        return self.room >= 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        said = scope.get(KEY)
        self.asked.append(said)
        assert b"content-length" not in dict(scope["headers"]) or said is None
        status, headers = (self.refuses or 200), [(b"content-type", b"application/json")]
        if isinstance(said, Question):
            headers.append((LIMIT_HEADER.encode(), str(self.limit).encode()))
        if isinstance(said, Received):
            assert (said.size, said.digest) == (
                said.path.stat().st_size,
                hashlib.sha256(said.path.read_bytes()).hexdigest(),
            )
            self.kept[said.digest] = said.path.read_bytes()
            said.path.unlink()  # as the store does: it renames
            status = 201
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"{}"})


def told(
    application: Any,
    pieces: Sequence[bytes | None],
    path: str,
    method: str,
    headers: Mapping[str, str],
) -> list[dict[str, Any]]:
    """What is answered to a body in pieces; None among them is a connection that breaks."""
    waiting: list[bytes | None] = list(pieces)
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        piece = waiting.pop(0)
        return (
            {"type": "http.disconnect"}
            if piece is None
            else {"type": "http.request", "body": piece, "more_body": bool(waiting)}
        )

    async def send(message: Any) -> None:
        sent.append(message)

    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "headers": given}
    asyncio.run(application(scope, receive, send))
    return sent


def put(
    route: Route,
    folder: Path,
    pieces: Sequence[bytes | None],
    path: str = PLACE,
    method: str = "PUT",
    **headers: str,
) -> tuple[int | None, dict[str, Any]]:
    """The status and body of an upload in pieces."""
    sent = told(
        Intake(route, lambda: folder, Clients(), route.has_room), pieces, path, method, headers
    )  # type: ignore[arg-type]
    return (sent[0]["status"], json.loads(sent[1]["body"])) if sent else (None, {})


def test_a_file_is_asked_for_written_and_handed_over_whole(tmp_path: Path) -> None:
    route = Route()
    assert put(route, tmp_path, [b"abc", b"", b"defg"], content_length="7") == (201, {})
    assert list(route.kept.values()) == [b"abcdefg"]
    assert [type(said) for said in route.asked] == [Question, Received]


def test_a_half_sent_body_leaves_nothing_and_who_still_listens_is_told_so(tmp_path: Path) -> None:
    route = Route()
    status, said = put(route, tmp_path, [b"abc", None])
    assert (status, said["error"]) == (400, "cut_off")
    assert not route.kept
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("announced", "pieces"),
    [("11", [b"abcdef", b"ghijk"]), ("", [b"abcdef", b"ghijk"]), ("5", [b"abcdef", b"ghijk"])],
)
def test_more_than_the_limit_is_refused_whether_or_not_it_was_announced(
    tmp_path: Path, announced: str, pieces: list[bytes]
) -> None:
    route = Route(limit=10)
    status, said = put(route, tmp_path, pieces, content_length=announced)
    assert (status, said["error"], said["limit"]) == (413, "too_large", 10)
    assert not route.kept
    assert not list(tmp_path.iterdir())


def test_a_file_of_exactly_the_limit_is_taken(tmp_path: Path) -> None:
    assert put(Route(limit=10), tmp_path, [b"0123456789"])[0] == 201


@pytest.mark.parametrize("announced", ["7", ""])
def test_where_the_disk_has_no_room_an_upload_is_refused_and_leaves_nothing(
    tmp_path: Path, announced: str
) -> None:
    route = Route(room=5)
    status, said = put(route, tmp_path, [b"abcdefg"], content_length=announced)
    assert (status, said["error"]) == (507, "no_room")
    assert "full" in said["message"]
    assert not route.kept
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_disk_that_takes_no_byte_of_what_is_in_memory_is_told_of_and_not_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / "upload"

    def full(**_: Any) -> Any:
        left.symlink_to("/dev/full")
        return left.open("wb")

    monkeypatch.setattr(intake.tempfile, "NamedTemporaryFile", full)
    status, said = put(Route(), tmp_path, [b"abc"])
    assert (status, said["error"]) == (507, "no_room")
    assert not left.is_symlink()


def test_no_byte_is_written_for_whoever_may_not_send(tmp_path: Path) -> None:
    route = Route(refuses=403)
    assert put(route, tmp_path, [b"abc", b"def"]) == (403, {})
    assert not route.kept
    assert not list(tmp_path.iterdir())


def test_a_sender_that_falls_silent_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "_SILENCE_SECONDS", 0.05)
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.sleep(3600)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "PUT", "path": PLACE, "headers": []}
    asyncio.run(Intake(Route(), lambda: tmp_path, Clients())(scope, receive, send))  # type: ignore[arg-type]
    assert (sent[0]["status"], json.loads(sent[1]["body"])["error"]) == (408, "too_slow")
    assert not list(tmp_path.iterdir())


def test_refusals_are_in_the_language_of_the_sender(tmp_path: Path) -> None:
    def said(language: str) -> str:
        message: str = put(Route(limit=1), tmp_path, [b"ab"], accept_language=language)[1][
            "message"
        ]
        return message

    assert "1 bytes" in said("en")
    assert "1 バイト" in said("ja,en;q=0.5")
    assert said("fr") == said("en")


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", PLACE), ("POST", PLACE), ("PUT", "/api/v1/submissions/5f0c/files"), ("PUT", "/x")],
)
def test_everything_else_is_djangos_with_its_body(tmp_path: Path, method: str, path: str) -> None:
    route = Route()
    put(route, tmp_path, [b"abc"], path, method, content_length="3")
    assert route.asked == [None]


def test_what_the_intake_says_cannot_be_said_by_a_header() -> None:
    from django.test import RequestFactory

    from kakurenbo.judge.serve.uploads import upload_of

    request = RequestFactory().put(PLACE, headers={KEY: "Received", LIMIT_HEADER: "9"})
    assert upload_of(request) is None
    checked: Callable[[Any], object] = upload_of
    request.scope = {KEY: "Received"}  # type: ignore[attr-defined]
    assert checked(request) is None


def test_a_sender_that_drips_is_given_up_though_it_never_falls_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "_SILENCE_SECONDS", 0.3)
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.sleep(0.05)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "PUT", "path": PLACE, "headers": []}
    asyncio.run(Intake(Route(10_000), lambda: tmp_path, Clients())(scope, receive, send))  # type: ignore[arg-type]
    assert (sent[0]["status"], json.loads(sent[1]["body"])["error"]) == (408, "too_slow")
    assert not list(tmp_path.iterdir())


def passed(pieces: list[bytes | None], path: str = "/login", **headers: str) -> tuple[int, int]:
    """The status that a body gets which is no upload, and how many bytes of it reached Django."""
    read = 0

    async def django(_scope: Any, receive: Any, send: Any) -> None:
        nonlocal read
        more = True
        while more:
            message = await receive()
            read += len(message["body"])
            more = message["more_body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    sent = told(bodies.Bodies(django, Clients()), pieces, path, "POST", headers)
    return sent[0]["status"], read


FORM, MB = "/contests/cup/play/pre/anonymize/submit", bytes(1 << 20)


def test_a_body_that_is_no_upload_is_counted_before_django_keeps_it() -> None:
    assert passed([MB, MB]) == (200, 2 << 20)
    assert passed([MB] * 9) == (413, 4 << 20)
    assert passed([b""], content_length=str(10**12)) == (413, 0)
    assert passed([MB, None]) == (400, 1 << 20)
    assert passed([MB] * 9, FORM) == (413, 4 << 20), "nobody that the judge knows"


def test_the_files_of_a_form_may_be_large_where_somebody_known_sends_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = Client("user 1", shared=False)
    monkeypatch.setattr(Clients, "behind", lambda *_: known)
    assert passed([MB] * 9, FORM) == (200, 9 << 20)
    assert passed([MB] * 9) == (413, 4 << 20)
