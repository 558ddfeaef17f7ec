"""Census Income (Adult): the nine columns of amic2020, the reader of the original files, the embedded statistics and rows."""

from __future__ import annotations

import bz2
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from kakurenbo.errors import ParameterError
from kakurenbo.tables import (
    Category,
    Integer,
    Moments,
    Problem,
    Problems,
    Read,
    Schema,
    Severity,
    Source,
    Table,
    Text,
    read_table,
    refused,
    table_bytes,
)


def _levels(words: str) -> tuple[str, ...]:
    return tuple(words.split(", "))


SCHEMA = Schema(
    [
        Integer("age", 17, 90),
        Category(
            "workclass",
            _levels("Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov, Without-pay, Never-worked"),
        ),
        Category(
            "education",
            _levels(
                "Bachelors, Some-college, 11th, HS-grad, Prof-school, Assoc-acdm, Assoc-voc, 9th, 7th-8th, 12th, Masters, "
                "1st-4th, 10th, Doctorate, 5th-6th, Preschool"
            ),
        ),
        Category(
            "marital-status",
            _levels(
                "Married-civ-spouse, Divorced, Never-married, Separated, Widowed, Married-spouse-absent, Married-AF-spouse"
            ),
        ),
        Category(
            "occupation",
            _levels(
                "Tech-support, Craft-repair, Other-service, Sales, Exec-managerial, Prof-specialty, Handlers-cleaners, "
                "Machine-op-inspct, Adm-clerical, Farming-fishing, Transport-moving, Priv-house-serv, Protective-serv, "
                "Armed-Forces"
            ),
        ),
        Category("relationship", _levels("Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried")),
        Category("sex", _levels("Female, Male")),
        Integer("hours-per-week", 1, 99),
        Category("income", _levels(">50K, <=50K")),
    ]
)
"""Table 1 of the rules: names, order and domains of amic2020."""

COMPLETE_ROWS: Mapping[str, int] = MappingProxyType({"train": 30_162, "test": 15_060})
"""The two parts of the data set, and how many of their rows miss no value."""

# The fifteen fields of an original file, as texts: the nine columns are judged by SCHEMA once incomplete rows are out.
_FIELDS = Schema(
    Text(name)
    for name in _levels(
        "age, workclass, fnlwgt, education, education-num, marital-status, occupation, relationship, race, sex, "
        "capital-gain, capital-loss, hours-per-week, native-country, income"
    )
)
_MISSING = "?"
_TEST_MARK = b"|1x3"  # the test file begins with such a line, and its labels end with a period
_TEST_SCHEMA = Schema([*SCHEMA.columns[:-1], Category("income", (">50K.", "<=50K."))])


@dataclass(frozen=True)
class Adult:
    """The complete rows of both files, in the nine columns."""

    train: Table
    test: Table


def read_uci(source: Source) -> Read[Table] | Problems:
    """The nine columns of an original file, whichever of the two; see :func:`read_part`."""
    return read_part(source).map(lambda part: part[1])


def read_part(source: Source) -> Read[tuple[str, Table]] | Problems:
    """Read an original file (15 fields, comma and blank): which part it is, and its complete rows in the nine columns.

    Gives ``"train"`` and 30,162 rows for ``adult.data``, ``"test"`` and 15,060 rows for ``adult.test``: a row with ``?``
    in any of its fields is left out. The part is told by the content, not by the name.
    """
    data = source.read()
    if isinstance(data, Problems):
        return data
    test = data.startswith(_TEST_MARK)
    first = 2 if test else 1  # line of the first record
    records = data.partition(b"\n")[2] if test else data
    # Both files end with an empty line.
    records = records.rstrip(b"\r\n").replace(b", ", b",")
    fields = read_table(Source("fields", records), _FIELDS)
    lines = np.arange(first, first + records.count(b"\n") + records.count(b"\r") + 1)
    if isinstance(fields, Problems):
        return Problems(_in_original(fields, source, lines), fields.total)
    complete = np.flatnonzero(~_misses_a_value(fields.value))
    if not len(complete):
        return refused("adult.no_complete_row", source.name, severity=Severity.MALFORMED)
    chosen = table_bytes(fields.value.select(SCHEMA.names).take(complete))
    table = read_table(Source("records", chosen), _TEST_SCHEMA if test else SCHEMA)
    if isinstance(table, Problems):
        return Problems(_in_original(table, source, complete + first), table.total)
    part = "test" if test else "train"
    return Read((part, Table(SCHEMA, table.value.codes)), _in_original(fields.notices, source, lines))


def _misses_a_value(fields: Table) -> NDArray[np.bool_]:
    """Which rows have ``?`` in any of the fifteen fields, shape (n,)."""
    missing = np.zeros(len(fields), dtype=np.bool_)
    for name in fields.schema.names:
        missing |= (fields.texts(name) == _MISSING).to_numpy()
    return missing


def _in_original(problems: Iterable[Problem], source: Source, lines: NDArray[np.int64]) -> tuple[Problem, ...]:
    """Problems of an excerpt as problems of the whole file; ``lines`` are where the excerpt's lines stand in it."""
    return tuple(
        replace(problem, file=source.name, row=None if problem.row is None else int(lines[problem.row - 1]), record=None)
        for problem in problems
    )


@cache
def adult_statistics(part: str) -> Moments:
    """Moments of the complete rows of the training file (``"train"``) or the test file (``"test"``), from our own small file.

    Examples
    --------
    >>> adult_statistics("train").count, adult_statistics("test").count
    (30162, 15060)
    """
    if part not in COMPLETE_ROWS:
        raise ParameterError("part", f"one of {', '.join(COMPLETE_ROWS)}", part)
    return Moments.from_json(json.loads(_embedded(f"adult-{part}.json")), SCHEMA)


@cache
def embedded_adult() -> Adult:
    """A (30,162 rows) and the test rows (15,060) without the real ones: drawn from the embedded statistics, once and for all.

    Kept as files because drawing them takes seconds; ``scripts/make_embedded_adult.py`` makes the files again.
    """
    return Adult(*(_embedded_rows(part) for part in COMPLETE_ROWS))


def _embedded_rows(part: str) -> Table:
    name = f"adult-{part}.csv.bz2"
    read = read_table(Source(name, bz2.decompress(_embedded(name))), SCHEMA)
    if isinstance(read, Problems):
        raise RuntimeError(f"this installation is damaged: {read[0]}")
    return read.value


def _embedded(name: str) -> bytes:
    return resources.files("kakurenbo.datasets").joinpath("data", name).read_bytes()
