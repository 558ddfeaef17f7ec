"""Numerical care that makes draws the same on every machine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from kakurenbo.core import Moments
from kakurenbo.core.arrays import Floats
from kakurenbo.core.errors import ParameterError

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
