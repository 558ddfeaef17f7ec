"""The compiled loops beside plain sums over all pairs, on tables of every shape that a tile can meet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kakurenbo.audit import engine
from kakurenbo.audit.encoding import Codes, Floats
from kakurenbo.audit.engine import Sought, expected_makers, likelihoods, nearest_rows, votes_on

Tables = tuple[Codes, Codes, list[Floats]]


def made_up(seed: int, people: int, rows: int, columns: int) -> Tables:
    """People, released rows, and what a released code gives an original one: columns of few and of many values."""
    rng = np.random.default_rng(seed)
    sizes, released = (rng.integers(1, 90, columns) for _ in range(2))
    matrices = [
        rng.random((size, shown)) + 0.01 for size, shown in zip(sizes, released, strict=True)
    ]
    return (
        rng.integers(0, sizes, (people, columns)).astype(np.int32),
        rng.integers(0, released, (rows, columns)).astype(np.int32),
        matrices,
    )


def pair_by_pair(tables: Tables) -> Floats:
    """What each row gives each person in each column, shape (columns, rows, people)."""
    people, release, matrices = tables
    return np.array(
        [
            matrix[np.ix_(people[:, place], release[:, place])].T
            for place, matrix in enumerate(matrices)
        ],
        dtype=np.float64,
    )


any_tables = st.builds(
    made_up, st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 300), st.integers(1, 14)
)


@settings(max_examples=40, deadline=None)
@given(any_tables)
def test_products_sums_and_the_nearest_are_those_of_all_pairs(tables: Tables) -> None:
    people, release, matrices = tables
    factors = pair_by_pair(tables)
    products, costs = factors.prod(axis=0), factors.sum(axis=0)
    found = np.concatenate([block.copy() for block in likelihoods(people, release, matrices)])
    np.testing.assert_allclose(found, products, rtol=1e-12)
    np.testing.assert_allclose(
        expected_makers(people, release, matrices), products.sum(axis=1), rtol=1e-12
    )
    least, nearest = nearest_rows(people, release, matrices)
    np.testing.assert_allclose(least, costs.min(axis=0), rtol=1e-12)
    np.testing.assert_allclose(costs[nearest, np.arange(len(people))], least, rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(any_tables, st.booleans())
def test_votes_on_a_column_are_those_of_all_others(tables: Tables, is_known: bool) -> None:
    people, release, matrices = tables
    factors, rng = pair_by_pair(tables), np.random.default_rng(1)
    sought, expected = [], []
    for column in range(len(matrices)):
        weights, shown = rng.random(len(release)), rng.integers(0, 5, len(release))
        sought.append(Sought(column if is_known else -1, weights, shown, 5))
        made = np.delete(factors, column, axis=0).prod(axis=0) if is_known else factors.prod(axis=0)
        expected.append(
            [(made * weights[:, None])[shown == value].sum(axis=0) for value in range(5)]
        )
    for votes, whole in zip(votes_on(people, release, matrices, sought), expected, strict=True):
        shares = np.array(whole).T / np.sum(whole, axis=0)[:, None]
        # Rows that could not add a thousandth, all of them together, are passed over.
        np.testing.assert_allclose(votes / votes.sum(axis=1, keepdims=True), shares, atol=1e-3)


def test_votes_are_the_same_whatever_is_counted_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    people, release, matrices = made_up(3, 40, 500, 6)
    shown = np.random.default_rng(1).integers(0, 7, (6, len(release)))
    sought = [Sought(column, np.ones(len(release)), shown[column], 7) for column in range(6)]
    whole = list(votes_on(people, release, matrices, sought))
    monkeypatch.setattr(engine, "_MOST_VOTES", 2 * 7 * len(people))
    parts = list(votes_on(people, release, matrices, sought))
    assert len(parts) == len(whole)
    for one, other in zip(parts, whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-2, atol=1e-12)


def test_what_is_impossible_takes_no_column_out_of_a_product_with_it() -> None:
    """A value that no row can show gives 0: the votes on its own column must not become 0 / 0."""
    people, release = np.array([[0, 1]], dtype=np.int32), np.array([[0, 1], [1, 1]], dtype=np.int32)
    matrices = [np.array([[0.0, 1.0], [1.0, 0.0]]), np.eye(2)]
    (votes,) = votes_on(people, release, matrices, [Sought(0, np.ones(2), np.array([0, 1]), 2)])
    np.testing.assert_allclose(votes, [[1.0, 1.0]])
