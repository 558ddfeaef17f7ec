"""Repairs by swaps that leave every histogram: `repair` of the covariances, `tree_repair` of what a decision tree learns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.anonymizers.tables.covariance_kernel import CovarianceState
from kakurenbo.contracts import Anonymizer, Release, unknown_column
from kakurenbo.errors import ParameterError
from kakurenbo.measures.cart import grow
from kakurenbo.measures.trees import TreeTask
from kakurenbo.parameters import parameter
from kakurenbo.tables import Category, Coarsening, Integer, Moments, Schema, Table

_LARGEST_DOMAIN = 4096  # beyond it products of values are no numbers to sum up; such a column counts by rank


@dataclass(frozen=True)
class Repair(Anonymizer):
    """Swap cells within columns until the covariances are close to the original's, and no further.

    A swap leaves every histogram, so what histograms do to the covariances stays. As a step of a pipeline it compares with what
    the pipeline was given; alone it has nothing to do.
    """

    vcm: float = parameter(0.4, "stop at this covariance utility, 1 / sum |covariance - original's|", low=0.001)
    tries: int = parameter(20_000_000, "swaps that are tried at most", low=0)

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        return self.after(table, Release.of(table), rng)

    def after(self, original: Table, release: Release, rng: np.random.Generator) -> Release:
        coarsening = Coarsening.of([original, release.table], _LARGEST_DOMAIN)
        target = Moments.of(coarsening.apply(original)).covariance
        state = CovarianceState.of(coarsening.apply(release.table), target)
        state.swap(1 / self.vcm, self.tries, rng)
        return Release.of(state.applied_to(release.table))


@dataclass(frozen=True)
class TreeRepair(Anonymizer):
    """Swap labels between pairs of rows that both contradict the original's decision tree, so that a new one learns the same.

    As a step of a pipeline the tree is that of what the pipeline was given; alone it is the table's own.
    """

    label: str = parameter("", "the category that the tree tells", none="the last category")
    level: str = parameter("", "the level that it tells from all others", none="the most frequent one")
    depth: int = parameter(5, "how deep the tree is", low=1, high=30)
    pairs: int = parameter(400, "pairs of rows that are swapped at most", low=0)

    @classmethod
    def accepts(cls, schema: Schema) -> bool:
        """Tables of categories and integers, with a category at least."""
        return super().accepts(schema) and any(isinstance(column, Category) for column in schema)

    def unfit(self, schema: Schema) -> str:
        wrong = super().unfit(schema) or unknown_column(schema, [self.label] if self.label else ())
        if wrong:
            return wrong
        column = schema[self._label(schema)]
        if not isinstance(column, Category):
            return f"column {self.label!r} holds numbers, not words"
        if self.level and self.level not in column.levels:
            return f"column {column.name!r} has no level {self.level!r}; there are {', '.join(column.levels)}"
        return ""

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        return self.after(table, Release.of(table), rng)

    def after(self, original: Table, release: Release, rng: np.random.Generator) -> Release:
        if wrong := self.unfit(original.schema):
            raise ParameterError("label", wrong, self.label)
        if not len(original):
            return Release.of(release.table)
        label = self._label(original.schema)
        column = original.schema[label]
        assert isinstance(column, Category)
        level = self.level or column.levels[int(original.frequencies(label).argmax())]
        return Release.of(agreeing(TreeTask(label, level, self.depth), original, release.table, self.pairs, rng))

    def _label(self, schema: Schema) -> str:
        return self.label or [column.name for column in schema if isinstance(column, Category)][-1]


def agreeing(task: TreeTask, original: Table, table: Table, pairs: int, rng: np.random.Generator) -> Table:
    """The table after so many swaps of labels between rows that both contradict the original's tree.

    One row is told to be positive and is not, the other the reverse: after the swap the tree is right about both.
    """
    told = grow(_features(task, original), task.truth(original), task.max_depth).predict(_features(task, table))
    truth = task.truth(table).astype(bool)
    missed, invented = (rng.permutation(np.flatnonzero(which)) for which in (told & ~truth, ~told & truth))
    count = min(pairs, len(missed), len(invented))
    missed, invented = missed[:count], invented[:count]
    codes = table.codes[task.target].copy()
    codes[missed], codes[invented] = table.codes[task.target][invented], table.codes[task.target][missed]
    return table.with_codes({task.target: codes})


def _features(task: TreeTask, table: Table) -> NDArray[np.float32]:
    """What the tree sees, shape (n, d): a table whose only column is the label has nothing to show."""
    others = [column for column in table.schema if column.name != task.target]
    if any(isinstance(column, Category | Integer) for column in others):
        return task.matrix(table)
    return np.zeros((len(table), 1), dtype=np.float32)
