"""What submit, status and fetch say where something is not as it was meant: a misspelt contest, a phase that is not open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_judge_verbs import (
    CONTEST,
    Call,
    FakeJudge,
    call,
    fake,
    release,
    submission,
    takes,
)

__all__ = ["call", "fake", "release"]  # fixtures

REFUSED = "91 is not an integer from 17 to 90; give an integer from 17 to 90"


@pytest.mark.parametrize("verb", ["submit", "status", "fetch"])
@pytest.mark.parametrize(
    ("contest", "hint"),
    [("autum", "did you mean 'autumn'?"), ("nope", "kakurenbo status lists yours")],
)
def test_a_contest_that_is_not_there_is_named_with_the_one_that_was_meant(
    fake: FakeJudge, call: Call, release: Path, verb: str, contest: str, hint: str
) -> None:
    fake.answers["GET", "/me"] = (200, {"contests": [{"slug": "autumn"}]})
    more = {"submit": [release], "status": [], "fetch": ["-o", release.parent / "out"]}[verb]
    code, _, err = call(verb, contest, *more)
    assert code == 2
    assert f"{contest!r}: you have no such contest; {hint}" in err


@pytest.mark.parametrize(
    "asked",
    [["--phase", "attack"], ["--round", "main", "--phase", "attack"]],
    ids=["phase", "both"],
)
def test_a_phase_that_is_asked_for_and_not_open_is_told_by_the_judge_with_its_time(
    fake: FakeJudge, call: Call, release: Path, asked: list[str]
) -> None:
    takes(fake, submission("scored"))
    said = {
        "message": "the phase main attack is not open yet",
        "fix": "it opens at noon",
        "file": "",
        "row": None,
        "column": None,
    }
    refusal: dict[str, Any] = {"error": "refused", "problems": [said], "problem_count": 1}
    fake.answers["POST", "/contests/autumn/rounds/main/phases/attack/submissions"] = (422, refusal)
    _, _, err = call("submit", "autumn", release, *asked)
    assert err == "the phase main attack is not open yet; it opens at noon\n"


def test_where_every_phase_asked_for_is_over_the_judge_is_asked_about_the_last(
    fake: FakeJudge, call: Call, release: Path
) -> None:
    fake.answers["GET", "/contests/autumn"] = (200, {**CONTEST, "rounds": CONTEST["rounds"][:1]})
    call("submit", "autumn", release, "--phase", "anonymize")
    assert fake.told("POST") == [
        ("POST", "/contests/autumn/rounds/pre/phases/anonymize/submissions")
    ]


def test_a_refusal_is_told_once(fake: FakeJudge, call: Call, release: Path) -> None:
    problem = {
        "file": "D.csv",
        "row": 2,
        "column": "age",
        "message": REFUSED.split("; ")[0],
        "fix": REFUSED.split("; ")[1],
    }
    takes(fake, submission("invalid", problems=[problem], cause=f"D.csv:2: age: {REFUSED}"))
    _, out, err = call("submit", "autumn", release)
    assert err.count("91 is not an integer") == 1
    assert "91" not in out


def test_states_are_called_as_on_the_pages(fake: FakeJudge, call: Call) -> None:
    left = {"count": None, "again_at": None, "resets_at": None}
    phase = {
        "round": "main",
        "kind": "anonymize",
        "state": "open",
        "closes_at": "2024-10-09T15:00:00Z",
        "left": left,
    }
    told = {
        "contest": "autumn",
        "team": "01",
        "phases": [{**phase, "submissions": [submission("scored")]}],
    }
    fake.answers["GET", "/contests/autumn/status"] = (200, told)
    assert " valid" in call("status", "autumn")[1]
