"""Make the rows that stand for Census Income where its files are not imported, from the embedded statistics.

    python scripts/make_embedded_adult.py

Writes ``adult-train.csv.bz2`` and ``adult-test.csv.bz2`` into ``src/kakurenbo/datasets/data``.
"""

from __future__ import annotations

import bz2
from pathlib import Path

from kakurenbo.datasets.adult import COMPLETE_ROWS
from kakurenbo.generators.census import draw_embedded_rows
from kakurenbo.tables import table_bytes, write_file

DATA = Path(__file__).resolve().parent.parent / "src" / "kakurenbo" / "datasets" / "data"


def main() -> None:
    for part in COMPLETE_ROWS:
        path = DATA / f"adult-{part}.csv.bz2"
        write_file(path, bz2.compress(table_bytes(draw_embedded_rows(part))))
        print(path)


if __name__ == "__main__":
    main()
