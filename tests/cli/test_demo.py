"""The demo: a whole contest on embedded data, in less than a minute."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.reading import attempt

from kakurenbo import arena
from kakurenbo.cli import main, tournaments
from kakurenbo.contest import AnyRulebook
from kakurenbo.core import Problems
from kakurenbo.reports import read_document

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo writes its reports into the folder it is called in."""
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> None:
    with pytest.raises(SystemExit) as left:
        main(["demo", *arguments])
    assert not left.value.code


def test_the_demo_plays_a_contest_in_less_than_a_minute_and_convinces(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    played: dict[str, arena.Tournament] = {}

    def play_once(rulebook: AnyRulebook, seed: int, jobs: int, *, quiet: bool) -> arena.Tournament:
        if rulebook.name not in played:
            played[rulebook.name] = play(rulebook, seed, jobs, quiet=quiet)
        return played[rulebook.name]

    play = tournaments._play_demo
    monkeypatch.setattr(tournaments, "_play_demo", play_once)
    begun = time.process_time()  # of this process alone: other tests run beside it
    run("--jobs", "1")
    assert time.process_time() - begun < 60
    _tells(*capsys.readouterr())
    run("--json")
    _convinces(json.loads(capsys.readouterr().out))


def _tells(out: str, err: str) -> None:
    assert "embedded statistics" in out, "it says where the data comes from"
    assert "chance: 10 hits on average, 95 % of blind guesses get 5 to 16" in out
    assert "always 0" in out, "where the contest has one"
    assert out.count("What this contest taught:") == 4
    assert not re.search(r"\de[+-]\d|\b1 teams|Round round|±1", out), "figures as people read them"
    for title in ("Releases", "Hits", "Anonymization", "Attack", "Overall"):
        assert title in out
    for contest in ("amic2020", "darc2019", "pwscup2021", "pwscup2024"):
        assert re.search(rf"^{contest}: \d+/\d+ jobs, ", err, re.MULTILINE), (
            "plain lines where there is no terminal"
        )
        assert str(Path("out", "demo", f"{contest}.html")) in out.splitlines()[-1], (
            "the last line says which files to open"
        )
    assert "kakurenbo prepare amic2020 -o contest --teams 2" in out.splitlines()[-1], (
        "and what to type next"
    )
    assert Path("out", "demo", "amic2020.html").exists()
    assert str(Path("out", "demo", "amic2020.html")) in out, "it says where the report is"


def _convinces(report: dict[str, Any]) -> None:
    credits = [
        credit
        for row in report["amic2020"]["results"]["credits"].values()
        for credit in row.values()
    ]
    assert all(credit["chance"] == {"hits": 10.0, "band95": [5.0, 16.0]} for credit in credits)
    for name, played in report.items():
        document = attempt(read_document, Path("out", "demo", f"{name}.json"))
        assert not isinstance(document, Problems)
        (entry,) = document.value.rounds
        assert len(entry.releases) >= 5, name
        assert entry.passing >= 0.75 * entry.judged, "most teams pass"
        out = {target for target, release in entry.releases.items() if release.state != "published"}
        awarded = {team for teams in document.value.awards.values() for team in teams}
        assert awarded or "no_awards" in document.value.details, (
            "somebody wins, but for a preliminary round"
        )
        assert not out & awarded, "who is disqualified wins nothing"
        assert _differ(played["results"]["credits"], document.value.sample_attacks), (
            "attackers differ"
        )
        assert all(
            release.verdicts["en"] and release.verdicts["ja"] for release in entry.releases.values()
        )
        assert document.value.verdicts["en"]
        assert document.value.verdicts["ja"]
    hits = {
        target: {attacker: credit["hits"] for attacker, credit in row.items()}
        for target, row in report["amic2020"]["results"]["credits"].items()
    }
    champion, blind = "04", "03"
    assert max(hits["04"].values()) > 90, "suppression of a few rows hides nobody"
    assert hits["01"]["02"] <= 16 < hits["01"][champion], (
        "synthetic rows tell nothing, but the moments that they copy do"
    )
    assert max(hits["03"].values()) <= 24, "other people's records hide the members from all"
    assert all(row[blind] <= 20 for target, row in hits.items() if target != blind), (
        "who looks at nothing finds nothing"
    )


def _differ(
    credits: Mapping[str, Mapping[str, Mapping[str, float]]], samples: tuple[str, ...]
) -> bool:
    """Whether no two attackers found the same in every release that both attacked."""
    attackers = sorted({name for row in credits.values() for name in row} - set(samples))
    return all(
        any(
            row[one]["hits"] != row[other]["hits"]
            for row in credits.values()
            if one in row and other in row
        )
        for one, other in itertools.combinations(attackers, 2)
    )
