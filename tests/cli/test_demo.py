"""The demo: a whole contest on embedded data, in less than a minute."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from kakurenbo.cli import main


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo writes its reports into the folder it is called in."""
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> None:
    with pytest.raises(SystemExit) as left:
        main(["demo", *arguments])
    assert not left.value.code


def test_the_demo_plays_a_contest_in_less_than_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    begun = time.process_time()  # of this process alone: other tests run beside it
    run("--jobs", "1")
    assert time.process_time() - begun < 60
    out, err = capsys.readouterr()
    assert "embedded statistics" in out, "it says where the data comes from"
    assert "chance 10, 95% band 5–16" in out
    for title in ("Releases", "Hits", "Anonymization", "Attack", "Overall"):
        assert title in out
    assert "jobs, " in err, "plain lines where there is no terminal"
    assert Path("out", "demo", "amic2020.html").exists()
    assert str(Path("out", "demo", "amic2020.html")) in out, "it says where the report is"


def test_the_demo_as_json_has_at_least_five_teams_and_chance_beside_every_attack(capsys: pytest.CaptureFixture[str]) -> None:
    run("--json")
    report = json.loads(capsys.readouterr().out)["amic2020"]
    assert len(report["standings"]["overall"]) >= 5
    credits = [credit for row in report["results"]["credits"].values() for credit in row.values()]
    assert len(credits) >= 25
    assert all(credit["chance"] == {"hits": 10.0, "band95": [5.0, 16.0]} for credit in credits)
    assert max(credit["hits"] for credit in report["results"]["credits"]["05"].values()) <= 16, (
        "synthetic data hide the members"
    )
    assert min(credit["hits"] for credit in report["results"]["credits"]["04"].values()) > 90, (
        "suppression of a few rows does not"
    )
