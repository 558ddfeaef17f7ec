"""`even_tables` and the utility that suits the data: worked examples, and what a release of them holds."""

from __future__ import annotations

import numpy as np
import pytest
from tests.pwscup2024 import BOOK, Handout, small_original

from kakurenbo.anonymizers.ratings.crosstab_repair import best_utility, count_linked
from kakurenbo.anonymizers.ratings.even_tables import usual_counts
from kakurenbo.core.rng import stream
from kakurenbo.data import ratings
from kakurenbo.methods import registry
from kakurenbo.rulebooks.pwscup2024.utility import crosstab_scores


def made(text: str) -> tuple:
    return BOOK.anonymize(
        Handout("01", (small_original(),)), registry.build("anonymizers", text), stream(1, "t")
    ).tables


def test_usual_counts_cost_least_of_all_tables_that_do_not_look() -> None:
    rng, shares = np.random.default_rng(1), np.array([0.5, 0.2, 0.2, 0.1])
    true = rng.multinomial(12, shares, size=4000)
    usual = usual_counts(np.array([12]), shares)[0]
    assert usual.sum() == 12
    drawn = rng.multinomial(12, shares, size=4000)
    cost, by_chance = (np.abs(true - shown).sum(axis=1).mean() for shown in (usual, drawn))
    assert cost < 0.8 * by_chance
    for taken, given in ((0, 1), (1, 0), (3, 0)):  # no other table of 12 rows nearby costs less
        other = usual.copy()
        other[taken] -= 1
        other[given] += 1
        assert np.abs(true - other).sum(axis=1).mean() > cost - 0.05


def test_the_release_has_the_utility_that_was_asked_for_and_rows_of_its_own_order_in_each_file() -> (
    None
):
    tables = made("even_tables:utility=70")
    assert crosstab_scores(small_original(), tables)["U"].value >= 70
    first, second = (tables[number].codes["260"] for number in (0, 1))
    assert (np.sort(first) == np.sort(second)).all()
    assert (first != second).any()


@pytest.mark.parametrize("method", ["even_tables", "just_enough"])
def test_without_a_utility_the_one_is_taken_that_pays(method: str) -> None:
    utility = crosstab_scores(small_original(), made(method))["U"].value
    assert 60 < utility < 95


def test_tables_of_the_original_link_people_and_those_of_chance_do_not() -> None:
    original = small_original().select(ratings.ATTRIBUTES + ratings.MOVIES)
    rng = stream(1, "t")
    chance = original.with_codes(
        {name: rng.permutation(original.codes[name]) for name in original.schema.names}
    )
    people = np.arange(200)
    assert count_linked(original, original, people) > 25
    assert count_linked(original, chance, people) < 4
    assert best_utility(original, [(80.0, chance), (100.0, original)], rng) is chance
