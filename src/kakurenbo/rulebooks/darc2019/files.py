"""The files of darc2019: their names, T, and the handout and submission that they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kakurenbo.datasets.transactions import ANY_MONTHS, DELETED, MAX_MONTHS, SCHEMA, kept, month_span, narrowed
from kakurenbo.errors import UsageError
from kakurenbo.tables import Layout, Problem, ProblemCollector, Problems, Severity, Source, Table, read_table

CONTEST_FILE = "contest.json"
ORIGINAL_FILE = "T.csv"
ATTACKS_PER_TABLE = 10
TABLES_PER_TEAM = 3
MAX_TABLE_BYTES = 500 * 1000 * 1000


def release_file(table: str) -> str:
    return f"A_{table}.csv"


def published_file(table: str) -> str:
    return f"S_{table}.csv"


def answer_file(table: str) -> str:
    return f"F_{table}.csv"


def guess_file(table: str, attacker: str) -> str:
    return f"guess_{table}_{attacker}.csv"


def team_of(name: str) -> str | None:
    """The team, or the table of a team such as 07-2, in a file name such as ``A_07.csv``."""
    match = re.search(r"_(\d\d(?:-\d+)?)\.csv(?:\.gz)?$", name)
    return match.group(1) if match else None


def target_of_guess(name: str, targets: Iterable[str], attacker: str) -> str | Problems:
    """The target of a guess file such as ``guess_01_02.csv``, or ``guess_01_02-3.csv`` for a third attack on it."""
    for target in targets:
        match = re.fullmatch(rf"guess_{re.escape(target)}_{re.escape(attacker)}(?:-(\d{{1,9}}))?\.csv(?:\.gz)?", name)
        if match is None:
            continue
        if match.group(1) and not 1 <= int(match.group(1)) <= ATTACKS_PER_TABLE:
            message, fix = f"this is attack number {match.group(1)}", f"{ATTACKS_PER_TABLE} attacks are allowed per table"
            return Problems([Problem(message, fix, name, value=match.group(1))])
        return target
    known = ", ".join(guess_file(target, attacker) for target in sorted(targets)[:3])
    return Problems([Problem("no target has this file name", f"the names are {known} …", name)])


@dataclass(frozen=True, eq=False)
class Handout:
    """What every team is given: T, and what ``contest.json`` says of the contest."""

    team: str
    original: Table
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Submission:
    """A valid A(T): the rows of T in their order, deleted ones under the pseudonym "DEL".

    ``name`` is the team, or one of a team's tables such as 07-2; what is published of it is named so.
    """

    table: Table
    name: str


# -- T ----------------------------------------------------------------------------------------------------------------


def read_original(source: Source, notices: ProblemCollector | None = None) -> Table | Problems:
    """T from its file: every customer, no deleted rows, in the calendar of its own dates."""
    layout = Layout(header=True, min_rows=1, accept_bom=True, accept_crlf=True, max_bytes=MAX_TABLE_BYTES)
    table = read_table(source, SCHEMA, layout, notices)
    if isinstance(table, Problems) and any(problem.column == "date" for problem in table):  # another shop's, perhaps
        table = read_table(source, ANY_MONTHS, layout)
    if isinstance(table, Problems):
        return table
    if not kept(table).all():
        record = int(np.flatnonzero(~kept(table))[0])
        message, fix = "T holds no deleted rows", "give the contest's own table, not a release"
        return Problems([Problem(message, fix, source.name, record + 2, record, "id_user", DELETED)])
    if (span := month_span(table)) > MAX_MONTHS:
        record = int(table.codes["date"].argmax())
        value = table.texts("date")[record]
        message, fix = f"the dates span {span:,} months", f"at most {MAX_MONTHS} are allowed"
        return Problems([Problem(message, fix, source.name, record + 2, record, "date", value)])
    return narrowed(table)


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


def read_facts(folder: Path) -> dict[str, Any]:
    """What ``contest.json`` says, where there is one; nothing where it was not written by us."""
    try:
        facts = json.loads((folder / CONTEST_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    ours = isinstance(facts, dict) and facts.get("rulebook") == "darc2019" and isinstance(facts.get("settings"), dict)
    return facts if ours else {}


def malformed(message: str, fix: str, file: str) -> Problems:
    """One problem with a file that is not what it should be."""
    return Problems([Problem(message, fix, file, severity=Severity.MALFORMED)])
