"""Means over repeats and their 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from kakurenbo.contest import Unit

_LEVEL = 0.975  # two-sided 95 %


@dataclass(frozen=True)
class Estimate:
    """The mean of ``n`` repeats and its 95 % interval (Student's t); no interval for a single value.

    ``low`` to ``high`` is mean ± ``half``, cut at the range of the figure: no share is below 0 % or above 100 %.
    """

    mean: float
    n: int = 1
    low: float | None = None
    high: float | None = None
    half: float | None = None

    def times(self, factor: float) -> Estimate:
        """Return the estimate of a figure that is so many times as large.

        Examples
        --------
        >>> Estimate(0.5, 2, 0.25, 0.75, 0.25).times(4)
        Estimate(mean=2.0, n=2, low=1.0, high=3.0, half=1.0)
        """
        bounds = (
            None if bound is None else bound * factor for bound in (self.low, self.high, self.half)
        )
        return Estimate(self.mean * factor, self.n, *bounds)

    def complement(self) -> Estimate:
        """Return what a share lacks to 1.

        Examples
        --------
        >>> Estimate(0.75, 2, 0.5, 1.0, 0.25).complement()
        Estimate(mean=0.25, n=2, low=0.0, high=0.5, half=0.25)
        """
        low, high = (None if bound is None else 1 - bound for bound in (self.high, self.low))
        return Estimate(1 - self.mean, self.n, low, high, self.half)


Limits = tuple[float, float]
"""The least and the most that a figure can be."""
SHARE: Limits = (0.0, 1.0)


def limits_of(unit: Unit, of: float | None = None) -> Limits:
    """Return the range of a figure, as far as its kind and the contest declare it.

    Examples
    --------
    >>> limits_of(Unit.SHARE), limits_of(Unit.POINTS, 200), limits_of(Unit.NUMBER)
    ((0.0, 1.0), (0.0, 200), (-inf, inf))
    """
    if unit is Unit.SHARE:
        return SHARE
    return -math.inf if unit is Unit.NUMBER else 0.0, math.inf if of is None else of


def estimate(values: Sequence[float], limits: Limits = (-math.inf, math.inf)) -> Estimate:
    """Compute mean and 95 % interval, which stays in the range of the figure.

    Examples
    --------
    >>> result = estimate([0.5, 0.6, 0.7])
    >>> round(result.mean, 3), round(result.half, 3)
    (0.6, 0.248)
    >>> result = estimate([0.0, 0.0, 0.3], SHARE)
    >>> round(result.mean, 3), result.low, round(result.high, 3), round(result.half, 3)
    (0.1, 0.0, 0.53, 0.43)
    """
    count = len(values)
    mean = math.fsum(values) / count
    if count < 2:
        return Estimate(mean)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    half = _quantile(count - 1) * spread / math.sqrt(count)
    # A value that occurred is possible, whatever the range says.
    least, most = min(limits[0], *values), max(limits[1], *values)
    return Estimate(mean, count, max(least, mean - half), min(most, mean + half), half)


@cache
def _quantile(freedom: int) -> float:
    """Return the quantile of Student's t."""
    from scipy.stats import t

    return float(t.ppf(_LEVEL, freedom))
