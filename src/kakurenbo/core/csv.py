"""CSV to tables and back: every problem of a file is found, not only the first.

A line is a record. A flawless file is read at once by Polars; of any other, lines of the wrong shape are reported and left
out, and the cells of the rest are checked all the same, so that a player can correct everything at once.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.core.files import DEFAULT_LIMIT, Source
from kakurenbo.core.messages import Message, shorten
from kakurenbo.core.problems import (
    Problem,
    ProblemCollector,
    Severity,
    add_notices,
    collect_notices,
)
from kakurenbo.core.remembering import same_table
from kakurenbo.core.schema import Category, Schema, Text
from kakurenbo.core.table import Table
from kakurenbo.core.texts import note_line_ends, plain_text, unix_lines

MAX_LINE_BYTES = 100_000
MAX_CELLS_BYTES = 10_000_000
_FAR_TOO_MANY = 10  # times as many lines as are allowed
_MAX_NAMES = 43  # characters of a list of missing columns
_TOO_LONG, _OPEN_QUOTE = -1, -2  # "widths" of lines that have no cells

Mend = Callable[[pl.DataFrame], pl.DataFrame]


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
    source: Source, schema: Schema, layout: Layout | None = None, mend: Mend | None = None
) -> Table:
    """Read one CSV file of a known schema, or raise InputError with all that is wrong with it.

    A byte-order mark and Windows line ends are corrected with a notice.

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
            return _parse_table(source.name, data, schema, layout, mend), notices

    if mend is not None:
        table, notices = read()
    else:
        table, notices = same_table(data, read, source.name, schema, layout)
    add_notices(notices)
    return table


def _parse_table(
    name: str, data: bytes, schema: Schema, layout: Layout, mend: Mend | None
) -> Table:
    text = plain_text(data, name)
    note_line_ends(text, name)
    problems = ProblemCollector(name)
    count = count_byte(text, b"\n")
    if layout.max_rows is not None and count > _FAR_TOO_MANY * (layout.max_rows + 1):
        # It is not worth looking at the cells.
        _check_row_count(count - layout.header, layout, problems)
        raise problems.error()
    lines = split_lines(unix_lines(text), len(schema), problems)
    if layout.header:
        lines = _check_header(lines, schema, problems)
    _check_row_count(lines.count - layout.header, layout, problems)
    if mend is not None:
        lines = replace(lines, cells=mend(lines.cells))
    encoded = _encode(lines, schema, layout, problems)
    problems.check()
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


def split_lines(data: bytes, width: int, problems: ProblemCollector) -> Lines:
    """Split a file with ``\\n`` line ends; report lines that do not have ``width`` cells."""
    if not data.endswith(b"\n"):
        data += b"\n"
    cells = _split_at_once(data, width)
    if cells is not None:
        return Lines(cells, np.arange(1, len(cells) + 1), len(cells))
    lines = pl.read_lines(data, name="text", row_index_name="number", row_index_offset=1)
    in_limit = lines.filter(pl.col("text").str.len_bytes() <= MAX_LINE_BYTES)
    good = in_limit.filter(pl.col("text").str.contains(_pattern(width)))
    refused: dict[int, tuple[str, list[int]]] = {}  # by width, its first line and all their numbers
    if len(in_limit) < len(lines):
        too_long = lines["number"].filter(~lines["number"].is_in(in_limit["number"].implode()))
        refused[_TOO_LONG] = "", too_long.to_list()
    odd: dict[int, list[str]] = {}  # cells of lines that only the strict rules understand
    for number, text in in_limit.join(good, on="number", how="anti").iter_rows():
        split = cells_of(text)
        found = _OPEN_QUOTE if split is None else len(split)
        if split is not None and found == width:
            odd[number] = split
        else:
            refused.setdefault(found, (text, []))[1].append(number)
    for found, (text, where) in refused.items():
        _refuse_lines(problems, where, found, width, text)
    cells = _parse("".join(f"{text}\n" for text in good["text"]).encode(), width, '"')
    if odd:
        further = zip(*odd.values(), strict=True)
        cells = cells.vstack(pl.DataFrame(list(map(list, further)), schema=cells.schema))
    numbers = np.array([*good["number"], *odd], dtype=np.int64)
    order = np.argsort(numbers)
    return Lines(cells[order], numbers[order], len(lines))


def _pattern(width: int) -> str:
    """Return the regular expression of a line of so many cells, with or without quotation marks."""
    cell = r'(?:[^",]*|"(?:[^"]|"")*")'
    return f"^{cell}(?:,{cell}){{{width - 1}}}$" if width > 1 else r'^(?:[^",]+|"(?:[^"]|"")*")$'


def _refuse_lines(
    problems: ProblemCollector, rows: list[int], found: int, width: int, text: str
) -> None:
    """Report lines of one width, of which the first is ``text``."""
    codes = {0: "line.empty", _TOO_LONG: "line.too_long", _OPEN_QUOTE: "line.open_quote"}
    params: dict[str, Any] = {}
    if found == _TOO_LONG:
        params = {"limit": MAX_LINE_BYTES}
    elif found > 0:
        params = {"columns": Message("columns", {"count": found}), "width": width}
    problems.add(
        codes.get(found, "line.wrong_width"),
        row=rows[0],
        also=rows[1:],
        value=text or None,
        severity=Severity.MALFORMED,
        **params,
    )


def count_byte(data: bytes, byte: bytes) -> int:
    """Count a byte; faster than ``bytes.count`` where it occurs often."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == ord(byte)))


def cells_of(line: str) -> list[str] | None:
    """Return the cells of one line by the strict rules of quotation marks; None where they are broken."""
    if '"' not in line:
        return line.split(",") if line else []
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error:
        return None


def _split_at_once(data: bytes, width: int) -> pl.DataFrame | None:
    """Split a file without quotation marks, all lines of which have the right shape; None for any other."""
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n"))
    lengths = np.diff(ends, prepend=-1) - 1
    if b'"' in data or lengths.max() > MAX_LINE_BYTES or lengths.min() < 1:
        return None
    # Polars refuses a line of more cells, and the commas suffice for all lines: so no line has fewer.
    if count_byte(data, b",") != len(lengths) * (width - 1):
        return None
    try:
        cells = _parse(data, width, None)
    except pl.exceptions.PolarsError:
        return None
    return cells if len(cells) == len(lengths) else None


def _parse(data: bytes, width: int, quote: str | None) -> pl.DataFrame:
    """Return the cells of lines as texts, columns named "0", "1", ..."""
    schema = {str(index): pl.String for index in range(width)}
    if not data:
        return pl.DataFrame(schema=schema)
    return pl.read_csv(
        data,
        has_header=False,
        schema=schema,
        quote_char=quote,
        empty_string_is_null=False,
        glob=False,
    )


# -- what a table may hold ---------------------------------------------------------------------------------------------


def _check_header(lines: Lines, schema: Schema, problems: ProblemCollector) -> Lines:
    """Take the header off; where it is not there, raise, because no cell can be judged."""
    names = list(lines.cells.row(0)) if len(lines.cells) and lines.numbers[0] == 1 else []
    if tuple(names) == schema.header:
        return lines.without_first()
    missing = shorten(", ".join(name for name in schema.header if name not in names), _MAX_NAMES)
    value, expected = ",".join(names), ",".join(schema.header)
    if sorted(names) == sorted(schema.header):
        problems.add("header.other_order", row=1, value=value, expected=expected)
    elif names:
        problems.add("header.lacks", row=1, value=value, missing=missing, expected=expected)
    elif len(lines.cells):  # else no line has the right shape, which is reported
        problems.add("header.none", row=1, value=value, expected=expected)
    raise problems.error()


def _check_row_count(count: int, layout: Layout, problems: ProblemCollector) -> None:
    low, high = layout.min_rows, layout.max_rows
    if (low or 0) <= count and (high is None or count <= high):
        return
    if low == high:
        allowed = Message("rows.exactly", {"count": low})
    elif high is None:
        allowed = Message("rows.at_least", {"low": low})
    elif low is None:
        allowed = Message("rows.at_most", {"high": high})
    else:
        allowed = Message("rows.between", {"low": low, "high": high})
    problems.add("table.row_count", value=str(count), count=count, allowed=allowed)


def _encode(
    lines: Lines, schema: Schema, layout: Layout, problems: ProblemCollector
) -> dict[str, pl.Series]:
    """Encode every cell; report those that are not in the domain of their column, those of one text together."""
    texts = {column.name: lines.cells[str(index)] for index, column in enumerate(schema)}
    encoded = {column.name: column.encode(texts[column.name]) for column in schema}
    if not any(series.null_count() for series in encoded.values()):
        return encoded
    skip = 0
    if not layout.header and _looks_like_header(lines, schema):
        problems.add("header.unwanted", row=1, record=0, value=",".join(lines.cells.row(0)))
        skip = 1
    groups: list[tuple[int, int, str, list[int]]] = []  # first row, place of the column, text, rows
    total = 0
    for place, column in enumerate(schema):
        bad = np.flatnonzero(encoded[column.name].is_null().to_numpy())
        bad = bad[bad >= skip]
        total += len(bad)
        cells = pl.DataFrame({"text": texts[column.name].gather(bad), "row": lines.numbers[bad]})
        by_text = cells.group_by("text", maintain_order=True).agg("row").head(problems.room)
        groups += [(rows[0], place, text, rows) for text, rows in by_text.iter_rows()]
    listed = sorted(groups)[: problems.room]
    for row, place, text, rows in listed:
        column = schema.columns[place]
        why = column.explain(text)
        problems.add(
            why.code,
            row=row,
            record=row - 1 - layout.header,
            also=rows[1:],
            column=column.heading,
            value=text,
            **why.params,
        )
    problems.count_unlisted(total - sum(len(rows) for *_, rows in listed))
    return encoded


def _looks_like_header(lines: Lines, schema: Schema) -> bool:
    if not len(lines.cells) or lines.numbers[0] != 1:
        return False
    first = [cell.strip().casefold() for cell in lines.cells.row(0)]
    names = [name.casefold() for name in schema.names]
    if sum(cell == name for cell, name in zip(first, names, strict=True)) * 2 >= len(names):
        return True
    # Columns of numbers that all begin with a word are a header of other names; one alone among columns of words may be a slip.
    are_words = [isinstance(column, Category | Text) for column in schema]
    numbers = [cell for cell, is_word in zip(first, are_words, strict=True) if not is_word]
    return (len(numbers) > 1 or len(names) == 1) and all(
        any(char.isalpha() for char in cell) for cell in numbers or first
    )


# -- out ---------------------------------------------------------------------------------------------------------------


def table_bytes(table: Table, *, header: bool = False) -> bytes:
    """Return a table as CSV: UTF-8, ``\\n``, quotation marks only where a cell needs them."""
    columns = [table.texts(column.name).alias(column.heading) for column in table.schema]
    return pl.DataFrame(columns).write_csv(include_header=header, line_terminator="\n").encode()
