"""The files of darc2019: their names, T, and the handout and submission that they hold."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from kakurenbo.contracts import FilePattern
from kakurenbo.datasets import transaction_files
from kakurenbo.errors import UsageError
from kakurenbo.tables import Problems, Read, Reading, Source, Table

MAX_TABLE_BYTES = transaction_files.MAX_BYTES
ORIGINAL_FILE = "T.csv"
NOTICES_FILE = "notices.txt"
"""Beside S, where there is something that attackers should know of its pseudonyms."""
TABLES_PER_TEAM = 3
ATTACKS_PER_TABLE = 10

RELEASE = FilePattern("A_{team}{-try}.csv", MAX_TABLE_BYTES)
PUBLISHED = FilePattern("S_{target}.csv", MAX_TABLE_BYTES)
ANSWER = FilePattern("F_{target}.csv")
GUESS = FilePattern("guess_{target}_{attacker}{-try}.csv")


@dataclass(frozen=True, eq=False)
class Handout:
    """What every team is given: T; and whose copy it is, where that is known."""

    team: str
    original: Table


def read_original(source: Source) -> Reading[Table]:
    """T from its file: every customer, no deleted rows, in the calendar of its own dates.

    All teams of a contest have the same T, so the tables that were read last are kept by what is in their files.
    """
    data = source.read(MAX_TABLE_BYTES)
    if isinstance(data, Problems):
        return data
    mark = hashlib.sha256(data).digest()
    if mark not in _read_before:
        read = transaction_files.read_transactions(Source(source.name.removesuffix(".gz"), data))
        if isinstance(read, Problems):
            return read.in_file(source.name)
        _read_before[mark] = read
        while len(_read_before) > 2:
            _read_before.popitem(last=False)
    return _read_before[mark]


_read_before: OrderedDict[bytes, Read[Table]] = OrderedDict()


def find_original(path: Path) -> Path:
    """T itself, or the one in a folder that prepare wrote."""
    if not path.exists():
        raise UsageError(f"{path}: there is no such file or folder")
    if not path.is_dir():
        return path
    for name in (ORIGINAL_FILE, ORIGINAL_FILE + ".gz"):
        if (path / name).exists():
            return path / name
    raise UsageError(f"{path}: there is no {ORIGINAL_FILE} in this folder; name the file of T")


def find_file(path: Path, pattern: FilePattern) -> Path:
    """A file, or the one of such a name in a folder."""
    if not path.is_dir():
        return path
    for entry in sorted(path.iterdir()):
        if pattern.parse(entry.name) is not None:
            return entry
    raise UsageError(f"{path}: there is no {pattern} in this folder")
