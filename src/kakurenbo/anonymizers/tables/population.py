"""What is public about the people a sample was drawn from: statistics that come with the software, else an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from kakurenbo.anonymizers.tables.directions import shares_of
from kakurenbo.datasets import adult
from kakurenbo.generators import GENERATORS, generate
from kakurenbo.measures.trees import TreeTask
from kakurenbo.tables import Moments, Schema, Table

OWN = "own"
AUTO = "auto"
SOURCES = (AUTO, *sorted(GENERATORS), OWN)
"""Where a population comes from: a generator run on public statistics, the sample itself, or whichever fits."""

_PER_SAMPLE = 10  # records of a population for each of the sample
_MOST_ROWS = 100_000
_NEAR = 0.15  # mean total variation per column below which a sample may come from a population


@dataclass(frozen=True, eq=False)
class PublicData:
    """What everybody knows about tables of a schema: the moments of the people, and what is asked about them.

    Attributes
    ----------
    moments : Moments
    trees : tuple of TreeTask
    test : Table
        Other people of the same kind, on whom trees are compared.
    """

    moments: Moments
    trees: tuple[TreeTask, ...]
    test: Table


def public_data(schema: Schema) -> PublicData | None:
    """Public data about tables of this schema, where the software has some."""
    return _census() if schema == adult.SCHEMA else None


@cache
def _census() -> PublicData:
    return PublicData(
        adult.adult_statistics("train"),
        (TreeTask("income", "<=50K", max_depth=5), TreeTask("relationship", "Husband", max_depth=3)),
        adult.embedded_adult().test,
    )


def draw_population(sample: Table, source: str, rng: np.random.Generator) -> Table:
    """Records of people like those that the sample was drawn from; of the sample itself, only ``own`` makes use.

    Parameters
    ----------
    sample : Table
    source : str
        One of ``SOURCES``. ``auto`` takes the generator whose records are nearest to the sample, and ``own`` where none is
        near or nothing is public about such tables.
    rng : numpy.random.Generator
    """
    public = public_data(sample.schema)
    rows = max(len(sample), min(_PER_SAMPLE * len(sample), _MOST_ROWS))
    if public is not None and source != OWN:
        names = sorted(GENERATORS) if source == AUTO else [source]
        drawn = [generate(GENERATORS[name], public.moments, len(sample), rng, distinct=True) for name in names]
        apart = [_apart(sample, table) for table in drawn]
        nearest = int(np.argmin(apart))
        if source != AUTO or apart[nearest] < _NEAR:
            return generate(GENERATORS[names[nearest]], public.moments, rows, rng, distinct=True)
    # A sample of the sample is as far from it as it is from the people: where they were, within that, nobody can tell.
    again = sample.take(rng.integers(len(sample), size=len(sample)))
    return GENERATORS["moments"](Moments.of(again), rows, rng)


def _apart(first: Table, second: Table) -> float:
    """Mean total variation of the columns' histograms."""
    return float(np.abs(shares_of(first) - shares_of(second)).sum() / 2 / len(first.schema))
