"""The columns of a source as the generator `moments` sees them: one factor per column, one feature per moment.

A factor is the outcome of one conditional draw; its features are what later factors are drawn from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.tables import Category, Codes, Column, Integer, Moments, Schema

# An integer that is drawn conditionally is drawn in this many groups of neighbouring values at most. Within a group the
# values follow the source's histogram; 32 groups leave less than 1% of the variance inside.
MAX_GROUPS = 32


@dataclass(frozen=True, eq=False)
class Factor:
    """One column that is not constant in the source.

    Attributes
    ----------
    name : str
    levels : array of int, shape (m,)
        The codes that occur in the source, ascending.
    counts : array of int, shape (m,)
        How often each occurs there.
    groups : array of int, shape (m,)
        The group 0..K-1 of each level. Each level of a category is its own group.
    scores : array, shape (K, s)
        The features of each group: one-hot for a category (s = K), the standardised mean value for an integer (s = 1).
    offset : int
        Position of the first feature among those of all factors.
    """

    name: str
    levels: NDArray[np.int64]
    counts: NDArray[np.int64]
    groups: NDArray[np.int64]
    scores: NDArray[np.float64]
    offset: int

    @property
    def size(self) -> int:
        """Number of groups, K."""
        return len(self.scores)

    @property
    def width(self) -> int:
        """Number of features, s."""
        return int(self.scores.shape[1])

    @property
    def nominal(self) -> bool:
        """Whether the features are one-hot, so that scores need not be multiplied."""
        return self.width == self.size

    @property
    def group_counts(self) -> NDArray[np.int64]:
        """How often each group occurs in the source, shape (K,)."""
        return np.bincount(self.groups, weights=self.counts).astype(np.int64)

    @property
    def shares(self) -> NDArray[np.float64]:
        """Relative frequency of each group in the source, shape (K,)."""
        shares: NDArray[np.float64] = self.group_counts / self.counts.sum()
        return shares

    def spread(self, effects: NDArray[np.float64]) -> NDArray[np.float64]:
        """Effects on features to effects on groups: (n, s) -> (K, n), groups first so that rows are contiguous."""
        if self.nominal:
            return np.array(effects.T, order="C")
        return self.scores * effects[:, 0]

    def gather(self, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Chances of groups to expected features: (K, n) -> (n, s)."""
        return chances.T if self.nominal else chances.T @ self.scores


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything the generator needs to know of a source.

    Attributes
    ----------
    schema : Schema
    constants : mapping of str to int
        Columns with a single value in the source, and its code.
    factors : tuple of Factor
        In the order they are drawn.
    mean : array, shape (d,)
    covariance : array, shape (d, d)
        Of the features, with ddof 0.
    """

    schema: Schema
    constants: Mapping[str, int]
    factors: tuple[Factor, ...]
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]

    @classmethod
    def of(cls, moments: Moments) -> Plan:
        """The plan for a source.

        The column with the most values comes first, because the first factor is drawn exactly; then always the one that
        hangs most on one already drawn, because a strong tie is kept best where it is drawn directly.
        """
        constants, varying, start = {}, [], 0
        for column, histogram in zip(moments.schema, moments.histograms, strict=True):
            levels = np.flatnonzero(histogram)
            if len(levels) == 1:
                constants[column.name] = int(levels[0])
            else:
                positions = start + levels if isinstance(column, Category) else np.array([start])
                varying.append(_Varying(column, levels, histogram[levels], positions))
            start += column.size if isinstance(column, Category) else 1
        ordered = _by_dependence(varying, moments)
        factors: list[Factor] = []
        scales: list[NDArray[np.float64]] = []
        for item in ordered:
            offset = sum(factor.width for factor in factors)
            factor, scale = _factor(item.column, item.levels, item.counts, offset, grouped=bool(factors))
            factors.append(factor)
            scales.append(scale)
        index = np.concatenate([np.zeros(0, dtype=np.int64), *(item.positions for item in ordered)])
        scale = np.concatenate([np.zeros(0), *scales])
        means = [factor.shares if factor.nominal else np.zeros(1) for factor in factors]
        covariance = moments.covariance[np.ix_(index, index)] * (moments.count - 1) / moments.count
        return cls(
            moments.schema,
            constants,
            tuple(factors),
            np.concatenate([np.zeros(0), *means]),
            covariance / np.outer(scale, scale),
        )


class Design:
    """Features of the factors drawn so far, for one block of rows; grows by a factor at a time.

    Parameters
    ----------
    plan : Plan
    rows : int
    """

    def __init__(self, plan: Plan, rows: int) -> None:
        self._factors, self._rows, self._known = plan.factors, rows, 0
        self._index = np.empty((rows, len(plan.factors)), dtype=np.int32)
        self._value = np.ones((rows, len(plan.factors)))

    def add(self, groups: Codes) -> None:
        """The groups drawn of the next factor, shape (rows,)."""
        factor = self._factors[self._known]
        if factor.nominal:
            np.add(groups, factor.offset, out=self._index[:, self._known], casting="unsafe")
        else:
            self._index[:, self._known] = factor.offset
            self._value[:, self._known] = factor.scores[groups, 0]
        self._known += 1

    def matrix(self) -> Any:
        """A sparse matrix of the features so far, shape (rows, d')."""
        last = self._factors[self._known - 1]
        bounds = np.arange(0, self._rows * self._known + 1, self._known, dtype=np.int32)
        index, value = self._index[:, : self._known], self._value[:, : self._known]
        from scipy import sparse  # takes a while to load, and only drawing needs it

        return sparse.csr_array((value.ravel(), index.ravel(), bounds), shape=(self._rows, last.offset + last.width))


@dataclass(frozen=True, eq=False)
class _Varying:
    """A column with several values: those that occur, how often, and its positions in the numeric view."""

    column: Column
    levels: NDArray[np.int64]
    counts: NDArray[np.int64]
    positions: NDArray[np.int64]


def _by_dependence(varying: Sequence[_Varying], moments: Moments) -> list[_Varying]:
    """Columns in the order in which a largest spanning tree of their pairwise dependences grows from the first.

    The dependence of two columns is Pearson's phi^2 = sum over levels of cov^2 / (share share'); of integers r^2.
    """
    if not varying:
        return []
    owners = np.zeros((len(varying), len(moments.sums)))  # (columns, d) one-hot
    size = np.ones(len(moments.sums))
    for place, item in enumerate(varying):
        owners[place, item.positions] = 1
        nominal = isinstance(item.column, Category)
        size[item.positions] = item.counts / moments.count if nominal else np.diag(moments.covariance)[item.positions]
    dependence = owners @ (moments.covariance**2 / np.outer(size, size)) @ owners.T  # (columns, columns)
    left = list(range(len(varying)))
    chosen = max(left, key=lambda place: len(varying[place].levels))
    order, tie = [], np.zeros(len(varying))
    while True:
        order.append(varying[chosen])
        left.remove(chosen)
        if not left:
            return order
        tie = np.maximum(tie, dependence[chosen].round(9))  # rounded: the order must not hang on the last bits
        chosen = max(left, key=lambda place: tie[place])


def _factor(
    column: Column, levels: NDArray[np.int64], counts: NDArray[np.int64], offset: int, *, grouped: bool
) -> tuple[Factor, NDArray[np.float64]]:
    """The factor of one column, and the units of its features, shape (s,)."""
    if not isinstance(column, Integer):
        groups = np.arange(len(levels))
        return Factor(column.name, levels, counts, groups, np.eye(len(levels)), offset), np.ones(len(levels))
    groups = neighbours(counts, MAX_GROUPS) if grouped else np.arange(len(levels))
    values = column.values(levels).astype(np.float64)
    centred = values - values @ counts / counts.sum()
    deviation = np.sqrt(centred**2 @ counts / counts.sum())
    scores = np.bincount(groups, weights=centred * counts) / np.bincount(groups, weights=counts) / deviation
    return Factor(column.name, levels, counts, groups, scores[:, None], offset), np.array([deviation])


def neighbours(counts: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """Groups of neighbouring levels with about equal counts, at most ``limit`` of them, shape (m,)."""
    if len(counts) <= limit:
        return np.arange(len(counts))
    middle = np.cumsum(counts) - counts / 2
    return np.unique((middle / counts.sum() * limit).astype(np.int64), return_inverse=True)[1]
