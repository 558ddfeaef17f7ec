"""Make the rows that stand for Census Income where its files are not imported, from the embedded statistics.

    python scripts/make_embedded_adult.py

Writes ``adult-train.csv.bz2`` and ``adult-test.csv.bz2`` into ``src/kakurenbo/data/stored``.
"""

from __future__ import annotations

import bz2
from pathlib import Path

from kakurenbo.core import Table, table_bytes, write_file
from kakurenbo.core.rng import stream
from kakurenbo.data import moments
from kakurenbo.data.adult import COMPLETE_ROWS, adult_statistics

DATA = Path(__file__).resolve().parent.parent / "src" / "kakurenbo" / "data" / "stored"
SEED = 0  # of no contest: A and test.csv are public data, the same in every contest and round


def draw_embedded_rows(part: str) -> Table:
    """Draw the rows of one part (``"train"``, ``"test"``)."""
    source = adult_statistics(part)
    return moments.generate(source, source.count, stream(SEED, "embedded", "adult", part))


def main() -> None:
    for part in COMPLETE_ROWS:
        path = DATA / f"adult-{part}.csv.bz2"
        write_file(path, bz2.compress(table_bytes(draw_embedded_rows(part))))
        print(path)


if __name__ == "__main__":
    main()
