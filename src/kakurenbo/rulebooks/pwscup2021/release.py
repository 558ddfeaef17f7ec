"""An entry of pwscup2021: D and X, what the checks of the rules and of the contest's script want of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from kakurenbo.data import health as nhanes
from kakurenbo.rulebooks.pwscup2021 import files
from kakurenbo.rulebooks.pwscup2021.files import HALF, Handout, Submission

RULES, SCRIPTS = "rules", "scripts"
COMPARED = (
    *(nhanes.GEN, nhanes.AGE, nhanes.RACE, nhanes.EDU, nhanes.MAR),
    *(nhanes.BMI, nhanes.DEP, nhanes.PIR, nhanes.QM),
)
"""What makes a record one of a kind, is tabulated against diabetes, and explains it in the regression."""
NO_EDUCATION = ("", "Missing")
"""What the contest's checker takes for an education beside the levels that occur."""


def least_rows(rows: int, mode: str) -> int:
    """How many of B's rows must be kept: half by the rules, more than half by the script.

    Examples
    --------
    >>> least_rows(4190, "rules"), least_rows(4190, "scripts"), least_rows(3985, "rules")
    (2095, 2096, 1993)
    """
    return rows // 2 + 1 if mode == SCRIPTS else (rows + 1) // 2


def read_schema(mode: str) -> Schema:
    """What D is read by: flags may be written as decimals, which the check looks at after."""
    changed: dict[str, Column] = {
        nhanes.AGE: Decimal(nhanes.AGE, *nhanes.AGES),
        nhanes.BMI: Decimal(nhanes.BMI, *nhanes.BMIS),
        **{name: Decimal(name, 0, 1) for name in nhanes.FLAGS},
        **{name: Decimal(name) for name in nhanes.UNUSED},
    }
    if mode == SCRIPTS:
        changed[nhanes.EDU] = Category(nhanes.EDU, (*NO_EDUCATION, *nhanes.LEVELS[nhanes.EDU]))
    return Schema(changed.get(column.name, column) for column in nhanes.SCHEMA)


def read_release(source: Source, mode: str, layout: Layout | None = None) -> Table:
    """D: twelve columns, no header; where all its flags are 0 or 1, they are whole numbers after."""
    table = read_table(source, read_schema(mode), layout or Layout(min_rows=1))
    whole = {
        name: table.values(name) == np.rint(table.values(name))
        for name in (*nhanes.FLAGS, *nhanes.UNUSED)
    }
    if mode == RULES:
        found = ProblemCollector(source.name)
        for name, right in whole.items():
            allowed = right if name in nhanes.FLAGS else table.values(name) == 0
            code = "pwscup2021.no_flag" if name in nhanes.FLAGS else "pwscup2021.not_zero"
            for record in np.flatnonzero(~allowed).tolist():
                value = f"{table.values(name)[record]:g}"
                found.add(code, row=record + 1, record=record, column=name, value=value)
        found.check()
    return _with_whole_numbers(table, [name for name, right in whole.items() if right.all()])


def _with_whole_numbers(table: Table, names: Sequence[str]) -> Table:
    """The table with these columns, all of whose numbers are whole, as whole numbers; they are written without a point."""
    columns: dict[str, Column] = {}
    codes = dict(table.codes)
    for name in names:
        values = table.values(name).astype(np.int64)
        low, high = (
            (0, 1)
            if name in nhanes.FLAGS
            else (min(0, int(values.min())), max(0, int(values.max())))
        )
        columns[name], codes[name] = Integer(name, low, high), values - low
    schema = Schema(columns.get(column.name, column) for column in table.schema)
    return Table(schema, codes)


def check(handout: Handout, sources: Sequence[Source], round_: str, mode: str) -> Submission:
    """An entry from its two files."""
    rows, example = len(handout.table), _examples(round_, handout.team)
    tables = [source for source in sources if files.RELEASE_NAME.fullmatch(source.name)]
    lists = [source for source in sources if files.DELETED_NAME.fullmatch(source.name)]
    if len(sources) == 2 and not tables and not lists:
        tables, lists = [sources[0]], [sources[1]]
    if (len(tables), len(lists), len(sources)) != (1, 1, 2):
        given = [source.name for source in sources]
        file, listed = (given[0], given) if given else (example[0], Message("word.none"))
        raise InputError.of(
            "pwscup2021.two_files", file, files=listed, first=example[0], second=example[1]
        )
    with gather() as problems:
        release = problems.of(read_release, tables[0], mode, Layout(min_rows=1, max_rows=rows))
        deleted = problems.of(files.read_deleted, lists[0], rows)
    left, gone, least = len(release), len(deleted), least_rows(rows, mode)
    if not least <= left <= rows - HALF:
        raise InputError.of(
            "pwscup2021.rows_left",
            tables[0].name,
            value=str(left),
            left=left,
            rows=rows,
            least=least,
            half=HALF,
        )
    if left + gone != rows:
        raise InputError.of(
            "pwscup2021.other_rows", lists[0].name, released=left, deleted=gone, rows=rows
        )
    return Submission(release, np.setdiff1d(np.arange(rows), deleted), deleted)


def _examples(round_: str, team: str) -> tuple[str, str]:
    fields = {"round": round_, "team": team or "01"}
    return files.RELEASE.name(**fields), files.DELETED_ROWS.name(**fields)


def as_entry(
    handout: Handout, release: Release, rng: np.random.Generator, unique: float = 1.0
) -> Release:
    """A method's release as the contest wants one: rows in B's order, numbers in their range, enough rows deleted.

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
        Where the method gives other rows than those it was given, and does not say which.
    """
    rows = len(handout.table)
    kept = np.arange(rows) if release.rows is None else release.rows
    if len(kept) != len(release.table) or len(np.unique(kept)) != len(kept):
        raise KakurenboError("error.pwscup2021_rows")
    thin = Thin(unique=min(1.0, unique * rows / max(1, len(kept))), columns=COMPARED)
    left = thin(handout.table.take(kept), rng).rows
    assert left is not None
    missing = max(0, HALF - (rows - len(left)))
    chosen = rng.permutation(left)[missing:]
    chosen = chosen[np.argsort(kept[chosen])]
    table = release.table.take(chosen)
    limits: Mapping[str, tuple[int, int]] = {nhanes.AGE: nhanes.AGES, nhanes.BMI: nhanes.BMIS}
    inside = {name: np.clip(table.codes[name], *ends) for name, ends in limits.items()}
    return replace(release, tables=(table.with_codes(inside),), rows=kept[chosen])


def entry_files(handout: Handout, release: Release, round_: str) -> Files:
    """D and X."""
    assert release.rows is not None
    first, second = _examples(round_, handout.team)
    deleted = np.setdiff1d(np.arange(len(handout.table)), release.rows)
    return {first: table_bytes(release.table), second: rows_bytes(deleted)}
