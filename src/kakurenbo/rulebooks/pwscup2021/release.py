"""An entry of pwscup2021: D and X, what the checks of the rules and of the contest's script want of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kakurenbo.anonymizers.tables.suppression import Thin
from kakurenbo.contest import Files, Release
from kakurenbo.contest.bases import rows_bytes
from kakurenbo.core import (
    Category,
    Column,
    Decimal,
    InputError,
    Integer,
    Layout,
    ProblemCollector,
    Schema,
    Source,
    Table,
    gather,
    read_table,
    table_bytes,
)
from kakurenbo.core.errors import KakurenboError
from kakurenbo.core.messages import Message
from kakurenbo.data import health
from kakurenbo.rulebooks.pwscup2021 import files
from kakurenbo.rulebooks.pwscup2021.files import HALF, Handout, Submission
from kakurenbo.rulebooks.sources import is_named

RULES, SCRIPTS = "rules", "scripts"
COMPARED = tuple(name for name in health.NAMES if name not in (health.GH, health.METS, health.DIA))
"""What makes a record one of a kind, is tabulated against diabetes, and explains it in the regression."""
NO_EDUCATION = ("", "Missing")
"""What the contest's checker takes for an education beside the levels that occur."""


def least_rows(rows: int, mode: str) -> int:
    """Return how many of B's rows must be kept: half by the rules, more than half by the script.

    Examples
    --------
    >>> least_rows(4190, "rules"), least_rows(4190, "scripts"), least_rows(3985, "rules")
    (2095, 2096, 1993)
    """
    return rows // 2 + 1 if mode == SCRIPTS else (rows + 1) // 2


def read_schema(mode: str) -> Schema:
    """Return the columns that D is read by: flags may be written as decimals, which are checked after reading."""
    changed: dict[str, Column] = {
        health.AGE: Decimal(health.AGE, *health.AGES),
        health.BMI: Decimal(health.BMI, *health.BMIS),
        **{name: Decimal(name, 0, 1) for name in health.FLAGS},
        **{name: Decimal(name) for name in health.UNUSED},
    }
    if mode == SCRIPTS:
        changed[health.EDU] = Category(health.EDU, (*NO_EDUCATION, *health.LEVELS[health.EDU]))
    return Schema(changed.get(column.name, column) for column in health.SCHEMA)


def read_table_d(source: Source, mode: str, layout: Layout | None = None) -> Table:
    """Read D: twelve columns, no header; columns of flags with whole numbers alone become integers, written without a point."""
    table = read_table(source, read_schema(mode), layout or Layout(min_rows=1))
    problems, columns, codes = ProblemCollector(source.name), {}, dict(table.codes)
    for name in (*health.FLAGS, *health.UNUSED):
        values, is_flag = table.values(name), name in health.FLAGS
        whole = np.rint(values)
        code = "pwscup2021.no_flag" if is_flag else "pwscup2021.not_zero"
        wrong = values != (whole if is_flag else 0)
        for record in np.flatnonzero(wrong & (mode == RULES)).tolist():
            value = f"{values[record]:g}"
            problems.add(code, row=record + 1, record=record, column=name, value=value)
        if (values == whole).all():
            numbers = whole.astype(np.int64)
            low, high = int(numbers.min(initial=0)), int(numbers.max(initial=int(is_flag)))
            columns[name], codes[name] = Integer(name, low, high), numbers - low
    problems.check()
    return Table(Schema(columns.get(column.name, column) for column in table.schema), codes)


def read_entry(handout: Handout, sources: Sequence[Source], round_: str, mode: str) -> Submission:
    """Read an entry from its two files."""
    rows, (first, second) = len(handout.table), entry_names(round_, handout.team)
    tables = [source for source in sources if is_named(source, files.RELEASE)]
    lists = [source for source in sources if is_named(source, files.DELETED_ROWS)]
    if len(sources) == 2 and not tables and not lists:
        tables, lists = [sources[0]], [sources[1]]
    if (len(tables), len(lists), len(sources)) != (1, 1, 2):
        given = [source.name for source in sources]
        file, listed = (given[0], given) if given else (first, Message("word.none"))
        code = "pwscup2021.two_files"
        raise InputError.of(code, file, files=listed, first=first, second=second)
    with gather() as problems:
        release = problems.of(read_table_d, tables[0], mode, Layout(min_rows=1, max_rows=rows))
        deleted = problems.of(files.read_deleted, lists[0], rows)
    left, least = len(release), least_rows(rows, mode)
    counts = {"rows": rows, "least": least, "half": HALF}
    if not least <= left <= rows - HALF:
        code = "pwscup2021.rows_left"
        raise InputError.of(code, tables[0].name, value=str(left), left=left, **counts)
    if left + len(deleted) != rows:
        code, counts = "pwscup2021.other_rows", {"released": left, "deleted": len(deleted)}
        raise InputError.of(code, lists[0].name, rows=rows, **counts)
    return Submission(release, np.setdiff1d(np.arange(rows), deleted), deleted)


def entry_names(round_: str, team: str) -> tuple[str, str]:
    """Return the names of D and X."""
    first, second = (
        pattern.name(round=round_, team=team or "01")
        for pattern in (files.RELEASE, files.DELETED_ROWS)
    )
    return first, second


def as_entry(
    handout: Handout, release: Release, rng: np.random.Generator, unique: float = 1.0
) -> Release:
    """Return a method's release as the contest wants one: rows in B's order, numbers in their range, enough rows deleted.

    Where a method leaves too many records that are one of a kind, more go as ``thin`` deletes them; and where fewer than 50
    rows are gone then, the rest is drawn at random.

    Parameters
    ----------
    handout : Handout
    release : Release
    rng : numpy.random.Generator
    unique : float
        The largest share of B's rows that may be one of a kind among those that are left.

    Raises
    ------
    KakurenboError
        Where the method gives other rows than those of B, and does not say which.
    """
    rows = len(handout.table)
    kept = np.arange(rows) if release.rows is None else release.rows
    if len(kept) != len(release.table) or len(np.unique(kept)) != len(kept):
        raise KakurenboError("error.pwscup2021_rows")
    thin = Thin(unique=min(1.0, unique * rows / max(1, len(kept))), columns=COMPARED)
    left = thin(handout.table.take(kept), rng).rows
    assert left is not None
    chosen = rng.permutation(left)[max(0, HALF - (rows - len(left))) :]
    chosen = chosen[np.argsort(kept[chosen])]
    table = release.table.take(chosen)
    limits = {health.AGE: health.AGES, health.BMI: health.BMIS}
    inside = {name: np.clip(table.codes[name], *ends) for name, ends in limits.items()}
    return replace(release, tables=(table.with_codes(inside),), rows=kept[chosen])


def entry_files(handout: Handout, release: Release, round_: str) -> Files:
    """Return D and X."""
    first, second = entry_names(round_, handout.team)
    deleted = np.setdiff1d(np.arange(len(handout.table)), release.rows)  # type: ignore[arg-type]
    return {first: table_bytes(release.table), second: rows_bytes(deleted)}
