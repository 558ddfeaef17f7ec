"""A round in the arena: the number of processes cannot change a byte, and nobody sees what they should not."""

from __future__ import annotations

import pytest

from kakurenbo.arena import Played, Player, play
from kakurenbo.errors import UsageError
from kakurenbo.rulebooks.amic2020 import Amic2020

PLAYERS = (
    Player("01", "rr:p=0.999", "nearest"),
    Player("02", "synthetic", "nearest:metric=onehot"),
    Player("03", "kanony:k=400,columns=education", "blind"),
)


def round_with(jobs: int) -> Played:
    return play(Amic2020(scale="small"), PLAYERS, 5, jobs=jobs)


def test_the_same_seed_gives_the_same_bytes_with_1_or_4_processes() -> None:
    alone, together = round_with(1), round_with(4)
    assert alone.releases == together.releases
    assert alone.results == together.results
    assert alone.standings == together.standings
    assert alone.utilities == together.utilities


def test_a_round_scores_what_the_rules_say() -> None:
    told: list[tuple[str, int]] = []
    played = play(Amic2020(scale="small"), PLAYERS, 6, progress=lambda what, count: told.append((what, count)))
    hits = played.results.credits
    assert set(hits["01"]) == {"02", "03", "sample attack"}, "nobody attacks themselves"
    assert hits["01"]["sample attack"].hits > 80
    assert hits["02"]["sample attack"].hits < 40
    assert hits["01"]["03"].chance is not None
    assert played.results.unranked == {"sample attack"}
    assert played.results.out["02"] == "disqualified", "a synthetic table of 1,000 rows cannot hold the covariances"
    assert "attacking" in {what for what, _ in told}
    assert sum(count for what, count in told if not what) == sum(count for what, count in told if what)


def test_a_release_that_breaks_the_rules_is_refused_and_the_others_play_on() -> None:
    players = (*PLAYERS[:1], Player("02", "synthetic:rows=5", "nearest"))
    played = play(Amic2020(scale="small"), players, 7)
    assert "5 records" in played.refused["02"][0].message
    assert played.results.out["02"] == "disqualified"
    assert set(played.results.credits) == {"01"}


def test_players_need_teams_of_their_own() -> None:
    with pytest.raises(UsageError, match="team of its own"):
        play(Amic2020(scale="small"), (PLAYERS[0], PLAYERS[0]), 1)
