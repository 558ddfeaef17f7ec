"""Nearest rows at the contest's full size, against scikit-learn's KDTree on the one-hot columns."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KDTree

from benchmarks.common import Row, best_of, peak_memory, reference_data, row
from kakurenbo.attacks.membership import nearest_rows
from kakurenbo.core import Source, Table, dummy_names, read_table
from kakurenbo.core.rng import stream
from kakurenbo.data.adult import SCHEMA, adult_statistics
from kakurenbo.data.generators import GENERATORS

POPULATION, RELEASE = 100_000, 10_000
_SEARCH = """
from benchmarks.bench_nearest import tables
from kakurenbo.attacks.membership import nearest_rows
nearest_rows(*tables())
"""


def tables() -> tuple[Table, Table]:
    """B and D: the reference data where it is, else drawn from the embedded statistics."""
    folder = reference_data()
    if folder is not None:
        names = ("B.csv.gz", "D_rrp90.csv.gz")
        population, release = (
            read_table(Source.of(folder / "amic2020" / "reference" / name), SCHEMA)
            for name in names
        )
        return population, release
    draw = partial(GENERATORS["moments"], adult_statistics("train"))
    return draw(POPULATION, stream(1, "bench", "B")), draw(RELEASE, stream(1, "bench", "D"))


def run() -> list[Row]:
    population, release = tables()
    nearest_rows(
        population.take([0]), release.take([0])
    )  # compiled, or loaded, before the clock starts
    ours = best_of(3, lambda: nearest_rows(population, release))
    base, queries = _one_hot(population), _one_hot(release)
    begun = time.perf_counter()
    distances, _ = KDTree(base).query(queries)
    tree = time.perf_counter() - begun
    # Ours are whole numbers; the tree's are such up to rounding.
    np.testing.assert_allclose(
        distances[:, 0] ** 2, nearest_rows(population, release).squares, rtol=0, atol=1e-9
    )

    size = f"{len(population):,} x {len(release):,} rows"
    return [
        row(f"nearest rows, {size}", ours, "KDTree on one-hot columns", tree, "ratio ≤ 0.1"),
        row(
            "nearest rows, peak MB of the whole process",
            peak_memory(_SEARCH),
            "limit of 500 MB",
            500.0,
            "ratio ≤ 1",
        ),
    ]


def _one_hot(table: Table) -> NDArray[np.float64]:
    """The numeric view with categories scaled so that a mismatch adds 1 to the squared distance, shape (n, d)."""
    is_level = np.array([level is not None for _, level in dummy_names(table.schema)])
    return np.ascontiguousarray(table.dummies() * np.where(is_level, np.sqrt(0.5), 1))
