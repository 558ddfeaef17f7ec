"""Statistics that are stored in place of real rows, and draws that follow them and are the same on every machine."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kakurenbo.core import Moments
from kakurenbo.core.arrays import Floats, Ints, Rng
from kakurenbo.core.errors import ParameterError

LEVELS = np.round(
    np.concatenate(
        ([0, 0.001, 0.005, 0.01, 0.02], np.arange(0.05, 0.96, 0.05), [0.98, 0.99, 0.995, 0.999, 1])
    ),
    4,
)
"""Levels at which quantiles are stored."""


def stored_bytes(name: str) -> bytes:
    """Return the content of a stored file."""
    return resources.files("kakurenbo.data").joinpath("stored", name).read_bytes()


@cache
def stored_statistics(name: str) -> Any:
    """Return the content of a stored JSON file."""
    return json.loads(stored_bytes(name))


def value_at(level: Floats, quantiles: ArrayLike) -> Floats:
    """Interpolate positive quantiles in logarithms."""
    return np.exp(np.interp(level, LEVELS, np.log(quantiles)))


def share_out(tally: ArrayLike, count: int) -> Ints:
    """Share ``count`` out as in ``tally``: whole numbers of that sum, the largest remainders rounded up.

    Examples
    --------
    >>> share_out([1, 1, 2], 5).tolist()
    [1, 1, 3]
    """
    exact = np.asarray(tally, dtype=np.float64) * count / max(1, np.sum(tally))
    if not exact.any() and count:
        exact = np.full(len(exact), count / len(exact))
    shares: Ints = np.floor(exact + 1e-9).astype(np.int64)
    shares[np.argsort(shares - exact, kind="stable")[: count - int(shares.sum())]] += 1
    return shares


def deal(tally: ArrayLike, count: int, rng: Rng) -> Ints:
    """Return ``count`` positions of ``tally`` in random order, each as often as :func:`share_out` says."""
    shares = share_out(tally, count)
    return rng.permutation(np.repeat(np.arange(len(shares)), shares))


def quota_codes(weights: Ints, size: int, rng: Rng) -> Ints:
    """Return ``size`` codes in random order, code c ``size * weights[c] / sum(weights)`` times, rounded up or down.

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


def pick_between(passed: Floats, first: Ints, last: Ints, rng: Rng) -> Ints:
    """Draw positions from ``first`` to ``last`` (excluded) with chances by the steps of the running sums ``passed``."""
    low, high = passed[first], passed[last]
    aim = low + rng.random(len(first)) * (high - low)
    return np.searchsorted(passed, aim, side="right") - 1


# -- draws that are the same on every machine ---------------------------------------------------------

LARGEST_BLOCK = 16_384


def check_request(moments: Moments, rows: int) -> None:
    """Raise :class:`ParameterError` for a request that no generator can serve."""
    if moments.count < 1:
        raise ParameterError("moments", "of a table with at least one row", moments.count)
    if rows < 0:
        raise ParameterError("rows", "a whole number of at least 0", rows)


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Multiply matrices in one thread: how many threads share a product decides how its last bits are rounded."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(limits=1, user_api="blas"):
        yield


def on_grid(numbers: Floats) -> Floats:
    """Cut numbers to multiples of 2^-16: the last bits of a fit differ between processors, and no draw may depend on them."""
    return np.rint(numbers * 2.0**16) / 2.0**16


def shrinking_blocks(rows: int, smallest: int) -> Iterator[slice]:
    """Yield blocks of rows that shrink towards the end: what the last block misses, nothing can make up for.

    Examples
    --------
    >>> [block.stop - block.start for block in shrinking_blocks(10, 2)]
    [2, 2, 2, 2, 2]
    """
    start = 0
    while start < rows:
        left = rows - start
        size = min(left, max(smallest, min(LARGEST_BLOCK, left // 4)))
        yield slice(start, start + size)
        start += size
