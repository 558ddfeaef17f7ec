"""The self-test: a throw-away contest in which everything is known, and which notices what is not as it is known."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.calling import call

from kakurenbo.cli import judge as command
from kakurenbo.cli import main
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
    begun: list[str] = []
    played = play(RULEBOOK, worker, begun.append)
    assert tuple(begun) == selftest.STEPS
    assert [
        "0.123" in played.wrong[0],
        "the answer itself earns everything" in played.wrong[1],
    ] == [True, True]
    assert len(played.wrong) == 2, played.wrong
    seen = "; ".join(played.seen)
    for entry in ("identity", "identity again", "random"):
        assert f"the {entry} release has the same" in seen
    for entry in ("empty", "broken"):
        assert f"the {entry} release is refused" in seen
    assert "no more than blind guessing" in seen


@pytest.mark.django_db
def test_a_rulebook_that_breaks_is_a_finding_and_not_the_end(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("in the rulebook")

    monkeypatch.setattr(selftest, "files_of", broken)
    found = selftest_home.found(RULEBOOK, worker)
    assert not found.ok
    assert "ZeroDivisionError: in the rulebook" in found.detail


def test_every_step_is_told_on_a_line_while_it_is_played_and_no_line_is_longer_than_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    finding = {
        "name": "self-test:amic2020",
        "ok": True,
        "detail": ", ".join(["the table is as useful as it is"] * 30),
    }

    def tested(command: list[str], _environment: object, tell: Any) -> tuple[int, str, str]:
        """What the process of the self-test says, without what takes minutes."""
        program = f"from {selftest_home.__name__} import _say; [_say('amic2020', 1, 2, one) for one in {selftest.STEPS}]"
        return listened(
            [*command[:2], "-c", f"{program}; print({json.dumps([finding])!r})"],
            dict(os.environ),
            tell,
        )

    listened = selftest_home._listened
    monkeypatch.setattr(selftest_home, "_listened", tested)
    monkeypatch.setattr(command, "check_judge", lambda *_: [])
    with pytest.raises(SystemExit) as left:
        main(["doctor", "--self-test"])
    printed = capsys.readouterr()
    assert left.value.code == 0
    told = [line for line in printed.err.splitlines() if line.startswith("self-test")]
    assert told == [
        f"self-test amic2020 (1 of 2): {what}" for what in ("data", "releases", "guesses")
    ]
    assert max(map(len, printed.out.splitlines())) <= 160
    assert finding["detail"] in " ".join(line.strip() for line in printed.out.splitlines())


@pytest.mark.skipif(
    not os.environ.get("KAKURENBO_SOAK"), reason="takes minutes: make soak plays all, here one is"
)
def test_every_installed_rulebook_is_as_it_is_known_and_nothing_is_left_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with tempfile.TemporaryDirectory(
        prefix="kk"
    ) as folder:  # its own: others on this machine have judges, too
        Path(folder).chmod(0o711)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        _play_all()
        assert not list(Path(folder).iterdir())


def _play_all() -> None:
    found = [
        check
        for check in call("doctor", "--self-test").json["checks"]
        if check["name"].startswith("self-test")
    ]
    names = ("amic2020", "darc2019", "pwscup2021", "pwscup2024")
    assert {check["name"] for check in found} >= {f"self-test:{name}" for name in names}
    assert all(check["ok"] for check in found), found
