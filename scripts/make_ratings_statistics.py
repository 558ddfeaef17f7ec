"""Make the stored statistics of a table B (MovieLens-style ratings) from one of the contest's files.

    python scripts/make_ratings_statistics.py Bi11.csv.gz

Kept are the one- and two-way frequency tables of gender, age, occupation and the 46 ratings, and the histogram of the
ZIP-codes: no name, no row, no table of three columns. ZIP-codes are related to nothing, because about 20 people share each.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from kakurenbo.core import InputError, Moments, Source, Table, write_file
from kakurenbo.data import ratings

TARGET = (
    Path(__file__).resolve().parent.parent
    / "src"
    / "kakurenbo"
    / "data"
    / "stored"
    / ratings.STATISTICS_FILE
)


def statistics(path: Path) -> bytes:
    """Content of the stored statistics."""
    try:
        table = ratings.read_ratings(Source.of(path))
    except InputError as error:
        sys.exit("\n".join(map(str, error.problems)))
    related = Table.from_texts(
        ratings.related_schema(), {name: table.texts(name) for name in ratings.RELATED}
    )
    domain = ratings.widest_schema().select([ratings.ZIP_CODE])
    zip_codes = Table.from_texts(
        domain, {ratings.ZIP_CODE: table.texts(ratings.ZIP_CODE)}
    ).frequencies(ratings.ZIP_CODE)
    content = {"related": Moments.of(related).as_json(), "zip_codes": zip_codes.tolist()}
    return (json.dumps(content, separators=(",", ":")) + "\n").encode()


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write_file(TARGET, statistics(Path(sys.argv[1])))
    print(TARGET)


if __name__ == "__main__":
    main()
