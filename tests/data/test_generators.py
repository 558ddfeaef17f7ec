"""The generators of the rules: `omth17` as the contest's code behaved, `moments` as close to the source as rows allow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kakurenbo.core import Category, Integer, Moments, Schema, Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.data.adult import SCHEMA, adult_statistics
from kakurenbo.data.generators import GENERATORS, fidelity, omth17
from kakurenbo.data.statistics import quota_codes

BOTH = pytest.mark.parametrize("name", sorted(GENERATORS))
PAIR = Schema([Integer("n", 0, 3), Category("c", ("x", "y", "z"))])


def draw(name: str, moments: Moments, rows: int, seed: int = 1) -> Table:
    return GENERATORS[name](moments, rows, np.random.default_rng(seed))


def share(table: Table, column: str, level: str) -> float:
    return float((table.values(column) == level).mean())


@pytest.fixture(scope="module")
def census() -> Moments:
    return adult_statistics("train")


@pytest.fixture(scope="module")
def drawn(census: Moments) -> dict[str, Table]:
    return {name: draw(name, census, 20_000) for name in GENERATORS}


# -- closeness to the source -------------------------------------------------------------------------------------------


def test_the_contests_generator_drifts_as_the_notes_say(
    census: Moments, drawn: dict[str, Table]
) -> None:
    table = drawn["omth17"]
    assert share(table, "income", ">50K") == pytest.approx(0.291, abs=0.025)
    assert share(table, "sex", "Male") == pytest.approx(0.632, abs=0.03)
    assert fidelity(census, table).covariance_sum == pytest.approx(50, abs=8)
    # Rare levels vanish.
    assert table.frequencies("workclass")[SCHEMA["workclass"].code("Without-pay")] == 0  # type: ignore[attr-defined]


def test_our_generator_matches_histograms_and_covariance(
    census: Moments, drawn: dict[str, Table]
) -> None:
    found = fidelity(census, drawn["moments"])
    assert max(found.total_variation.values()) < 0.003
    assert found.covariance_sum < 2.5  # an independent sample of 20,000 rows is at about 12
    assert share(drawn["moments"], "income", ">50K") == pytest.approx(0.249, abs=0.001)
    assert share(drawn["moments"], "sex", "Male") == pytest.approx(0.676, abs=0.001)


def test_a_small_source_is_matched_too(drawn: dict[str, Table]) -> None:
    source = Moments.of(drawn["moments"].take(np.arange(1000)))
    found = fidelity(source, draw("moments", source, 5_000))
    assert max(found.total_variation.values()) < 0.01
    assert found.covariance_sum < 6


@BOTH
def test_levels_that_do_not_occur_in_the_source_are_not_drawn(
    name: str, drawn: dict[str, Table]
) -> None:
    assert drawn[name].frequencies("workclass")[SCHEMA["workclass"].code("Never-worked")] == 0  # type: ignore[attr-defined]


def test_wide_tables_of_ratings_are_matched() -> None:
    rng = np.random.default_rng(3)
    taste = rng.normal(size=(400, 1)) + rng.normal(size=(400, 16))
    columns = [
        Category("gender", ("F", "M")),
        Category("zip", tuple(f"{code:03d}" for code in range(40))),
    ]
    ratings = {
        str(movie): np.clip(np.rint(taste[:, movie] + 2), 0, 5).astype(int) for movie in range(16)
    }
    kinds = [
        Integer(name, 0, 5) if int(name) % 2 else Category(name, tuple("012345"))
        for name in ratings
    ]
    codes = {"gender": rng.integers(2, size=400), "zip": rng.integers(40, size=400), **ratings}
    source = Table(Schema([*columns, *kinds]), codes)
    moments = Moments.of(source)
    found = fidelity(moments, draw("moments", moments, 4_000))
    resampled = fidelity(moments, source.take(rng.integers(400, size=4_000)))
    assert max(found.total_variation.values()) < 0.02
    assert found.covariance_sum < resampled.covariance_sum


# -- the same bytes ----------------------------------------------------------------------------------------------------


@BOTH
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(
    name: str, census: Moments
) -> None:
    first, again, other = (draw(name, census, 300, seed).digest() for seed in (1, 1, 2))
    assert first == again != other


def test_the_number_of_blas_threads_does_not_change_a_byte() -> None:
    program = (
        "import numpy as np\n"
        "from kakurenbo.data.adult import adult_statistics\n"
        "from kakurenbo.data.generators import GENERATORS, distinct_rows\n"
        "source = adult_statistics('train')\n"
        "print(distinct_rows(GENERATORS['moments'], source, 2000, 20000, np.random.default_rng(1)).digest())\n"
        "for name in sorted(GENERATORS):\n"
        "    print(GENERATORS[name](source, 5000, np.random.default_rng(1)).digest())\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
            cwd=Path(__file__).parent,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(outputs) == 1


# -- any source, any row count -----------------------------------------------------------------------------------------


@st.composite
def tables(draw_: st.DrawFn) -> Table:
    columns: list[Integer | Category] = []
    for place in range(draw_(st.integers(1, 4))):
        size = draw_(st.integers(1, 5))
        low = draw_(st.integers(-5, 5))
        integer = draw_(st.booleans())
        columns.append(
            Integer(f"c{place}", low, low + size - 1)
            if integer
            else Category(f"c{place}", tuple("abcde"[:size]))
        )
    rows = draw_(st.integers(1, 12))
    codes = {
        column.name: np.array(
            draw_(st.lists(st.integers(0, column.size - 1), min_size=rows, max_size=rows))
        )
        for column in columns
    }
    return Table(Schema(columns), codes)


@BOTH
@given(source=tables(), rows=st.integers(0, 40))
@settings(max_examples=40)
def test_any_small_source_and_any_row_count_will_do(name: str, source: Table, rows: int) -> None:
    table = draw(name, Moments.of(source), rows)
    assert table.schema == source.schema
    assert len(table) == rows
    for column in source.schema:
        if isinstance(column, Category) or name == "moments":
            occurring = source.frequencies(column.name) > 0
            assert table.frequencies(column.name)[~occurring].sum() == 0


@BOTH
def test_a_source_of_equal_rows_gives_that_row(name: str) -> None:
    source = Table.from_rows(PAIR, [(2, "y")] * 5)
    assert draw(name, Moments.of(source), 3).rows() == [(2, "y")] * 3


def test_columns_that_determine_each_other_stay_together() -> None:
    source = Table.from_rows(PAIR, [(0, "x")] * 30 + [(3, "z")] * 70)
    table = draw("moments", Moments.of(source), 1_000)
    assert np.mean((table.codes["n"] == 0) == (table.codes["c"] == 0)) > 0.995
    assert share(table, "c", "z") == pytest.approx(0.7, abs=0.005)


@BOTH
def test_a_source_without_rows_or_a_negative_row_count_is_refused(name: str) -> None:
    empty = Moments.of(Table.from_rows(PAIR, [(0, "x")]).take([0]))
    with pytest.raises(ParameterError, match="rows"):
        draw(name, empty, -1)
    nothing = Moments(
        PAIR,
        0,
        tuple(np.zeros(column.size, dtype=np.int64) for column in PAIR),
        np.zeros((4, 4), dtype=np.int64),
    )
    with pytest.raises(ParameterError, match="at least one row"):
        draw(name, nothing, 1)


# -- steps of the contest's generator ----------------------------------------------------------------------------------


def test_integers_are_clipped_then_rounded_half_to_even_and_ties_go_to_the_first_level() -> None:
    moments = Moments.of(Table.from_rows(PAIR, [(0, "x"), (1, "z")]))
    values = np.array(
        [[-7.0, 0.5, 0.5], [9.0, 0.2, 0.8], [0.5, 0.9, 0.1], [1.5, 0.1, 0.2], [2.5, 0.0, 0.0]]
    )
    parts: dict[str, list[np.ndarray]] = {"n": [], "c": []}
    omth17._discretise(moments, values, parts)
    assert parts["n"][0].tolist() == [0, 3, 0, 2, 2]
    assert parts["c"][0].tolist() == [0, 2, 0, 2, 0]  # level y does not occur


def test_the_covariance_of_wide_integers_comes_out_as_the_sources() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(300, 700, size=500)
    second = np.clip(first + rng.integers(-100, 100, size=500), 0, 999)
    source = Moments.of(
        Table(Schema([Integer("a", 0, 999), Integer("b", 0, 999)]), {"a": first, "b": second})
    )
    reached = Moments.of(draw("omth17", source, 50_000))
    assert reached.covariance == pytest.approx(source.covariance, rel=0.02)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=6).filter(any), st.integers(0, 200))
def test_quotas_are_rounded_up_or_down(weights: list[int], size: int) -> None:
    counts = np.bincount(
        quota_codes(np.array(weights), size, np.random.default_rng(0)), minlength=len(weights)
    )
    exact = size * np.array(weights) / sum(weights)
    assert counts.sum() == size
    assert (np.abs(counts - exact) < 1 + 1e-9).all()
    assert (counts[np.array(weights) == 0] == 0).all()
