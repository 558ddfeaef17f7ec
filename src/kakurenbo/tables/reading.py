"""CSV in: reads a table with Polars and finds *every* problem in it, not only the first.

A regular file goes straight through Polars. Lines of the wrong shape are reported and set aside, and the others are still
checked cell by cell, so that a player can mend everything at once.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.tables.problems import ProblemCollector, Problems, Severity, shorten
from kakurenbo.tables.schema import Column, Schema
from kakurenbo.tables.sources import DEFAULT_LIMIT, Source
from kakurenbo.tables.table import Table

_BOM = b"\xef\xbb\xbf"
_NEWLINE, _COMMA = ord("\n"), ord(",")
MAX_LINE_BYTES = 100_000


@dataclass(frozen=True)
class Layout:
    """How a contest writes its CSV files.

    Attributes
    ----------
    header : bool
        Whether the first line holds the column names.
    min_rows, max_rows : int or None
        How many records the rules allow.
    accept_bom, accept_crlf : bool
        Whether a byte-order mark or Windows line ends are put right with a notice instead of refused.
    max_bytes : int
        Size limit after unpacking.
    """

    header: bool = False
    min_rows: int | None = None
    max_rows: int | None = None
    accept_bom: bool = False
    accept_crlf: bool = False
    max_bytes: int = DEFAULT_LIMIT


def read_table(
    source: Source,
    schema: Schema,
    layout: Layout | None = None,
    notices: ProblemCollector | None = None,
    mend: Callable[[pl.DataFrame], pl.DataFrame] | None = None,
) -> Table | Problems:
    """Read one CSV file of a known schema.

    Parameters
    ----------
    source : Source
    schema : Schema
    layout : Layout, optional
    notices : ProblemCollector, optional
        Gets a notice for everything that was put right while reading.
    mend : callable, optional
        Changes the cells (one column of texts each, same height) before they are judged, where the rules let some records
        hold anything.

    Returns
    -------
    Table or Problems
        The table, or all that is wrong with the file.
    """
    layout = layout or Layout()
    raw = source.read(layout.max_bytes)
    if isinstance(raw, Problems):
        return raw
    found = ProblemCollector(source.name)
    data = _plain_bytes(raw, layout, found, notices)
    if data is None:
        return found.problems()
    if not found and mend is None:
        table = _read_flawless(data, schema, layout)
        if table is not None:
            return table
    lines = _split(data, len(schema), found)
    if layout.header:
        body = _check_header(lines, schema, found)
        if body is None:
            return found.problems()
        lines = body
    _check_row_count(lines, layout, found)
    if mend is not None:
        lines = replace(lines, cells=mend(lines.cells))
    encoded = _encode(lines, schema, layout, found)
    return found.problems() if found else Table.from_encoded(schema, encoded)


# -- bytes ------------------------------------------------------------------------------------------------------------


def _plain_bytes(data: bytes, layout: Layout, found: ProblemCollector, notices: ProblemCollector | None) -> bytes | None:
    """UTF-8 text with ``\\n`` line ends, or None where the file cannot be read as text at all."""
    if data.startswith(_BOM):
        _put_right(layout.accept_bom, "the file begins with a byte-order mark", "save it as UTF-8 without BOM", found, notices)
        data = data[len(_BOM) :]
    if not data.strip():
        found.add("the file is empty", "write one line per record", severity=Severity.MALFORMED)
        return None
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        found.add("the file holds NUL bytes: it is not a text file", "save it as UTF-8", row=line, severity=Severity.MALFORMED)
        return None
    if not data.isascii() and not _is_utf8(data, found):
        return None
    if b"\r" in data:
        line = data.count(b"\n", 0, data.index(b"\r")) + 1
        advice = "save it with Unix line ends (LF)"
        _put_right(layout.accept_crlf, "the line ends are not LF but CRLF or CR", advice, found, notices, row=line)
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data


def _put_right(
    accepted: bool, message: str, fix: str, found: ProblemCollector, notices: ProblemCollector | None, row: int = 1
) -> None:
    if not accepted:
        found.add(message, fix, row=row)
    elif notices is not None:
        notices.add(f"{message}: put right", row=row, severity=Severity.NOTICE)


def _is_utf8(data: bytes, found: ProblemCollector) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        shown = f"0x{data[error.start]:02x}"
        found.add(
            f"the file is not UTF-8 text (byte {shown}{_likely_encoding(data)})",
            "save it as UTF-8",
            row=line,
            value=shown,
            severity=Severity.MALFORMED,
        )
        return False
    return True


def _likely_encoding(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return ", looks like UTF-16"
    try:
        data.decode("cp932")
    except UnicodeDecodeError:
        return ""
    return ", perhaps Shift_JIS"


# -- flawless files ---------------------------------------------------------------------------------------------------


def _read_flawless(data: bytes, schema: Schema, layout: Layout) -> Table | None:
    """The fast lane: Polars turns every cell straight into its code; None at the first doubt, to look closely instead.

    Only for schemas of small finite domains: there a file without nulls that has as many records as lines can hide
    nothing, since neither an empty cell nor a missing one is in any domain.
    """
    if any(column.spellings is None for column in schema) or b'"' in data or b"\n\n" in data or data.startswith(b"\n"):
        return None
    if layout.header:
        head, _, data = data.partition(b"\n")
        if head != ",".join(schema.names).encode():
            return None
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    if (layout.min_rows or 0) > lines or (layout.max_rows is not None and lines > layout.max_rows) or not data:
        return None
    enums = {column.name: pl.Enum(column.spellings or ()) for column in schema}
    try:
        frame = pl.read_csv(io.BytesIO(data), has_header=False, schema=enums, quote_char=None, glob=False)
    except pl.exceptions.PolarsError:
        return None
    if frame.height != lines or any(frame.null_count().row(0)):
        return None
    return Table.from_encoded(schema, {name: frame[name].to_physical() for name in schema.names})


# -- lines ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Lines:
    """The lines that have the right number of cells, as texts, and where each stood in the file."""

    cells: pl.DataFrame  # (n, columns) of String, columns named "0", "1", ...
    numbers: NDArray[np.int64]  # (n,) line in the file, from 1
    seen: int  # lines in the file, right or wrong

    def without_first(self) -> _Lines:
        return _Lines(self.cells[1:], self.numbers[1:], self.seen)


def _split(data: bytes, width: int, found: ProblemCollector) -> _Lines:
    if not data.endswith(b"\n"):
        data += b"\n"
    if b'"' in data:
        return _split_quoted(data, width, found)
    stream = np.frombuffer(data, dtype=np.uint8)
    delimiters = np.flatnonzero((stream == _COMMA) | (stream == _NEWLINE))
    if _is_regular(stream, delimiters, width):
        ends = delimiters[width - 1 :: width]
        return _Lines(_parse(data, width), np.arange(1, len(ends) + 1), len(ends))
    return _split_irregular(data, stream, width, found)


def _is_regular(stream: NDArray[np.uint8], delimiters: NDArray[np.int64], width: int) -> bool:
    """Whether every line has exactly ``width`` cells, is not empty and not absurdly long."""
    if len(delimiters) % width:
        return False
    kinds = stream[delimiters].reshape(-1, width)
    ends = delimiters[width - 1 :: width]
    lengths = np.diff(ends, prepend=-1)
    return bool(
        (kinds[:, -1] == _NEWLINE).all()
        and (kinds[:, :-1] == _COMMA).all()
        and lengths.max() <= MAX_LINE_BYTES
        and lengths.min() > 1
    )


def _split_irregular(data: bytes, stream: NDArray[np.uint8], width: int, found: ProblemCollector) -> _Lines:
    ends = np.flatnonzero(stream == _NEWLINE)
    starts = np.concatenate(([0], ends[:-1] + 1))
    commas = np.flatnonzero(stream == _COMMA)
    cells = np.searchsorted(commas, ends) - np.searchsorted(commas, starts) + 1
    lengths = ends - starts
    empty, long = lengths == 0, lengths > MAX_LINE_BYTES
    bad = empty | long | (cells != width)
    for line in np.flatnonzero(bad)[: found.room].tolist():
        row = line + 1
        if empty[line]:
            _refuse_line(found, row, "the line is empty", "remove it")
        elif long[line]:
            _refuse_line(found, row, f"the line is longer than {MAX_LINE_BYTES:,} bytes", "write one record per line")
        else:
            text = data[starts[line] : ends[line]][:200].decode("utf-8", "replace")
            _refuse_line(found, row, *_wrong_width(int(cells[line]), width), value=text)
    found.count_unlisted(max(0, int(bad.sum()) - found.total))
    good = np.flatnonzero(~bad)
    kept = b"".join(data[start : end + 1] for start, end in zip(starts[good].tolist(), ends[good].tolist(), strict=True))
    return _Lines(_parse(kept, width), good + 1, len(ends))


def _split_quoted(data: bytes, width: int, found: ProblemCollector) -> _Lines:
    """Files with quotation marks: one line is one record; the standard reader takes each line apart."""
    lines = data.decode("utf-8").split("\n")[:-1]
    rows, numbers = [], []
    for number, line in enumerate(lines, start=1):
        if not line:
            _refuse_line(found, number, "the line is empty", "remove it")
        elif len(line.encode()) > MAX_LINE_BYTES:
            _refuse_line(found, number, f"the line is longer than {MAX_LINE_BYTES:,} bytes", "write one record per line")
        else:
            try:
                cells = next(csv.reader([line], strict=True))
            except csv.Error:
                _refuse_line(found, number, "a quotation mark is not closed", 'close or remove the "', value=line)
                continue
            if len(cells) == width:
                rows.append(cells)
                numbers.append(number)
            else:
                _refuse_line(found, number, *_wrong_width(len(cells), width), value=line)
    columns = list(zip(*rows, strict=True)) or [()] * width
    frame = pl.DataFrame({str(index): pl.Series(texts, dtype=pl.String) for index, texts in enumerate(columns)})
    return _Lines(frame, np.asarray(numbers, dtype=np.int64), len(lines))


def _refuse_line(found: ProblemCollector, row: int, message: str, fix: str, value: str | None = None) -> None:
    found.add(message, fix, row=row, value=value, severity=Severity.MALFORMED)


def _wrong_width(cells: int, width: int) -> tuple[str, str]:
    return f"the line has {cells} column{'s' * (cells != 1)} instead of {width}", "give every column once, separated by commas"


def _parse(data: bytes, width: int) -> pl.DataFrame:
    schema = {str(index): pl.String for index in range(width)}
    if not data:
        return pl.DataFrame(schema=schema)
    return pl.read_csv(
        io.BytesIO(data),
        has_header=False,
        schema=schema,
        quote_char=None,
        empty_string_is_null=False,
        glob=False,
    )


# -- records ----------------------------------------------------------------------------------------------------------


def _check_header(lines: _Lines, schema: Schema, found: ProblemCollector) -> _Lines | None:
    """Take the header off; None where it is not there, so that no cell can be judged."""
    names = list(lines.cells.row(0)) if len(lines.cells) and lines.numbers[0] == 1 else []
    if tuple(names) == schema.names:
        return lines.without_first()
    expected = ",".join(schema.names)
    if sorted(names) == sorted(schema.names):
        found.add("the columns are in another order", f"the header must be {expected}", row=1, value=",".join(names))
        return None
    missing = [name for name in schema.names if name not in names]
    message = f"the header lacks {', '.join(missing)}" if names else "the first line is not the header"
    found.add(shorten(message), f"the header must be {expected}", row=1, value=",".join(names))
    return None


def _check_row_count(lines: _Lines, layout: Layout, found: ProblemCollector) -> None:
    count = lines.seen - int(layout.header)
    low, high = layout.min_rows, layout.max_rows
    if (low is None or count >= low) and (high is None or count <= high):
        return
    if low == high:
        allowed = f"exactly {low:,}"
    elif low is None or high is None:
        allowed = f"at least {low:,}" if high is None else f"at most {high:,}"
    else:
        allowed = f"{low:,} to {high:,}"
    found.add(f"the file has {count:,} records", f"{allowed} are allowed", value=str(count))


def _encode(lines: _Lines, schema: Schema, layout: Layout, found: ProblemCollector) -> dict[str, pl.Series]:
    texts = {column.name: lines.cells[str(index)] for index, column in enumerate(schema)}
    encoded = {column.name: column.encode(texts[column.name]) for column in schema}
    bad = {name: np.flatnonzero(series.is_null().to_numpy()) for name, series in encoded.items() if series.null_count()}
    if not bad:
        return encoded
    skip = 0
    if not layout.header and _looks_like_header(lines, schema):
        names = ",".join(lines.cells.row(0))
        found.add("the first line is a header", "files of this contest have none: remove it", row=1, record=0, value=names)
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


def _looks_like_header(lines: _Lines, schema: Schema) -> bool:
    if not len(lines.cells) or lines.numbers[0] != 1:
        return False
    first = [cell.strip().casefold() for cell in lines.cells.row(0)]
    names = [name.casefold() for name in schema.names]
    if sum(cell == name for cell, name in zip(first, names, strict=True)) * 2 >= len(names):
        return True
    # A number column that begins with a word is a header under another name.
    return len(names) == 1 and any(char.isalpha() for char in first[0])


def _refuse_cell(found: ProblemCollector, column: Column, text: str, row: int, record: int) -> None:
    message, fix = column.explain(text)
    found.add(message, fix, row=row, record=record, column=column.name, value=text)
