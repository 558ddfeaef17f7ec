"""The fields that play where nobody is named: their releases hold the thresholds, their attackers differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.reading import attempt

from kakurenbo.arena import default_teams
from kakurenbo.cli.tournaments import TEAMS
from kakurenbo.contest.engine import prepare
from kakurenbo.core import Problems, Source, write_folder
from kakurenbo.methods import registry
from kakurenbo.rulebooks.amic2020.rules import Amic2020

pytestmark = pytest.mark.slow

BEST = {
    "amic2020": "champion",
    "darc2019": "two_owners",
    "pwscup2021": "likelihood_link",
    "pwscup2024": "posterior",
}
STRONG = {
    "amic2020": "hideout",
    "darc2019": "mixed_crowds",
    "pwscup2021": "swap_near",
    "pwscup2024": "even_tables",
}
NAIVE = {
    "amic2020": "kanony",
    "darc2019": "monthly_pseudonyms",
    "pwscup2021": "dp:",
    "pwscup2024": "swap_cells",
}
CONTESTS = ("amic2020", "darc2019", "pwscup2021", "pwscup2024")


@pytest.mark.parametrize(("scale", "seeds"), [("small", (1, 2, 3)), ("full", (2020,))])
def test_most_releases_of_the_default_field_hold_the_thresholds(
    scale: str, seeds: tuple[int, ...], tmp_path: Path
) -> None:
    rules = Amic2020(data="embedded", scale=scale)
    for seed in seeds:
        write_folder(tmp_path / str(seed), prepare(rules, seed, ["01"]).files())
        handout = attempt(rules.read_handout, tmp_path / str(seed) / "teams" / "01")
        assert not isinstance(handout, Problems)
        passing = []
        for player in rules.field():
            anonymizer = registry.build("anonymizers", player.anonymizer)
            release = rules.anonymize(handout.value, anonymizer, np.random.default_rng(seed))
            files = rules.release_files(handout.value, release)
            read = attempt(
                rules.read_release,
                handout.value,
                [Source(name, content) for name, content in files.items()],
            )
            assert not isinstance(read, Problems), player.name
            passing.append(rules.measure(handout.value, read.value).passes)
        assert sum(passing) >= 0.75 * len(passing), f"seed {seed}: {passing}"


@pytest.mark.parametrize("name", CONTESTS)
def test_no_two_players_of_a_default_field_have_the_same_method(name: str) -> None:
    cls = registry.load("rulebooks", name)
    for rules in (cls(), cls(scale="small")):
        entrants = default_teams(rules).entrants
        attacks = [str(entrant.attack) for entrant in entrants if entrant.attack]
        releases = [str(entrant.anonymizer) for entrant in entrants if entrant.anonymizer]
        assert len(set(attacks)) == len(attacks) >= 3
        assert len(set(releases)) == len(releases) == len(entrants)


@pytest.mark.parametrize("name", CONTESTS)
def test_the_demo_has_a_strong_and_a_naive_defence_a_blind_attacker_and_the_best_one(
    name: str,
) -> None:
    entrants = default_teams(registry.load("rulebooks", name)()).entrants[:TEAMS]
    attacks = {entrant.attack.name for entrant in entrants if entrant.attack}
    assert BEST[name] in attacks
    assert any(attack.startswith("blind") for attack in attacks)
    releases = [str(entrant.anonymizer) for entrant in entrants]
    for defence in (STRONG[name], NAIVE[name]):
        assert any(defence in release for release in releases), defence
