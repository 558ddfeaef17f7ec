"""Lines of a CSV file: one line is one record. A line of the wrong shape is reported and set aside; the others are kept."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.messages import Phrase
from kakurenbo.tables.problems import ProblemCollector, Severity

MAX_LINE_BYTES = 100_000
_NEWLINE, _COMMA = ord("\n"), ord(",")


@dataclass(frozen=True)
class Lines:
    """The lines that have the right number of cells, as texts, and where each stood in the file."""

    cells: pl.DataFrame  # (n, columns) of String, columns named "0", "1", ...
    numbers: NDArray[np.int64]  # (n,) line in the file, from 1
    seen: int  # lines in the file, right or wrong

    def without_first(self) -> Lines:
        return Lines(self.cells[1:], self.numbers[1:], self.seen)


def split(data: bytes, width: int, found: ProblemCollector) -> Lines:
    """The lines of a file with ``\\n`` line ends; those without ``width`` cells go to ``found``."""
    if not data.endswith(b"\n"):
        data += b"\n"
    data = _without_long_tails(data)
    regular = _split_regular(data, width)
    if regular is not None:
        return regular
    return _split_quoted(data, width, found) if b'"' in data else _split_irregular(data, width, found)


def has_long_line(data: bytes) -> bool:
    """Whether a line is longer than any line of a contest."""
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == _NEWLINE)
    return bool(np.diff(ends, prepend=-1, append=len(data)).max() > MAX_LINE_BYTES + 1)


def _without_long_tails(data: bytes) -> bytes:
    """The same lines, those that are too long only as far as one sees that they are: no work is done on what is refused."""
    if not has_long_line(data):
        return data
    parts, start = [], 0
    while start < len(data):
        end = data.index(b"\n", start)
        cut = min(end, start + MAX_LINE_BYTES + 1)
        while cut < end and data[cut] & 0xC0 == 0x80:  # not in the middle of a character
            cut += 1
        parts.append(data[start:cut])
        start = end + 1
    return b"\n".join(parts) + b"\n"


def count_byte(data: bytes, byte: bytes, start: int = 0) -> int:
    """How often a byte occurs from ``start`` on; faster than ``bytes.count`` where it occurs often."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8)[start:] == ord(byte))) if byte in data else 0


def cells_of(line: str) -> list[str] | None:
    """The cells of one line by the strict rules of quotation marks; None where they are broken."""
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error:
        return None


def unquoted(texts: pl.Series) -> pl.Series | None:
    """Cells without their quotation marks; None where one does not stand on its own, because a comma is within quotes.

    Cells that were split at every comma are the cells of the line exactly if each of them is well-formed alone: only
    within an open quotation mark does a comma not end a cell.
    """
    marked = texts.str.contains('"', literal=True)
    if not marked.any():
        return texts
    plain = texts.to_list()
    for place in marked.arg_true().to_list():
        cells = cells_of(plain[place])
        if cells is None or len(cells) != 1:
            return None
        plain[place] = cells[0]
    return pl.Series(texts.name, plain, dtype=pl.String)


def _split_regular(data: bytes, width: int) -> Lines | None:
    """All lines at once where every one has ``width`` cells, is not empty and not absurdly long; None at any doubt."""
    stream = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(stream == _NEWLINE)
    lengths = np.diff(ends, prepend=-1)
    if lengths.max() > MAX_LINE_BYTES or lengths.min() <= 1:
        return None
    # Polars refuses a line of more cells, and the commas suffice for all lines: so no line has fewer.
    if np.count_nonzero(stream == _COMMA) != len(ends) * (width - 1):
        return None
    try:
        cells = _parse(data, width)
    except pl.exceptions.PolarsError:
        return None
    if cells.height != len(ends):
        return None
    if b'"' in data:
        columns = [_unquoted_column(column) for column in cells]
        if any(column is None for column in columns):
            return None
        cells = pl.DataFrame([column for column in columns if column is not None])
    return Lines(cells, np.arange(1, len(ends) + 1), len(ends))


def _unquoted_column(column: pl.Series) -> pl.Series | None:
    different = column.unique()
    plain = unquoted(different)
    if plain is None or plain is different:
        return None if plain is None else column
    return column.replace_strict(different, plain, return_dtype=pl.String)


def _split_irregular(data: bytes, width: int, found: ProblemCollector) -> Lines:
    stream = np.frombuffer(data, dtype=np.uint8)
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
            _refuse_empty(found, row)
        elif long[line]:
            _refuse_long(found, row)
        else:
            text = data[starts[line] : ends[line]][:200].decode("utf-8", "replace")
            _refuse_width(found, row, int(cells[line]), width, text)
    found.count_unlisted(max(0, int(bad.sum()) - found.total))
    good = np.flatnonzero(~bad)
    kept = b"".join(data[start : end + 1] for start, end in zip(starts[good].tolist(), ends[good].tolist(), strict=True))
    return Lines(_parse(kept, width), good + 1, len(ends))


def _split_quoted(data: bytes, width: int, found: ProblemCollector) -> Lines:
    """Files with quotation marks: the standard reader takes each line apart."""
    lines = data.decode("utf-8").split("\n")[:-1]
    rows, numbers = [], []
    for number, line in enumerate(lines, start=1):
        if not line:
            _refuse_empty(found, number)
        elif len(line.encode()) > MAX_LINE_BYTES:
            _refuse_long(found, number)
        elif (cells := cells_of(line)) is None:
            found.add("line.open_quote", row=number, value=line, severity=Severity.MALFORMED)
        elif len(cells) == width:
            rows.append(cells)
            numbers.append(number)
        else:
            _refuse_width(found, number, len(cells), width, line)
    columns: Iterable[tuple[str, ...]] = list(zip(*rows, strict=True)) or [()] * width
    frame = pl.DataFrame({str(index): pl.Series(texts, dtype=pl.String) for index, texts in enumerate(columns)})
    return Lines(frame, np.asarray(numbers, dtype=np.int64), len(lines))


def _refuse_empty(found: ProblemCollector, row: int) -> None:
    found.add("line.empty", row=row, severity=Severity.MALFORMED)


def _refuse_long(found: ProblemCollector, row: int) -> None:
    found.add("line.too_long", row=row, severity=Severity.MALFORMED, limit=MAX_LINE_BYTES)


def _refuse_width(found: ProblemCollector, row: int, cells: int, width: int, line: str) -> None:
    columns = Phrase("columns.one" if cells == 1 else "columns.many", {"count": cells})
    found.add("line.wrong_width", row=row, value=line, severity=Severity.MALFORMED, columns=columns, width=width)


def _parse(data: bytes, width: int) -> pl.DataFrame:
    schema = {str(index): pl.String for index in range(width)}
    if not data:
        return pl.DataFrame(schema=schema)
    return pl.read_csv(data, has_header=False, schema=schema, quote_char=None, empty_string_is_null=False, glob=False)
