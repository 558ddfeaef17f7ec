"""The fast lane: a file without a flaw goes from bytes to codes in one pass of Polars.

Polars is more lenient than the rules, so what it read is proven to be what stands in the file; at the first doubt the file
goes to the careful lane, which names every problem. The proof: no cell is missing, there are as many records as lines, and
every cell is the rules' own spelling of its value. Where Polars parsed numbers, which have other spellings too ("+3", "03",
" 3"), those are all longer: so the rules' spellings with their delimiters must be as many bytes as the file has, which also
shows that no line was passed over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.tables.lines import MAX_LINE_BYTES, cells_of, count_byte, unquoted
from kakurenbo.tables.schema import Codes, Column, Integer, Schema, Text
from kakurenbo.tables.table import Table

_WHOLE_NUMBERS: tuple[tuple[type[pl.DataType], int], ...] = ((pl.Int8, 7), (pl.Int16, 15), (pl.Int32, 31), (pl.Int64, 63))


def read_flawless(data: bytes, schema: Schema, *, header: bool) -> Table | None:
    """The table of a UTF-8 file with ``\\n`` or ``\\r\\n`` line ends, or None at the first doubt."""
    head = _header_bytes(data, schema) if header else 0
    returns = _carriage_returns(data)
    # Polars drops an empty cell at the very end.
    if head is None or returns is None or data.endswith(b","):
        return None
    lanes = _lanes(schema, quoted=b'"' in data)
    try:
        frame = pl.read_csv(
            data,
            has_header=False,
            skip_rows=int(header),
            schema={name: lane.dtype for name, lane in lanes.items()},
            quote_char=None,
            glob=False,
        )
    except pl.exceptions.PolarsError:
        return None
    if not frame.height or any(frame.null_count().row(0)):
        return None
    parsed: dict[str, _Parsed] = {}
    for name, lane in lanes.items():
        column = lane.parsed(frame[name])
        if column is None:
            return None
        parsed[name] = column
    if sum(column.longest + 1 for column in parsed.values()) > MAX_LINE_BYTES:
        return None
    unended = not data.endswith(b"\n")
    if any(isinstance(lane, _Numbers) for lane in lanes.values()):
        delimiters = frame.height * len(schema) - unended + returns - (b"\r" in data[:head])
        whole = sum(column.spelled_bytes() for column in parsed.values()) + delimiters == len(data) - head
    else:
        whole = frame.height == count_byte(data, b"\n", head) + unended
    if not whole:
        return None
    vocabularies = {name: column.vocabulary for name, column in parsed.items() if column.vocabulary is not None}
    return Table(schema, {name: column.codes for name, column in parsed.items()}, vocabularies)


def _header_bytes(data: bytes, schema: Schema) -> int | None:
    """Length of the first line with its end, if it is the header that the schema wants."""
    line = data[: MAX_LINE_BYTES + 1].partition(b"\n")[0]
    names = cells_of(line.removesuffix(b"\r").decode("utf-8", "replace"))
    return len(line) + 1 if names == list(schema.names) and len(line) <= MAX_LINE_BYTES else None


def _carriage_returns(data: bytes) -> int | None:
    """How many ``\\r`` there are, if each belongs to a line end: Polars takes them off the end of any cell."""
    if b"\r" not in data:
        return 0
    stream = np.frombuffer(data, dtype=np.uint8)
    places = np.flatnonzero(stream == ord("\r"))
    ended = places[-1] + 1 < len(stream) and (stream[places + 1] == ord("\n")).all()
    return len(places) if ended else None


@dataclass(frozen=True)
class _Parsed:
    """One column as read."""

    codes: Codes  # (n,)
    longest: int  # bytes of a cell, at most
    spelled_bytes: Callable[[], int]  # of all cells together, as the rules spell them
    vocabulary: list[str] | None = None  # of free text

    def __post_init__(self) -> None:
        self.codes.setflags(write=False)  # so that the table need not copy it


def _lanes(schema: Schema, quoted: bool) -> dict[str, _Numbers | _Levels | _Texts]:
    return {column.name: _Texts(column) if quoted else _lane(column) for column in schema}


def _lane(column: Column) -> _Numbers | _Levels | _Texts:
    if isinstance(column, Integer):
        return _Numbers(column, _number_type(column))
    levels = _levels(column)
    return _Texts(column) if levels is None else _Levels(column, *levels)


def _number_type(column: Integer) -> type[pl.DataType]:
    """The smallest type that holds the whole domain."""
    return next(dtype for dtype, bits in _WHOLE_NUMBERS if -(2**bits) <= column.low and column.high < 2**bits)


@dataclass(frozen=True)
class _Numbers:
    """Whole numbers, parsed as such."""

    column: Integer
    dtype: type[pl.DataType]

    def parsed(self, cells: pl.Series) -> _Parsed | None:
        values = cells.to_numpy()
        low, high = int(values.min()), int(values.max())
        if low < self.column.low or high > self.column.high:
            return None
        wide = np.result_type(values.dtype, self.column.dtype)
        codes = (values.astype(wide, copy=False) - wide.type(self.column.low)).astype(self.column.dtype, copy=False)
        return _Parsed(codes, max(len(str(low)), len(str(high))), lambda: _digits(values, low, high))


def _digits(values: NDArray[np.signedinteger], low: int, high: int) -> int:
    """Characters of all numbers together: one digit each, one more for every power of ten reached, and the minus signs."""
    total = len(values) + (int(np.count_nonzero(values < 0)) if low < 0 else 0)
    power = 10
    while power <= max(high, -low):
        total += int(np.count_nonzero(values >= power)) if power <= high else 0
        total += int(np.count_nonzero(values <= -power)) if power <= -low else 0
        power *= 10
    return total


@dataclass(frozen=True, eq=False)
class _Levels:
    """A domain whose every value is spelled out: Polars looks each cell up in it."""

    column: Column
    dtype: pl.Enum
    lengths: NDArray[np.uint32]  # (size,) bytes of each spelling

    def parsed(self, cells: pl.Series) -> _Parsed:
        codes = cells.to_physical().to_numpy().astype(self.column.dtype)
        return _Parsed(codes, int(self.lengths.max()), lambda: int(self.lengths.take(codes).sum()))


@lru_cache(maxsize=256)
def _levels(column: Column) -> tuple[pl.Enum, NDArray[np.uint32]] | None:
    if column.spellings is None:
        return None
    spellings = pl.Series(column.spellings, dtype=pl.String)
    return pl.Enum(spellings), spellings.str.len_bytes().to_numpy()


class _Texts:
    """Any other column, and every column of a file with quotation marks: each different cell is judged once, as a text."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self.dtype = pl.Categorical(pl.Categories.random())  # numbers of this column's own

    def parsed(self, cells: pl.Series) -> _Parsed | None:
        places = cells.to_physical().to_numpy()
        different = _different(cells, places)
        texts = None if different is None else unquoted(different)
        encoded = None if texts is None else self._column.encode(texts)
        if different is None or encoded is None or encoded.null_count():
            return None
        vocabulary = None
        if isinstance(self._column, Text):
            ordered = encoded.unique().sort()
            vocabulary = ordered.to_list()
            encoded = encoded.cast(pl.Enum(ordered)).to_physical()
        lengths = different.str.len_bytes().to_numpy()
        codes = encoded.to_numpy().astype(self._column.dtype).take(places)
        return _Parsed(codes, int(lengths.max()), lambda: int(lengths.take(places).sum()), vocabulary)


def _different(cells: pl.Series, places: NDArray[np.uint32]) -> pl.Series | None:
    """The text of each number that Polars gave to a cell; None where it left one out."""
    occurrence = np.full(int(places.max()) + 1, -1)
    occurrence[places] = np.arange(len(places))
    return None if (occurrence < 0).any() else cells.gather(occurrence).cast(pl.String)
