"""Tables that contests published, as CSV of free form: their cells, and the teams named in them."""

from __future__ import annotations

import csv
import io

from kakurenbo.tables import ProblemCollector, Problems, Read, Reading, Source
from kakurenbo.tables.texts import note_line_ends, plain_text, unix_lines

_MAX_BYTES = 10_000_000

Row = tuple[int, list[str]]
"""Line of the file, from 1, and its cells without blanks around them."""


def read_cells(source: Source) -> Reading[list[Row]]:
    """The rows of a CSV file that hold something; none where the text is no CSV at all."""
    data = source.read(_MAX_BYTES)
    if isinstance(data, Problems):
        return data
    found = ProblemCollector(source.name)
    text = plain_text(data, found)
    if text is None:
        return found.problems()
    note_line_ends(text, found)
    try:
        lines = [[cell.strip() for cell in line] for line in csv.reader(io.StringIO(unix_lines(text).decode("utf-8")))]
    except csv.Error:
        lines = []
    return Read([(number, line) for number, line in enumerate(lines, start=1) if any(line)], found.notices)


def two_digits(name: str) -> str:
    """A team, or one of its tables, by at least two digits: column ``1`` and row ``01`` are one team; other names stay.

    Examples
    --------
    >>> two_digits("1"), two_digits("007"), two_digits("7-2"), two_digits("attack.py")
    ('01', '07', '07-2', 'attack.py')
    """
    team, dash, table = name.partition("-")
    return f"{int(team):02d}{dash}{table}" if team.isascii() and team.isdecimal() and len(team) <= 9 else name
