"""The files of darc2019: their names, T, and the handout and submission that they hold."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kakurenbo.contracts import FilePattern
from kakurenbo.datasets.transactions import ANY_MONTHS, DELETED, MAX_MONTHS, SCHEMA, kept, month_span, narrowed
from kakurenbo.errors import UsageError
from kakurenbo.tables import Layout, Problems, Read, Reading, Source, Table, read_table, refused

ORIGINAL_FILE = "T.csv"
TABLES_PER_TEAM = 3
ATTACKS_PER_TABLE = 10
MAX_TABLE_BYTES = 500 * 1000 * 1000

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
        read = _read_original(Source(source.name.removesuffix(".gz"), data))
        if isinstance(read, Problems):
            return read.in_file(source.name)
        _read_before[mark] = read
        while len(_read_before) > 2:
            _read_before.popitem(last=False)
    return _read_before[mark]


_read_before: OrderedDict[bytes, Read[Table]] = OrderedDict()


def _read_original(source: Source) -> Reading[Table]:
    layout = Layout(header=True, min_rows=1, max_bytes=MAX_TABLE_BYTES)
    read = read_table(source, SCHEMA, layout)
    if isinstance(read, Problems) and any(problem.column == "date" for problem in read):  # another shop's, perhaps
        read = read_table(source, ANY_MONTHS, layout)
    if isinstance(read, Problems):
        return read
    table = read.value
    if not kept(table).all():
        record = int(np.flatnonzero(~kept(table))[0])
        where = {"row": record + 2, "record": record}
        return refused("darc2019.deleted_in_t", source.name, column="id_user", value=DELETED, **where)
    if (span := month_span(table)) > MAX_MONTHS:
        record = int(table.codes["date"].argmax())
        where = {"row": record + 2, "record": record, "span": span, "limit": MAX_MONTHS}
        return refused("darc2019.many_months", source.name, column="date", value=table.texts("date")[record], **where)
    return read.map(narrowed)


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
