"""How ``nearest_rows`` lays tables out: the two widest integer columns as a grid, categories as lanes of 64-bit words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kakurenbo.core import Category, Integer, Schema, Table

SQUARED = 2
_CELLS_PER_AXIS = (
    128  # wider ranges share cells: more cells would cost more to visit than they save
)


class Lanes(NamedTuple):
    """How words are cut into lanes of equal width, one category to a lane."""

    bits: np.uint64
    low: np.uint64  # all bits of every lane but the highest
    ones: np.uint64  # the lowest bit of every lane

    @classmethod
    def of(cls, schema: Schema) -> Lanes:
        """Lanes that hold the largest category of the schema: bytes up to 256 levels."""
        largest = max((column.size for column in schema if isinstance(column, Category)), default=1)
        bits = next(bits for bits in (8, 16, 32) if largest <= 2**bits)
        ones = sum(1 << shift for shift in range(0, 64, bits))
        return cls(np.uint64(bits), np.uint64(ones * (2 ** (bits - 1) - 1)), np.uint64(ones))


class Frame(NamedTuple):
    """Which columns span the grid, and how.

    Attributes
    ----------
    placed : tuple of str
        The two widest integer columns of the base; fewer where there are fewer.
    measured : tuple of str
        The integer columns whose difference a cell does not tell exactly: all others, and those whose cells are wider than 1.
    axes : array of int64, shape (2, 3)
        Per axis: lowest code, width of a cell in codes, number of cells. A missing axis has one cell.
    """

    placed: tuple[str, ...]
    measured: tuple[str, ...]
    axes: NDArray[np.int64]

    @classmethod
    def of(cls, base: Table) -> Frame:
        """The frame that suits a base."""
        integers = [column.name for column in base.schema if isinstance(column, Integer)]
        lowest = {name: int(base.codes[name].min()) for name in integers}
        span = {name: int(base.codes[name].max()) - lowest[name] + 1 for name in integers}
        placed = tuple(sorted(integers, key=lambda name: -span[name])[:2])
        axes = np.array([(0, 1, 1), (0, 1, 1)], dtype=np.int64)
        for axis, name in enumerate(placed):
            width = -(-span[name] // _CELLS_PER_AXIS)
            axes[axis] = lowest[name], width, -(-span[name] // width)
        exact = {name for axis, name in enumerate(placed) if axes[axis, 1] == 1}
        return cls(placed, tuple(name for name in integers if name not in exact), axes)


class PackedRows(NamedTuple):
    """Rows as the loop reads them.

    Attributes
    ----------
    words : array of uint64, shape (w, n)
        Categories, one to a lane; at least one word.
    numbers : array of int64, shape (n, e)
        The measured integer columns.
    places : array of int64, shape (n, 2)
        The placed integer columns; 0 on a missing axis.
    """

    words: NDArray[np.uint64]
    numbers: NDArray[np.int64]
    places: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table, frame: Frame, lanes: Lanes) -> PackedRows:
        """The rows of a table in their own order."""
        categories = [column.name for column in table.schema if isinstance(column, Category)]
        bits = int(lanes.bits)
        per_word = 64 // bits
        words = np.zeros((max(1, -(-len(categories) // per_word)), len(table)), dtype=np.uint64)
        for index, name in enumerate(categories):
            words[index // per_word] |= table.codes[name].astype(np.uint64) << np.uint64(
                bits * (index % per_word)
            )
        numbers = np.empty((len(table), len(frame.measured)), dtype=np.int64)
        for index, name in enumerate(frame.measured):
            numbers[:, index] = table.codes[name]
        places = np.zeros((len(table), 2), dtype=np.int64)
        for axis, name in enumerate(frame.placed):
            places[:, axis] = table.codes[name]
        return cls(words, numbers, places)

    def take(self, positions: NDArray[np.int64]) -> PackedRows:
        """Some rows, in the given order."""
        return PackedRows(
            np.take(self.words, positions, axis=1), self.numbers[positions], self.places[positions]
        )


class Grid(NamedTuple):
    """Where the rows of the base lie, and in which order a search visits the cells.

    Attributes
    ----------
    axes : array of int64, shape (2, 3)
        See :class:`Frame`.
    starts : array of int64, shape (cells + 1,)
        Position of the first row of each cell; the base is ordered by cell, then by words.
    steps : array of int64, shape (r, 2)
        Cells to go along each axis, in either direction, nearest first.
    bounds : array of int64, shape (r,)
        The least squared distance that each of the steps means; see :meth:`with_power`.
    """

    axes: NDArray[np.int64]
    starts: NDArray[np.int64]
    steps: NDArray[np.int64]
    bounds: NDArray[np.int64]

    @classmethod
    def of(cls, frame: Frame, base: PackedRows) -> tuple[Grid, NDArray[np.int64]]:
        """The grid, and the row number that stands at each of its positions; of equal rows only the first is kept."""
        (low_x, width_x, count_x), (low_y, width_y, count_y) = frame.axes
        cells = (base.places[:, 0] - low_x) // width_x * count_y + (
            base.places[:, 1] - low_y
        ) // width_y
        # Stable: among equal rows the lowest row number comes first.
        keys = (cells, *base.words, *base.numbers.T)
        order = np.lexsort(keys[::-1])
        first = np.ones(len(order), dtype=bool)
        first[1:] = np.logical_or.reduce([key[order[1:]] != key[order[:-1]] for key in keys])
        order = order[first]
        starts = np.zeros(count_x * count_y + 1, dtype=np.int64)
        np.cumsum(np.bincount(cells[order], minlength=count_x * count_y), out=starts[1:])
        return cls(frame.axes, starts, *_rings(frame.axes)), order

    def with_power(self, power: int) -> Grid:
        """Return the grid for distances whose differences are raised to another power than 2."""
        return Grid(self.axes, self.starts, *_rings(self.axes, power))


def _rings(
    axes: NDArray[np.int64], power: int = SQUARED
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Steps (r, 2) to every cell in the order of their least distance, and that distance (r,)."""
    # From anywhere in a cell to the nearest value of the cell k steps away: 0 for k = 0, else (k - 1) * width + 1.
    gap_x, gap_y = (np.maximum(0, (np.arange(count) - 1) * width + 1) for _, width, count in axes)
    bounds = np.add.outer(gap_x**power, gap_y**power).ravel()
    order = np.argsort(bounds, kind="stable")
    return np.stack(np.divmod(order, len(gap_y)), axis=1), bounds[order]
