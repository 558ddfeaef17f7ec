"""The organizer's work before a round: candidates B for every team, generated or from real files, and where they came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kakurenbo.contest.commitments import digest
from kakurenbo.core import InputError, Table, sources_of
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message
from kakurenbo.core.rng import stream as fixed_stream
from kakurenbo.data.generators import fidelity
from kakurenbo.data.ratings import (
    RELATED,
    STATISTICS_FILE,
    RatingsGenerator,
    ratings_statistics,
    read_ratings,
)
from kakurenbo.data.statistics import stored_bytes
from kakurenbo.data.store import load_ratings
from kakurenbo.rulebooks.pwscup2024 import names
from kakurenbo.rulebooks.pwscup2024.handout import CANDIDATES, TEST_ROWS

FULL, SMALL = "full", "small"
ROWS = {FULL: 10_000, SMALL: 1_000}
AUTO, EMBEDDED, IMPORTED, OWN = "auto", "embedded", "imported", "own"
"""Where B comes from; any other word is a folder of the organizer's own B files, which ``contest.json`` records as ``own``."""

EMBEDDED_SOURCE = Message("word.ratings_embedded")

Streams = Callable[..., np.random.Generator]
"""Randomness of a purpose in this round."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The tables B of a round.

    Attributes
    ----------
    by_team : mapping of team to tuple of Table
    kind : str
        ``embedded``, ``imported`` or ``own``.
    data : mapping
        Where they came from, and digests of it.
    report : mapping
        How close generated tables are to their source.
    """

    by_team: Mapping[str, tuple[Table, ...]]
    kind: str
    data: Mapping[str, Any]
    report: Mapping[str, Any] = field(default_factory=dict)


def draw_candidates(data: str, scale: str, teams: Sequence[str], stream: Streams) -> Candidates:
    """Three candidates for every team from the data that was asked for.

    Parameters
    ----------
    data : str
        ``auto`` takes imported tables where there are three for each team, else the embedded statistics.
    scale : str
        ``small`` generates 1,000 rows, and takes a tenth of the rows of real tables.
    teams : sequence of str
    stream : callable
    """
    if data == AUTO:
        data = IMPORTED if len(imported_tables()) >= CANDIDATES * len(teams) else EMBEDDED
    if data == EMBEDDED:
        return _generated(ROWS[scale], teams, stream)
    if data == OWN:
        raise UsageError("error.pwscup2024_own")
    kind = IMPORTED if data == IMPORTED else OWN
    tables = imported_tables() if kind == IMPORTED else own_tables(Path(data))
    if kind == IMPORTED and not tables:
        raise UsageError("error.pwscup2024_import")
    told = {
        "source": Message("word.ratings_files", {"kind": kind}).stored(),
        "sha256": {name: table.digest() for name, table in tables.items()},
    }
    if scale == SMALL:
        tables = {name: _tenth(table, stream("tenth", name)) for name, table in tables.items()}
    return Candidates(_dealt(tables, teams, stream("dealt")), kind, told)


def imported_tables() -> dict[str, Table]:
    """The tables B that ``data import ratings`` put into the local store, by name."""
    return {f"B{number:02d}": table for number, table in enumerate(load_ratings() or (), start=1)}


def own_tables(folder: Path) -> dict[str, Table]:
    """The tables B in an organizer's folder, by file name."""
    if not folder.is_dir():
        raise UsageError("error.pwscup2024_data", at=folder)
    tables: dict[str, Table] = {}
    for source in sources_of(folder):
        if names.candidate_team(source.name) is None:
            continue
        try:
            tables[source.name] = read_ratings(source)
        except InputError as error:
            raise UsageError(error.message, at=folder) from error
    return tables


def _dealt(
    tables: Mapping[str, Table], teams: Sequence[str], rng: np.random.Generator
) -> dict[str, tuple[Table, ...]]:
    """Tables dealt out in random order, none twice: whoever holds B knows every answer."""
    each = min(CANDIDATES, len(tables) // len(teams))
    if not each:
        raise UsageError(
            "error.pwscup2024_tables",
            tables=len(tables),
            teams=len(teams),
            example=names.candidate_file("07", 1),
        )
    listed = list(tables.values())
    order = rng.permutation(len(listed))
    return {
        team: tuple(listed[place] for place in order[index * each : (index + 1) * each])
        for index, team in enumerate(teams)
    }


def _tenth(table: Table, rng: np.random.Generator) -> Table:
    rows = max(TEST_ROWS, len(table) * ROWS[SMALL] // ROWS[FULL])
    return table.take(np.sort(rng.choice(len(table), rows, replace=False)))


@cache
def _generator() -> RatingsGenerator:
    """The calibrated generator: a function of the stored statistics alone, so it is made once and tells nothing of a seed."""
    return RatingsGenerator(fixed_stream(0, "pwscup2024", "calibration"))


def _generated(rows: int, teams: Sequence[str], stream: Streams) -> Candidates:
    generator = _generator()
    drawn = {team: tuple(generator(CANDIDATES, rows, stream("candidates", team))) for team in teams}
    stored = stored_bytes(STATISTICS_FILE)
    data = {"source": EMBEDDED_SOURCE.stored(), "sha256": digest(stored)}
    related = Table.stack([_related(table) for tables in drawn.values() for table in tables])
    closeness = fidelity(ratings_statistics().related, related)
    return Candidates(drawn, EMBEDDED, data, {"fidelity": closeness.as_json()})


def _related(table: Table) -> Table:
    """The columns that the statistics relate, with every level of the domain."""
    schema = ratings_statistics().related.schema
    return Table.from_texts(schema, {name: table.texts(name) for name in RELATED})
