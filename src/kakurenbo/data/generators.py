"""Generators: tables drawn from the moments of a source alone, samples of rows, and how close a table is to its source.

`omth17` is the contest's own generator with its drift; `moments` is ours. From the 30,162 rows of Census Income (A),
1,000,000 rows each, and the 100,000 different rows of B chosen of them, seed 1:

==============  ==========  ==========  ===========  ====================  =======================
generator       >50K share  Male share  sd of hours  sum |cov difference|  largest total variation
==============  ==========  ==========  ===========  ====================  =======================
A itself        .249        .676        11.98        0                     0
`omth17`        .283        .631        11.97        53.6                  .672 (hours-per-week)
`omth17`, B     .299        .580        14.23        151.5                 .666 (hours-per-week)
`moments`       .249        .676        11.98        0.1                   .0000 (marital-status)
`moments`, B    .249        .676        11.99        3.5                   .030 (hours-per-week)
==============  ==========  ==========  ===========  ====================  =======================

Chosen with equal chances, B of `moments` would be at 129.8 with 14.77 for the sd of hours. With as few rows as A has,
`moments` is at 0.7; a random sample of A of that size, with replacement, is at 9.9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kakurenbo.core import Moments, Table, dummy_names
from kakurenbo.core.arrays import Ints, Rng
from kakurenbo.core.errors import ParameterError
from kakurenbo.data import moments, omth17
from kakurenbo.data.distinct import tilted_rows

DRAWN_PER_DISTINCT = 10  # rows drawn for each different row: 1,000,000 for 100,000 in amic2020
_FURTHER_ROUNDS = 9


@dataclass(frozen=True)
class Generator:
    """How tables are drawn from the moments of a source; the same moments and stream give the same bytes.

    Attributes
    ----------
    draw : callable of (moments, rows, rng)
        Rows as they come, duplicates among them.
    choose : callable of (moments, pool, rows, rng), or None
        Numbers of the different rows, ascending, that remain where duplicates are dropped; None for equal chances.
    """

    draw: Callable[[Moments, int, Rng], Table]
    choose: Callable[[Moments, Table, int, Rng], Ints] | None = None

    def __call__(self, moments: Moments, rows: int, rng: Rng) -> Table:
        """Draw ``rows`` rows."""
        return self.draw(moments, rows, rng)


GENERATORS: Mapping[str, Generator] = {
    "moments": Generator(moments.generate, tilted_rows),
    "omth17": Generator(omth17.generate),
}
"""Every generator by the name it has in parameters and reports."""


def generate(
    generator: Generator,
    source: Moments,
    rows: int,
    rng: Rng,
    *,
    distinct: bool = False,
) -> Table:
    """Draw a table of any number of rows (gen.py): as the generator draws them, or only different ones.

    Parameters
    ----------
    generator : Generator
        One of :data:`GENERATORS`.
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


def distinct_rows(generator: Generator, moments: Moments, rows: int, drawn: int, rng: Rng) -> Table:
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
    pool, count = generator(moments, drawn, rng), -1
    pool = pool.take(np.sort(np.unique(pool.keys(), return_index=True)[1]))
    for _ in range(_FURTHER_ROUNDS):
        if len(pool) >= rows or len(pool) == count:
            break
        count = len(pool)
        pool = Table.stack([pool, generator(moments, drawn, rng)])
        pool = pool.take(np.sort(np.unique(pool.keys(), return_index=True)[1]))
    if len(pool) < rows:
        raise ParameterError(
            "rows", f"at most the {len(pool):,} different rows that this source gives", rows
        )
    if generator.choose is None:
        return pool.take(sample_rows(len(pool), rows, rng))
    return pool.take(generator.choose(moments, pool, rows, rng))


def sample_rows(n: int, size: int, rng: Rng) -> Ints:
    """Draw ``size`` different row numbers of a table with ``n`` rows, ascending, so that the row order is kept.

    Examples
    --------
    >>> sample_rows(5, 5, np.random.default_rng(0)).tolist()
    [0, 1, 2, 3, 4]
    """
    if not 0 <= size <= n:
        raise ParameterError("size", f"from 0 to the {n:,} rows there are", size)
    return np.sort(rng.choice(n, size=size, replace=False, shuffle=False)).astype(np.int64)


def sample_rows_at(rate: float, n: int, rng: Rng) -> Ints:
    """Draw the row numbers of a random ``rate`` of a table with ``n`` rows, ascending (randomsampling.py).

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


@dataclass(frozen=True)
class Fidelity:
    """Distances between a source and a generated table.

    Attributes
    ----------
    total_variation : mapping of column name to float
        Half the sum of |difference of relative frequencies|: 0 for equal histograms, 1 for disjoint ones.
    covariance_sum, covariance_max : float
        Sum and largest of |covariance difference| over all pairs (l, l') of numeric columns (ddof 1).
    covariance_pair : pair of str
        Where the largest is, as ``age`` or ``sex=Male``.
    """

    total_variation: Mapping[str, float]
    covariance_sum: float
    covariance_max: float
    covariance_pair: tuple[str, str]

    def as_json(self) -> dict[str, Any]:
        """Return the distances ready for JSON."""
        return {**asdict(self), "covariance_pair": list(self.covariance_pair)}


def fidelity(source: Moments, table: Table) -> Fidelity:
    """Compare a generated table with the source of its generator."""
    if source.schema != table.schema:
        raise ParameterError(
            "table", f"of the source's columns {', '.join(source.schema.names)}", table.schema.names
        )
    for name, count in (("source", source.count), ("table", len(table))):
        if count == 0:
            raise ParameterError(name, "at least one row", count)
    reached = Moments.of(table)
    histograms = zip(source.schema.names, reached.histograms, source.histograms, strict=True)
    difference = np.abs(reached.covariance - source.covariance)
    places = np.unravel_index(int(difference.argmax()), difference.shape)
    names = dummy_names(source.schema)
    first, second = (
        name if level is None else f"{name}={level}"
        for name, level in (names[place] for place in places)
    )
    return Fidelity(
        {
            name: float(
                np.abs(reached_counts / reached.count - source_counts / source.count).sum() / 2
            )
            for name, reached_counts, source_counts in histograms
        },
        float(difference.sum()),
        float(difference.max()),
        (first, second),
    )
