"""The fast lane: a file without a flaw goes from bytes to codes in one pass of Polars.

Polars is more lenient than the rules, so what it read is proven to be what stands in the file; at the first doubt the file
goes to the careful lane, which names every problem. The proof: no cell is missing, there are as many records as lines, and
the cells spelled as the rules spell them, with their delimiters, are exactly as many bytes as the file has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.tables.lines import MAX_LINE_BYTES, cells_of, line_count, unquoted
from kakurenbo.tables.schema import Codes, Column, Integer, Schema, Text
from kakurenbo.tables.table import Table

_WHOLE_NUMBERS: tuple[tuple[type[pl.DataType], int], ...] = ((pl.Int8, 7), (pl.Int16, 15), (pl.Int32, 31), (pl.Int64, 63))


def read_flawless(data: bytes, schema: Schema, *, header: bool) -> Table | None:
    """The table of a UTF-8 file with ``\\n`` line ends, or None at the first doubt."""
    head = _header_bytes(data, schema) if header else 0
    if head is None:
        return None
    lines = line_count(data) - header
    quoted = b'"' in data
    lanes = {column.name: _lane(column, quoted) for column in schema}
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
    if frame.height != lines or any(frame.null_count().row(0)):
        return None
    parsed: dict[str, _Parsed] = {}
    for name, lane in lanes.items():
        column = lane.codes(frame[name])
        if column is None:
            return None
        parsed[name] = column
    delimited = lines * len(schema) - (not data.endswith(b"\n"))
    if sum(column.bytes for column in parsed.values()) + delimited != len(data) - head:
        return None
    if sum(column.longest + 1 for column in parsed.values()) > MAX_LINE_BYTES:
        return None
    vocabularies = {name: column.vocabulary for name, column in parsed.items() if column.vocabulary is not None}
    return Table(schema, {name: column.codes for name, column in parsed.items()}, vocabularies)


def _header_bytes(data: bytes, schema: Schema) -> int | None:
    """Length of the first line if it is the header that the schema wants."""
    line = data[: MAX_LINE_BYTES + 1].partition(b"\n")[0]
    names = cells_of(line.decode("utf-8", "replace"))
    return len(line) + 1 if names == list(schema.names) and len(line) <= MAX_LINE_BYTES else None


@dataclass(frozen=True)
class _Parsed:
    """One column as read."""

    codes: Codes  # (n,)
    bytes: int  # of all cells together, as the rules spell them
    longest: int  # bytes of a cell, at most
    vocabulary: list[str] | None = None  # of free text


def _lane(column: Column, quoted: bool) -> _Numbers | _Levels | _Texts:
    if not quoted and isinstance(column, Integer) and (dtype := _number_type(column)) is not None:
        return _Numbers(column, dtype)
    if not quoted and column.spellings is not None:
        return _Levels(column)
    return _Texts(column)


def _number_type(column: Integer) -> type[pl.DataType] | None:
    """The smallest type that holds the whole domain."""
    return next((dtype for dtype, bits in _WHOLE_NUMBERS if -(2**bits) <= column.low and column.high < 2**bits), None)


@dataclass(frozen=True)
class _Numbers:
    """Whole numbers, parsed as such: Polars takes "+3", "03" and " 3" too, but those are longer than "3"."""

    column: Integer
    dtype: type[pl.DataType]

    def codes(self, parsed: pl.Series) -> _Parsed | None:
        values = parsed.to_numpy()
        low, high = int(values.min()), int(values.max())
        if low < self.column.low or high > self.column.high:
            return None
        wide = np.result_type(values.dtype, self.column.dtype)
        codes = (values.astype(wide) - wide.type(self.column.low)).astype(self.column.dtype)
        longest = max(len(str(low)), len(str(high)))
        return _Parsed(codes, _digits(values, low, high), longest)


def _digits(values: NDArray[np.signedinteger], low: int, high: int) -> int:
    """Characters of all numbers together: one digit each, one more for every power of ten reached, and the minus signs."""
    total = len(values) + (int(np.count_nonzero(values < 0)) if low < 0 else 0)
    power = 10
    while power <= max(high, -low):
        total += int(np.count_nonzero(values >= power)) if power <= high else 0
        total += int(np.count_nonzero(values <= -power)) if power <= -low else 0
        power *= 10
    return total


class _Levels:
    """A domain whose every value is spelled out: Polars looks each cell up in it."""

    def __init__(self, column: Column) -> None:
        self.dtype, self._lengths = _levels(column)

    def codes(self, parsed: pl.Series) -> _Parsed:
        codes = parsed.to_physical().to_numpy()
        return _Parsed(codes, int(self._lengths[codes].sum()), int(self._lengths.max()))


@lru_cache(maxsize=256)
def _levels(column: Column) -> tuple[pl.Enum, NDArray[np.int64]]:
    spellings = pl.Series(column.spellings, dtype=pl.String)
    return pl.Enum(spellings), spellings.str.len_bytes().to_numpy().astype(np.int64)


class _Texts:
    """Any other column, and every column of a file with quotation marks: each different cell is judged once, as a text."""

    def __init__(self, column: Column) -> None:
        self._column, self._categories = column, pl.Categories.random()
        self.dtype = pl.Categorical(self._categories)

    def codes(self, parsed: pl.Series) -> _Parsed | None:
        different = self._categories.to_series()
        place = parsed.to_physical().to_numpy()
        times = np.bincount(place, minlength=len(different))
        texts = unquoted(different)
        if texts is None or not times.all():
            return None
        encoded = self._column.encode(texts)
        if encoded.null_count():
            return None
        vocabulary = None
        if isinstance(self._column, Text):
            ordered = encoded.unique().sort()
            vocabulary = ordered.to_list()
            encoded = encoded.cast(pl.Enum(ordered)).to_physical()
        lengths = different.str.len_bytes().to_numpy()
        codes = encoded.to_numpy().astype(self._column.dtype)[place]
        return _Parsed(codes, int(times @ lengths.astype(np.int64)), int(lengths.max()), vocabulary)
