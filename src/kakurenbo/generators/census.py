"""Census Income without its rows: A and the test rows of amic2020, drawn once and for all from the embedded statistics."""

from __future__ import annotations

from functools import cache

from kakurenbo.datasets.adult import Adult, adult_statistics
from kakurenbo.generators import moments
from kakurenbo.rng import stream
from kakurenbo.tables import Table

_SEED = 0  # of no contest: A and test.csv are public data, the same in every contest and round


@cache
def embedded_adult() -> Adult:
    """A (30,162 rows) and the test rows (15,060), the same whenever and wherever they are drawn."""
    return Adult(_drawn("train"), _drawn("test"))


def _drawn(part: str) -> Table:
    source = adult_statistics(part)
    return moments.generate(source, source.count, stream(_SEED, "embedded", "adult", part))
