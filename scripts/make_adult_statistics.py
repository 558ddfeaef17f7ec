"""Make the embedded statistics of Census Income from the original files.

    python scripts/make_adult_statistics.py adult.data adult.test

The files may be packed (.gz) and come in any order. Writes ``adult-train.json`` and ``adult-test.json`` into
``src/kakurenbo/data/stored``: counts, histograms and cross products of the complete rows, whole numbers only.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from kakurenbo.core import InputError, Moments, Source, write_file
from kakurenbo.data.adult import read_part

DATA = Path(__file__).resolve().parent.parent / "src" / "kakurenbo" / "data" / "stored"


def statistics(path: Path) -> tuple[str, bytes]:
    """Name and content of the statistics of one original file."""
    try:
        part, table = read_part(Source.of(path))
    except InputError as error:
        sys.exit("\n".join(map(str, error.problems)))
    return f"adult-{part}.json", (
        json.dumps(Moments.of(table).as_json(), separators=(",", ":")) + "\n"
    ).encode()


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    made = dict(statistics(Path(path)) for path in sys.argv[1:])
    for name, content in made.items():
        write_file(DATA / name, content)
        print(DATA / name)


if __name__ == "__main__":
    main()
