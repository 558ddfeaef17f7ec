"""Cells that go over several lines: spreadsheets write them in quotation marks, and what follows takes a line for a record."""

from __future__ import annotations

import numpy as np

from kakurenbo.core.csv import MAX_LINE_BYTES, cells_of
from kakurenbo.core.problems import notice

_MOST_LINES = 1000  # of one cell


def joined_cells(text: bytes, file: str) -> bytes:
    """The same text with blanks in the place of line ends within quotation marks, which is a notice.

    A quotation mark that is never closed leaves everything as it is: whoever reads the lines tells where it stands.
    """
    if not _has_odd_lines(text):
        return text
    lines = text.split(b"\n")
    joined: list[bytes] = []
    place, first = 0, None
    while place < len(lines):
        taken = _lines_of_record(lines, place)
        if taken is None:
            return text
        if taken > 1 and first is None:
            first = place + 1
        joined.append(lines[place] if taken == 1 else b" ".join(lines[place : place + taken]))
        place += taken
    if first is None:
        return text
    notice("audit.line_in_cell", file=file, row=first)
    return b"\n".join(joined)


def _has_odd_lines(text: bytes) -> bool:
    """Whether a line has an odd number of quotation marks: without one no cell goes on in the next line."""
    if b'"' not in text:
        return False
    stream = np.frombuffer(text, dtype=np.uint8)
    marks = np.flatnonzero(stream == ord('"'))
    ends = np.flatnonzero(stream == ord("\n"))
    return bool(
        (np.diff(np.searchsorted(marks, np.append(ends, len(stream))), prepend=0) % 2).any()
    )


def _lines_of_record(lines: list[bytes], place: int) -> int | None:
    """How many lines the record takes that begins here; None where a quotation mark is never closed."""
    line = lines[place]
    if line.count(b'"') % 2 == 0 or cells_of(line.decode("utf-8", "replace")) is not None:
        return 1
    size = len(line)
    for taken in range(2, min(_MOST_LINES, len(lines) - place) + 1):
        added = lines[place + taken - 1]
        size += 1 + len(added)
        if size > MAX_LINE_BYTES:
            return None
        if added.count(b'"') % 2:
            record = b" ".join(lines[place : place + taken]).decode("utf-8", "replace")
            return taken if cells_of(record) is not None else None
    return None
