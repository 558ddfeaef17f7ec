"""A contest that deals each attacker a part of a target: in a tournament each sees its own part, and is credited by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kakurenbo import arena
from kakurenbo.arena.calls import MethodCall
from kakurenbo.rulebooks.pwscup2021 import Pwscup2021

BOOK = Pwscup2021(
    round="main", data="embedded", rows=400, uniqrt=1.0, odds_ratio=9.0, rate=1.0, cor=1.0
)
TEAMS = {"01": "rlink", "02": "rlink", "03": "rlink:deleted=0"}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    entrants = [
        arena.Entrant(
            team,
            f"team {team}",
            MethodCall.parsed("anonymizers", "dp"),
            MethodCall.parsed("attacks", attack),
        )
        for team, attack in TEAMS.items()
    ]
    out = tmp_path_factory.mktemp("played") / "run"
    arena.play_tournament(
        arena.make_plan(BOOK, entrants, 3), out, arena.processes(1), arena.Settings()
    )
    return out


def test_each_attacker_is_handed_its_own_part_and_nobody_elses(played: Path) -> None:
    places = {path.name for path in (played / "jobs").glob("*/*/files/store/target-*")}
    assert places >= {"target-01", "target-01-for_02", "target-01-for_03", "target-02-for_01"}
    assert not list((played / "jobs").glob("*/*/files/store/target-0[123]/for_*")), (
        "not in what is everybody's"
    )


def test_a_guess_at_ones_own_part_is_worth_more_than_chance(played: Path) -> None:
    results = json.loads((played / "results.json").read_text(encoding="utf-8"))
    (entry,) = results["rounds"]
    assert set(entry["attacks"]) == set(TEAMS)
    for target, row in entry["attacks"].items():
        assert set(row) == {*TEAMS, "sample_rlink"} - {target}
        for attacker, earned in row.items():
            assert earned["details"]["topk"] > 0.3, (
                target,
                attacker,
                "rows of another table are right by accident alone",
            )
