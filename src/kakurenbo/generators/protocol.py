"""What a generator is: moments in, a table out; and the one rule that makes its bytes the same everywhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Protocol

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from kakurenbo.errors import ParameterError
from kakurenbo.tables import Moments, Table


class Generator(Protocol):
    """Draws a table that resembles a source of which only the moments are known."""

    def __call__(self, moments: Moments, rows: int, rng: np.random.Generator) -> Table:
        """Draw ``rows`` rows; the same moments and stream give the same bytes."""


def check_request(moments: Moments, rows: int) -> None:
    """Raise :class:`ParameterError` for a request that no generator can serve."""
    if moments.count < 1:
        raise ParameterError("moments", "of a table with at least one row", moments.count)
    if rows < 0:
        raise ParameterError("rows", "a whole number of at least 0", rows)


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Matrix products in one thread: how many threads share a product decides how its last bits are rounded."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield
