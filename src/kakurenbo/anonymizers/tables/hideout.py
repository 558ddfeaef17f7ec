"""`hideout`: records of other people, so that a release tells of its own only the few numbers that its thresholds ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from kakurenbo.anonymizers.tables.covariance_kernel import repaired
from kakurenbo.anonymizers.tables.directions import Outlook, shares_of
from kakurenbo.anonymizers.tables.histograms import clipped, whole, whole_with_moments, with_histograms
from kakurenbo.anonymizers.tables.population import SOURCES, draw_population, public_data
from kakurenbo.anonymizers.tables.repair import agreeing
from kakurenbo.contracts import Anonymizer, Release
from kakurenbo.measures.covariance import correlation_difference, covariance_utility
from kakurenbo.measures.histogram import histogram_error, histogram_utility
from kakurenbo.measures.trees import TreeTask, tree_utility
from kakurenbo.parameters import parameter
from kakurenbo.tables import Category, Coarsening, Moments, Table

Matrix = NDArray[np.float64]

_LARGEST_DOMAIN = 4096  # moments hold a number per value
_ATTEMPTS = 10
_FIRST, _STEP = 16, 3  # combinations: the first try, and how many are added at a time
_SWAPS_LEAVE = 0.12  # share of the covariances' budget that is left for what swaps cannot reach and rounding spoils
_PULL_LEAVES = 0.04  # the same where the target is pulled towards the sample: swaps reach that
_HISTOGRAM_SLACK = 0.98  # share of the histograms' budget that is used at first
_HISTOGRAM_STEP = 0.02  # what a try takes off it
_PULL = 0.06  # share of the covariances' budget that a try takes off where no combination is left
_PAIRS = 50  # of rows whose labels one attempt swaps for a tree
_TREE_MARGIN = 0.02  # trees are judged on rows like the contest's, which may be others


@dataclass(frozen=True)
class _Thresholds:
    """What a release must reach; None where a figure does not count."""

    tree: float
    histogram: float | None = None
    vcm: float | None = None
    column_error: float | None = None
    correlation: float | None = None


_ROUNDS: Mapping[str, _Thresholds] = MappingProxyType(
    {
        "pre": _Thresholds(tree=0.85, histogram=0.99, vcm=0.4),
        "main": _Thresholds(tree=0.95, column_error=0.03, correlation=0.10),
    }
)


@dataclass(frozen=True)
class Hideout(Anonymizer):
    """Release records of other people, who share with the input only the few numbers that the thresholds ask for.

    The records come from an own run of the public generator, or from an estimate of the population where nothing is public.
    Histograms and covariances are brought, by changes of few cells and by swaps, to those of a population that agrees with
    the input in as few combinations as possible; labels are swapped where a tree learns something else.
    """

    round: str = parameter("pre", "which round's thresholds are to be passed", choices=tuple(sorted(_ROUNDS)))
    vcm: float | None = parameter(None, "least covariance utility, in round pre", low=0.001, none="the round's own")
    population: str = parameter("auto", "where other people come from; own: an estimate from the input", choices=SOURCES)

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        if len(table) < 2:
            return Release.of(table.take([]))
        coarsening = Coarsening.of([table], _LARGEST_DOMAIN)
        sample = coarsening.apply(table)
        people = draw_population(sample, self.population, rng)
        others = people.take(rng.permutation(len(people))[: len(sample)])
        judge = _Judge(sample, self._thresholds())
        hidden = _near(judge, people, others, rng) if judge.limits.vcm is not None else _apart(judge, people, others, rng)
        return Release.of(coarsening.undo(hidden, table, rng))

    def _thresholds(self) -> _Thresholds:
        own = _ROUNDS[self.round]
        return own if self.vcm is None or own.vcm is None else _Thresholds(own.tree, own.histogram, self.vcm)


class _Judge:
    """Measures releases beside the sample, as the rules do; trees on rows that are public."""

    def __init__(self, sample: Table, limits: _Thresholds) -> None:
        self.sample, self.limits = sample, limits
        self.moments = Moments.of(sample)
        self._public = public_data(sample.schema)

    def misses_histogram(self, released: Table) -> bool:
        limits = self.limits
        return (limits.histogram is not None and histogram_utility(self.sample, released).value < limits.histogram) or (
            limits.column_error is not None and histogram_error(self.sample, released).value > limits.column_error
        )

    def misses_moments(self, released: Table) -> bool:
        limits, moments = self.limits, Moments.of(released)
        return (limits.vcm is not None and covariance_utility(self.moments, moments).value < limits.vcm) or (
            limits.correlation is not None and correlation_difference(self.moments, moments).value > limits.correlation
        )

    def missed_trees(self, released: Table) -> list[TreeTask]:
        if self._public is None:
            return []
        least, test = self.limits.tree + _TREE_MARGIN, self._public.test
        return [task for task in self._public.trees if tree_utility(task, self.sample, released, test).value < least]


def _near(judge: _Judge, people: Table, released: Table, rng: np.random.Generator) -> Table:
    """Histograms and covariances within their budgets, by as few combinations as pass."""
    sample, limits = judge.sample, judge.limits
    assert limits.vcm is not None
    assert limits.histogram is not None
    covariances, histograms = 1 / limits.vcm, (1 - limits.histogram) * 2 * len(sample) * len(sample.schema)
    outlook = Outlook.of(people, len(sample), covariances, histograms, rng)
    allowed, slack = (1 - _SWAPS_LEAVE) * covariances, _HISTOGRAM_SLACK
    count = _least(outlook, judge, allowed)
    if count == outlook.most:
        allowed = (1 - _PULL_LEAVES) * covariances
    for _ in range(_ATTEMPTS):
        target, shares = outlook.expected(sample, count)
        target = _pulled(target, judge.moments.covariance, allowed)
        shares = clipped(shares * len(sample), shares_of(sample) * len(sample), slack * histograms) / len(sample)
        released = with_histograms(released, _counts(sample, shares, target), rng)
        released = repaired(released, _reachable(released, target), rng)
        misses_histogram, misses_moments = judge.misses_histogram(released), judge.misses_moments(released)
        missed_trees = judge.missed_trees(released)
        if not (misses_histogram or misses_moments or missed_trees):
            break
        if misses_moments and count < outlook.most:
            count = min(count + _STEP, outlook.most)
        elif misses_moments:
            allowed -= _PULL * covariances
            if np.abs(Moments.of(released).covariance - target).sum() > covariances:
                break  # so few records that swaps alone miss it
        if misses_histogram:
            slack -= _HISTOGRAM_STEP
        for task in missed_trees:
            released = agreeing(task, sample, released, _PAIRS, rng)
    return released


def _least(outlook: Outlook, judge: _Judge, budget: float) -> int:
    """The fewest combinations with which the covariances to expect are within a budget."""
    for count in range(min(_FIRST, outlook.most), outlook.most, _STEP):
        if np.abs(outlook.expected(judge.sample, count)[0] - judge.moments.covariance).sum() <= budget:
            return count
    return outlook.most


def _pulled(target: Matrix, own: Matrix, allowed: float) -> Matrix:
    """The target moved evenly towards the sample's covariances until they differ by what is allowed.

    Needed where the people of the population are not quite those of the sample: no combination tells of a level they lack.
    """
    off = float(np.abs(own - target).sum())
    return target if off <= allowed else target + (1 - max(allowed, 0) / off) * (own - target)


def _apart(judge: _Judge, people: Table, released: Table, rng: np.random.Generator) -> Table:
    """Histograms of the population, clipped column by column; the rest of other people's records stays as it is."""
    sample, limits = judge.sample, judge.limits
    assert limits.column_error is not None
    slack = _HISTOGRAM_SLACK
    for _ in range(_ATTEMPTS):
        budget, counts = slack * limits.column_error * 2 * len(sample), {}
        for name in sample.schema.names:
            public = people.frequencies(name).astype(np.float64) * (len(sample) / len(people))
            counts[name] = whole(clipped(public, sample.frequencies(name).astype(np.float64), budget), len(sample))
        released = with_histograms(released, counts, rng)
        missed_trees = judge.missed_trees(released)
        if not (missed_trees or judge.misses_histogram(released) or judge.misses_moments(released)):
            break
        for task in missed_trees:
            released = agreeing(task, sample, released, _PAIRS, rng)
        slack -= _HISTOGRAM_STEP if judge.misses_histogram(released) else 0
    return released


def _counts(sample: Table, shares: Matrix, target: Matrix) -> dict[str, NDArray[np.int64]]:
    """Whole frequencies of every column; numbers with the variance that the target has for them."""
    counts, start, place = {}, 0, 0
    for column in sample.schema:
        own = shares[start : start + (column.size or 0)] * len(sample)
        if isinstance(column, Category):
            counts[column.name] = whole(own, len(sample))
            place += column.size
        else:
            values = column.values(np.arange(len(own))).astype(np.float64)
            mean = float(np.maximum(own, 0) @ values / np.maximum(own, 0).sum())
            counts[column.name] = whole_with_moments(column, own, len(sample), mean, float(target[place, place]))
            place += 1
        start += len(own)
    return counts


def _reachable(released: Table, target: Matrix) -> Matrix:
    """The target, but within a column what its histogram makes of it, which no swap changes."""
    widths = [column.size if isinstance(column, Category) else 1 for column in released.schema]
    owner = np.repeat(np.arange(len(widths)), widths)
    return np.where(owner[:, None] == owner, Moments.of(released).covariance, target)
