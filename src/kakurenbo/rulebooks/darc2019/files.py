"""The files of darc2019: their names, T, and the handout and submission that they hold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from kakurenbo.contest import ContestFolder, FilePattern
from kakurenbo.core import Problem, Source, Table, add_notices, collect_notices, report_in
from kakurenbo.core.errors import UsageError
from kakurenbo.data import online_retail

MAX_TABLE_BYTES = online_retail.MAX_BYTES
ORIGINAL_FILE = "ground_truth.csv"
ORIGINAL_NAMES = (ORIGINAL_FILE, "T.csv")
"""The name of T in the rules, and the name in folders of earlier versions."""
TABLES_PER_TEAM = 3
ATTACKS_PER_TABLE = 10

RELEASE = FilePattern("A_{team}{-try}.csv", MAX_TABLE_BYTES)
PUBLISHED = FilePattern("S_{target}.csv", MAX_TABLE_BYTES)
ANSWER = FilePattern("F_{target}.csv")
GUESS = FilePattern("guess_{target}_{attacker}{-try}.csv")


@dataclass(frozen=True, eq=False)
class Handout:
    """T, which every team is given; and whose copy it is, where that is known."""

    team: str
    original: Table

    @property
    def table(self) -> Table:
        return self.original


def read_original(source: Source) -> Table:
    """Read T: every customer, no deleted rows, in the calendar of its own dates.

    All teams of a contest have the same T, so the tables that were read last are kept by what is in their files.
    """
    with report_in(source.name):
        name, data = source.name.removesuffix(".gz"), source.read(MAX_TABLE_BYTES)
        table, notices = _read_transactions(name, data)
    add_notices(notices)
    return table


@lru_cache(maxsize=2)
def _read_transactions(name: str, data: bytes) -> tuple[Table, list[Problem]]:
    with collect_notices() as notices:
        return online_retail.read_transactions(Source(name, data)), notices


def find_original(folder: ContestFolder) -> Source:
    """Return T itself, or the one in a folder that prepare wrote."""
    folder.check_exists()
    sources = [folder.file, *map(folder.source, ORIGINAL_NAMES)]
    for source in sources:
        if source is not None:
            return source
    raise UsageError("error.darc2019_no_t", at=folder, file=ORIGINAL_FILE)


def find_file(folder: ContestFolder, pattern: FilePattern) -> Source:
    """Return the file that was given, or the first of such a name in a folder."""
    for source in folder.files:
        if folder.file is not None or pattern.parse(source.name) is not None:
            return source
    raise UsageError("error.darc2019_no_file", at=folder, file=pattern)
