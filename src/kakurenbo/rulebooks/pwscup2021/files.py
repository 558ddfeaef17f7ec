"""The files of pwscup2021: names, what may stand in them, and the handout, submission and answer they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.linkage import DELETED
from kakurenbo.contest import ContestFolder, FilePattern
from kakurenbo.contest.bases import SIZE_FILE, LinkageForm, Rows, TeamTable, read_rows
from kakurenbo.core import (
    InputError,
    Integer,
    Layout,
    Schema,
    Severity,
    Source,
    Table,
    gather,
    read_json,
    read_table,
)
from kakurenbo.rulebooks.sources import find_file, is_named

PRE, MAIN = "pre", "main"
PEOPLE, HALF = 100, 50
"""Rows of a test table, and how many of them were deleted."""
RELEASE = FilePattern("{round}_anony_{team}_d.csv")
DELETED_ROWS = FilePattern("{round}_anony_{team}_x.csv", max_bytes=10_000_000)
GUESS = FilePattern("{round}_attack_{target}_from_{attacker}.csv", max_bytes=1_000_000)
COMMON_B, TEAM_B = FilePattern("{round}_B.csv"), FilePattern("{round}_B_{team}.csv")
"""Everybody has the same B in the preliminary, and one of their own in the main round."""
TEST = FilePattern("{round}_anony_{team}_ct.csv")
DEALT_TEST = FilePattern("{round}_anony_{team}_for_{attacker}_ct.csv")
ANSWER = FilePattern("{round}_anony_{team}_ea.csv")
DEALT_ANSWER = FilePattern("{round}_anony_{team}_for_{attacker}_ea.csv")

NOT_ONE_FILE = "pwscup2021.not_one_file"
Handout = TeamTable
GuessForm = LinkageForm


@dataclass(frozen=True, eq=False)
class Submission:
    """Valid entry.

    Attributes
    ----------
    release : Table
        D.
    kept, deleted : array of int64
        The rows of B that are in D, in its order, and those of X, ascending.
    """

    release: Table
    kept: Rows
    deleted: Rows


@dataclass(frozen=True, eq=False)
class Answer:
    """Rows of the people of a test table.

    Attributes
    ----------
    rows : array of int64, shape (people,)
        The row of D of each, -1 for who was deleted.
    released : int or None
        Rows of D, where that is known.
    by_attacker : mapping of attacker to array
        The same for the tables that were dealt to one attacker each.
    """

    rows: Rows
    released: int | None = None
    by_attacker: Mapping[str, Rows] = field(default_factory=dict)


def read_deleted(source: Source, rows: int) -> NDArray[np.int64]:
    """Read X: different row numbers of B, from 0, one in each line."""
    return np.sort(read_rows(source, rows, code="pwscup2021.row_twice"))


def read_answer(folder: ContestFolder, rows: int) -> Answer:
    """Read the answer to the test tables of a release: its folder, that of one attacker's part of it, or a file.

    ``rows`` is how many rows B has: no row of a release has a higher number.
    """
    if folder.file is not None:
        return Answer(_read_places(folder, rows))
    with gather() as problems:
        places = problems.of(_read_places, folder, rows)
        released = problems.of(_read_size, folder.whole)
        parts = folder.parts.items()
        dealt = {attacker: problems.of(_read_places, part, rows) for attacker, part in parts}
    return Answer(places, released, dealt)


def _read_places(folder: ContestFolder, rows: int) -> Rows:
    example = ANSWER.name(round=MAIN, team="01")
    schema = Schema([Integer("row", DELETED, rows - 1)])
    source = find_file(folder, NOT_ONE_FILE, ANSWER, DEALT_ANSWER, example=example)
    return read_table(source, schema, Layout(min_rows=1)).values("row")


def _read_size(folder: ContestFolder) -> int | None:
    source = folder.source(SIZE_FILE)
    if source is None:
        return None
    content = read_json(source)
    size = content.get("released") if isinstance(content, dict) else None
    if not isinstance(size, int) or size < 1:
        raise InputError.of("pwscup2021.no_size", SIZE_FILE, severity=Severity.MALFORMED)
    return size


def sort_files(sources: Sequence[Source]) -> tuple[list[Source], list[Source], list[Source]]:
    """Sort test tables, releases and tables B by their names; of test tables the dealt one alone."""
    dealt = [source for source in sources if is_named(source, DEALT_TEST)]
    tests = dealt or [source for source in sources if is_named(source, TEST)]
    releases = [source for source in sources if is_named(source, RELEASE)]
    return tests, releases, [source for source in sources if is_named(source, COMMON_B, TEAM_B)]
