"""``kakurenbo audit`` on wide tables, each audit in a process of its own: CPU seconds, seconds on the wall and peak memory.

They are compared with the CPU seconds of a bare Polars read and a blocked matrix product of the audit's own shapes in the same
run: what it costs at the least to see the tables, and to compare every target with every released row by linear algebra.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits

from benchmarks.common import REPOSITORY, Row, row
from kakurenbo.core.rng import stream
from kakurenbo.data.hospital import hospital

SWAPPED = 0.2  # share of the cells of each column that a release exchanges among its rows
_BLOCK = 512
_ONE_HOT = 600  # about what 20 columns of the tables below make as dummies
_MOST_TARGETS = 10_000  # of each kind, as the audit draws by itself


@dataclass(frozen=True)
class Size:
    """One audit: how many rows of each table, of how many columns, and what it may take."""

    rows: int
    columns: int
    targets: tuple[tuple[str, str], ...]


SIZES = (
    Size(10_000, 9, (("CPU", "≤ 15 s"),)),
    Size(200_000, 20, (("wall", "≤ 300 s"),)),
    Size(1_000_000, 20, (("wall", "≤ 600 s"), ("MB", "≤ 4000 MB"))),
)


def run() -> list[Row]:
    found = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            paths = write_tables(Path(folder), size.rows, size.columns)
            took = audited(paths)
            reading, product = least(paths, size.rows)
        reference = {
            "CPU": reading + product,
            "wall": reading + product,
            "MB": sum(_megabytes(path) for path in paths),
        }
        against = "bare read and matrix product, CPU"
        for figure in ("CPU", "wall", "MB"):
            told = dict(size.targets).get(figure)
            what = f"audit of {size.rows:,} x {size.columns}, {'peak memory, MB' if figure == 'MB' else figure}"
            name = "the three files" if figure == "MB" else against
            if told is not None:
                found.append(row(what, took[figure], name, reference[figure], told))
    return found


def wide_table(rows: int, columns: int, name: str) -> pl.DataFrame:
    """A made-up table: stays in a hospital; for more than nine columns beside its cost and an earlier stay of the person."""
    stay = hospital(rows, stream(1, "wide", name, "stay"))
    if columns <= stay.width:
        return stay.select(stay.columns[:columns])
    rng = stream(1, "wide", name, "earlier")
    earlier = hospital(rows, rng).with_columns(stay["sex"], stay["prefecture"])
    gap = pl.Series("years_between", rng.geometric(0.3, rows) - 1)
    cost = pl.Series(
        "cost", np.round(stay["days"].to_numpy() * rng.lognormal(10, 0.4, rows)).astype(np.int64)
    )
    earlier = earlier.with_columns((stay["age"] - gap).clip(0).alias("age"))
    return stay.hstack([gap, cost]).hstack(earlier.rename(lambda column: f"earlier_{column}"))[
        :, :columns
    ]


def swapped(table: pl.DataFrame, share: float) -> pl.DataFrame:
    """The release: of each column some cells, drawn anew for each, exchanged among their rows."""
    columns = []
    for column in table:
        rng = stream(2, "swapped", column.name)
        chosen, order = np.flatnonzero(rng.random(len(column)) < share), np.arange(len(column))
        order[chosen] = rng.permutation(chosen)
        columns.append(column.gather(order))
    return pl.DataFrame(columns)


def write_tables(folder: Path, rows: int, columns: int) -> tuple[Path, Path, Path]:
    """Original, release and holdout, each of so many rows."""
    paths = (folder / "original.csv", folder / "release.csv", folder / "holdout.csv")
    original = wide_table(rows, columns, "original")
    original.write_csv(paths[0])
    swapped(original, SWAPPED).sample(fraction=1, shuffle=True, seed=1).write_csv(paths[1])
    wide_table(rows, columns, "holdout").write_csv(paths[2])
    return paths


def audited(paths: tuple[Path, Path, Path], *options: str) -> dict[str, float]:
    """CPU and wall seconds and peak memory in MB of one audit with all its processes."""
    original, release, holdout = map(str, paths)
    command = [
        sys.executable,
        "-m",
        "kakurenbo",
        "audit",
        original,
        release,
        "--holdout",
        holdout,
        "--seed",
        "1",
        "--json",
    ]
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*command, *options], capture_output=True, cwd=REPOSITORY, env=dict(os.environ), check=False
    )
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(done.stderr.decode()[-2000:])
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"CPU": cpu, "wall": wall, "MB": after.ru_maxrss / 1024}


def least(paths: tuple[Path, Path, Path], rows: int) -> tuple[float, float]:
    """CPU seconds of reading the files by Polars, and of a blocked product of targets and released rows."""
    begun = time.process_time()
    for path in paths:
        pl.read_csv(path, infer_schema_length=0)
    reading = time.process_time() - begun
    people = np.ones((2 * min(rows, _MOST_TARGETS), _ONE_HOT), dtype=np.float32)
    released = np.ones((_BLOCK, _ONE_HOT), dtype=np.float32)
    with threadpool_limits(1):
        begun = time.process_time()
        (people @ released.T).sum()
        block = time.process_time() - begun
    return reading, block * rows / _BLOCK


def _megabytes(path: Path) -> float:
    return path.stat().st_size / 1e6
