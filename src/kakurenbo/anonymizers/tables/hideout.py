"""`hideout`: records of other people, so that a release tells of its own only the few numbers that its thresholds ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kakurenbo.anonymizers.tables.hideout_targets import (
    DirectionBasis,
    move_within_budget,
    round_to_counts,
    round_with_moments,
    with_histograms,
)
from kakurenbo.anonymizers.tables.repair import rearrange, swap_labels, swap_towards
from kakurenbo.anonymizers.tables.synthetic import (
    LARGEST_DOMAIN,
    SOURCES,
    draw_population,
    shares_of,
)
from kakurenbo.contest import Anonymizer, Release
from kakurenbo.core import Category, Coarsening, Moments, Table
from kakurenbo.core.arrays import Floats, Ints, Rng
from kakurenbo.data import adult
from kakurenbo.measures.covariance import correlation_difference, covariance_utility
from kakurenbo.measures.histogram import histogram_error, histogram_utility
from kakurenbo.measures.trees import TreeTask, tree_utility
from kakurenbo.methods.parameters import parameter

_ATTEMPTS = 10
_FIRST, _STEP = 16, 3  # combinations: the first try, and how many are added at a time
_SWAPS_LEAVE = 0.12  # share of the covariances' budget that is left for what swaps cannot reach and rounding spoils
_PULL_LEAVES = 0.04  # the same where the target is pulled towards the sample: swaps reach that
_HISTOGRAM_SLACK = 0.98  # share of the histograms' budget that is used at first
_HISTOGRAM_STEP = 0.02  # what a try takes off it
_PULL = 0.06  # share of the covariances' budget that a try takes off where no combination is left
_PAIRS = 50  # of rows whose labels one attempt swaps for a tree
_TREE_MARGIN = 0.02  # trees are judged on rows like the contest's, which may be others

_TREES = (
    TreeTask("income", "<=50K", max_depth=5),
    TreeTask("relationship", "Husband", max_depth=3),
)
_ROUNDS: Mapping[str, Mapping[str, float]] = {
    "pre": {"tree": 0.85, "histogram": 0.99, "vcm": 0.4},
    "main": {"tree": 0.95, "column_error": 0.03, "correlation": 0.10},
}


@dataclass(frozen=True)
class MomentMatching(Anonymizer):
    """Release records of other people, who share with the input only the few numbers that the thresholds ask for.

    The records come from an own run of the public generator, or from an estimate of the population where nothing is public.
    Histograms and covariances are brought, by changes of few cells and by swaps, to those of a population that agrees with
    the input in as few combinations as possible; labels are swapped where a tree learns something else.
    """

    round: str = parameter(
        "pre", "which round's thresholds are to be passed", choices=tuple(sorted(_ROUNDS))
    )
    vcm: float | None = parameter(
        None, "least covariance utility, in round pre", low=0.001, none="word.rounds_own"
    )
    population: str = parameter(
        "auto", "where other people come from; own: an estimate from the input", choices=SOURCES
    )

    def __call__(self, table: Table, rng: Rng) -> Release:
        if len(table) < 2:
            return Release.of(table.take([]))
        limits = dict(_ROUNDS[self.round])
        if self.vcm is not None and "vcm" in limits:
            limits["vcm"] = self.vcm
        coarsening = Coarsening.of([table], LARGEST_DOMAIN)
        sample = coarsening.apply(table)
        people = draw_population(sample, self.population, rng)
        others = people.take(rng.permutation(len(people))[: len(sample)])
        hidden = _Matching(sample, limits, people, rng).bring(others)
        return Release.of(coarsening.undo(hidden, table, rng))


class _Matching:
    """Brings other people's records to the thresholds, as the rules measure them; trees on rows that are public."""

    def __init__(self, sample: Table, limits: Mapping[str, float], people: Table, rng: Rng) -> None:
        self.sample, self.limits, self.people, self.rng = sample, limits, people, rng
        self.moments = Moments.of(sample)

    def bring(self, released: Table) -> Table:
        return self._near(released) if "vcm" in self.limits else self._apart(released)

    def _misses_histogram(self, released: Table) -> bool:
        if "histogram" in self.limits:
            return histogram_utility(self.sample, released).value < self.limits["histogram"]
        return histogram_error(self.sample, released).value > self.limits["column_error"]

    def _misses_moments(self, released: Table) -> bool:
        moments = Moments.of(released)
        if "vcm" in self.limits:
            return covariance_utility(self.moments, moments).value < self.limits["vcm"]
        return correlation_difference(self.moments, moments).value > self.limits["correlation"]

    def _missed_trees(self, released: Table) -> list[TreeTask]:
        if self.sample.schema != adult.SCHEMA:
            return []
        least, test = self.limits["tree"] + _TREE_MARGIN, adult.embedded_adult().test
        return [t for t in _TREES if tree_utility(t, self.sample, released, test).value < least]

    def _swap_labels(self, tasks: list[TreeTask], released: Table) -> Table:
        for task in tasks:
            released = swap_labels(task, self.sample, released, _PAIRS, self.rng)
        return released

    def _near(self, released: Table) -> Table:
        """Bring histograms and covariances within their budgets, by as few combinations as pass."""
        sample, rows, covariance = self.sample, len(self.sample), self.moments.covariance
        budget = 1 / self.limits["vcm"]
        histograms = (1 - self.limits["histogram"]) * 2 * rows * len(sample.schema)
        basis = DirectionBasis.of(self.people, rows, budget, histograms, self.rng)
        most, slack, allowed = len(basis.into), _HISTOGRAM_SLACK, (1 - _SWAPS_LEAVE) * budget
        counts = (
            count
            for count in range(min(_FIRST, most), most, _STEP)
            if np.abs(basis.expect(sample, count)[0] - covariance).sum() <= allowed
        )
        count = next(counts, most)
        if count == most:
            allowed = (1 - _PULL_LEAVES) * budget
        for _ in range(_ATTEMPTS):
            target, shares = basis.expect(sample, count)
            off = float(np.abs(covariance - target).sum())
            if off > allowed:
                # The people are not quite those of the sample: move evenly towards its covariances.
                target = target + (1 - max(allowed, 0) / off) * (covariance - target)
            wanted = shares_of(sample) * rows
            shares = move_within_budget(shares * rows, wanted, slack * histograms) / rows
            released = with_histograms(released, self._counts(shares, target), self.rng)
            released = rearrange(
                released, swap_towards(released, _reachable(released, target), self.rng)
            )
            misses_histogram = self._misses_histogram(released)
            misses_moments = self._misses_moments(released)
            missed_trees = self._missed_trees(released)
            if not (misses_histogram or misses_moments or missed_trees):
                break
            if misses_moments and count < most:
                count = min(count + _STEP, most)
            elif misses_moments:
                allowed -= _PULL * budget
                if np.abs(Moments.of(released).covariance - target).sum() > budget:
                    break  # so few records that swaps alone miss it
            if misses_histogram:
                slack -= _HISTOGRAM_STEP
            released = self._swap_labels(missed_trees, released)
        return released

    def _apart(self, released: Table) -> Table:
        """Bring histograms within their budgets, column by column; the rest of other people's records stays as it is."""
        rows, slack = len(self.sample), _HISTOGRAM_SLACK
        for _ in range(_ATTEMPTS):
            budget, counts = slack * self.limits["column_error"] * 2 * rows, {}
            for name in self.sample.schema.names:
                public = self.people.frequencies(name).astype(np.float64) * (
                    rows / len(self.people)
                )
                wanted = self.sample.frequencies(name).astype(np.float64)
                counts[name] = round_to_counts(move_within_budget(public, wanted, budget), rows)
            released = with_histograms(released, counts, self.rng)
            missed_trees = self._missed_trees(released)
            misses_histogram = self._misses_histogram(released)
            if not (missed_trees or misses_histogram or self._misses_moments(released)):
                break
            released = self._swap_labels(missed_trees, released)
            if misses_histogram:
                slack -= _HISTOGRAM_STEP
        return released

    def _counts(self, shares: Floats, target: Floats) -> dict[str, Ints]:
        """Return whole frequencies of every column; numbers with the variance that the target has for them."""
        rows, counts, start, place = len(self.sample), {}, 0, 0
        for column in self.sample.schema:
            size = column.size or 0
            frequencies = shares[start : start + size] * rows
            if isinstance(column, Category):
                counts[column.name] = round_to_counts(frequencies, rows)
                place += size
            else:
                values = column.values(np.arange(size)).astype(np.float64)
                positive = np.maximum(frequencies, 0)
                mean, variance = (
                    float(positive @ values / positive.sum()),
                    float(target[place, place]),
                )
                counts[column.name] = round_with_moments(column, frequencies, rows, mean, variance)
                place += 1
            start += size
        return counts


def _reachable(released: Table, target: Floats) -> Floats:
    """Return the target, but within a column what its histogram makes of it, which no swap changes."""
    widths = [column.size if isinstance(column, Category) else 1 for column in released.schema]
    owner = np.repeat(np.arange(len(widths)), widths)
    return np.where(owner[:, None] == owner, Moments.of(released).covariance, target)
