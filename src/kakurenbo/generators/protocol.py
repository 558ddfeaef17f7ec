"""What a generator is: moments in, a table out; and the one rule that makes its bytes the same everywhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from kakurenbo.errors import ParameterError
from kakurenbo.tables import Moments, Table


class Draw(Protocol):
    """Draws a table that resembles a source of which only the moments are known."""

    def __call__(self, moments: Moments, rows: int, rng: np.random.Generator) -> Table:
        """Draw ``rows`` rows; the same moments and stream give the same bytes."""


class Choice(Protocol):
    """Chooses rows of a pool of different rows that were drawn."""

    def __call__(self, source: Moments, pool: Table, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """``rows`` row numbers of the pool, ascending."""


@dataclass(frozen=True)
class Generator:
    """How tables are drawn from the moments of a source.

    Attributes
    ----------
    draw : Draw
        Rows as they come, duplicates among them.
    choose : Choice or None
        Which of the different rows are kept where duplicates are to be dropped; without one, all with equal chances.
    """

    draw: Draw
    choose: Choice | None = None

    def __call__(self, moments: Moments, rows: int, rng: np.random.Generator) -> Table:
        """Draw ``rows`` rows; the same moments and stream give the same bytes."""
        return self.draw(moments, rows, rng)


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
