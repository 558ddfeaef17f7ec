"""Wide and long tables: nothing grows with the square of the rows, and the number of threads changes no byte.

``python -m benchmarks audit`` measures the full sizes; here a few seconds tell whether a step has become quadratic.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from benchmarks.bench_audit import swapped, wide_table, write_tables

from kakurenbo.audit.encoding import MOST_CODES, MOST_TEXTS, encode
from kakurenbo.audit.frames import frame_of
from kakurenbo.audit.kernels import how_many
from kakurenbo.audit.linking import linked
from kakurenbo.audit.mechanism import Ratios
from kakurenbo.audit.membership import attack_membership
from kakurenbo.audit.options import Options
from kakurenbo.audit.people import RowModel
from kakurenbo.audit.rows import row_keys
from kakurenbo.audit.running import run_audit
from kakurenbo.audit.schema import infer_schema
from kakurenbo.audit.tasks import threads
from kakurenbo.audit.values import covered_texts
from kakurenbo.core import json_bytes

pytestmark = pytest.mark.slow


def test_any_number_of_threads_gives_the_same_bytes() -> None:
    original, holdout = (
        frame_of(name, wide_table(400, 9, name)) for name in ("original", "holdout")
    )
    release = frame_of("release", swapped(original.cells, 0.2))
    options = Options(seed=3, targets=200)
    results = [
        run_audit(original, release, holdout, options, crew=threads(count)) for count in (1, 4)
    ]
    one, other = (json_bytes(result.as_json()) for result in results)
    assert one == other
    assert results[0].method.targets == 200


def test_wide_numbers_and_rare_words_of_a_release_share_codes() -> None:
    rows = 3 * MOST_TEXTS
    original = pl.DataFrame(
        {"cost": np.arange(rows) * 7, "name": [f"n{place:06}" for place in range(rows)]}
    )
    release = pl.DataFrame(
        {"cost": np.arange(rows) * 7 + 1, "name": [f"x{place:06}" for place in range(rows)]}
    )
    frames = [
        frame_of(name, table) for name, table in (("original", original), ("release", release))
    ]
    coded = encode(infer_schema(frames[0]), ("cost", "name"), frames[0], frames[1], None)
    assert coded.columns[0].released <= MOST_CODES + 1
    assert coded.columns[1].released == MOST_TEXTS + 1
    for place, column in enumerate(coded.columns):
        assert coded.release[:, place].max() < column.released
        assert column.covers[:, coded.release[:, place]].any(axis=0).all()


def test_an_audit_of_ten_times_the_rows_takes_no_more_than_ten_times_as_long_to_encode() -> None:
    took = []
    for rows in (3_000, 30_000):
        frames = [frame_of(name, wide_table(rows, 20, name)) for name in ("original", "release")]
        schema = infer_schema(frames[0])
        begun = time.process_time()
        encode(schema, frames[0].columns, frames[0], frames[1], None)
        took.append(time.process_time() - begun)
    assert took[1] < 30 * max(took[0], 0.01)


def test_counts_and_keys_are_those_of_sorting() -> None:
    rng = np.random.default_rng(1)
    keys, sought = rng.integers(0, 500, 3000) * 2**40, rng.integers(0, 600, 400) * 2**40
    assert how_many(keys, sought).tolist() == [int((keys == key).sum()) for key in sought]
    table = rng.integers(0, 9, (300, 30)).astype(np.int64)
    table[:, 0] = 2**31  # so that one number cannot hold a row
    table[150:] = table[:150]
    (numbers,) = row_keys(table)
    _, expected = np.unique(table, axis=0, return_inverse=True)
    assert len(set(zip(numbers.tolist(), expected.tolist(), strict=True))) == len(
        set(expected.tolist())
    )


@pytest.mark.parametrize(
    ("text", "covered"),
    [("12*", "120 121"), ("12", "12 120 121"), ("{12|13}", "12 13"), ("9*", "")],
)
def test_what_begins_so_is_found_among_sorted_levels(text: str, covered: str) -> None:
    levels = ["12", "120", "121", "13", "2"]
    found = covered_texts(text, levels)
    told = [] if found is None else [level for level, one in zip(levels, found, strict=True) if one]
    assert " ".join(told) == covered


def test_the_tables_of_the_benchmark_have_the_size_that_they_should(tmp_path: Path) -> None:
    for path in write_tables(tmp_path, 50, 20):
        assert pl.read_csv(path).shape == (50, 20)


def test_products_over_hundreds_of_columns_stay_within_what_a_number_holds() -> None:
    """Half of the cells of 250 columns are exchanged: P(row | person) of anybody is far below the least number there is."""
    rng = np.random.default_rng(1)
    original, holdout = (
        pl.DataFrame({f"c{place}": rng.integers(0, 200, 120) for place in range(250)})
        for _ in range(2)
    )
    frames = [
        frame_of("original", original),
        frame_of("release", swapped(original, 0.5)),
        frame_of("holdout", holdout),
    ]
    coded = encode(infer_schema(frames[0], frames[2]), original.columns, *frames)
    found = attack_membership(coded, coded.original, coded.holdout, np.random.default_rng(2))
    row = next(row for row in found.risk.rows if row.attack == "likelihood")
    assert row.rate.value > 0.9
    model = RowModel.of(coded, np.concatenate([coded.original, coded.holdout]))
    assert 0 < model.ratios.power < 1
    assert (
        linked(model, coded.original[:40], (tuple(range(125)), tuple(range(125, 250)))).mean() > 0.9
    )


def test_ratios_and_densities_say_what_probabilities_say() -> None:
    """P(row | person) / P(row), column by column, is the ratio of the whole; nothing else depends on the scale."""
    rng = np.random.default_rng(3)
    people, rows = (
        rng.integers(0, 3, (50, 2)).astype(np.int32),
        rng.integers(0, 3, (20, 2)).astype(np.int32),
    )
    transitions = [rng.dirichlet(np.ones(3), 3) for _ in range(2)]
    ratios = Ratios.of(transitions, people)
    assert ratios.power == 1
    whole = np.prod(
        [matrix[people[:, [place]], rows[:, place]] for place, matrix in enumerate(transitions)],
        axis=0,
    )
    ours = np.prod(
        [
            matrix[people[:, [place]], rows[:, place]]
            for place, matrix in enumerate(ratios.matrices)
        ],
        axis=0,
    )
    log_density = rng.normal(size=20)
    np.testing.assert_allclose(
        ours / ratios.relative(log_density, rows), whole / np.exp(log_density), rtol=1e-9
    )
