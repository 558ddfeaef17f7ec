"""The self-test: a throw-away contest in which everything is known, and which notices what is not as it is known."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.calling import call

from kakurenbo.judge.operations import selftest, selftest_home
from kakurenbo.judge.operations.selftest import play
from kakurenbo.judge.scoring.child import ForkServer
from kakurenbo.judge.scoring.worker import Worker

RULEBOOK = "hide-and-seek"


@pytest.fixture
def worker(judge_home: Path, plugins: Path, fork_server: ForkServer) -> Iterator[Worker]:
    assert plugins
    made = Worker(judge_home / "worker", server=fork_server)
    yield made
    made.close()


@pytest.mark.django_db
def test_what_is_as_it_is_known_is_told_and_a_scorer_that_counts_otherwise_is_found_out(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = worker.server.run

    def wrong(step: str, folder: Path, request: Mapping[str, Any], *more: Any) -> dict[str, Any]:
        """The scorer's answer, but for one score of the shuffled release and one hit."""
        result = run(step, folder, request, *more)
        if step == "release" and request["team"] == "03":
            result["record"]["measurements"][0]["value"] = 0.123
        if step == "guesses" and request["attacker"] == "02":
            result["earned"][0]["credit"]["hits"] -= 1
        return result

    monkeypatch.setattr(worker.server, "run", wrong)
    played = play(RULEBOOK, worker)
    assert ["0.123" in played.wrong[0], "the answer itself earns everything" in played.wrong[1]] == [True, True]
    assert len(played.wrong) == 2, played.wrong
    seen = "; ".join(played.seen)
    for entry in ("identity", "identity again", "random"):
        assert f"the {entry} release has the same" in seen
    for entry in ("empty", "broken"):
        assert f"the {entry} release is refused" in seen
    assert "no more than blind guessing" in seen


@pytest.mark.django_db
def test_a_rulebook_that_breaks_is_a_finding_and_not_the_end(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("in the rulebook")

    monkeypatch.setattr(selftest, "files_of", broken)
    found = selftest_home.found(RULEBOOK, worker)
    assert not found.ok
    assert "ZeroDivisionError: in the rulebook" in found.detail


@pytest.mark.skipif(not os.environ.get("KAKURENBO_SOAK"), reason="takes minutes: make soak plays all, here one is")
def test_every_installed_rulebook_is_as_it_is_known_and_nothing_is_left_behind() -> None:
    before = set(Path("/tmp").glob("kk*"))
    found = [check for check in call("doctor", "--self-test").json["checks"] if check["name"].startswith("self-test")]
    names = ("amic2020", "darc2019", "pwscup2021", "pwscup2024")
    assert {check["name"] for check in found} >= {f"self-test:{name}" for name in names}
    assert all(check["ok"] for check in found), found
    assert set(Path("/tmp").glob("kk*")) <= before
