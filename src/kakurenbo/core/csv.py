"""CSV in and out: a table is read with Polars, and *every* problem in it is found, not only the first.

One line is one record. Lines of the wrong shape are reported and set aside, and the others are still checked cell by cell, so
that a player can mend everything at once.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.core.messages import Message, shorten
from kakurenbo.core.problems import (
    Problem,
    ProblemCollector,
    Severity,
    add_notices,
    collect_notices,
)
from kakurenbo.core.remembering import same_table
from kakurenbo.core.schema import Category, Column, Schema, Text
from kakurenbo.core.sources import DEFAULT_LIMIT, Source
from kakurenbo.core.table import Table
from kakurenbo.core.texts import note_line_ends, plain_text, unix_lines

MAX_LINE_BYTES = 100_000
MAX_CELLS_BYTES = 10_000_000
_FAR_TOO_MANY = 10  # times as many lines as are allowed
_MAX_NAMES = 43  # characters of a list of missing columns
_NEWLINE, _COMMA = ord("\n"), ord(",")


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


class Row(NamedTuple):
    """A line of a file, counted from 1, and its cells without blanks around them."""

    number: int
    cells: list[str]


def read_table(
    source: Source,
    schema: Schema,
    layout: Layout | None = None,
    mend: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
) -> Table:
    """Read one CSV file of a known schema, or raise InputError with all that is wrong with it.

    A byte-order mark and Windows line ends are put right with a notice.

    Parameters
    ----------
    source : Source
    schema : Schema
    layout : Layout, optional
    mend : callable, optional
        Changes the cells (one column of texts each, same height) before they are judged, where the rules let some records
        hold anything.
    """
    layout = layout or Layout()
    data = source.read(layout.max_bytes)

    def read() -> tuple[Table, list[Problem]]:
        with collect_notices() as notices:
            return _read(source.name, data, schema, layout, mend), notices

    if mend is not None:
        table, notices = read()
    else:
        table, notices = same_table(data, read, source.name, schema, layout)
    add_notices(notices)
    return table


def _read(
    name: str,
    data: bytes,
    schema: Schema,
    layout: Layout,
    mend: Callable[[pl.DataFrame], pl.DataFrame] | None,
) -> Table:
    text = plain_text(data, name)
    note_line_ends(text, name)
    found = ProblemCollector(name)
    count = count_byte(text, b"\n")
    if layout.max_rows is not None and count > _FAR_TOO_MANY * (layout.max_rows + 1):
        # It is not worth looking at the cells.
        _check_row_count(count - layout.header, layout, found)
        raise found.error()
    lines = split_lines(unix_lines(text), len(schema), found)
    if layout.header:
        lines = _check_header(lines, schema, found)
    _check_row_count(lines.count - layout.header, layout, found)
    if mend is not None:
        lines = replace(lines, cells=mend(lines.cells))
    encoded = _encode(lines, schema, layout, found)
    found.check()
    return Table.from_encoded(schema, encoded)


def read_cells(source: Source) -> list[Row]:
    """Return every row of a small file that is not blank; none where the text is no CSV at all."""
    text = plain_text(source.read(MAX_CELLS_BYTES), source.name)
    note_line_ends(text, source.name)
    try:
        lines = list(csv.reader(io.StringIO(unix_lines(text).decode("utf-8"))))
    except csv.Error:
        return []
    rows = [
        Row(number, [cell.strip() for cell in line]) for number, line in enumerate(lines, start=1)
    ]
    return [row for row in rows if any(row.cells)]


# -- lines -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lines:
    """The lines that have the right number of cells, as texts, and where each stood in the file."""

    cells: pl.DataFrame  # (n, columns) of String, columns named "0", "1", ...
    numbers: NDArray[np.int64]  # (n,) line in the file, from 1
    count: int  # lines in the file, right or wrong

    def without_first(self) -> Lines:
        return Lines(self.cells[1:], self.numbers[1:], self.count)


def split_lines(data: bytes, width: int, found: ProblemCollector) -> Lines:
    """Split a file with ``\\n`` line ends; report lines that do not have ``width`` cells."""
    if not data.endswith(b"\n"):
        data += b"\n"
    if _line_lengths(data).max() > MAX_LINE_BYTES:
        # No work is done on what is refused: long lines are only kept as far as one sees that they are.
        data = b"".join(_shortened_lines(data))
    regular = _split_regular(data, width)
    if regular is not None:
        return regular
    return _split_quoted(data, width, found) if b'"' in data else _split_plain(data, width, found)


def count_byte(data: bytes, byte: bytes) -> int:
    """Count a byte; faster than ``bytes.count`` where it occurs often."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == ord(byte)))


def cells_of(line: str) -> list[str] | None:
    """Return the cells of one line by the strict rules of quotation marks; None where they are broken."""
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error:
        return None


def _line_lengths(data: bytes) -> NDArray[np.int64]:
    """Bytes of each line, its end not counted."""
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == _NEWLINE)
    return np.diff(ends, prepend=-1) - 1


def _shortened_lines(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = data.index(b"\n", start)
        cut = min(end, start + MAX_LINE_BYTES + 1)
        while cut < end and data[cut] & 0xC0 == 0x80:  # not in the middle of a character
            cut += 1
        yield data[start:cut] + b"\n"
        start = end + 1


def _split_regular(data: bytes, width: int) -> Lines | None:
    """Split all lines at once where each has ``width`` cells and is neither empty nor too long; None at any doubt."""
    lengths = _line_lengths(data)
    if lengths.max() > MAX_LINE_BYTES or lengths.min() < 1:
        return None
    # Polars refuses a line of more cells, and the commas suffice for all lines: so no line has fewer.
    if count_byte(data, b",") != len(lengths) * (width - 1):
        return None
    try:
        cells = _parse(data, width)
    except pl.exceptions.PolarsError:
        return None
    if cells.height != len(lengths):
        return None
    if b'"' in data:
        columns = [_unquoted(column) for column in cells]
        if any(column is None for column in columns):
            return None
        cells = pl.DataFrame([column for column in columns if column is not None])
    return Lines(cells, np.arange(1, len(lengths) + 1), len(lengths))


def _unquoted(column: pl.Series) -> pl.Series | None:
    """Take the quotation marks off cells; None where a cell does not stand on its own, because a comma is within quotes.

    Cells that were split at every comma are the cells of the line exactly if each of them is well-formed alone: only
    within an open quotation mark does a comma not end a cell.
    """
    quoted = column.unique()
    quoted = quoted.filter(quoted.str.contains('"', literal=True))
    plain = []
    for text in quoted.to_list():
        cells = cells_of(text)
        if cells is None or len(cells) != 1:
            return None
        plain += cells
    return column.replace(quoted, pl.Series(plain, dtype=pl.String))


def _split_plain(data: bytes, width: int, found: ProblemCollector) -> Lines:
    """Split a file without quotation marks, whose lines are not all right."""
    stream = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(stream == _NEWLINE)
    starts = np.concatenate(([0], ends[:-1] + 1))
    commas = np.flatnonzero(stream == _COMMA)
    widths = np.searchsorted(commas, ends) - np.searchsorted(commas, starts) + 1
    widths[ends == starts] = 0
    widths[ends - starts > MAX_LINE_BYTES] = -1
    bad = np.flatnonzero(widths != width)
    _, first = np.unique(widths[bad], return_index=True)
    for line in bad[np.sort(first)][: found.room].tolist():
        rows = (bad[widths[bad] == widths[line]] + 1).tolist()
        text = data[starts[line] : ends[line]][:200].decode("utf-8", "replace")
        _refuse_lines(found, rows, int(widths[line]), width, text)
    found.count_unlisted(max(0, len(bad) - found.total))
    good = np.flatnonzero(widths == width)
    places = zip(starts[good].tolist(), ends[good].tolist(), strict=True)
    kept = b"".join(data[start : end + 1] for start, end in places)
    return Lines(_parse(kept, width), good + 1, len(ends))


def _split_quoted(data: bytes, width: int, found: ProblemCollector) -> Lines:
    """Split a file with quotation marks: the standard reader takes each line apart."""
    lines = data.decode("utf-8").split("\n")[:-1]
    rows, numbers = [], []
    for number, line in enumerate(lines, start=1):
        too_long = len(line.encode()) > MAX_LINE_BYTES
        cells = [] if too_long or not line else cells_of(line)
        if cells is None:
            found.add("line.open_quote", row=number, value=line, severity=Severity.MALFORMED)
        elif len(cells) == width:
            rows.append(cells)
            numbers.append(number)
        else:
            _refuse_lines(found, [number], -1 if too_long else len(cells), width, line)
    columns: Iterable[tuple[str, ...]] = list(zip(*rows, strict=True)) or [()] * width
    frame = pl.DataFrame(
        {str(index): pl.Series(texts, dtype=pl.String) for index, texts in enumerate(columns)}
    )
    return Lines(frame, np.asarray(numbers, dtype=np.int64), len(lines))


def _refuse_lines(
    found: ProblemCollector, rows: list[int], cells: int, width: int, line: str
) -> None:
    """Report lines of so many cells: 0 for empty lines, -1 for those that are too long."""
    row, also, severity = rows[0], rows[1:], Severity.MALFORMED
    if cells == 0:
        found.add("line.empty", row=row, also=also, severity=severity)
    elif cells < 0:
        found.add("line.too_long", row=row, also=also, severity=severity, limit=MAX_LINE_BYTES)
    else:
        code = "line.wrong_width"
        columns = Message("columns", {"count": cells})
        found.add(
            code, row=row, also=also, value=line, severity=severity, columns=columns, width=width
        )


def _parse(data: bytes, width: int) -> pl.DataFrame:
    schema = {str(index): pl.String for index in range(width)}
    if not data:
        return pl.DataFrame(schema=schema)
    return pl.read_csv(
        data,
        has_header=False,
        schema=schema,
        quote_char=None,
        empty_string_is_null=False,
        glob=False,
    )


# -- what a table may hold ---------------------------------------------------------------------------------------------


def _check_header(lines: Lines, schema: Schema, found: ProblemCollector) -> Lines:
    """Take the header off; where it is not there, raise, because no cell can be judged."""
    names = list(lines.cells.row(0)) if len(lines.cells) and lines.numbers[0] == 1 else []
    if tuple(names) == schema.header:
        return lines.without_first()
    missing = shorten(", ".join(name for name in schema.header if name not in names), _MAX_NAMES)
    value, expected = ",".join(names), ",".join(schema.header)
    if sorted(names) == sorted(schema.header):
        found.add("header.other_order", row=1, value=value, expected=expected)
    elif names:
        found.add("header.lacks", row=1, value=value, missing=missing, expected=expected)
    elif len(lines.cells):  # else no line has the right shape, which is reported
        found.add("header.none", row=1, value=value, expected=expected)
    raise found.error()


def _check_row_count(count: int, layout: Layout, found: ProblemCollector) -> None:
    low, high = layout.min_rows, layout.max_rows
    if (low is None or count >= low) and (high is None or count <= high):
        return
    if low == high:
        allowed = Message("rows.exactly", {"count": low})
    elif high is None:
        allowed = Message("rows.at_least", {"low": low})
    elif low is None:
        allowed = Message("rows.at_most", {"high": high})
    else:
        allowed = Message("rows.between", {"low": low, "high": high})
    found.add("table.row_count", value=str(count), count=count, allowed=allowed)


def _encode(
    lines: Lines, schema: Schema, layout: Layout, found: ProblemCollector
) -> dict[str, pl.Series]:
    """Encode every cell; report those that are not in the domain of their column, those of one text together."""
    texts = {column.name: lines.cells[str(index)] for index, column in enumerate(schema)}
    encoded = {column.name: column.encode(texts[column.name]) for column in schema}
    if not any(series.null_count() for series in encoded.values()):
        return encoded
    skip = 0
    if not layout.header and _looks_like_header(lines, schema):
        found.add("header.unwanted", row=1, record=0, value=",".join(lines.cells.row(0)))
        skip = 1
    groups: list[tuple[int, int, Column, str, list[int]]] = []  # first row and place to sort by
    total = 0
    for place, column in enumerate(schema):
        bad = np.flatnonzero(encoded[column.name].is_null().to_numpy())
        bad = bad[bad >= skip]
        total += len(bad)
        cells = pl.DataFrame({"text": texts[column.name].gather(bad), "row": lines.numbers[bad]})
        by_text = cells.group_by("text", maintain_order=True).agg("row").head(found.room)
        groups += [(rows[0], place, column, text, rows) for text, rows in by_text.iter_rows()]
    listed = sorted(groups, key=lambda group: group[:2])[: found.room]
    for row, _, column, text, rows in listed:
        why = column.explain(text)
        found.add(
            why.code,
            row=row,
            record=row - 1 - layout.header,
            also=rows[1:],
            column=column.heading,
            value=text,
            **why.params,
        )
    found.count_unlisted(total - sum(len(rows) for *_, rows in listed))
    return encoded


def _looks_like_header(lines: Lines, schema: Schema) -> bool:
    if not len(lines.cells) or lines.numbers[0] != 1:
        return False
    first = [cell.strip().casefold() for cell in lines.cells.row(0)]
    names = [name.casefold() for name in schema.names]
    if sum(cell == name for cell, name in zip(first, names, strict=True)) * 2 >= len(names):
        return True
    # Columns of numbers that all begin with a word are a header of other names; one alone among columns of words may be a slip.
    numbers = [
        cell
        for cell, column in zip(first, schema, strict=True)
        if not isinstance(column, Category | Text)
    ]
    return (len(numbers) > 1 or len(names) == 1) and all(
        any(char.isalpha() for char in cell) for cell in numbers or first
    )


# -- out ---------------------------------------------------------------------------------------------------------------


def table_bytes(table: Table, *, header: bool = False) -> bytes:
    """Return a table as CSV: UTF-8, ``\\n``, quotation marks only where a cell needs them."""
    frame = pl.DataFrame(
        [table.texts(column.name).alias(column.heading) for column in table.schema]
    )
    return frame.write_csv(include_header=header, line_terminator="\n").encode()
