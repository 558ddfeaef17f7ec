"""Census Income without its rows: how A and the test rows of amic2020 are drawn from the embedded statistics."""

from __future__ import annotations

from kakurenbo.datasets.adult import adult_statistics
from kakurenbo.generators import moments
from kakurenbo.rng import stream
from kakurenbo.tables import Table

_SEED = 0  # of no contest: A and test.csv are public data, the same in every contest and round


def draw_embedded_rows(part: str) -> Table:
    """The rows of one part (``"train"``, ``"test"``), the same whenever and wherever they are drawn.

    :func:`kakurenbo.datasets.adult.embedded_adult` reads them from files, which this made.
    """
    source = adult_statistics(part)
    return moments.generate(source, source.count, stream(_SEED, "embedded", "adult", part))
