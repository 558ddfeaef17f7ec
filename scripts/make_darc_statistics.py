"""Make the stored statistics of T (darc2019) from the real table: ``python scripts/make_darc_statistics.py T.csv[.gz]``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from kakurenbo.datasets.shop_statistics import FILE, statistics_of
from kakurenbo.datasets.transactions import SCHEMA
from kakurenbo.tables import Layout, Problems, Source, read_table

TARGET = Path(__file__).parents[1] / "src" / "kakurenbo" / "datasets" / "data" / FILE


def main(path: str) -> None:
    read = read_table(Source.of(path), SCHEMA, Layout(header=True))
    if isinstance(read, Problems):
        sys.exit("\n".join(map(str, read)))
    lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in statistics_of(read.value).items()]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
