"""Reading a table with every check, against a bare Polars read of the same file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl

from benchmarks.common import Row, best_of, row
from kakurenbo.datasets.adult import SCHEMA, adult_statistics
from kakurenbo.generators import GENERATORS
from kakurenbo.rng import stream
from kakurenbo.tables import Source, read_table, table_bytes

ROWS = 100_000


def run() -> list[Row]:
    table = GENERATORS["moments"](adult_statistics("train"), ROWS, stream(1, "bench"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "B.csv"
        path.write_bytes(table_bytes(table))
        bare = best_of(7, lambda: pl.read_csv(path, has_header=False))
        ours = best_of(7, lambda: read_table(Source.of(path), SCHEMA))
        assert read_table(Source.of(path), SCHEMA) == table
    return [row(f"read {ROWS:,} x 9 with every check", ours, "bare polars.read_csv", bare, "ratio ≤ 3")]
