"""The fast lane: a large file without a flaw goes from bytes to codes in one pass, and each different cell is judged once.

At the first doubt the file goes to the careful lane, which names every problem.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.tables.lines import MAX_LINE_BYTES, cells_of, count_byte
from kakurenbo.tables.schema import Codes, Column, Schema, Text
from kakurenbo.tables.table import Table

LARGE = 4_000_000  # bytes from which on the compiled loop pays, which takes half a second to load


def read_flawless(data: bytes, schema: Schema, *, header: bool) -> Table | None:
    """The table of a UTF-8 file with ``\\n`` or ``\\r\\n`` line ends, or None at the first doubt."""
    head = _header_bytes(data, schema) if header else 0
    if head is None or head >= len(data):
        return None
    if not data.endswith(b"\n"):
        data += b"\n"
    parts = _numbered(data, _cuts(data, head, pl.thread_pool_size()), len(schema))
    if parts is None:
        return None
    codes: dict[str, Codes] = {}
    vocabularies: dict[str, list[str]] = {}
    for place, column in enumerate(schema):
        different = [part.texts(data, place) for part in parts]
        encoded = _encoded(column, pl.Series(list(chain.from_iterable(different)), dtype=pl.String), vocabularies)
        if encoded is None:
            return None
        ends = np.cumsum([len(texts) for texts in different])[:-1]
        codes[column.name] = np.concatenate(
            [own.take(part.numbers[place]) for own, part in zip(np.split(encoded, ends), parts, strict=True)]
        )
        codes[column.name].setflags(write=False)  # so that the table need not copy it
    return Table(schema, codes, vocabularies)


@dataclass(frozen=True)
class _Part:
    """Some lines of a file.

    Attributes
    ----------
    numbers : array of uint32, shape (columns, lines)
        Of each cell among the different ones of its column.
    cells : array of int64, shape (different cells, 3)
        Column, place and length of each.
    """

    numbers: NDArray[np.uint32]
    cells: NDArray[np.int64]

    def texts(self, data: bytes, column: int) -> list[str]:
        """The different cells of a column, in the order of their numbers."""
        spans = self.cells[self.cells[:, 0] == column, 1:].tolist()
        return [data[start : start + length].decode() for start, length in spans]


def _numbered(data: bytes, cuts: list[int], width: int) -> list[_Part] | None:
    """The lines between the cuts, taken apart side by side; None where any of them is not plainly a record."""
    from kakurenbo.tables.cell_numbers import number_cells

    def numbered(start: int, end: int) -> _Part:
        part = np.frombuffer(data, dtype=np.uint8)[:end]
        numbers = np.empty((width, count_byte(data[start:end], b"\n")), dtype=np.uint32)
        return _Part(numbers, number_cells(part, start, MAX_LINE_BYTES, numbers))

    if len(cuts) == 2:  # no thread for what can be done here
        parts = [numbered(*cuts)]
    else:
        with ThreadPoolExecutor(len(cuts) - 1) as threads:
            parts = list(threads.map(numbered, cuts[:-1], cuts[1:]))
    return parts if all(len(part.cells) for part in parts) else None


def _cuts(data: bytes, head: int, count: int) -> list[int]:
    """Where to cut a file into about equal parts of whole lines: the first begins at ``head``, the last ends at the end."""
    wanted = [head + (len(data) - head) * part // count for part in range(1, count)]
    return sorted({head, *(data.find(b"\n", place) + 1 for place in wanted), len(data)})


def _encoded(column: Column, texts: pl.Series, vocabularies: dict[str, list[str]]) -> Codes | None:
    """The codes of different texts, shape (different,); None where one of them is no value of the column."""
    encoded = column.encode(texts)
    if encoded.null_count():
        return None
    if isinstance(column, Text):
        ordered = encoded.unique().sort()
        vocabularies[column.name] = ordered.to_list()
        encoded = encoded.cast(pl.Enum(ordered)).to_physical()
    codes: Codes = encoded.to_numpy().astype(column.dtype)
    return codes


def _header_bytes(data: bytes, schema: Schema) -> int | None:
    """Length of the first line with its end, if it is the header that the schema wants."""
    line = data[: MAX_LINE_BYTES + 1].partition(b"\n")[0]
    names = cells_of(line.removesuffix(b"\r").decode("utf-8", "replace"))
    return len(line) + 1 if names == list(schema.names) and len(line) <= MAX_LINE_BYTES else None
