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
from kakurenbo.rulebooks.pwscup2024.files import (
    CANDIDATES,
    TEST_ROWS,
    candidate_file,
    candidate_team,
)
from kakurenbo.rulebooks.sources import AUTO, EMBEDDED, IMPORTED, OWN

# The option ``data`` may also be a folder of the organizer's own B files, which ``contest.json`` records as ``own``.
FULL, SMALL = "full", "small"
ROWS = {FULL: 10_000, SMALL: 1_000}
EMBEDDED_SOURCE = Message("word.ratings_embedded")

Streams = Callable[..., np.random.Generator]
"""Randomness of a purpose in this round."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Tables B of a round.

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
    """Draw three candidates for every team from the chosen data.

    Parameters
    ----------
    data : str
        ``auto`` takes imported tables where there are three for each team, else the embedded statistics.
    scale : str
        ``small`` generates 1,000 rows, and takes a tenth of the rows of real tables.
    teams : sequence of str
    stream : callable
    """
    if data == OWN:
        raise UsageError("error.pwscup2024_own")
    imported = imported_tables() if data in (AUTO, IMPORTED) else {}
    if data == EMBEDDED or (data == AUTO and len(imported) < CANDIDATES * len(teams)):
        return _generated(ROWS[scale], teams, stream)
    kind = IMPORTED if data in (AUTO, IMPORTED) else OWN
    tables = imported if kind == IMPORTED else own_tables(Path(data))
    if kind == IMPORTED and not tables:
        raise UsageError("error.pwscup2024_import")
    digests = {name: table.digest() for name, table in tables.items()}
    if scale == SMALL:
        tables = {name: _tenth(table, stream("tenth", name)) for name, table in tables.items()}
    by_team = _dealt(list(tables.values()), teams, stream("dealt"))
    source = Message("word.ratings_files", {"kind": kind}).stored()
    return Candidates(by_team, kind, {"source": source, "sha256": digests})


def imported_tables() -> dict[str, Table]:
    """Return the tables B that ``data import ratings`` put into the local store, by name."""
    return {f"B{number:02d}": table for number, table in enumerate(load_ratings() or (), start=1)}


def own_tables(folder: Path) -> dict[str, Table]:
    """Return the tables B in an organizer's folder, by file name."""
    if not folder.is_dir():
        raise UsageError("error.pwscup2024_data", at=folder)
    sources = [source for source in sources_of(folder) if candidate_team(source.name) is not None]
    try:
        return {source.name: read_ratings(source) for source in sources}
    except InputError as error:
        raise UsageError(error.message, at=folder) from error


def _dealt(
    tables: Sequence[Table], teams: Sequence[str], rng: np.random.Generator
) -> dict[str, tuple[Table, ...]]:
    """Deal tables in random order, none twice: whoever holds B knows every answer."""
    each = min(CANDIDATES, len(tables) // len(teams))
    if not each:
        counts = {"tables": len(tables), "teams": len(teams)}
        raise UsageError("error.pwscup2024_tables", example=candidate_file("07", 1), **counts)
    order = iter(rng.permutation(len(tables)))
    return {team: tuple(tables[next(order)] for _ in range(each)) for team in teams}


def _tenth(table: Table, rng: np.random.Generator) -> Table:
    rows = max(TEST_ROWS, len(table) * ROWS[SMALL] // ROWS[FULL])
    return table.take(np.sort(rng.choice(len(table), rows, replace=False)))


@cache
def _generator() -> RatingsGenerator:
    """Return the generator, calibrated once: a function of the statistics alone, which tells nothing of a seed."""
    return RatingsGenerator(fixed_stream(0, "pwscup2024", "calibration"))


def _generated(rows: int, teams: Sequence[str], stream: Streams) -> Candidates:
    drawn = {
        team: tuple(_generator()(CANDIDATES, rows, stream("candidates", team))) for team in teams
    }
    data = {"source": EMBEDDED_SOURCE.stored(), "sha256": digest(stored_bytes(STATISTICS_FILE))}
    statistics = ratings_statistics().related
    # The columns that the statistics relate, with every level of the domain.
    related = [
        Table.from_texts(statistics.schema, {name: table.texts(name) for name in RELATED})
        for tables in drawn.values()
        for table in tables
    ]
    closeness = fidelity(statistics, Table.stack(related))
    return Candidates(drawn, EMBEDDED, data, {"fidelity": closeness.as_json()})
