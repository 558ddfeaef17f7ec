"""What `hideout` copies of a sample: histograms in whole records, and as few numbers about its moments as pass.

Errors are summed up without squares, over covariances s and frequencies h. A release that copies m linear combinations of the
sample's deviations d from the population, and takes everything else from the population, has the errors d - g, g being the
regression of d on those combinations. As sum w |d - g| = sum w (d - g)^2 / |d - g|, the best m combinations are the leading
eigenvectors of the deviations' covariance, weighted with w over the errors expected last: iteratively reweighted principal
components. They are known before the sample is seen, so that by them the release tells m numbers of the sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kakurenbo.anonymizers.tables.synthetic import shares_of
from kakurenbo.core import Category, Codes, Column, Moments, Table
from kakurenbo.core.arrays import Floats, Ints, Rng
from kakurenbo.data.statistics import on_grid, one_blas_thread

_FEATURES = 2_000  # deviations looked at, those that cost most; of the others the population's values are taken
_ROWS = 30_000  # of the population, for the covariance of the deviations
_BLOCK = 4_096  # rows that are summed up in double precision at a time
_TYPICAL = 60  # combinations for which weights are found
_MOST = 120
_REWEIGHTINGS = 5
_DISTINCT = 1e-6  # share by which equal eigenvalues are told apart
_DECIMALS = 8  # of shares of values
_LEAST_ERROR = 1e-3  # of a deviation's own size: keeps weights finite
_HISTOGRAM_COUNTS = 0.35  # weight of the histograms' budget relative to that of the covariances

_HALVINGS = 50
_TILTS = 3
_MOVES = 30
_LARGEST_ROUNDING = 1.2  # records that rounding may move one value by
_MEAN_COUNTS = 10.0  # weight of an error of the mean relative to one of the variance


@dataclass(frozen=True, eq=False)
class DirectionBasis:
    """A population, and the combinations of deviations from it, the most useful first.

    Attributes
    ----------
    covariance : array, shape (d, d)
    shares : array, shape (v,)
        Relative frequency of every value of every column, one column after the other.
    elements : array of int, shape (f,)
        The deviations that combinations are made of: elements of the upper triangle of the covariance, then values.
    into, back : arrays, shapes (m, f) and (f, m)
        Deviations to combinations, and combinations to the deviations to expect.
    """

    covariance: Floats
    shares: Floats
    elements: Ints
    into: Floats
    back: Floats

    @classmethod
    def of(
        cls,
        population: Table,
        rows: int,
        covariance_budget: float,
        histogram_budget: float,
        rng: Rng,
    ) -> DirectionBasis:
        """Study a population whose samples have ``rows`` records; budgets are the sums of errors that are allowed."""
        moments, shares = Moments.of(population), shares_of(population)
        table = population.take(rng.permutation(len(population))[:_ROWS])
        first, second = np.triu_indices(len(moments.mean))
        costs = np.r_[
            np.where(first == second, 1.0, 2.0) / covariance_budget,
            np.full(len(shares), _HISTOGRAM_COUNTS * rows / histogram_budget),
        ]
        with one_blas_thread():
            # Standard deviation of each covariance and each frequency in a sample of one record.
            view, p = table.dummies() - moments.mean, shares_of(table)
            fourth = (view**2).T @ (view**2) / len(table) - (view.T @ view / len(table)) ** 2
            spread = np.sqrt(np.maximum(np.r_[fourth[first, second], p * (1 - p)], 0))
            elements = np.sort(np.argsort(-(costs * spread), kind="stable")[:_FEATURES])
            elements = elements[spread[elements] > 1e-6 * spread.max()]
            # What each record adds to the chosen covariances and frequencies, (n, f).
            thin = view.astype(np.float32)
            pairs = elements[elements < len(first)]
            values = elements[len(pairs) :] - len(first)
            parts, start = [thin[:, first[pairs]] * thin[:, second[pairs]]], 0
            for column in table.schema:
                size = column.size or 0
                codes = values[(values >= start) & (values < start + size)] - start
                parts.append((table.codes[column.name][:, None] == codes).astype(np.float32))
                start += size
            deviations = np.hstack(parts)
            mean = deviations.mean(axis=0, dtype=np.float64)
            between = np.zeros((len(elements), len(elements)))
            for start in range(0, len(table), _BLOCK):
                # Sums in single precision would differ between processors by more than the grid.
                block = deviations[start : start + _BLOCK] - mean
                between += block.T @ block
            between /= len(table)
            into, back = _combine(between, costs[elements])
        return cls(moments.covariance, shares, elements, into, back)

    def expect(self, sample: Table, count: int) -> tuple[Floats, Floats]:
        """Return covariance, shape (d, d), and shares of values, shape (v,), of people like the sample in ``count`` combinations."""
        upper = np.triu_indices(len(self.covariance))
        missing = np.r_[
            (Moments.of(sample).covariance - self.covariance)[upper],
            shares_of(sample) - self.shares,
        ]
        moved = np.zeros(len(missing))
        expected = self.back[:, :count] @ (self.into[:count] @ missing[self.elements])
        moved[self.elements] = expected
        covariance = np.zeros_like(self.covariance)
        covariance[upper] = moved[: len(upper[0])]
        covariance = covariance + np.triu(covariance, 1).T
        # The last bits differ between processors, and no swap may depend on them.
        shares = (self.shares + moved[len(upper[0]) :]).round(_DECIMALS)
        return self.covariance + on_grid(covariance), shares


def _combine(between: Floats, costs: Floats) -> tuple[Floats, Floats]:
    """Return the best combinations for a covariance of deviations, shape (f, f), the most useful first."""
    from scipy.sparse.linalg import eigsh

    sizes = np.sqrt(np.diag(between))
    error = sizes
    # Deviations that are alike would share an eigenvalue, and the processor would choose among their eigenvectors.
    distinct = 1 + np.diag(np.linspace(0, _DISTINCT, len(sizes)))
    weights, vectors = np.ones_like(sizes), np.zeros((len(sizes), 0))
    for count in (*[_TYPICAL] * (_REWEIGHTINGS - 1), _MOST):
        weights = np.sqrt(costs / np.maximum(error, _LEAST_ERROR * sizes))
        matrix = weights[:, None] * between * weights * distinct
        if len(matrix) <= 2 * count:
            values, vectors = np.linalg.eigh(matrix)
        else:
            values, vectors = eigsh(matrix, k=count, v0=np.ones(len(matrix)))
        largest = np.argsort(-values, kind="stable")[:count]
        values, vectors = values[largest], vectors[:, largest]
        explained = ((vectors / weights[:, None]) ** 2 * values).sum(axis=1)
        error = np.sqrt(np.maximum(sizes**2 - explained, 0))
    return vectors.T * weights, vectors / weights[:, None]


def move_within_budget(frequencies: Floats, towards: Floats, budget: float) -> Floats:
    """Move frequencies by min(|d|, kappa s^2), the least kappa with which sum |towards - frequencies| is within a budget.

    s^2 = h (1 - h / n) is how much a frequency varies by itself: so moved, they tell the least about who is in the sample.

    Examples
    --------
    >>> move_within_budget(np.array([50.0, 50.0]), np.array([60.0, 40.0]), 10).round(2).tolist()
    [55.0, 45.0]
    """
    missing = towards - frequencies
    if np.abs(missing).sum() <= budget:
        return frequencies
    # A value that nobody had may come up, too.
    total = max(frequencies.sum(), 1)
    variance = np.maximum(frequencies * (1 - frequencies / total), 0) + 0.25
    low, high = 1e-9, 1e9
    for _ in range(_HALVINGS):
        kappa = float(np.sqrt(low * high))
        left = np.abs(missing) - np.minimum(np.abs(missing), kappa * variance)
        low, high = (kappa, high) if left.sum() > budget else (low, kappa)
    moved: Floats = frequencies + np.sign(missing) * np.minimum(np.abs(missing), high * variance)
    return moved


def round_to_counts(frequencies: Floats, rows: int) -> Ints:
    """Return the nearest whole frequencies that sum up to ``rows``: the largest remainders are rounded up.

    Examples
    --------
    >>> round_to_counts(np.array([1.5, 1.25, 1.25]), 4).tolist()
    [2, 1, 1]
    """
    scaled = np.maximum(frequencies, 0)
    scaled = scaled * rows / max(float(scaled.sum()), 1e-12)
    counts = np.floor(scaled + 1e-9).astype(np.int64)
    order = np.argsort(-(scaled - counts).round(9), kind="stable")
    counts[order[: rows - int(counts.sum())]] += 1
    return counts


def round_with_moments(
    column: Column, frequencies: Floats, rows: int, mean: float, variance: float
) -> Ints:
    """Return whole frequencies of a number, near the given ones, with (almost) this mean and variance (ddof 1)."""
    values = column.values(np.arange(len(frequencies))).astype(np.float64)
    # Frequencies times a parabola of the value, so that mean and variance come out.
    frequencies = np.maximum(frequencies, 0)
    tilted = frequencies * rows / max(float(frequencies.sum()), 1e-12)
    for _ in range(_TILTS):
        shares = tilted / tilted.sum()
        centre = float(shares @ values)
        spread = float(np.sqrt(shares @ (values - centre) ** 2))
        if spread <= 0:
            break
        units = (values - centre) / spread
        powers = np.stack([np.ones_like(units), units, units**2])  # (3, m)
        wanted = np.array([0, (mean - centre) / spread, variance / spread**2 - 1])
        slopes = np.linalg.lstsq((powers * shares) @ powers.T, wanted, rcond=None)[0].round(9)
        tilted = tilted * np.clip(1 + slopes @ powers, 0.2, 5)
        tilted *= rows / tilted.sum()
    counts = round_to_counts(tilted, rows)
    if rows < 2:
        return counts
    # Records move between two of the values that occur until neither mean nor variance comes closer.
    occurring = np.flatnonzero(tilted > 0)[:512]
    some = values[occurring]
    steps = (some[None, :] - some[:, None]) / rows
    squares = (some[None, :] ** 2 - some[:, None] ** 2) / (rows - 1)
    for _ in range(_MOVES):
        total = counts @ values
        off_mean = total / rows - mean
        off_variance = (counts @ values**2 - total**2 / rows) / (rows - 1) - variance
        changed = off_variance + squares - (2 * total * steps + rows * steps**2) / (rows - 1)
        # Rounded: the last bits of equal costs differ between processors.
        cost = (_MEAN_COUNTS * np.abs(off_mean + steps) + np.abs(changed)).round(9)
        excess = counts[occurring] - tilted[occurring]
        barred = (excess - 1 < -_LARGEST_ROUNDING) | (counts[occurring] < 1)
        cost[barred[:, None] | (excess + 1 > _LARGEST_ROUNDING)[None, :]] = np.inf
        source, goal = np.unravel_index(int(cost.argmin()), cost.shape)
        if cost[source, goal] >= _MEAN_COUNTS * abs(off_mean) + abs(off_variance) - 1e-9:
            break
        counts[occurring[source]] -= 1
        counts[occurring[goal]] += 1
    return counts


def with_histograms(table: Table, wanted: Mapping[str, Ints], rng: Rng) -> Table:
    """Change as few cells as it takes to have these frequencies: a surplus of one value becomes another's lack.

    Numbers become the ones nearest in order, words any that lack.
    """
    changed: dict[str, Codes] = {}
    for column in table.schema:
        counts, codes = wanted[column.name], table.codes[column.name].astype(np.int64)
        have = np.bincount(codes, minlength=len(counts))
        order = rng.permutation(len(codes))
        order = order[np.argsort(codes[order], kind="stable")]
        begins = np.cumsum(have) - have
        surplus = order[np.arange(len(codes)) - begins[codes[order]] >= counts[codes[order]]]
        lacking = np.repeat(np.arange(len(counts)), np.maximum(counts - have, 0))
        codes[surplus] = rng.permutation(lacking) if isinstance(column, Category) else lacking
        changed[column.name] = codes
    return table.with_codes(changed)
