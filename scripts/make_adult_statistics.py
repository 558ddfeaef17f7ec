"""Make the embedded statistics of Census Income from the original files.

    python scripts/make_adult_statistics.py adult.data adult.test

The files may be packed (.gz). Writes ``src/kakurenbo/datasets/data/adult-train.json`` and ``adult-test.json``: counts,
histograms and cross products of the complete rows, whole numbers only.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from kakurenbo.datasets.adult import read_uci
from kakurenbo.tables import Moments, Problems, Source, write_file

DATA = Path(__file__).resolve().parent.parent / "src" / "kakurenbo" / "datasets" / "data"


def statistics(path: Path) -> bytes:
    """The statistics of one original file, as the bytes to commit."""
    table = read_uci(Source.of(path))
    if isinstance(table, Problems):
        sys.exit("\n".join(map(str, table)))
    return (json.dumps(Moments.of(table).as_json(), separators=(",", ":")) + "\n").encode()


def main() -> None:
    train, test = map(Path, sys.argv[1:])
    write_file(DATA / "adult-train.json", statistics(train))
    write_file(DATA / "adult-test.json", statistics(test))


if __name__ == "__main__":
    main()
