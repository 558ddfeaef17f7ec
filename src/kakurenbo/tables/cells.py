"""Small CSV files of any shape, cell by cell: tables of results that people wrote by hand."""

from __future__ import annotations

import csv
import io
from typing import NamedTuple

from kakurenbo.tables.problems import ProblemCollector, Problems
from kakurenbo.tables.readings import Read, Reading
from kakurenbo.tables.sources import Source
from kakurenbo.tables.texts import note_line_ends, plain_text, unix_lines

MAX_CELLS_BYTES = 10_000_000


class Row(NamedTuple):
    """A line of the file, counted from 1, and its cells without blanks around them."""

    number: int
    cells: list[str]


def read_cells(source: Source) -> Reading[list[Row]]:
    """Every row that is not blank; none where the text is no CSV at all."""
    data = source.read(MAX_CELLS_BYTES)
    if isinstance(data, Problems):
        return data
    found = ProblemCollector(source.name)
    text = plain_text(data, found)
    if text is None:
        return found.problems()
    note_line_ends(text, found)
    try:
        lines = list(csv.reader(io.StringIO(unix_lines(text).decode("utf-8"))))
    except csv.Error:
        lines = []
    rows = [Row(number, [cell.strip() for cell in line]) for number, line in enumerate(lines, start=1)]
    return Read([row for row in rows if any(row.cells)], found.notices)
