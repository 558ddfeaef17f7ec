"""The judge's log: one line for each thing, as text or as JSON, and nothing in it that is for one person alone."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, InterfaceError, OperationalError
from django.test import Client
from tests.judge import making
from tests.judge.test_child import folder, hand_in, release, rules, server

from kakurenbo.judge.operations import logs
from kakurenbo.judge.operations.logs import JsonLines, Noted, TextLines, current
from kakurenbo.judge.scoring import sweep
from kakurenbo.judge.scoring.child import ForkServer

__all__ = ["folder", "rules", "server"]
SECRET = "mark-of-a-secret"


@pytest.fixture(params=[TextLines, JsonLines], ids=["text", "json"])
def written(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Lines as they are written, in either form."""
    lines: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    handler = Kept()
    handler.setFormatter(request.param())
    logging.getLogger().addHandler(handler)
    yield lines
    logging.getLogger().removeHandler(handler)


def logged(**fields: Any) -> logging.LogRecord:
    given: dict[str, Any] = {
        "name": "kakurenbo.x",
        "level": logging.INFO,
        "pathname": "",
        "lineno": 0,
        "msg": "x",
        "args": (),
    }
    return logging.LogRecord(**{**given, "exc_info": None, **fields})


def test_a_line_of_json_is_one_object_with_time_level_process_logger_and_event() -> None:
    line = JsonLines().format(logged(msg="two\nlines of %s", args=("it",)))
    assert "\n" not in line
    told = json.loads(line)
    assert list(told) == ["time", "level", "process", "logger", "event"]
    assert (told["level"], told["logger"], told["event"]) == (
        "INFO",
        "kakurenbo.x",
        "two\nlines of it",
    )
    assert told["time"].endswith("+00:00")


def test_a_line_names_the_request_it_belongs_to_by_its_id_its_pattern_and_what_it_was_about() -> (
    None
):
    token = current.set(Noted("0123", "contests/<slug:slug>/", {"contest": "cup"}))
    try:
        told = json.loads(JsonLines().format(logged()))
        assert (told["request"], told["route"], told["contest"]) == (
            "0123",
            "contests/<slug:slug>/",
            "cup",
        )
        assert "0123" in TextLines().format(logged())
    finally:
        current.reset(token)


def test_an_exception_is_told_by_its_kind_and_place_and_never_by_its_words_or_values(
    written: list[str],
) -> None:
    held = SECRET
    try:
        try:
            raise KeyError(held)
        except KeyError as error:
            raise ValueError(f"{held} is wrong") from error
    except ValueError:
        logging.getLogger("kakurenbo.x").exception("it failed")
    (line,) = written
    assert "ValueError from KeyError" in line
    assert "test_logs.py" in line
    assert SECRET not in line


def test_of_what_a_library_says_nothing_is_kept_that_was_filled_in(written: list[str]) -> None:
    logging.getLogger("library").error("no such thing: %s", SECRET)
    logging.getLogger("asyncio").error(
        f"Task exception was never retrieved\nfuture: <Task exception=ValueError('{SECRET}')>"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn(SECRET, UserWarning, stacklevel=1)
        logging.captureWarnings(False)
    assert len(written) == 3
    assert "no such thing: %s" in written[0]
    assert "Task exception was never retrieved" in written[1]
    assert "UserWarning" in written[2]
    assert not any(SECRET in line for line in written)


@pytest.mark.django_db
def test_a_log_in_that_fails_is_a_line_of_its_own_with_everything_filled_in_and_no_name_or_address(
    written: list[str], client: Client, settings: Any
) -> None:
    making.user("aoi")
    settings.AXES_FAILURE_LIMIT = 2
    for _ in range(2):
        client.post(
            "/login",
            {"email": f"{SECRET}@example.org", "password": SECRET},
            REMOTE_ADDR="192.0.2.7",
        )
    told = [json.loads(line) if line.startswith("{") else line for line in written]
    events = [one["event"] if isinstance(one, dict) else one for one in told]
    assert [
        sum("a log-in failed" in event for event in events),
        sum("are refused" in event for event in events),
    ] == [2, 1]
    assert not any(
        "%s" in line or SECRET in line or "192.0.2.7" in line or "AXES" in line for line in written
    )


@pytest.mark.django_db
def test_a_page_that_breaks_is_logged_by_its_pattern_and_tells_who_asked_a_number_to_report(
    written: list[str], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise DatabaseError(f"{SECRET} is not there")

    monkeypatch.setattr("kakurenbo.judge.contests.queries.open_invite", broken)
    client.raise_request_exception = False
    answer = client.get(f"/join/{SECRET}?of={SECRET}")
    assert answer.status_code == 500
    number = answer.headers["X-Request-Id"]
    assert number in answer.content.decode()
    (line,) = [line for line in written if "django.request" in line]
    assert number in line
    assert "DatabaseError" in line
    assert SECRET not in line
    assert "join/<str:invitation>" in line


@pytest.mark.django_db
def test_a_program_is_told_the_same_number(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise DatabaseError(SECRET)

    monkeypatch.setattr("kakurenbo.judge.accounts.rules.user_of_token", broken)
    client.raise_request_exception = False
    answer = client.get("/api/v1/contests", headers={"authorization": "Bearer x"})
    assert answer.status_code == 500
    assert answer.json()["request_id"] == answer.headers["X-Request-Id"]
    assert SECRET not in answer.content.decode()


def test_a_database_that_restarts_is_one_line_when_it_goes_and_one_when_it_is_back_whatever_fails_meanwhile(
    written: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(error: Exception, cause: Exception | None = None) -> Callable[..., None]:
        def step(*_: object) -> None:
            raise error from cause

        return step

    steps = sweep.Steps()
    gone = fails(OperationalError("gone"), psycopg.OperationalError("the connection is lost"))
    ends = fails(OperationalError("ends"), psycopg.errors.AdminShutdown("terminating"))
    for step in (ends, fails(InterfaceError("closed")), gone):
        assert not steps.attempt(step)
    monkeypatch.setattr(sweep, "beat", gone)
    assert [steps.begin() for _ in range(7)] == [False] * 7
    monkeypatch.setattr(sweep, "beat", lambda *_: None)
    assert [steps.begin() for _ in range(2)] == [True] * 2
    assert ["does not answer" in written[0], "answers again after" in written[1], len(written)] == [
        True,
        True,
        2,
    ]
    assert steps.attempt(fails(OperationalError("full"), psycopg.errors.DiskFull("no room"))), (
        "the database is there"
    )
    assert steps.attempt(fails(ZeroDivisionError()))
    assert sum("the sweep failed, and goes on" in line for line in written) == 2


def test_every_request_has_a_number_of_its_own(client: Client) -> None:
    numbers = {
        client.get("/nowhere", headers={"X-Request-Id": "mine"}).headers["X-Request-Id"]
        for _ in range(2)
    }
    assert len(numbers) == 2
    assert "mine" not in numbers


def test_what_a_scoring_process_prints_reaches_no_log(server: ForkServer, folder: Path) -> None:
    hand_in(folder, f"tell {SECRET}".encode())
    assert release(server, folder)["record"]["cause"] == "ValueError: /dev/null /dev/null /dev/null"


def test_text_is_for_people_and_leaves_single_requests_to_json() -> None:
    levels = {
        form: logs.configuration(form)["loggers"][logs.REQUESTS]["level"] for form in logs.FORMATS
    }
    assert levels == {"text": "WARNING", "json": "INFO"}


def test_what_nobody_caught_is_logged_without_its_words(written: list[str]) -> None:
    try:
        raise RuntimeError(SECRET)
    except RuntimeError as error:
        logs._uncaught(type(error), error, error.__traceback__)
    assert "RuntimeError" in written[0]
    assert SECRET not in written[0]
