"""The files of pwscup2021: names, what may stand in them, and the handout, submission and answer they hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.linkage import DELETED
from kakurenbo.contest import ContestFolder, FilePattern
from kakurenbo.contest.bases import LinkageForm, read_rows
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

PRE, MAIN = "pre", "main"
PEOPLE, HALF = 100, 50
"""Rows of a test table, and how many of them were deleted."""
RELEASE = FilePattern("{round}_anony_{team}_d.csv")
DELETED_ROWS = FilePattern("{round}_anony_{team}_x.csv", max_bytes=10_000_000)
GUESS = FilePattern("{round}_attack_{target}_from_{attacker}.csv", max_bytes=1_000_000)
SIZE_FILE = "size.json"

_ROUND_TEAM = r"[a-z]+_anony_\d\d+"
HANDOUT_NAME = re.compile(r"[a-z]+_B(_\d\d+)?\.csv(\.gz)?")
RELEASE_NAME = re.compile(rf"{_ROUND_TEAM}_d\.csv(\.gz)?")
DELETED_NAME = re.compile(rf"{_ROUND_TEAM}_x\.csv(\.gz)?")
TEST_NAME = re.compile(rf"{_ROUND_TEAM}(_for_\d\d+)?_ct\.csv(\.gz)?")
DEALT_NAME = re.compile(rf"{_ROUND_TEAM}_for_\d\d+_ct\.csv(\.gz)?")
ANSWER_NAME = re.compile(rf"{_ROUND_TEAM}(_for_\d\d+)?_ea\.csv(\.gz)?")


def handout_file(round_: str, team: str) -> str:
    """Everybody has the same B in the preliminary, and one of their own in the main round."""
    return f"{round_}_B.csv" if round_ == PRE else f"{round_}_B_{team}.csv"


def people_file(round_: str, team: str, attacker: str = "") -> str:
    return f"{round_}_anony_{team}{_for(attacker)}_ct.csv"


def answer_file(round_: str, team: str, attacker: str = "") -> str:
    return f"{round_}_anony_{team}{_for(attacker)}_ea.csv"


def _for(attacker: str) -> str:
    return f"_for_{attacker}" if attacker else ""


@dataclass(frozen=True, eq=False)
class Handout:
    """What anonymizer i is given: its table B."""

    team: str
    table: Table


@dataclass(frozen=True, eq=False)
class Submission:
    """A valid entry.

    Attributes
    ----------
    release : Table
        D.
    kept, deleted : array of int64
        The rows of B that are in D, in its order, and those of X, ascending.
    """

    release: Table
    kept: NDArray[np.int64]
    deleted: NDArray[np.int64]


GuessForm = LinkageForm


@dataclass(frozen=True, eq=False)
class Answer:
    """Where the people of a test table are.

    Attributes
    ----------
    rows : array of int64, shape (people,)
        The row of D of each, -1 for who was deleted.
    released : int or None
        Rows of D, where that is known.
    by_attacker : mapping of attacker to array
        The same for the tables that were dealt to one attacker each.
    """

    rows: NDArray[np.int64]
    released: int | None = None
    by_attacker: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)


def find_file(folder: ContestFolder, name: re.Pattern[str], example: str) -> Source:
    """The one file of a folder that goes by such a name, packed or not; or the file that was given."""
    found = folder.find(name)
    if len(found) == 1:
        return found[0]
    raise InputError.of(
        "pwscup2021.not_one_file",
        folder.name,
        severity=Severity.MALFORMED,
        count=len(found),
        example=example,
    )


# -- row numbers -----------------------------------------------------------------------------------------------------------


def read_deleted(source: Source, rows: int) -> NDArray[np.int64]:
    """Read X: different row numbers of B, from 0, one in each line."""
    return np.sort(read_rows(source, rows, code="pwscup2021.row_twice"))


# -- answers ---------------------------------------------------------------------------------------------------------------


def read_answer(folder: ContestFolder, rows: int) -> Answer:
    """The answer to the test tables of a release: its folder, that of one attacker's part of it, or a file.

    ``rows`` is how many rows B has: no row of a release has a higher number.
    """
    if folder.file is not None:
        return Answer(_read_places(folder.file, rows))
    with gather() as problems:
        own = problems.of(_read_in, folder, rows)
        released = problems.of(_read_size, folder.whole)
        dealt = {
            attacker: problems.of(_read_in, part, rows) for attacker, part in folder.parts.items()
        }
    return Answer(own, released, dealt)


def _read_in(folder: ContestFolder, rows: int) -> NDArray[np.int64]:
    return _read_places(find_file(folder, ANSWER_NAME, answer_file(MAIN, "01")), rows)


def _read_places(source: Source, rows: int) -> NDArray[np.int64]:
    schema = Schema([Integer("row", DELETED, rows - 1)])
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


def told_apart(sources: Sequence[Source]) -> tuple[list[Source], list[Source], list[Source]]:
    """Test tables, releases and tables B among what attackers are given, by their names; of test tables the dealt one alone."""
    tests = [source for source in sources if TEST_NAME.fullmatch(source.name)]
    dealt = [source for source in tests if DEALT_NAME.fullmatch(source.name)]
    releases = [source for source in sources if RELEASE_NAME.fullmatch(source.name)]
    known = [source for source in sources if HANDOUT_NAME.fullmatch(source.name)]
    return dealt or tests, releases, known
