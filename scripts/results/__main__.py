"""Play what is missing of the tables of docs/results, and lay out their pages.

python -m scripts.results                        every table, as many draws as tables.toml says
python -m scripts.results amic2020 --draws 5     one table, the first five draws
python -m scripts.results --minutes 30           as far as half an hour goes; the next call goes on
python -m scripts.results --only-pages           plays nothing: lays out what is there
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from scripts.results.cells import Cells, cell_key, release_key
from scripts.results.pages import DOCS, write_page
from scripts.results.playing import Draw
from scripts.results.tables import Column, ResultsTable, read_tables

OUT = Path("out") / "results"


def main() -> int:
    """Play and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", metavar="TABLE")
    parser.add_argument("--draws", type=int, help="play the first so many draws")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="begin no cell after so many minutes"
    )
    parser.add_argument("--only-pages", action="store_true")
    given = parser.parse_args()
    known = read_tables(out=OUT)
    if unknown := [name for name in given.tables if name not in known]:
        parser.error(f"there is no table {unknown[0]}; there are {', '.join(known)}")
    until = time.monotonic() + 60 * given.minutes
    for name in given.tables or known:
        table = known[name]
        if isinstance(table, str):
            print(table, file=sys.stderr)
            continue
        cells = Cells(OUT / f"{name}.jsonl")
        if not given.only_pages:
            play(table, cells, OUT / "made", draws=given.draws, until=until)
        write_page(table, cells)
        print(DOCS / f"{table.page}.md")
    return 0


def play(
    table: ResultsTable,
    cells: Cells,
    folder: Path,
    *,
    draws: int | None = None,
    until: float = float("inf"),
) -> None:
    """Play the cells that are missing, draw by draw, so that a run that is stopped leaves whole draws."""
    todo = list(_open(table, cells, draws))
    print(
        f"{table.name}: {sum(len(columns) for *_, columns in todo)} attacks to play",
        file=sys.stderr,
        flush=True,
    )
    for number, anonymizer, columns in todo:
        if time.monotonic() > until:
            return
        try:
            played = Draw(table, number, folder).anonymize(anonymizer)
            cells.put(release_key(table, anonymizer, number), played.as_json())
            with played.published() as published:
                for column in columns:
                    if time.monotonic() > until:
                        return
                    cells.put(cell_key(table, anonymizer, column, number), published.attack(column))
        except (
            Exception
        ) as error:  # one method that fails must not stop the table; its cells stay open
            print(
                f"{table.name}, draw {number}: {anonymizer}: {type(error).__name__}: {error}",
                file=sys.stderr,
                flush=True,
            )
        print(f"{table.name}, draw {number}: {anonymizer}", file=sys.stderr, flush=True)


def _open(
    table: ResultsTable, cells: Cells, draws: int | None
) -> Iterator[tuple[int, str, list[Column]]]:
    """Draw, anonymizer and the attacks on it that are not played yet."""
    for number in range(table.draws if draws is None else draws):
        for anonymizer in (one for one, most in table.anonymizers.items() if number < most):
            columns = [
                column
                for column in table.columns
                if column.plays(anonymizer, number)
                and cell_key(table, anonymizer, column, number) not in cells
            ]
            if columns or release_key(table, anonymizer, number) not in cells:
                yield number, anonymizer, columns


if __name__ == "__main__":
    sys.exit(main())
