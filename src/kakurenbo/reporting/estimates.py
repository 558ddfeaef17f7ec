"""Means over repeats and how sure they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kakurenbo.reporting.document import Estimate

_LEVEL = 0.975  # two-sided 95 %


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and 95 % interval.

    Examples
    --------
    >>> found = estimate([0.5, 0.6, 0.7])
    >>> round(found.mean, 3), round(found.half, 3)
    (0.6, 0.248)
    """
    count = len(values)
    mean = math.fsum(values) / count
    if count < 2:
        return Estimate(mean)
    from scipy.stats import t

    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    half = float(t.ppf(_LEVEL, count - 1)) * spread / math.sqrt(count)
    return Estimate(mean, count, mean - half, mean + half, half)
