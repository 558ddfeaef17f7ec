"""Exact nearest rows: worked examples, brute force on random schemas, and the reference counts of amic2020."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kakurenbo.attacks.membership import nearest_rows
from kakurenbo.core import Category, Decimal, Integer, Schema, Source, Table, compiling, read_table
from kakurenbo.core.errors import ParameterError
from kakurenbo.data.adult import SCHEMA

PEOPLE = Schema(
    [Integer("age", 17, 90), Category("sex", ("Female", "Male")), Integer("hours", 1, 99)]
)


def brute_force(base: Table, queries: Table, weight: int) -> tuple[list[int], list[int]]:
    squares = np.zeros((len(queries), len(base)), dtype=np.int64)
    for column in base.schema:
        a, b = queries.codes[column.name].astype(np.int64), base.codes[column.name].astype(np.int64)
        difference = a[:, None] - b[None, :]
        squares += difference**2 if isinstance(column, Integer) else weight * (difference != 0)
    return squares.argmin(axis=1).tolist(), squares.min(axis=1).tolist()


def found(base: Table, queries: Table, weight: int = 1) -> tuple[list[int], list[int]]:
    rows, squares = nearest_rows(base, queries, mismatch_weight=weight)
    return rows.tolist(), squares.tolist()


def test_integers_count_by_squared_difference_and_a_category_mismatch_adds_one() -> None:
    base = Table.from_rows(PEOPLE, [(30, "Male", 40), (33, "Female", 40)])
    # To row 0: 2^2 + 1 + 0 = 5; to row 1: 1^2 + 0 + 0 = 1.
    assert found(base, Table.from_rows(PEOPLE, [(32, "Female", 40)])) == ([1], [1])
    # To row 0: 0 + 1 + 1^2 = 2; to row 1: 3^2 + 0 + 1^2 = 10.
    assert found(base, Table.from_rows(PEOPLE, [(30, "Female", 41)])) == ([0], [2])


def test_on_one_hot_columns_a_category_mismatch_adds_two() -> None:
    base = Table.from_rows(PEOPLE, [(30, "Male", 40), (31, "Female", 40)])
    query = Table.from_rows(PEOPLE, [(30, "Female", 40)])
    assert found(base, query, 1) == ([0], [1])
    assert found(base, query, 2) == ([1], [1])


def test_ties_go_to_the_lowest_row_number_wherever_the_rows_lie() -> None:
    # All four rows are at squared distance 1: two by age, one by hours, one by sex.
    rows = [(31, "Male", 40), (29, "Male", 40), (30, "Male", 41), (30, "Female", 40)]
    query = Table.from_rows(PEOPLE, [(30, "Male", 40)])
    for first in range(4):
        assert found(Table.from_rows(PEOPLE, rows[first:] + rows[:first]), query) == ([0], [1])


def test_of_equal_rows_the_first_is_named() -> None:
    base = Table.from_rows(PEOPLE, [(20, "Male", 40), (30, "Male", 40), (30, "Male", 40)])
    assert found(base, Table.from_rows(PEOPLE, [(30, "Male", 40), (31, "Male", 40)])) == (
        [1, 1],
        [0, 1],
    )


def test_a_release_far_outside_the_base_is_measured_from_where_it_is() -> None:
    base = Table.from_rows(PEOPLE, [(17, "Male", 1), (18, "Female", 2)])
    assert found(base, Table.from_rows(PEOPLE, [(90, "Male", 99)])) == ([1], [72**2 + 97**2 + 1])


def test_rows_and_squares_of_no_queries_are_empty() -> None:
    base = Table.from_rows(PEOPLE, [(17, "Male", 1)])
    assert found(base, base.take([])) == ([], [])


@st.composite
def tables(draw: Any) -> tuple[Table, Table, int]:
    """A base and queries of 0 to 3 integers and 0 to 9 categories, values crowded together so that ties are common."""
    spans = draw(st.lists(st.sampled_from([1, 3, 40, 1000, 10**6]), max_size=3))
    levels = draw(
        st.lists(st.sampled_from([1, 2, 4, 256, 300]), min_size=0 if spans else 1, max_size=9)
    )
    columns = [Integer(f"n{i}", -5, span - 6) for i, span in enumerate(spans)]
    columns += [Category(f"c{i}", tuple(map(str, range(count)))) for i, count in enumerate(levels)]
    schema = Schema(draw(st.permutations(columns)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    crowd = draw(st.sampled_from([2, 5, 10**7]))

    def table(rows: int) -> Table:
        codes = {}
        for column in schema:
            assert isinstance(column, Integer | Category)
            step = max(1, column.size // draw(st.sampled_from([crowd, 10])))
            codes[column.name] = rng.integers(0, -(-column.size // step), rows) * step
        return Table(schema, codes)

    return (
        table(draw(st.integers(1, 60))),
        table(draw(st.integers(1, 20))),
        draw(st.sampled_from([1, 2, 7])),
    )


@given(tables())
def test_rows_and_squares_are_those_of_comparing_all_pairs(
    example: tuple[Table, Table, int],
) -> None:
    base, queries, weight = example
    assert found(base, queries, weight) == brute_force(base, queries, weight)


@pytest.mark.parametrize("levels", [256, 257, 70_000])
def test_a_category_counts_once_however_many_levels_it_has(levels: int) -> None:
    schema = Schema([Category(f"c{i}", tuple(map(str, range(levels)))) for i in range(9)])
    codes = np.random.default_rng(0).integers(0, levels, (9, 50))
    codes[:, 25:] = codes[:, :25]
    codes[:4, 25:] = levels - 1
    table = Table(schema, dict(zip(schema.names, codes, strict=True)))
    base, queries = table.take(range(25)), table.take(range(25, 50))
    assert found(base, queries) == brute_force(base, queries, 1)
    assert set(found(base, queries)[1]) <= {3, 4}


@pytest.mark.parametrize("case", ["rrp90", "swap20", "fresh_sample"])
def test_counts_of_squared_nearest_distances_are_those_of_the_reference(
    reference_data: Path, case: str
) -> None:
    folder = reference_data / "amic2020" / "reference"
    base, queries = (
        read_table(Source.of(folder / name), SCHEMA) for name in ("B.csv.gz", f"D_{case}.csv.gz")
    )
    assert isinstance(base, Table)
    assert isinstance(queries, Table)
    rows, squares = nearest_rows(base, queries)
    values, counts = np.unique(squares, return_counts=True)
    expected = json.loads((folder / "reference.json").read_text())["cases"][case]["nearest"][
        "squared_distance_counts"
    ]
    assert {
        str(value): count for value, count in zip(values.tolist(), counts.tolist(), strict=True)
    } == expected
    sample = np.arange(0, len(queries), 50)
    assert (rows[sample].tolist(), squares[sample].tolist()) == brute_force(
        base, queries.take(sample), 1
    )


def test_what_cannot_be_searched_is_refused() -> None:
    people = Table.from_rows(PEOPLE, [(17, "Male", 1)])
    with pytest.raises(ParameterError, match="at least one row"):
        nearest_rows(people.take([]), people)
    with pytest.raises(ParameterError, match="columns"):
        nearest_rows(people, people.select(["age"]))
    with pytest.raises(ParameterError, match="mismatch_weight"):
        nearest_rows(people, people, mismatch_weight=0)
    prices = Table(Schema([Decimal("price")]), {"price": np.array([1.5])})
    with pytest.raises(ParameterError, match="integers and categories"):
        nearest_rows(prices, prices)
    huge = Table(Schema([Integer("n", 0, 2**40)]), {"n": np.array([1, 2**40])})
    with pytest.raises(ParameterError, match="62 bits"):
        nearest_rows(huge, huge)


def test_a_loop_is_compiled_even_where_it_cannot_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_now = numba.njit

    def no_folder(*, cache: bool = False, **options: Any) -> Any:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return compile_now(**options)

    monkeypatch.setattr(numba, "njit", no_folder)
    assert compiling.compiled(lambda number: number + 1)(2) == 3


def test_a_domain_may_be_far_wider_than_the_values_in_it() -> None:
    schema = Schema([Integer("yen", -(2**50), 2**50)])
    base, queries = (
        Table.from_rows(schema, [(value,) for value in values])
        for values in ((-5, 0, 2**20), (2**20 - 3, -2))
    )
    assert nearest_rows(base, queries).rows.tolist() == [2, 1]
    assert nearest_rows(base, queries).squares.tolist() == [9, 4]
