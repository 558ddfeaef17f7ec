"""Histograms to order: towards a sample's, in whole records, with the mean and variance wanted; and tables that have them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kakurenbo.tables import Category, Codes, Column, Table

Vector = NDArray[np.float64]

_HALVINGS = 50
_TILTS = 3
_MOVES = 30
_LARGEST_ROUNDING = 1.2  # records that rounding may move one value by
_MEAN_COUNTS = 10.0  # how much an error of the mean counts beside one of the variance


def clipped(aimed: Vector, own: Vector, budget: float) -> Vector:
    """Frequencies moved from ``aimed`` towards ``own`` by min(|d|, kappa s^2), the least kappa with sum |own - it| <= budget.

    s^2 = h (1 - h / n) is how much a frequency varies by itself: so moved, they tell the least about who is in the sample.

    Examples
    --------
    >>> clipped(np.array([50.0, 50.0]), np.array([60.0, 40.0]), 10).round(2).tolist()
    [55.0, 45.0]
    """
    missing = own - aimed
    if np.abs(missing).sum() <= budget:
        return aimed
    variance = np.maximum(aimed * (1 - aimed / max(aimed.sum(), 1)), 0) + 0.25  # a value that nobody had may come up, too
    low, high = 1e-9, 1e9
    for _ in range(_HALVINGS):
        kappa = float(np.sqrt(low * high))
        left = np.abs(missing) - np.minimum(np.abs(missing), kappa * variance)
        low, high = (kappa, high) if left.sum() > budget else (low, kappa)
    moved: Vector = aimed + np.sign(missing) * np.minimum(np.abs(missing), high * variance)
    return moved


def whole(frequencies: Vector, rows: int) -> NDArray[np.int64]:
    """The nearest whole frequencies that sum up to ``rows``: the largest remainders are rounded up.

    Examples
    --------
    >>> whole(np.array([1.5, 1.25, 1.25]), 4).tolist()
    [2, 1, 1]
    """
    scaled = np.maximum(frequencies, 0)
    scaled = scaled * rows / max(float(scaled.sum()), 1e-12)
    counts = np.floor(scaled + 1e-9).astype(np.int64)
    order = np.argsort(-(scaled - counts).round(9), kind="stable")
    counts[order[: rows - int(counts.sum())]] += 1
    return counts


def whole_with_moments(column: Column, frequencies: Vector, rows: int, mean: float, variance: float) -> NDArray[np.int64]:
    """Whole frequencies of a number, near the given ones, with (almost) this mean and variance (ddof 1)."""
    values = column.values(np.arange(len(frequencies))).astype(np.float64)
    tilted = _tilted(values, np.maximum(frequencies, 0), rows, mean, variance)
    counts = whole(tilted, rows)
    if rows < 2:
        return counts
    # Records move between two of the values that occur until neither mean nor variance comes closer.
    there = np.flatnonzero(tilted > 0)[:512]
    steps = (values[there][None, :] - values[there][:, None]) / rows
    squares = (values[there][None, :] ** 2 - values[there][:, None] ** 2) / (rows - 1)
    for _ in range(_MOVES):
        total = counts @ values
        off_mean = total / rows - mean
        off_variance = (counts @ values**2 - total**2 / rows) / (rows - 1) - variance
        changed = off_variance + squares - (2 * total * steps + rows * steps**2) / (rows - 1)
        cost = _MEAN_COUNTS * np.abs(off_mean + steps) + np.abs(changed)
        excess = counts[there] - tilted[there]
        barred = (excess - 1 < -_LARGEST_ROUNDING) | (counts[there] < 1)
        cost[barred[:, None] | (excess + 1 > _LARGEST_ROUNDING)[None, :]] = np.inf
        source, goal = np.unravel_index(int(cost.argmin()), cost.shape)
        if cost[source, goal] >= _MEAN_COUNTS * abs(off_mean) + abs(off_variance) - 1e-12:
            break
        counts[there[source]] -= 1
        counts[there[goal]] += 1
    return counts


def _tilted(values: Vector, frequencies: Vector, rows: int, mean: float, variance: float) -> Vector:
    """Frequencies times a parabola of the value, so that mean and variance come out."""
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
        slopes = np.linalg.lstsq((powers * shares) @ powers.T, wanted, rcond=None)[0]
        tilted = tilted * np.clip(1 + slopes @ powers, 0.2, 5)
        tilted *= rows / tilted.sum()
    return tilted


def with_histograms(table: Table, wanted: Mapping[str, NDArray[np.int64]], rng: np.random.Generator) -> Table:
    """The table with as few cells changed as it takes to have these frequencies: a surplus of one value becomes another's lack.

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
