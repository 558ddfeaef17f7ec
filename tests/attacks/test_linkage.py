"""Linkage attacks: what they are given, what they may say, and that ours earns more than the contest's sample."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.reading import Read, attempt

from kakurenbo.attacks.linkage import CHOICES, DELETED, LinkageGuess, LinkageKnowledge, NearestRows
from kakurenbo.attacks.linkage.likelihood import LikelihoodLink
from kakurenbo.attacks.linkage.row_order import IndexLink, aligned
from kakurenbo.attacks.linkage.swaps import count_in_boxes, find_swap_traces
from kakurenbo.contest import Attack
from kakurenbo.core import Source, Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.data import health as nhanes
from kakurenbo.measures.records import within_distance
from kakurenbo.methods import registry
from kakurenbo.rulebooks.pwscup2021 import Answer, Handout, Pwscup2021, Submission
from kakurenbo.rulebooks.pwscup2021.data import generated_table
from kakurenbo.rulebooks.pwscup2021.fields import DEFAULT_PLAYERS

BOOK = Pwscup2021(round="main", uniqrt=1.0)
PLAYERS = {player.name: player.anonymizer for player in DEFAULT_PLAYERS}


@cache
def original() -> Table:
    return generated_table(nhanes.embedded_statistics(), 800, np.random.default_rng(2))


@cache
def entry(player: str) -> Submission:
    handout = Handout("01", original())
    release = BOOK.anonymize(
        handout, registry.build("anonymizers", PLAYERS[player]), np.random.default_rng(3)
    )
    sources = [Source(name, data) for name, data in BOOK.release_files(handout, release).items()]
    read = attempt(Pwscup2021(round="main", mode="scripts").read_release, handout, sources)
    assert isinstance(read, Read), read
    return read.value


def danger(
    player: str, attack: Attack[LinkageKnowledge, LinkageGuess], tables: int, *, known: bool = False
) -> float:
    """Mean R over several test tables."""
    earned = []
    for number in range(tables):
        people, places = BOOK.test_table(
            Handout("01", original()), entry(player), np.random.default_rng(number)
        )
        knowledge = LinkageKnowledge(
            people, entry(player).release, 50, original() if known else None
        )
        guess = attack(knowledge, np.random.default_rng(number))
        earned.append(BOOK.score_guess(Answer(places, len(entry(player).release)), guess).hits)
    return float(np.mean(earned))


@pytest.mark.parametrize(
    ("player", "tables"),
    [
        ("near swaps", 3),
        ("noisy numbers and words", 3),
        ("the contest's sample", 3),
        ("short swaps with noise", 6),
    ],
)
def test_likelihood_link_earns_more_than_the_sample_attack(player: str, tables: int) -> None:
    assert danger(player, LikelihoodLink(), tables) > danger(player, NearestRows(), tables)


def test_swaps_are_told_from_noise_by_people_who_are_found_to_the_letter() -> None:
    found = {}
    for player in ("near swaps", "short swaps with noise", "noisy numbers", "the contest's sample"):
        people, _ = BOOK.test_table(
            Handout("01", original()), entry(player), np.random.default_rng(1)
        )
        found[player] = find_swap_traces(LinkageKnowledge(people, entry(player).release, 50))
    assert found["noisy numbers"] is found["the contest's sample"] is None
    exact, blurred = found["near swaps"], found["short swaps with noise"]
    assert exact is not None
    assert blurred is not None
    assert (exact.offsets, exact.blur) == ({"age": 0, "bmi": 0}, 0)
    assert (blurred.offsets["age"], blurred.blur) == (0.5, 1)  # the sample's dp cuts decimals off


def test_records_in_a_box_are_counted_as_if_all_pairs_were_compared() -> None:
    table = original().take(np.arange(300))
    counts = count_in_boxes(table, [2.0, 4.0], 3)
    for level, reach in enumerate((2.0, 4.0)):
        for cells in range(4):
            assert (
                counts[:, level, cells] == within_distance(table, table, reach, cells).sum(axis=1)
            ).all()


def test_a_release_that_was_not_altered_is_found_where_that_is_thought_likely() -> None:
    release = original().take(np.arange(0, 800, 2))
    people = original().take(np.arange(100))
    knowledge = LinkageKnowledge(people, release, 50)
    rows = LikelihoodLink(unswapped=1.0)(knowledge, np.random.default_rng(1)).rows
    assert (rows[::2, 0] == np.arange(50)).mean() > 0.9


def test_where_b_is_known_the_order_of_rows_gives_the_links_away() -> None:
    assert (
        danger("near swaps", IndexLink(), 2, known=True)
        > 0.8
        > danger("near swaps", NearestRows(), 2)
    )


def test_rows_that_were_only_deleted_are_found_exactly() -> None:
    kept = np.sort(np.random.default_rng(4).permutation(300)[:200])
    table = original().take(np.arange(300))
    places = aligned(table, table.take(kept))
    assert places[kept].tolist() == list(range(200))
    assert (places >= 0).sum() == 200


def test_without_b_the_index_attack_guesses_as_the_likelihood_does() -> None:
    people, _ = BOOK.test_table(
        Handout("01", original()), entry("noisy numbers"), np.random.default_rng(1)
    )
    knowledge = LinkageKnowledge(people, entry("noisy numbers").release, 50)
    ours, theirs = (
        attack(knowledge, np.random.default_rng(1)).rows
        for attack in (IndexLink(), LikelihoodLink())
    )
    assert (ours == theirs).all()
    assert (ours[:, 0] == DELETED).sum() == 50


def test_naming_rows_for_everybody_takes_nobody_for_deleted() -> None:
    people, _ = BOOK.test_table(
        Handout("01", original()), entry("noisy numbers"), np.random.default_rng(1)
    )
    knowledge = LinkageKnowledge(people, entry("noisy numbers").release, 50)
    assert (NearestRows(deleted=0)(knowledge, np.random.default_rng(1)).rows >= 0).all()


def test_a_release_of_one_row_is_named_three_times() -> None:
    one = original().take([0])
    for attack in (NearestRows(), LikelihoodLink(), IndexLink()):
        assert attack(LinkageKnowledge(one, one, 1), np.random.default_rng(1)).rows.shape == (
            1,
            CHOICES,
        )


@pytest.mark.parametrize("rows", [[[1, 2]], [1, 2, 3], [[0, 0, -2]], [[0.5, 0, 0]]])
def test_a_guess_is_three_rows_for_each_person(rows: list[object]) -> None:
    with pytest.raises(ParameterError):
        LinkageGuess(rows)


def test_knowledge_is_of_tables_with_rows_and_the_same_columns() -> None:
    table = original().take(np.arange(3))
    for people, release, kept in (
        (table.take([]), table, 0),
        (table, table.take([]), 0),
        (table, table.select(["age"]), 1),
    ):
        with pytest.raises(ParameterError):
            LinkageKnowledge(people, release, kept)
    with pytest.raises(ParameterError):
        LinkageKnowledge(table, table, 4)
