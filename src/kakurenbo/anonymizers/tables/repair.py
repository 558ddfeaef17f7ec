"""Repairs by swaps that leave every histogram: `repair` of the covariances, `tree_repair` of what a decision tree learns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kakurenbo.contest import Anonymizer, Release, unknown_column
from kakurenbo.core import Category, Coarsening, Moments, Schema, Table
from kakurenbo.core.arrays import Floats, Ints, Rng
from kakurenbo.core.compiling import compiled
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.messages import Message
from kakurenbo.measures.trees import TreeTask
from kakurenbo.methods.parameters import parameter

LARGEST_DOMAIN = 4096  # values of a column that moments tell apart; a wider one counts by rank
_TRIES = 20_000_000
_BATCH = 200_000  # swaps tried before the error is summed up afresh: a running sum gathers rounding
_LEAST_GAIN = 1e-4  # share of the error that a batch must take away, else nothing more is to be had


class _Repair(Anonymizer):
    """Base of the repairs: as a step of a pipeline they compare with what the pipeline was given, alone with the input."""

    takes_release: ClassVar[bool] = True

    def __call__(self, table: Table, rng: Rng) -> Release:
        return self.after(table, Release.of(table), rng)


@dataclass(frozen=True)
class Repair(_Repair):
    """Swap cells within columns until the covariances are close to the original's, and no further.

    A swap leaves every histogram, so what histograms do to the covariances stays. As a step of a pipeline it compares with what
    the pipeline was given, and on the command line with the table that a release was made of; alone it has nothing to do.
    """

    vcm: float = parameter(
        0.4, "stop at this covariance utility, 1 / sum |covariance - original's|", low=0.001
    )
    tries: int = parameter(_TRIES, "swaps that are tried at most", low=0)

    def after(self, original: Table, release: Release, rng: Rng) -> Release:
        coarsening = Coarsening.of([original, release.table], LARGEST_DOMAIN)
        target = Moments.of(coarsening.apply(original)).covariance
        coarse = coarsening.apply(release.table)
        places = swap_towards(coarse, target, rng, bound=1 / self.vcm, tries=self.tries)
        return Release.of(rearrange(release.table, places))


@dataclass(frozen=True)
class TreeRepair(_Repair):
    """Swap labels between pairs of rows that both contradict the original's decision tree, so that a new one learns the same.

    As a step of a pipeline the tree is that of what the pipeline was given, and on the command line that of the table that a
    release was made of; alone it is the table's own.
    """

    label: str = parameter("", "the category that the tree tells", none="word.last_category")
    level: str = parameter("", "the level that it tells from all others", none="word.most_frequent")
    depth: int = parameter(5, "how deep the tree is", low=1, high=30)
    pairs: int = parameter(400, "pairs of rows that are swapped at most", low=0)

    @classmethod
    def accepts(cls, schema: Schema) -> bool:
        """Tables of categories and integers, with a category at least."""
        return super().accepts(schema) and any(isinstance(column, Category) for column in schema)

    def unfit(self, schema: Schema) -> str | Message:
        if wrong := super().unfit(schema) or unknown_column(schema, filter(None, [self.label])):
            return wrong
        column = schema[self._label(schema)]
        if not isinstance(column, Category):
            return Message("misfit.holds_numbers", {"column": self.label})
        if self.level and self.level not in column.levels:
            return f"column {column.name!r} has no level {self.level!r}; there are {', '.join(column.levels)}"
        return ""

    def after(self, original: Table, release: Release, rng: Rng) -> Release:
        if wrong := self.unfit(original.schema):
            raise ParameterError("label", wrong, self.label)
        if not len(original) or not len(release.table):
            return Release.of(release.table)
        label = self._label(original.schema)
        column = original.schema[label]
        assert isinstance(column, Category)
        level = self.level or column.levels[int(original.frequencies(label).argmax())]
        task = TreeTask(label, level, self.depth)
        return Release.of(swap_labels(task, original, release.table, self.pairs, rng))

    def _label(self, schema: Schema) -> str:
        return self.label or [column.name for column in schema if isinstance(column, Category)][-1]


def swap_labels(task: TreeTask, original: Table, table: Table, pairs: int, rng: Rng) -> Table:
    """Swap so many labels that the original's tree takes for positive, and are not, with ones of which the reverse holds."""
    predicted, truth = task.predict(task.grow(original), table), task.truth(table)
    missed = rng.permutation(np.flatnonzero(predicted & ~truth))
    invented = rng.permutation(np.flatnonzero(~predicted & truth))
    count = min(pairs, len(missed), len(invented))
    missed, invented = missed[:count], invented[:count]
    codes = table.codes[task.target].copy()
    codes[missed], codes[invented] = codes[invented], codes[missed]
    return table.with_codes({task.target: codes})


def swap_towards(
    table: Table,
    target: Floats,
    rng: Rng,
    *,
    bound: float = 0.0,
    tries: int = _TRIES,
) -> Ints:
    """Swap cells within columns until sum |covariance - target| is within a bound, or nothing more is to be had.

    Returns
    -------
    array, shape (columns, n)
        The row of the table that each cell came from.
    """
    columns = table.schema.columns
    is_number = np.array([not isinstance(column, Category) for column in columns])
    widths = [column.size if isinstance(column, Category) else 1 for column in columns]
    starts = np.cumsum([0, *widths[:-1]])  # the first column of the numeric view of each column
    values = np.stack(
        [
            (table.values(column.name) if number else table.codes[column.name]).astype(np.int64)
            for column, number in zip(columns, is_number, strict=True)
        ]
    )
    places = np.tile(np.arange(len(table)), (len(columns), 1))
    error = Moments.of(table).covariance - target
    total = float(np.abs(error).sum())
    for _ in range(-(-tries // _BATCH) if min(values.shape) > 1 else 0):
        if total <= bound:
            break
        _swap((values, is_number, starts, error), places, total, bound, rng)
        before, total = total, float(np.abs(error).sum())
        if before - total < _LEAST_GAIN * before:
            break
    return places


def rearrange(table: Table, places: Ints) -> Table:
    """Return the table with the cells of each column taken from these rows."""
    names = table.schema.names
    return table.with_codes({n: table.codes[n][p] for n, p in zip(names, places, strict=True)})


@compiled
def _step(error: Any, i: int, j: int, step: float, done: bool) -> float:
    """Return how much |error| grows at (i, j) and (j, i) together by a step there; with ``done`` take the step."""
    if done:
        error[i, j] += step
        error[j, i] += step
        return 0.0
    growth: float = 2.0 * (abs(error[i, j] + step) - abs(error[i, j]))
    return growth


@compiled
def _change(state: Any, column: int, r: int, s: int, done: bool) -> float:
    """Return how much the error grows by the swap of ``column`` between rows r and s; with ``done`` write it into the error.

    Only products of the column with others change: those of `theirs` with row r's other values come up, those of `mine` go.
    """
    values, is_number, starts, error = state
    unit = 1.0 / (values.shape[1] - 1)
    old, new = values[column, r], values[column, s]
    # A number moves products in its one row of the matrix, a level in two: those of both levels, in opposite directions.
    if is_number[column]:
        sides, moved, size = 1, starts[column], unit * (new - old)
    else:
        sides, moved, size = 2, starts[column] + new, unit
    change = 0.0
    for _ in range(sides):
        for other in range(values.shape[0]):
            left, right = values[other, r], values[other, s]
            if other == column or left == right:
                continue
            if is_number[other]:
                change += _step(error, moved, starts[other], size * (left - right), done)
            else:
                change += _step(error, moved, starts[other] + left, size, done)
                change += _step(error, moved, starts[other] + right, -size, done)
        moved, size = starts[column] + old, -size
    return change


@compiled
def _swap(state: Any, places: Any, total: float, bound: float, rng: Any) -> None:
    """Try a batch of swaps of two cells of a column, and keep those that lessen the error."""
    values = state[0]
    columns, rows = values.shape
    for _ in range(_BATCH):
        column = int(rng.random() * columns)
        r, s = int(rng.random() * rows), int(rng.random() * rows)
        if values[column, r] == values[column, s]:
            continue
        change = _change(state, column, r, s, False)
        if change < 0.0:
            _change(state, column, r, s, True)
            values[column, r], values[column, s] = values[column, s], values[column, r]
            places[column, r], places[column, s] = places[column, s], places[column, r]
            total += change
            if total <= bound:
                return
