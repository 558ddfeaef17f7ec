"""Make the stored statistics of A (MovieLens-style ratings) from the contest's file: exact counts, sums and products.

    python scripts/make_ratings_statistics.py A.csv

ZIP-codes are kept as a histogram only: most of them have so few people that their products with the ratings would be
somebody's ratings.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from kakurenbo.datasets import ratings
from kakurenbo.tables import Layout, Moments, Problems, Schema, Source, Text, read_table, write_file

TARGET = Path(__file__).resolve().parent.parent / "src" / "kakurenbo" / "datasets" / "data" / ratings.STATISTICS_FILE
USER = "User ID"


def statistics(path: Path) -> bytes:
    """Content of the stored statistics."""
    schema = Schema([Text(USER), *ratings.widest_schema(names=False)])
    read = read_table(Source.of(path), schema, Layout(header=True))
    if isinstance(read, Problems):
        sys.exit("\n".join(map(str, read)))
    table = read.value
    moments = Moments.of(table.select(ratings.RELATED))
    content = {"related": moments.as_json(), "zip_codes": table.frequencies(ratings.ZIP_CODE).tolist()}
    return (json.dumps(content, separators=(",", ":")) + "\n").encode()


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write_file(TARGET, statistics(Path(sys.argv[1])))
    print(TARGET)


if __name__ == "__main__":
    main()
