"""Draws whose frequencies are as exact as whole numbers allow: systematic rounding, then a shuffle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def quota_codes(weights: NDArray[np.int64], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """``size`` codes in random order in which code c occurs ``size * weights[c] / sum(weights)`` times, rounded up or down.

    Examples
    --------
    >>> codes = quota_codes(np.array([1, 0, 3]), 8, np.random.default_rng(0))
    >>> np.bincount(codes).tolist()
    [2, 0, 6]
    """
    ends = np.cumsum(weights)
    # Systematic rounding: one random offset for all, so that each count has the right expectation.
    bounds = np.floor(ends / ends[-1] * size + rng.random()).astype(np.int64)
    bounds[ends == ends[-1]] = size
    codes = np.repeat(np.arange(len(weights)), np.diff(bounds, prepend=0))
    rng.shuffle(codes)
    return codes
