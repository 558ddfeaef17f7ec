"""B holds distinct rows; C_i is a random part of it in its order; a report says how close B is to A."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kakurenbo.errors import ParameterError
from kakurenbo.generators import GENERATORS, distinct_rows, fidelity, sample_rows
from kakurenbo.tables import Category, Integer, Moments, Schema, Table

SCHEMA = Schema([Integer("n", 0, 99), Category("c", ("a", "b"))])


def uniform(moments: Moments, rows: int, rng: np.random.Generator) -> Table:
    return Table(moments.schema, {"n": rng.integers(100, size=rows), "c": rng.integers(2, size=rows)})


SOURCE = Moments.of(uniform(Moments.of(Table.from_rows(SCHEMA, [(0, "a")])), 500, np.random.default_rng(0)))


def test_rows_of_b_are_distinct() -> None:
    table = distinct_rows(uniform, SOURCE, 50, 100, np.random.default_rng(1))
    assert len(table) == len(set(table.rows())) == 50


def test_rows_keep_the_order_of_their_first_occurrence() -> None:
    table = distinct_rows(uniform, SOURCE, 60, 80, np.random.default_rng(1))
    everything = uniform(SOURCE, 80, np.random.default_rng(1)).rows()
    places = [everything.index(row) for row in table.rows()]
    assert places == sorted(places)


def test_too_few_distinct_rows_are_made_up_by_drawing_again() -> None:
    table = distinct_rows(uniform, SOURCE, 150, 100, np.random.default_rng(1))
    assert len(set(table.rows())) == 150


@pytest.mark.parametrize("name", sorted(GENERATORS))
def test_a_source_that_cannot_give_so_many_rows_is_told(name: str) -> None:
    source = Moments.of(Table.from_rows(SCHEMA, [(0, "a"), (0, "b"), (1, "a"), (1, "b")]))
    with pytest.raises(ParameterError, match=r"'rows' must be at most the 4 different rows.*got 5"):
        distinct_rows(GENERATORS[name], source, 5, 100, np.random.default_rng(1))


def test_at_least_one_row_must_be_drawn() -> None:
    with pytest.raises(ParameterError, match="drawn"):
        distinct_rows(uniform, SOURCE, 5, 0, np.random.default_rng(1))


@given(st.integers(0, 50), st.data(), st.integers(0, 100))
def test_a_sample_has_different_row_numbers_in_ascending_order(n: int, data: st.DataObject, seed: int) -> None:
    size = data.draw(st.integers(0, n))
    rows = sample_rows(n, size, np.random.default_rng(seed))
    assert len(rows) == size
    assert (np.diff(rows) > 0).all()
    assert ((rows >= 0) & (rows < n)).all()


def test_every_row_is_as_likely_in_a_sample() -> None:
    rng = np.random.default_rng(0)
    counts = sum(np.bincount(sample_rows(10, 3, rng), minlength=10) for _ in range(5_000))
    assert counts == pytest.approx(np.full(10, 1_500), abs=150)


def test_a_sample_larger_than_the_table_is_refused() -> None:
    with pytest.raises(ParameterError, match="size"):
        sample_rows(3, 4, np.random.default_rng(0))


# -- fidelity ----------------------------------------------------------------------------------------------------------

SMALL = Schema([Integer("n", 0, 1), Category("c", ("a", "b"))])


def test_distances_of_a_worked_example() -> None:
    # Columns n, c=a, c=b. The source's are (0, 1), (1, 0), (0, 1): every covariance is +-1/2. The table's are constant.
    source = Moments.of(Table.from_rows(SMALL, [(0, "a"), (1, "b")]))
    found = fidelity(source, Table.from_rows(SMALL, [(0, "a"), (0, "a"), (0, "a")]))
    assert found.total_variation == {"n": 0.5, "c": 0.5}
    assert found.covariance_sum == pytest.approx(9 * 0.5)
    assert found.covariance_max == pytest.approx(0.5)
    assert found.covariance_pair == ("n", "n")
    assert json.loads(json.dumps(found.as_json()))["covariance_pair"] == ["n", "n"]


def test_the_pair_with_the_largest_difference_is_named() -> None:
    source = Table.from_rows(SMALL, [(0, "a"), (0, "b"), (1, "a"), (1, "b")])
    moved = Table.from_rows(SMALL, [(0, "a"), (0, "a"), (1, "b"), (1, "b")])
    assert fidelity(Moments.of(source), moved).covariance_pair == ("n", "c=a")


def test_the_source_itself_is_at_distance_zero() -> None:
    table = uniform(SOURCE, 50, np.random.default_rng(2))
    found = fidelity(Moments.of(table), table)
    assert found.covariance_sum == found.largest_total_variation == 0


def test_other_columns_and_empty_tables_are_refused() -> None:
    source = Moments.of(Table.from_rows(SMALL, [(0, "a"), (1, "b")]))
    with pytest.raises(ParameterError, match="columns"):
        fidelity(source, uniform(SOURCE, 5, np.random.default_rng(0)))
    with pytest.raises(ParameterError, match="at least one row"):
        fidelity(source, Table.from_rows(SMALL, []))
