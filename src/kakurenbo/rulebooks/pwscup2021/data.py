"""The organizer's work before a round: one B for all in the preliminary, one for each team in the main round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kakurenbo.contest.commitments import digest
from kakurenbo.core import InputError, Moments, Source, Table
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message
from kakurenbo.core.rng import stream as fixed_stream
from kakurenbo.data import health as nhanes
from kakurenbo.data.distinct import tilted_rows
from kakurenbo.data.generators import Generator, distinct_rows, generate
from kakurenbo.data.moments import calibrated
from kakurenbo.data.statistics import stored_bytes
from kakurenbo.data.store import load_part
from kakurenbo.rulebooks.pwscup2021 import files

AUTO, EMBEDDED, IMPORTED, OWN = "auto", "embedded", "imported", "own"
DATASET, PART = "nhanes", "B"
SOURCES = {
    EMBEDDED: Message("word.health_embedded"),
    IMPORTED: Message("word.health_imported"),
    OWN: Message("word.health_own"),
}
ROWS: Mapping[str, int | None] = {"full": None, "small": 2000}
"""Rows of B by scale; None for as many as the source has."""
DRAWN_PER_ROW = 2  # rows that are drawn for each row of B, before duplicates are dropped

Streams = Callable[..., np.random.Generator]
"""Randomness of a purpose in this round."""


@dataclass(frozen=True, eq=False)
class Population:
    """What tables B come from.

    Attributes
    ----------
    kind : str
        ``embedded``, ``imported`` or ``own``.
    table : Table or None
        The real B, where there is one.
    moments : Moments
        What tables are generated from.
    """

    kind: str
    table: Table | None
    moments: Moments

    def described(self) -> dict[str, Any]:
        """For ``contest.json``: enough to see whether somebody else has the same data."""
        if self.table is not None:
            return {"source": SOURCES[self.kind].stored(), "sha256": self.table.digest()}
        stored = stored_bytes(nhanes.STATISTICS_FILE)
        return {"source": SOURCES[self.kind].stored(), "sha256": digest(stored)}

    @property
    def rows(self) -> int:
        return nhanes.ROWS if self.table is None else len(self.table)


def population(data: str, own: str) -> Population:
    """The data that was asked for; ``auto`` takes a table of one's own, else an imported one, else the embedded statistics."""
    if own and data not in (AUTO, OWN):
        raise UsageError("error.darc2019_table", data=data)
    if own:
        try:
            return _real(OWN, nhanes.read_health(Source.of(Path(own)), 2 * files.PEOPLE))
        except InputError as error:
            raise UsageError(error.message, at=own) from error
    if data == OWN:
        raise UsageError("error.pwscup2021_own")
    imported = None if data == EMBEDDED else load_part(DATASET, PART, nhanes.SCHEMA)
    if imported is not None:
        return _real(IMPORTED, imported)
    if data == IMPORTED:
        raise UsageError("error.pwscup2021_import")
    return Population(EMBEDDED, None, nhanes.embedded_statistics())


def _real(kind: str, table: Table) -> Population:
    return Population(kind, table, Moments.of(nhanes.counted(table)))


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
    """A table like the source: twice as many rows are drawn, duplicates dropped, and so many of the rest chosen."""
    generator = _generator(moments)
    drawn = (
        distinct_rows(generator, moments, rows, rows * DRAWN_PER_ROW, rng)
        if distinct
        else generate(generator, moments, rows, rng)
    )
    return nhanes.uncounted(drawn)


@cache
def _generator(moments: Moments) -> Generator:
    """Calibrated once: a function of the statistics alone, which tells nothing of a seed."""
    draw = calibrated(moments, fixed_stream(0, "pwscup2021", "calibration"))
    return Generator(lambda _, rows, rng: draw(rows, rng), tilted_rows)
