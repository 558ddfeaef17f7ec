"""What Django does for uploads, it does in processes beside the web, which keeps all that is to be remembered."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import IO

import pytest
from django.http import HttpResponse

from kakurenbo.judge.operations.watching import KEY as NOTED
from kakurenbo.judge.operations.watching import new_note
from kakurenbo.judge.serve.beside import Beside
from kakurenbo.judge.serve.clients import ASKER
from kakurenbo.judge.serve.messages import Scope
from kakurenbo.judge.serve.uploads import KEY, Question


def django(scope: Scope, body: IO[bytes]) -> HttpResponse:
    """Says what it was asked, and where."""
    scope[ASKER] = "7"
    scope[NOTED].route, scope[NOTED].about = "/files/", {"team": "01"}
    response = HttpResponse(
        f"{os.getpid()} {scope['path']} {body.read()!r}",
        status=201,
        headers={"X-Upload-Limit": "9"},
    )
    response.set_cookie("language", "ja")
    assert scope[KEY] == Question()
    assert "state" not in scope, "what the server keeps for itself stays there"
    return response


@pytest.fixture
def beside() -> Iterator[Beside]:
    beside = Beside(django, 2)
    yield beside
    beside.end()


def asked() -> Scope:
    return {
        "type": "http",
        "method": "PUT",
        "path": "/a",
        "headers": [],
        "state": object(),
        KEY: Question(),
        NOTED: new_note(),
    }


def test_another_process_answers_and_the_web_gets_the_answer_whole_with_what_was_noted_of_the_request(
    beside: Beside,
) -> None:
    scope = asked()
    response = beside.answer(scope)
    assert isinstance(response, HttpResponse)
    pid, *said = response.content.decode().split(maxsplit=1)
    assert int(pid) in beside.pids
    assert said == ["/a b''"]
    assert (
        response.status_code,
        response.headers["X-Upload-Limit"],
        response.cookies["language"].value,
    ) == (201, "9", "ja")
    assert (scope[ASKER], scope[NOTED].route, scope[NOTED].about) == (
        "7",
        "/files/",
        {"team": "01"},
    )


def test_where_a_process_has_ended_whoever_asks_is_told_and_the_others_go_on(
    beside: Beside,
) -> None:
    killed = beside.pids[0]
    os.kill(killed, signal.SIGKILL)
    os.waitid(os.P_PID, killed, os.WEXITED | os.WNOWAIT)
    with pytest.raises((EOFError, OSError)):
        beside.answer(asked())
    assert beside.answer(asked()).status_code == 201
