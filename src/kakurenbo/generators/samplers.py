"""Samples of rows: distinct generated rows (B), and the rows a team is given (C_i)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kakurenbo.errors import ParameterError
from kakurenbo.generators.protocol import Generator
from kakurenbo.tables import Moments, Table

_FURTHER_ROUNDS = 9


def distinct_rows(generator: Generator, moments: Moments, rows: int, drawn: int, rng: np.random.Generator) -> Table:
    """Draw ``drawn`` rows, drop duplicates, sample ``rows`` of what is left; draw again while there are too few.

    Parameters
    ----------
    generator : Generator
    moments : Moments
        Of the source.
    rows, drawn : int
        100,000 of 1,000,000 in amic2020.
    rng : numpy.random.Generator

    Returns
    -------
    Table
        ``rows`` different rows, in the order they were first drawn.

    Raises
    ------
    ParameterError
        When the generator does not give so many different rows.
    """
    if drawn < 1:
        raise ParameterError("drawn", "a whole number of at least 1", drawn)
    pool = _without_duplicates(generator(moments, drawn, rng))
    for _ in range(_FURTHER_ROUNDS):
        if len(pool) >= rows:
            break
        before = len(pool)
        pool = _without_duplicates(Table.stack([pool, generator(moments, drawn, rng)]))
        if len(pool) == before:
            break
    if len(pool) >= rows:
        return pool.take(sample_rows(len(pool), rows, rng))
    raise ParameterError("rows", f"at most the {len(pool):,} different rows that this source gives", rows)


def sample_rows(n: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """``size`` different row numbers of a table with ``n`` rows, ascending, so that the row order is kept.

    Examples
    --------
    >>> sample_rows(5, 5, np.random.default_rng(0)).tolist()
    [0, 1, 2, 3, 4]
    """
    if not 0 <= size <= n:
        raise ParameterError("size", f"from 0 to the {n:,} rows there are", size)
    return np.sort(rng.choice(n, size=size, replace=False, shuffle=False)).astype(np.int64)


def _without_duplicates(table: Table) -> Table:
    """Every different row once, where it first occurs."""
    _, firsts = np.unique(table.keys(), return_index=True)
    return table.take(np.sort(firsts))
