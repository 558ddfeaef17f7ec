"""Releases of the real Census files, as the audit is measured on: nine columns, original, holdout and strangers."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

_FIELDS = {
    "age": 0, "workclass": 1, "education": 3, "marital-status": 5, "occupation": 6, "relationship": 7, "sex": 9,
    "hours-per-week": 12, "income": 14,
}  # fmt: skip


def census() -> pl.DataFrame:
    """All complete rows, in an order of their own."""
    folder = (
        Path(os.environ.get("KAKURENBO_DATA", Path(__file__).parents[3] / "shared" / "data"))
        / "adult"
    )
    if not folder.is_dir():
        pytest.skip(
            f"no Census files: set KAKURENBO_DATA to the folder that holds adult/ (looked in {folder})"
        )
    rows = []
    for name in ("adult.data.gz", "adult.test.gz"):
        with gzip.open(folder / name, "rt") as file:
            cells = [[cell.strip() for cell in line.rstrip(".\n").split(",")] for line in file]
        rows += [row for row in cells if len(row) == 15 and "?" not in row]
    table = pl.DataFrame({name: [row[place] for row in rows] for name, place in _FIELDS.items()})
    return table[np.random.default_rng(1).permutation(len(table)).tolist()]


def parts(size: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Original, holdout, and people nobody asks about, each of so many rows."""
    table = census()
    return table[:size], table[size : 2 * size], table[2 * size : 3 * size]


def swapped(table: pl.DataFrame, share: float, rng: np.random.Generator) -> pl.DataFrame:
    """A share of the cells of each column exchanged among each other."""
    columns = {}
    for name in table.columns:
        values = table[name].to_numpy().copy()
        places = np.flatnonzero(rng.random(len(values)) < share)
        values[places] = values[rng.permutation(places)]
        columns[name] = values
    return pl.DataFrame(columns)


def relabelled(table: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """The values of every column under the names of others."""
    columns = {}
    for name in table.columns:
        values = table[name].unique().sort().to_list()
        columns[name] = table[name].replace_strict(
            values, [values[place] for place in rng.permutation(len(values))]
        )
    return pl.DataFrame(columns)


def in_tens(table: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Numbers as ten-year bands."""
    tens = {name: pl.col(name).cast(pl.Int64) // 10 * 10 for name in names}
    return table.with_columns(
        [pl.concat_str(low, pl.lit("-"), low + 9).alias(name) for name, low in tens.items()]
    )
