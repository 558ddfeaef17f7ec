"""The hot loop of the cross-tab repair: weigh every value a cell could take by all two-way tables it stands in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.compiling import compiled
from kakurenbo.datasets.ratings import ATTRIBUTES, SPLIT_COLUMNS
from kakurenbo.tables import Table

_CANDIDATES = 12  # values tried for a cell of a column with more values than this

_NEAR, _MARGIN = 0.3, 0.97  # weight of a table whose error is above this share of its bound; beyond the bound it is 1


@dataclass(eq=False)
class CrosstabState:
    """Signed errors of all two-way tables of a file, kept up to date while cells change.

    Attributes
    ----------
    codes : array of int32, shape (columns, rows)
    cells : array of int32
        freq_C - freq_B of every cell of every compared pair, one table after the other.
    offsets : array of int64, shape (columns, columns)
        Where the table of a pair begins in ``cells``; -1 for a pair that is not compared.
    strides : array of int64, shape (columns, columns)
        The cell of (x, y) in the table of (i, j) is ``offsets[i, j] + x * strides[i, j] + y * strides[j, i]``.
    errors : array of int64, shape (columns, columns)
        e of each pair, symmetric.
    """

    names: tuple[str, ...]
    sizes: NDArray[np.int64]
    codes: NDArray[np.int32]
    cells: NDArray[np.int32]
    offsets: NDArray[np.int64]
    strides: NDArray[np.int64]
    errors: NDArray[np.int64]

    @classmethod
    def of(cls, original: Table, current: Table) -> CrosstabState:
        """The state of ``current`` beside ``original``, over the pairs of columns that the utility compares."""
        names = current.schema.names
        sizes = np.array([current.schema[name].size for name in names], dtype=np.int64)
        before, after = (np.stack([table.codes[name] for name in names]).astype(np.int32) for table in (original, current))
        count = len(names)
        offsets = np.full((count, count), -1, dtype=np.int64)
        strides = np.zeros((count, count), dtype=np.int64)
        errors = np.zeros((count, count), dtype=np.int64)
        tables: list[NDArray[np.int64]] = []
        begin = 0
        for i in range(count):
            for j in range(i + 1, count):
                if not compared(names[i], names[j]):
                    continue
                size = int(sizes[i] * sizes[j])
                joint_before, joint_after = (codes[i].astype(np.intp) * sizes[j] + codes[j] for codes in (before, after))
                tables.append(np.bincount(joint_after, minlength=size) - np.bincount(joint_before, minlength=size))
                offsets[i, j] = offsets[j, i] = begin
                strides[i, j], strides[j, i] = sizes[j], 1
                errors[i, j] = errors[j, i] = np.abs(tables[-1]).sum()
                begin += size
        cells = np.concatenate(tables).astype(np.int32) if tables else np.zeros(0, dtype=np.int32)
        return cls(names, sizes, after, cells, offsets, strides, errors)

    @property
    def utility(self) -> float:
        """100 (1 - max e / 2n) of the file as it stands."""
        rows = int(self.codes.shape[1])
        return 50 * (2 * rows - int(self.errors.max())) / rows

    def table(self, first: int, second: int) -> NDArray[np.int32]:
        """A view of the signed errors of one pair (first < second), shape (size of first, size of second)."""
        begin = self.offsets[first, second]
        size = self.sizes[first] * self.sizes[second]
        return self.cells[begin : begin + size].reshape(self.sizes[first], self.sizes[second])

    def applied_to(self, table: Table) -> Table:
        """The table with the codes of this state."""
        return table.with_codes(dict(zip(self.names, self.codes, strict=True)))

    def overwrite(self, column: int, row: int, value: int) -> None:
        """Change one cell and everything that hangs on it."""
        _overwrite(self.codes, self.cells, self.offsets, self.strides, self.errors, column, row, value)

    def sweep(self, bound: int, care: float, temperature: float, rng: np.random.Generator) -> bool:
        """Visit every cell once in random order; whether all errors are within ``bound`` now.

        ``care`` is the weight of tables that are well within the bound.
        """
        order = rng.permutation(self.codes.shape[1])
        shifts = rng.integers(self.codes.shape[0], size=len(order))
        return bool(
            _sweep(
                self.codes,
                self.sizes,
                self.cells,
                self.offsets,
                self.strides,
                self.errors,
                order,
                shifts,
                bound,
                care,
                temperature,
                rng,
            )
        )


@cache
def compared(first: str, second: str) -> bool:
    """Whether the utility compares a pair: the columns stand together in some file, and one of them is a movie."""
    together = any(first in columns and second in columns for columns in SPLIT_COLUMNS)
    return together and not (first in ATTRIBUTES and second in ATTRIBUTES)


@compiled
def _overwrite(codes: Any, cells: Any, offsets: Any, strides: Any, errors: Any, column: int, row: int, value: int) -> None:
    old = codes[column, row]
    for other in range(codes.shape[0]):
        offset = offsets[column, other]
        if other == column or offset < 0:
            continue
        base = offset + codes[other, row] * strides[other, column]
        left, reached = base + old * strides[column, other], base + value * strides[column, other]
        change = abs(cells[left] - 1) - abs(cells[left])
        cells[left] -= 1
        change += abs(cells[reached] + 1) - abs(cells[reached])
        cells[reached] += 1
        errors[column, other] += change
        errors[other, column] += change
    codes[column, row] = value


@compiled
def _weight(error: int, bound: int, care: float) -> float:
    if error > bound:
        return 1.0
    return _NEAR if error > _MARGIN * bound else care


@compiled
def _sweep(
    codes: Any,
    sizes: Any,
    cells: Any,
    offsets: Any,
    strides: Any,
    errors: Any,
    order: Any,
    shifts: Any,
    bound: int,
    care: float,
    temperature: float,
    rng: Any,
) -> bool:
    columns = codes.shape[0]
    weights = np.zeros(columns)
    bases = np.zeros(columns, dtype=np.int64)
    for step in range(len(order)):
        row = order[step]
        for position in range(columns):
            column = (position + shifts[step]) % columns
            old = codes[column, row]
            # What leaving the old value is worth, over all tables of this column.
            leaving = 0.0
            for other in range(columns):
                if other == column or offsets[column, other] < 0:
                    weights[other] = 0.0
                    continue
                weights[other] = _weight(errors[column, other], bound, care)
                bases[other] = offsets[column, other] + codes[other, row] * strides[other, column]
                left = cells[bases[other] + old * strides[column, other]]
                leaving += weights[other] * (abs(left - 1) - abs(left))
            best, best_change = old, np.inf
            tried = min(sizes[column], _CANDIDATES)
            for candidate in range(tried):
                value = candidate if sizes[column] <= _CANDIDATES else int(rng.random() * sizes[column])
                if value == old:
                    continue
                change = leaving
                for other in range(columns):
                    if weights[other] > 0.0:
                        reached = cells[bases[other] + value * strides[column, other]]
                        change += weights[other] * (abs(reached + 1) - abs(reached))
                if change < best_change:
                    best, best_change = value, change
            if best_change < 0.0 or (temperature > 0.0 and rng.random() < np.exp(-best_change / temperature)):
                _overwrite(codes, cells, offsets, strides, errors, column, row, best)
        if errors.max() <= bound:
            return True
    return False
