"""darc2019, rule 10: item similarity, dates, prices and deletions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kakurenbo.data.transactions import top_items
from kakurenbo.measures.item_similarity import ItemMatrix, similarity_distance, top_list_distance
from kakurenbo.measures.record_changes import date_change, deleted_share, price_change

Rows = list[tuple[int, int, int]]
ITEMS = 4


def purchases(rows: Rows) -> ItemMatrix:
    users, items, quantities = (
        np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)
    )
    return ItemMatrix.of(users, items, quantities, ITEMS)


def matrix(rows: Rows, copurchasers: bool, chosen: np.ndarray) -> np.ndarray:
    """M straight from the formula of the rules, with loops."""
    scores = np.zeros((1 + max(user for user, _, _ in rows), ITEMS))
    for user, item, quantity in rows:
        scores[user, item] += quantity
    found = np.zeros((ITEMS, ITEMS))
    for i in range(ITEMS):
        for j in range(ITEMS):
            both = (scores[:, i] != 0) & (scores[:, j] != 0)
            over = both if copurchasers else slice(None)
            if both.any() and chosen[i] and chosen[j]:
                norms = np.sqrt((scores[over, i] ** 2).sum()) * np.sqrt(
                    (scores[over, j] ** 2).sum()
                )
                found[i, j] = (scores[both, i] * scores[both, j]).sum() / norms
    return found


rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, ITEMS - 1), st.integers(1, 9)),
    min_size=1,
    max_size=20,
)


@given(rows, rows, st.booleans(), st.lists(st.booleans(), min_size=2 * ITEMS, max_size=2 * ITEMS))
def test_the_distance_is_that_of_the_formula(
    first: Rows, second: Rows, copurchasers: bool, flags: list[bool]
) -> None:
    chosen = np.array(flags[:ITEMS]), np.array(flags[ITEMS:])
    everything = np.ones(ITEMS, dtype=bool)
    found = similarity_distance(
        purchases(first), purchases(second), chosen, copurchasers=copurchasers
    )
    before, after = (
        matrix(first, copurchasers, everything),
        matrix(second, copurchasers, everything),
    )
    assert found.overall == pytest.approx(np.abs(before - after).sum() / before.sum())
    before, after = matrix(first, copurchasers, chosen[0]), matrix(second, copurchasers, chosen[1])
    total, difference = before.sum(), np.abs(before - after).sum()
    wanted = difference / total if total else (0 if difference == 0 else np.inf)
    assert found.chosen == pytest.approx(wanted)


def test_two_items_that_one_user_bought_once_each_are_equal_for_the_rules_and_not_for_the_cosine() -> (
    None
):
    """User 0 bought items 0 and 1; user 1 bought item 0. U_01 = {0}: similarity 1. Plain cosine: 1 / sqrt(2)."""
    everything = np.ones(ITEMS, dtype=bool)
    both = purchases([(0, 0, 1), (0, 1, 1), (1, 0, 1)])
    alone = purchases([(0, 0, 1), (1, 1, 1), (2, 0, 1)])  # nobody bought both
    rules = similarity_distance(both, alone, (everything, everything), copurchasers=True)
    assert rules.overall == pytest.approx(2 / 4)  # M has four ones; the two off the diagonal vanish
    plain = similarity_distance(both, alone, (everything, everything), copurchasers=False)
    assert plain.overall == pytest.approx(2 * 0.5**0.5 / (2 + 2 * 0.5**0.5))


def test_scores_of_six_or_more_are_zeroed_by_the_sum_of_a_user() -> None:
    low = purchases([(0, 0, 3), (0, 0, 3), (1, 0, 5), (1, 1, 6)]).below(6)
    assert low.by_user.toarray()[:, :2].tolist() == [[0, 0], [5, 0]]


def test_top_items_are_those_with_most_rows_and_ties_go_by_code() -> None:
    assert top_items(np.array([2, 2, 1, 0, 3]), ITEMS, 2).tolist() == [True, False, True, False]
    assert top_items(np.array([2, 2]), ITEMS, 3).tolist() == [
        False,
        False,
        True,
        False,
    ]  # an item without rows is in no list


def test_the_distance_of_two_top_lists_is_jaccards() -> None:
    assert top_list_distance(
        np.array([True, True, False]), np.array([True, False, True])
    ) == pytest.approx(2 / 3)


def test_a_deleted_row_adds_nothing_and_stays_in_the_denominator() -> None:
    kept = np.array([True, False])
    assert date_change(np.array([10, 10]), np.array([13, 25]), kept) == 3 / 31 / 2
    assert price_change(np.array([2.0, 2.0]), np.array([1.0, 9.0]), kept) == 0.5 / 2
    assert deleted_share(kept) == 0.5


def test_two_prices_of_zero_are_equal_and_one_of_zero_is_all_the_way_off() -> None:
    everything = np.array([True, True])
    assert price_change(np.array([0.0, 0.0]), np.array([0.0, 3.0]), everything) == 0.5
