"""CSV in: reads a table with Polars and finds *every* problem in it, not only the first.

A large file without a flaw takes the fast lane. Else lines of the wrong shape are reported and set aside, and the others
are still checked cell by cell, so that a player can mend everything at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from kakurenbo.messages import Phrase, shorten
from kakurenbo.tables.flawless import LARGE, read_flawless
from kakurenbo.tables.lines import Lines, count_byte, has_long_line, split
from kakurenbo.tables.problems import ProblemCollector, Problems
from kakurenbo.tables.readings import Read
from kakurenbo.tables.remembering import same_table
from kakurenbo.tables.schema import Category, Column, Schema, Text
from kakurenbo.tables.sources import DEFAULT_LIMIT, Source
from kakurenbo.tables.table import Table
from kakurenbo.tables.texts import note_line_ends, plain_text, unix_lines

_FAR_TOO_MANY = 10  # times as many lines as are allowed
_SHOWN_NAMES = 43  # characters of a list of missing columns


@dataclass(frozen=True)
class Layout:
    """How a contest writes its CSV files.

    Attributes
    ----------
    header : bool
        Whether the first line holds the column names.
    min_rows, max_rows : int or None
        How many records the rules allow.
    max_bytes : int
        Size limit after unpacking.
    """

    header: bool = False
    min_rows: int | None = None
    max_rows: int | None = None
    max_bytes: int = DEFAULT_LIMIT

    def allows(self, rows: int) -> bool:
        """Whether a file may have so many records."""
        return (self.min_rows is None or rows >= self.min_rows) and (self.max_rows is None or rows <= self.max_rows)


def read_table(
    source: Source,
    schema: Schema,
    layout: Layout | None = None,
    mend: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
) -> Read[Table] | Problems:
    """Read one CSV file of a known schema.

    A byte-order mark and Windows line ends are put right with a notice.

    Parameters
    ----------
    source : Source
    schema : Schema
    layout : Layout, optional
    mend : callable, optional
        Changes the cells (one column of texts each, same height) before they are judged, where the rules let some records
        hold anything.

    Returns
    -------
    Read of Table, or Problems
        The table, or all that is wrong with the file.
    """
    layout = layout or Layout()
    raw = source.read(layout.max_bytes)
    if isinstance(raw, Problems):
        return raw
    if mend is not None:
        return _read(source.name, raw, schema, layout, mend)
    return same_table(raw, lambda: _read(source.name, raw, schema, layout, None), source.name, schema, layout)


def _read(
    name: str,
    raw: bytes,
    schema: Schema,
    layout: Layout,
    mend: Callable[[pl.DataFrame], pl.DataFrame] | None,
) -> Read[Table] | Problems:
    found = ProblemCollector(name)
    text = plain_text(raw, found)
    if text is None:
        return found.problems()
    note_line_ends(text, found)
    lines = count_byte(text, b"\n")
    if layout.max_rows is not None and lines > _FAR_TOO_MANY * (layout.max_rows + 1):
        _check_row_count(lines - int(layout.header), layout, found)  # not worth looking at the cells
        return found.problems()
    fast = mend is None and len(text) >= LARGE and not has_long_line(text)
    table = read_flawless(text, schema, header=layout.header) if fast else None
    if table is None or not layout.allows(len(table)):
        table = _read_carefully(unix_lines(text), schema, layout, mend, found)
    return found.problems() if table is None else Read(table, found.notices)


def _read_carefully(
    data: bytes,
    schema: Schema,
    layout: Layout,
    mend: Callable[[pl.DataFrame], pl.DataFrame] | None,
    found: ProblemCollector,
) -> Table | None:
    """The careful lane: the table, or None with everything that is wrong in ``found``."""
    lines = split(data, len(schema), found)
    if layout.header:
        body = _check_header(lines, schema, found)
        if body is None:
            return None
        lines = body
    _check_row_count(lines.seen - int(layout.header), layout, found)
    if mend is not None:
        lines = replace(lines, cells=mend(lines.cells))
    encoded = _encode(lines, schema, layout, found)
    return None if found else Table.from_encoded(schema, encoded)


def _check_header(lines: Lines, schema: Schema, found: ProblemCollector) -> Lines | None:
    """Take the header off; None where it is not there, so that no cell can be judged."""
    names = list(lines.cells.row(0)) if len(lines.cells) and lines.numbers[0] == 1 else []
    if tuple(names) == schema.names:
        return lines.without_first()
    missing = shorten(", ".join(name for name in schema.names if name not in names), _SHOWN_NAMES)
    given = ",".join(names)
    expected = ",".join(schema.names)
    if sorted(names) == sorted(schema.names):
        found.add("header.other_order", row=1, value=given, expected=expected)
    elif names:
        found.add("header.lacks", row=1, value=given, missing=missing, expected=expected)
    else:
        found.add("header.none", row=1, value=given, expected=expected)
    return None


def _check_row_count(count: int, layout: Layout, found: ProblemCollector) -> None:
    if layout.allows(count):
        return
    low, high = layout.min_rows, layout.max_rows
    if low == high:
        allowed = Phrase("rows.exactly", {"count": low})
    elif high is None:
        allowed = Phrase("rows.at_least", {"low": low})
    elif low is None:
        allowed = Phrase("rows.at_most", {"high": high})
    else:
        allowed = Phrase("rows.between", {"low": low, "high": high})
    found.add("table.row_count", value=str(count), count=count, allowed=allowed)


def _encode(lines: Lines, schema: Schema, layout: Layout, found: ProblemCollector) -> dict[str, pl.Series]:
    texts = {column.name: lines.cells[str(index)] for index, column in enumerate(schema)}
    encoded = {column.name: column.encode(texts[column.name]) for column in schema}
    bad = {name: np.flatnonzero(series.is_null().to_numpy()) for name, series in encoded.items() if series.null_count()}
    if not bad:
        return encoded
    skip = 0
    if not layout.header and _looks_like_header(lines, schema):
        names = ",".join(lines.cells.row(0))
        found.add("header.unwanted", row=1, record=0, value=names)
        skip = 1
    order = {name: position for position, name in enumerate(schema.names)}
    cells = sorted(
        (int(place), order[name], name) for name, places in bad.items() for place in places[: found.room + 1] if place >= skip
    )
    total = sum(int((places >= skip).sum()) for places in bad.values())
    listed = cells[: found.room]
    for place, _, name in listed:
        row = int(lines.numbers[place])
        _refuse_cell(found, schema[name], texts[name][place], row, row - 1 - int(layout.header))
    found.count_unlisted(total - len(listed))
    return encoded


def _looks_like_header(lines: Lines, schema: Schema) -> bool:
    if not len(lines.cells) or lines.numbers[0] != 1:
        return False
    first = [cell.strip().casefold() for cell in lines.cells.row(0)]
    names = [name.casefold() for name in schema.names]
    if sum(cell == name for cell, name in zip(first, names, strict=True)) * 2 >= len(names):
        return True
    # Columns of numbers that all begin with a word are a header of other names; one alone among columns of words may be a slip.
    numbers = [cell for cell, column in zip(first, schema, strict=True) if not isinstance(column, Category | Text)]
    return (len(numbers) > 1 or len(names) == 1) and all(any(char.isalpha() for char in cell) for cell in numbers or first)


def _refuse_cell(found: ProblemCollector, column: Column, text: str, row: int, record: int) -> None:
    why = column.explain(text)
    found.add(why.code, row=row, record=record, column=column.name, value=text, **why.parameters)
