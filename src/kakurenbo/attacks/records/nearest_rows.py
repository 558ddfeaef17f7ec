"""Find exact nearest rows between tables of integers and categories.

The base is sorted by its two widest integer columns. A search sweeps outwards from a query's two
numbers and stops where these alone are farther away than the best row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kakurenbo.core import Category, Integer, Schema, Table
from kakurenbo.core.errors import ParameterError

_MAX_SQUARE = 2**62
_SWEPT = 2  # integer columns that the base is sorted by


class Neighbours(NamedTuple):
    """For each query row its nearest row.

    Attributes
    ----------
    rows : array of int64, shape (m,)
        Row number of the base; the lowest of those equally near.
    squares : array of int64, shape (m,)
        Squared distance to it; with ``power=1`` the sum of differences.
    """

    rows: NDArray[np.int64]
    squares: NDArray[np.int64]


class Lanes(NamedTuple):
    """How a word of 64 bits is cut into lanes, one category to a lane."""

    bits: np.uint64
    low: np.uint64  # all bits of every lane but the highest
    ones: np.uint64  # the lowest bit of every lane


class PackedRows(NamedTuple):
    """Rows as the loop reads them: words of categories, shape (w, n), and numbers, shape (n, 2 or
    more).
    """

    words: NDArray[np.uint64]
    numbers: NDArray[np.int64]


class RowIndex(NamedTuple):
    """Where rows of the base stand: cells of equal first and second number, ordered by both."""

    base: PackedRows
    rows: NDArray[np.int64]  # row number of each packed row
    xs: NDArray[np.int64]  # distinct first numbers
    first_cell: NDArray[np.int64]  # of each of these, and the end
    ys: NDArray[np.int64]  # second number of each cell
    first_row: NDArray[np.int64]  # of each cell, and the end
    lanes: Lanes


def nearest_rows(
    base: Table, queries: Table, *, mismatch_weight: int = 1, power: int = 2
) -> Neighbours:
    """Find the nearest row of ``base`` for every row of ``queries``, ties by the lowest row number.

    Distance = sum over integer columns of |difference|^``power`` + ``mismatch_weight`` * number of
    categories that differ.

    Parameters
    ----------
    base : Table, n rows
        At least one row, of integers and categories.
    queries : Table, m rows
        Of the same schema.
    mismatch_weight : int
        1 by the rules of amic2020; 2 is the geometry of unscaled one-hot columns.
    power : int
        2 for squared Euclidean distances; 1 for the sum of differences.

    Notes ----- In the worst case, where two numbers tell no rows apart, all pairs of distinct rows
    are compared; memory stays linear.

    Examples
    --------
    >>> from kakurenbo.core import Category, Integer, Schema
    >>> schema = Schema([Integer("age", 17, 90), Category("sex", ("Female", "Male"))])
    >>> base = Table.from_rows(schema, [(20, "Male"), (30, "Male"), (32, "Female")])
    >>> nearest_rows(base, Table.from_rows(schema, [(31, "Female"), (22, "Female")]))
    Neighbours(rows=array([2, 0]), squares=array([1, 5]))
    """
    if queries.schema != base.schema:
        raise ParameterError("queries", f"a table of the columns {base.schema}", queries.schema)
    if not len(base):
        raise ParameterError("base", "a table of at least one row", "none")
    if mismatch_weight < 1:
        raise ParameterError("mismatch_weight", "a whole number of at least 1", mismatch_weight)
    largest = 0
    for column in base.schema:
        if not isinstance(column, Integer | Category):
            raise ParameterError("base", "a table of integers and categories", column.name)
        # What occurs counts, not the domain: a range may be given far wider than its values.
        codes = np.concatenate([base.codes[column.name], queries.codes[column.name]])
        is_number = isinstance(column, Integer)
        largest += int(np.ptp(codes)) ** 2 if is_number else mismatch_weight
    if largest > _MAX_SQUARE:
        raise ParameterError(
            "base", "integer columns whose squared differences fit into 62 bits", base.schema
        )
    from kakurenbo.attacks.records.loops import find_nearest

    names, index = base.derived(_index_rows, _index_rows)
    sought = _pack(queries, names, index.lanes)
    return Neighbours(*find_nearest(index, sought, np.int64(mismatch_weight), power == 2))


def _index_rows(base: Table) -> tuple[tuple[str, ...], RowIndex]:
    """Return the integer columns, widest first, and the base in their order."""
    integers = [column.name for column in base.schema if isinstance(column, Integer)]
    names = tuple(sorted(integers, key=lambda name: -int(np.ptp(base.codes[name]))))
    lanes = _lanes(base.schema)
    rows = np.unique(base.keys(), return_index=True)[1]  # of equal rows the first
    packed = _pack(base.take(rows), names, lanes)
    order = np.lexsort((*packed.words[::-1], packed.numbers[:, 1], packed.numbers[:, 0]))
    words, numbers = np.ascontiguousarray(packed.words[:, order]), packed.numbers[order]
    first_row = _starts(numbers[:, :_SWEPT])
    cells = numbers[first_row, :_SWEPT]
    first_cell = _starts(cells[:, :1])
    return names, RowIndex(
        PackedRows(words, numbers),
        rows[order],
        cells[first_cell, 0],
        np.append(first_cell, len(cells)),
        np.ascontiguousarray(cells[:, 1]),
        np.append(first_row, len(order)),
        lanes,
    )


def _starts(sorted_rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each run of equal rows begins."""
    is_first = np.ones(len(sorted_rows), dtype=bool)
    is_first[1:] = (sorted_rows[1:] != sorted_rows[:-1]).any(axis=1)
    return np.flatnonzero(is_first)


def _lanes(schema: Schema) -> Lanes:
    """Return lanes that hold the largest category: bytes up to 256 levels."""
    largest = max((column.size for column in schema if isinstance(column, Category)), default=1)
    bits = next(bits for bits in (8, 16, 32) if largest <= 2**bits)
    ones = sum(1 << shift for shift in range(0, 64, bits))
    return Lanes(np.uint64(bits), np.uint64(ones * (2 ** (bits - 1) - 1)), np.uint64(ones))


def _pack(table: Table, names: tuple[str, ...], lanes: Lanes) -> PackedRows:
    categories = [column.name for column in table.schema if isinstance(column, Category)]
    bits = int(lanes.bits)
    per_word = 64 // bits
    words = np.zeros((max(1, -(-len(categories) // per_word)), len(table)), dtype=np.uint64)
    for place, name in enumerate(categories):
        shift = np.uint64(bits * (place % per_word))
        words[place // per_word] |= table.codes[name].astype(np.uint64) << shift
    numbers = np.zeros((len(table), max(_SWEPT, len(names))), dtype=np.int64)
    for place, name in enumerate(names):
        numbers[:, place] = table.codes[name]
    return PackedRows(words, numbers)
