"""The organizer's work before a round: one B for all in the preliminary, one for each team in the main round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kakurenbo.contest.commitments import digest
from kakurenbo.core import Moments, Table
from kakurenbo.core.messages import Message
from kakurenbo.core.rng import stream as fixed_stream
from kakurenbo.data import health
from kakurenbo.data.distinct import tilted_rows
from kakurenbo.data.generators import Generator, distinct_rows, generate
from kakurenbo.data.moments import calibrated
from kakurenbo.data.statistics import stored_bytes
from kakurenbo.data.store import load_part
from kakurenbo.rulebooks.pwscup2021.files import PEOPLE
from kakurenbo.rulebooks.sources import EMBEDDED, IMPORTED, OWN, real_data

DATASET, PART = "nhanes", "B"
SOURCES = {
    EMBEDDED: Message("word.health_embedded"),
    IMPORTED: Message("word.health_imported"),
    OWN: Message("word.health_own"),
}
ROWS: Mapping[str, int | None] = {"full": None, "small": 2000}
"""Rows of B by scale; None for as many as the source has."""
DRAWN_PER_ROW = 2  # rows that are drawn for each row of B, before duplicates are dropped


@dataclass(frozen=True, eq=False)
class Population:
    """Source of tables B.

    Attributes
    ----------
    kind : str
        ``embedded``, ``imported`` or ``own``.
    moments : Moments
        What tables are generated from.
    table : Table or None
        The real B, where there is one.
    """

    kind: str
    moments: Moments
    table: Table | None = None

    @property
    def description(self) -> Any:
        return SOURCES[self.kind].stored()

    def described(self) -> dict[str, Any]:
        """Return what ``contest.json`` says: enough to see whether somebody else has the same data."""
        if self.table is not None:
            return {"source": self.description, "sha256": self.table.digest()}
        return {"source": self.description, "sha256": digest(stored_bytes(health.STATISTICS_FILE))}

    @property
    def rows(self) -> int:
        return health.ROWS if self.table is None else len(self.table)


def population(data: str, own: str) -> Population:
    """Return the chosen data; ``auto`` takes an own table, else an imported one, else the embedded statistics."""
    real = real_data(
        "pwscup2021",
        data,
        lambda: load_part(DATASET, PART, health.SCHEMA),
        own,
        lambda source: health.read_health(source, 2 * PEOPLE),
    )
    if real is None:
        return Population(EMBEDDED, health.embedded_statistics())
    kind, table = real
    return Population(kind, Moments.of(health.counted(table)), table)


def common_table(source: Population, rows: int, rng: np.random.Generator) -> Table:
    """Return the B that everybody has: the real one, or some of its rows; else a generated one."""
    if source.table is None:
        return generated_table(source.moments, rows, rng)
    if rows >= len(source.table):
        return source.table
    return source.table.take(np.sort(rng.choice(len(source.table), rows, replace=False)))


def generated_table(
    moments: Moments, rows: int, rng: np.random.Generator, *, distinct: bool = True
) -> Table:
    """Draw a table like the source: of twice as many rows without duplicates so many are chosen."""
    generator = _generator(moments)
    if not distinct:
        return health.uncounted(generate(generator, moments, rows, rng))
    return health.uncounted(distinct_rows(generator, moments, rows, rows * DRAWN_PER_ROW, rng))


@cache
def _generator(moments: Moments) -> Generator:
    """Return the generator, calibrated once: a function of the statistics alone, which tells nothing of a seed."""
    draw = calibrated(moments, fixed_stream(0, "pwscup2021", "calibration"))
    return Generator(lambda _, rows, rng: draw(rows, rng), tilted_rows)
