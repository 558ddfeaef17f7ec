"""B holds distinct rows with A's moments; C_i is a random part of it in its order; a report says how close B is to A."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading import Read, attempt

from kakurenbo.core import Category, Integer, Moments, Schema, Source, Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.rng import stream
from kakurenbo.data.adult import adult_statistics, read_uci
from kakurenbo.data.distinct import tilted_rows
from kakurenbo.data.generators import (
    GENERATORS,
    Generator,
    distinct_rows,
    fidelity,
    generate,
    sample_rows,
    sample_rows_at,
)

SCHEMA = Schema([Integer("n", 0, 99), Category("c", ("a", "b"))])


def uniform_draw(moments: Moments, rows: int, rng: np.random.Generator) -> Table:
    return Table(
        moments.schema, {"n": rng.integers(100, size=rows), "c": rng.integers(2, size=rows)}
    )


uniform = Generator(uniform_draw)
SOURCE = Moments.of(
    uniform(Moments.of(Table.from_rows(SCHEMA, [(0, "a")])), 500, np.random.default_rng(0))
)


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


# -- rows that restore the source's moments ----------------------------------------------------------------------------

EVERY_ROW = Table(SCHEMA, {"n": np.repeat(np.arange(100), 2), "c": np.tile([0, 1], 100)})


def test_the_contests_generator_samples_the_distinct_rows_with_equal_chances() -> None:
    assert GENERATORS["omth17"].choose is None
    rng = np.random.default_rng(1)
    first = uniform(SOURCE, 80, rng)
    pool = first.take(np.sort(np.unique(first.keys(), return_index=True)[1]))
    expected = pool.take(sample_rows(len(pool), 30, rng))
    assert distinct_rows(uniform, SOURCE, 30, 80, np.random.default_rng(1)) == expected


def test_chosen_rows_have_the_shares_means_and_spreads_of_the_source() -> None:
    # Of the 2,000 rows there are, 600 are wanted: seven of ten with c=a, and n from 300 to 999 only, as in the source.
    schema = Schema([Integer("n", 0, 999), Category("c", ("a", "b"))])
    pool = Table(schema, {"n": np.repeat(np.arange(1_000), 2), "c": np.tile([0, 1], 1_000)})
    source = Table(
        schema, {"n": np.tile(np.arange(300, 1_000), 10), "c": np.arange(7_000) >= 4_900}
    )
    chosen = pool.take(tilted_rows(Moments.of(source), pool, 600, np.random.default_rng(1)))
    assert chosen.frequencies("c").tolist() == pytest.approx([420, 180], abs=10)
    assert chosen.values("n").mean() == pytest.approx(649.5, abs=5)
    assert chosen.values("n").std() == pytest.approx(202, abs=5)


@given(st.integers(1, 40), st.integers(0, 40), st.integers(0, 1_000))
def test_exactly_as_many_different_rows_are_chosen_as_wanted_whatever_the_source(
    size: int, rows: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    pool = EVERY_ROW.take(sample_rows(len(EVERY_ROW), size, rng))
    source = Moments.of(
        uniform(SOURCE, int(rng.integers(1, 20)), rng)
    )  # often with moments that no such choice has
    chosen = tilted_rows(source, pool, min(rows, size), rng)
    assert len(chosen) == min(rows, size)
    assert (np.diff(chosen) > 0).all()
    assert ((chosen >= 0) & (chosen < size)).all()


def test_more_rows_than_the_pool_has_are_refused() -> None:
    with pytest.raises(ParameterError, match="rows"):
        tilted_rows(SOURCE, EVERY_ROW, 201, np.random.default_rng(1))


def test_b_has_the_moments_of_a_although_duplicates_were_dropped() -> None:
    source = adult_statistics("train")
    table, again = (
        distinct_rows(GENERATORS["moments"], source, 10_000, 100_000, stream(1, "b"))
        for _ in range(2)
    )
    assert table == again
    assert len(np.unique(table.keys())) == len(table) == 10_000
    found = fidelity(source, table)
    assert found.covariance_sum < 6
    assert max(found.total_variation.values()) < 0.04
    assert table.values("hours-per-week").std() == pytest.approx(11.98, abs=0.1)


def test_b_of_the_real_rows_at_the_contests_size_is_within_6_of_their_covariance(
    reference_data: Path,
) -> None:
    personal = attempt(read_uci, Source.of(reference_data / "adult" / "adult.data.gz"))
    assert isinstance(personal, Read)
    source = Moments.of(personal.value)
    table = distinct_rows(GENERATORS["moments"], source, 100_000, 1_000_000, stream(2, "b"))
    assert len(np.unique(table.keys())) == 100_000
    assert fidelity(source, table).covariance_sum < 6
    assert table.values("hours-per-week").std() == pytest.approx(11.98, abs=0.05)


# -- gen.py and randomsampling.py --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(GENERATORS))
def test_any_number_of_rows_is_generated_with_or_without_dropping_duplicates(name: str) -> None:
    source = adult_statistics("train")
    table = generate(GENERATORS[name], source, 700, stream(1, "gen"), distinct=True)
    assert len(np.unique(table.keys())) == len(table) == 700
    assert len(generate(GENERATORS[name], source, 1_300, stream(1, "gen"))) == 1_300
    assert len(generate(GENERATORS[name], source, 0, stream(1, "gen"), distinct=True)) == 0


@pytest.mark.parametrize(("rate", "rows"), [(0, 0), (0.1, 10), (0.29, 29), (0.296, 30), (1, 100)])
def test_any_rate_of_a_table_is_sampled(rate: float, rows: int) -> None:
    sampled = sample_rows_at(rate, 100, np.random.default_rng(1))
    assert len(set(sampled.tolist())) == rows
    assert sampled.tolist() == sample_rows_at(rate, 100, np.random.default_rng(1)).tolist()


@pytest.mark.parametrize("rate", [-0.1, 1.01, float("nan")])
def test_a_rate_is_from_0_to_1(rate: float) -> None:
    with pytest.raises(ParameterError, match="rate"):
        sample_rows_at(rate, 100, np.random.default_rng(1))


@given(st.integers(0, 50), st.data(), st.integers(0, 100))
def test_a_sample_has_different_row_numbers_in_ascending_order(
    n: int, data: st.DataObject, seed: int
) -> None:
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
    assert found.covariance_sum == max(found.total_variation.values()) == 0


def test_other_columns_and_empty_tables_are_refused() -> None:
    source = Moments.of(Table.from_rows(SMALL, [(0, "a"), (1, "b")]))
    with pytest.raises(ParameterError, match="columns"):
        fidelity(source, uniform(SOURCE, 5, np.random.default_rng(0)))
    with pytest.raises(ParameterError, match="at least one row"):
        fidelity(source, Table.from_rows(SMALL, []))
