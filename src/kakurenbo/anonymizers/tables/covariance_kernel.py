"""The hot loop of `repair`: swaps of two cells of a column, each with the exact change of the covariance error.

A swap leaves every histogram, so every mean, as it was: only products of the column with other columns change, and each such
change is (n - 1) times that of a covariance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.compiling import compiled
from kakurenbo.tables import Category, Moments, Table

_BATCH = 200_000  # swaps tried before the error is summed up afresh: a running sum gathers rounding
_LEAST_GAIN = 1e-4  # share of the error that a batch must take away, else nothing more is to be had


@dataclass(eq=False)
class CovarianceState:
    """The covariance error of a table, kept up to date while cells are swapped.

    Attributes
    ----------
    places : array of int64, shape (c, n)
        The row of the table that each cell came from.
    values : array of int64, shape (c, n)
        Values of numbers, codes of categories, as they stand now.
    numeric : array of bool, shape (c,)
    starts : array of int64, shape (c,)
        The first column of the numeric view of each column; a category has one for each level.
    error : array, shape (d, d)
        Covariance (ddof 1) minus target.
    """

    names: tuple[str, ...]
    places: NDArray[np.int64]
    values: NDArray[np.int64]
    numeric: NDArray[np.bool_]
    starts: NDArray[np.int64]
    error: NDArray[np.float64]

    @classmethod
    def of(cls, table: Table, target: NDArray[np.float64]) -> CovarianceState:
        """The state of ``table`` beside a target of shape (d, d), which need not be the moments of any table."""
        columns = table.schema.columns
        widths = [column.size if isinstance(column, Category) else 1 for column in columns]
        return cls(
            table.schema.names,
            np.tile(np.arange(len(table)), (len(columns), 1)),
            np.stack([_values(table, column.name) for column in columns]),
            np.array([not isinstance(column, Category) for column in columns]),
            np.r_[0, np.cumsum(widths)[:-1]].astype(np.int64),
            Moments.of(table).covariance - target,
        )

    @property
    def total(self) -> float:
        """sum |s - target| over all elements: 1 / vcm where the target is the original's covariance."""
        return float(np.abs(self.error).sum())

    def swap(self, bound: float, tries: int, rng: np.random.Generator) -> float:
        """Try up to so many swaps, keep those that lessen the error, until it is within ``bound``; the error then."""
        total = self.total
        if self.values.shape[1] < 2 or len(self.names) < 2:
            return total
        for _ in range(-(-tries // _BATCH)):
            if total <= bound:
                break
            before = total
            _swap(self.places, self.values, self.numeric, self.starts, self.error, total, bound, _BATCH, rng)
            total = self.total
            if before - total < _LEAST_GAIN * before:
                break
        return total

    def applied_to(self, table: Table) -> Table:
        """A table of as many rows, with its cells swapped in the same way."""
        return table.with_codes({name: table.codes[name][own] for name, own in zip(self.names, self.places, strict=True)})


def repaired(
    table: Table, target: NDArray[np.float64], rng: np.random.Generator, *, bound: float = 0.0, tries: int = 20_000_000
) -> Table:
    """The table after swaps within columns have brought its covariances, shape (d, d), as close to a target as they can.

    Parameters
    ----------
    table : Table
    target : array, shape (d, d)
        Need not be the covariance of any table.
    rng : numpy.random.Generator
    bound : float
        Stop where sum |s - target| is within this.
    tries : int
        Swaps tried at most.
    """
    state = CovarianceState.of(table, target)
    state.swap(bound, tries, rng)
    return state.applied_to(table)


def _values(table: Table, name: str) -> NDArray[np.int64]:
    is_category = isinstance(table.schema[name], Category)
    return (table.codes[name] if is_category else table.values(name)).astype(np.int64)


@compiled
def _step(error: Any, i: int, j: int, step: float, done: bool) -> float:
    """How much |error| grows at (i, j) and (j, i) together by a step there; with ``done`` the step is taken."""
    if done:
        error[i, j] += step
        error[j, i] += step
        return 0.0
    grown: float = 2.0 * (abs(error[i, j] + step) - abs(error[i, j]))
    return grown


@compiled
def _change(values: Any, numeric: Any, starts: Any, error: Any, column: int, r: int, s: int, done: bool) -> float:
    """How much the error grows by the swap of ``column`` between rows r and s; with ``done`` it is written into the error.

    Row r takes what row s had, so products of `theirs` with row r's other values come up and those of `mine` go.
    """
    unit = 1.0 / (values.shape[1] - 1)
    mine, theirs = values[column, r], values[column, s]
    # A number moves products in its one row of the matrix, a level in two: those of both levels, in opposite directions.
    if numeric[column]:
        sides, moved, size = 1, starts[column], unit * (theirs - mine)
    else:
        sides, moved, size = 2, starts[column] + theirs, unit
    change = 0.0
    for _ in range(sides):
        for other in range(values.shape[0]):
            left, right = values[other, r], values[other, s]
            if other == column or left == right:
                continue
            if numeric[other]:
                change += _step(error, moved, starts[other], size * (left - right), done)
            else:
                change += _step(error, moved, starts[other] + left, size, done)
                change += _step(error, moved, starts[other] + right, -size, done)
        moved, size = starts[column] + mine, -size
    return change


@compiled
def _swap(
    places: Any, values: Any, numeric: Any, starts: Any, error: Any, total: float, bound: float, tries: int, rng: Any
) -> None:
    columns, rows = values.shape
    for _ in range(tries):
        column = int(rng.random() * columns)
        r, s = int(rng.random() * rows), int(rng.random() * rows)
        if values[column, r] == values[column, s]:
            continue
        change = _change(values, numeric, starts, error, column, r, s, False)
        if change < 0.0:
            _change(values, numeric, starts, error, column, r, s, True)
            values[column, r], values[column, s] = values[column, s], values[column, r]
            places[column, r], places[column, s] = places[column, s], places[column, r]
            total += change
            if total <= bound:
                return
