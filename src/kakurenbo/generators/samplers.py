"""Samples of rows: distinct generated rows (B), and the rows a team is given (C_i).

These are gen.py and randomsampling.py of amic2020: :func:`generate` and :func:`sample_rows_at`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kakurenbo.errors import ParameterError
from kakurenbo.generators.protocol import Generator
from kakurenbo.tables import Moments, Table

DRAWN_PER_DISTINCT = 10  # rows drawn for each different row that is wanted: 1,000,000 for 100,000 in amic2020
_FURTHER_ROUNDS = 9


def generate(generator: Generator, source: Moments, rows: int, rng: np.random.Generator, *, distinct: bool = False) -> Table:
    """A table of any number of rows (gen.py): as the generator draws them, or only different ones.

    Parameters
    ----------
    generator : Generator
        One of :data:`kakurenbo.generators.GENERATORS`.
    source : Moments
        Of the table to resemble.
    rows : int
    rng : numpy.random.Generator
    distinct : bool
        Draw ten times as many rows, drop duplicates, and choose among what is left as the generator does it.
    """
    if not distinct or rows < 1:
        return generator(source, rows, rng)
    return distinct_rows(generator, source, rows, rows * DRAWN_PER_DISTINCT, rng)


def distinct_rows(generator: Generator, moments: Moments, rows: int, drawn: int, rng: np.random.Generator) -> Table:
    """Draw ``drawn`` rows, drop duplicates, choose ``rows`` of what is left; draw again while there are too few.

    Parameters
    ----------
    generator : Generator
        `moments` chooses rows so that they have the source's moments, `omth17` with equal chances.
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
        chosen = generator.choose(moments, pool, rows, rng) if generator.choose else sample_rows(len(pool), rows, rng)
        return pool.take(chosen)
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


def sample_rows_at(rate: float, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The row numbers of a random ``rate`` of a table with ``n`` rows, ascending (randomsampling.py).

    Parameters
    ----------
    rate : float
        From 0 to 1; 0.1 in the contest. The number of rows is ``rate * n``, rounded.

    Examples
    --------
    >>> len(sample_rows_at(0.29, 100, np.random.default_rng(0)))
    29
    """
    if not 0 <= rate <= 1:
        raise ParameterError("rate", "a number from 0 to 1", rate)
    return sample_rows(n, round(rate * n), rng)


def _without_duplicates(table: Table) -> Table:
    """Every different row once, where it first occurs."""
    _, firsts = np.unique(table.keys(), return_index=True)
    return table.take(np.sort(firsts))
