"""Reading a table with every check: against a bare Polars read of the same file, and quoted or from Windows against plain."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.common import Row, best_of, reference_data, row
from kakurenbo.core import Layout, Schema, Source, Table, read_table, table_bytes
from kakurenbo.core.rng import stream
from kakurenbo.data import transactions
from kakurenbo.data.adult import SCHEMA, adult_statistics
from kakurenbo.data.generators import GENERATORS

ROWS = 100_000
TIMES = 15


def run() -> list[Row]:
    table = GENERATORS["moments"](adult_statistics("train"), ROWS, stream(1, "bench"))
    data = table_bytes(table)
    with tempfile.TemporaryDirectory() as folder:
        files = {
            "plain": data,
            "quoted": b'"' + data[:-1].replace(b",", b'","').replace(b"\n", b'"\n"') + b'"\n',
            "windows": b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"),
        }
        paths = {
            name: _written(Path(folder) / f"{name}.csv", content) for name, content in files.items()
        }
        for path in paths.values():
            assert _reader(path, SCHEMA)() == table
        seconds = _best_of(
            {name: _reader(path, SCHEMA) for name, path in paths.items()}
            | {"bare": lambda: pl.read_csv(paths["plain"], has_header=False)}
        )
        best, bare = seconds["plain"], seconds["bare"]
        rows = [
            row(
                f"read {ROWS:,} x 9 with every check",
                best,
                "bare polars.read_csv",
                bare,
                "ratio ≤ 1.5",
            ),
            row(
                "read the same, every cell quoted",
                seconds["quoted"],
                "plain, every check",
                best,
                "ratio ≤ 1.5",
            ),
            row(
                "read the same, BOM and CRLF",
                seconds["windows"],
                "plain, every check",
                best,
                "ratio ≤ 1.5",
            ),
        ]
        return rows + _transactions(Path(folder))


def _transactions(folder: Path) -> list[Row]:
    reference = reference_data()
    if reference is None:
        return []
    path = _written(
        folder / "T.csv", gzip.decompress((reference / "darc" / "ground_truth.csv.gz").read_bytes())
    )
    layout = Layout(header=True)
    count = len(_reader(path, transactions.SCHEMA, layout)())
    seconds = _best_of(
        {"ours": _reader(path, transactions.SCHEMA, layout), "bare": lambda: pl.read_csv(path)}
    )
    return [
        row(
            f"read T ({count:,} x 6) with every check",
            seconds["ours"],
            "bare polars.read_csv",
            seconds["bare"],
            "ratio ≤ 1.5",
        )
    ]


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _reader(path: Path, schema: Schema, layout: Layout | None = None) -> Callable[[], Table]:
    return lambda: read_table(Source.of(path), schema, layout)


def _best_of(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Seconds of the fastest of several calls of each; in turns, so that a busy machine is busy for all of them."""
    found = {name: float("inf") for name in calls}
    for _ in range(TIMES):
        for name, call in calls.items():
            found[name] = min(found[name], best_of(1, call))
    return found
