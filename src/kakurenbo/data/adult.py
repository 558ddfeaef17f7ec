"""Census Income (Adult): the nine columns of amic2020, its original files, embedded statistics and rows."""

from __future__ import annotations

import bz2
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from kakurenbo.core import (
    Category,
    InputError,
    Integer,
    Layout,
    Moments,
    Problem,
    Problems,
    Schema,
    Severity,
    Source,
    Table,
    Text,
    add_notices,
    collect_notices,
    gather,
    read_table,
)
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.messages import Message
from kakurenbo.data.statistics import stored_bytes, stored_statistics

_LEVELS = {
    "workclass": "Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov, Without-pay, Never-worked",
    "education": "Bachelors, Some-college, 11th, HS-grad, Prof-school, Assoc-acdm, Assoc-voc, 9th, 7th-8th, 12th, Masters, "
    "1st-4th, 10th, Doctorate, 5th-6th, Preschool",
    "marital-status": "Married-civ-spouse, Divorced, Never-married, Separated, Widowed, Married-spouse-absent, "
    "Married-AF-spouse",
    "occupation": "Tech-support, Craft-repair, Other-service, Sales, Exec-managerial, Prof-specialty, Handlers-cleaners, "
    "Machine-op-inspct, Adm-clerical, Farming-fishing, Transport-moving, Priv-house-serv, Protective-serv, Armed-Forces",
    "relationship": "Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried",
    "sex": "Female, Male",
}
_CATEGORIES = [Category(name, tuple(levels.split(", "))) for name, levels in _LEVELS.items()]

SCHEMA = Schema(
    [
        Integer("age", 17, 90),
        *_CATEGORIES,
        Integer("hours-per-week", 1, 99),
        Category("income", (">50K", "<=50K")),
    ]
)
"""Table 1 of the rules: names, order and domains of amic2020."""

COMPLETE_ROWS: Mapping[str, int] = {"train": 30_162, "test": 15_060}
"""The two parts of the data set, and how many of their rows miss no value."""

_FIELDS = (
    "age, workclass, fnlwgt, education, education-num, marital-status, occupation, relationship, race, sex, "
    "capital-gain, capital-loss, hours-per-week, native-country, income"
)
# The test file begins with such a line, and its labels end with a period.
_TEST_MARK, _TEST_LABELS = b"|1x3", Category("income", (">50K.", "<=50K."))


@dataclass(frozen=True)
class Adult:
    """The complete rows of both files, in the nine columns."""

    train: Table
    test: Table


def read_census(source: Source) -> Table:
    """Read a table of the nine columns, or an original file of fifteen."""
    source = source.loaded()
    data = source.read()
    if data.startswith(_TEST_MARK) or _commas(data) == _FIELDS.count(","):
        return read_uci(source)
    return read_table(source, SCHEMA, Layout(min_rows=1))


def read_uci(source: Source) -> Table:
    """Read the nine columns of an original file, whichever of the two; see :func:`read_part`."""
    return read_part(source)[1]


def read_part(source: Source) -> tuple[str, Table]:
    """Read an original file (15 fields, comma and blank): which part it is, and its complete rows in the nine columns.

    Gives ``"train"`` and 30,162 rows for ``adult.data``, ``"test"`` and 15,060 rows for ``adult.test``: a row with ``?``
    in any of its fields is left out. The content decides which part it is, not the name. A file that has the nine columns
    alone, as ``census_income.data.csv`` and ``test.csv`` of the contest, is recognized by its number of rows.
    """
    data = source.read()
    if _commas(data) == len(SCHEMA) - 1:
        table = read_census(source)
        return ("test" if len(table) == COMPLETE_ROWS["test"] else "train"), table
    is_test = data.startswith(_TEST_MARK)
    records = data.partition(b"\n")[2] if is_test else data
    judged = {column.name: column for column in (*SCHEMA, *([_TEST_LABELS] * is_test))}
    schema = Schema(judged.get(name, Text(name)) for name in _FIELDS.split(", "))
    missing = pl.Series(dtype=pl.Boolean)

    def fill(cells: pl.DataFrame) -> pl.DataFrame:
        """Give incomplete rows, which are left out, values that no column refuses."""
        nonlocal missing
        missing = cells.select(pl.any_horizontal(pl.all() == "?")).to_series()
        return cells.with_columns(
            pl.when(missing)
            .then(column.decode(np.zeros(1, int)))
            .otherwise(pl.col(place))
            .alias(place)
            for place, column in zip(cells.columns, schema, strict=True)
            if column.name in judged
        )

    def in_original(problem: Problem) -> Problem:
        """Count the first line of the test file."""
        row = None if problem.row is None else problem.row + is_test
        rows = tuple(row + is_test for row in problem.rows)
        return replace(problem, file=source.name, row=row, rows=rows, record=None)

    # Both files end with an empty line.
    records = records.rstrip(b"\r\n").replace(b", ", b",")
    try:
        with collect_notices() as notices:
            plain = Source(source.name.removesuffix(".gz"), records)
            table = read_table(plain, schema, mend=fill)
    except InputError as error:
        moved = map(in_original, error.problems)
        raise InputError(Problems(moved, error.problems.total)) from error
    if missing.all():
        raise InputError.of("adult.no_complete_row", source.name, severity=Severity.MALFORMED)
    add_notices(in_original(notice) for notice in notices)
    complete = table.take(np.flatnonzero(~missing))
    return ("test" if is_test else "train"), Table(SCHEMA, complete.codes)


def _commas(data: bytes) -> int:
    return data.partition(b"\n")[0].count(b",")


def import_files(sources: Sequence[Source]) -> Mapping[str, Table]:
    """Read both original files, in any order."""
    tables: dict[str, Table] = {}
    with gather() as problems:

        def refuse(code: str, file: str, **parameters: Any) -> None:
            problems.add(Problems.of(code, file, severity=Severity.MALFORMED, **parameters))

        for source in sources:
            read = problems.of(read_part, source)
            if read is None:
                continue
            part, table = read
            counts = {"count": len(table), "expected": COMPLETE_ROWS[part]}
            if part in tables:
                refuse("adult.part_twice", source.name, part=part)
            elif len(table) != COMPLETE_ROWS[part]:
                refuse("adult.wrong_rows", source.name, part=part, **counts)
            tables[part] = table
        missing = [part for part in COMPLETE_ROWS if part not in tables]
        if missing and not problems.refused:
            parts = Message("adult.both_parts") if len(missing) > 1 else missing[0]
            refuse("adult.part_missing", "adult", parts=parts)
    return tables


@cache
def adult_statistics(part: str) -> Moments:
    """Return the moments of the complete rows of the training file (``"train"``) or the test file (``"test"``).

    Examples
    --------
    >>> adult_statistics("train").count, adult_statistics("test").count
    (30162, 15060)
    """
    if part not in COMPLETE_ROWS:
        raise ParameterError("part", f"one of {', '.join(COMPLETE_ROWS)}", part)
    return Moments.from_json(stored_statistics(f"adult-{part}.json"), SCHEMA)


@cache
def embedded_adult() -> Adult:
    """Return A (30,162 rows) and the test rows (15,060) without the real ones: drawn once from the embedded statistics.

    Kept as files because drawing them takes seconds; ``scripts/make_embedded_adult.py`` makes the files again.
    """
    tables = []
    for part in COMPLETE_ROWS:
        name = f"adult-{part}.csv.bz2"
        try:
            tables.append(read_table(Source(name, bz2.decompress(stored_bytes(name))), SCHEMA))
        except InputError as error:
            raise RuntimeError(f"this installation is damaged: {error}") from error
    return Adult(*tables)
