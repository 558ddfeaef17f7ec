"""Census Income (Adult): the nine columns of amic2020, the reader of the original files, and the embedded statistics."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from kakurenbo.tables import Category, Integer, Moments, ProblemCollector, Problems, Schema, Severity, Source, Table, read_table


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

_FIELDS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)
_TEST_MARK = b"|1x3"  # the test file begins with such a line, and its labels end with a period


@dataclass(frozen=True)
class Adult:
    """The complete rows of both files, in the nine columns."""

    train: Table
    test: Table


def is_test_file(data: bytes) -> bool:
    """Whether these are the bytes of the original test file rather than of the training file."""
    return data.startswith(_TEST_MARK)


def read_uci(source: Source) -> Table | Problems:
    """The nine columns of an original file (15 fields, comma and blank), without the rows that miss a value.

    Gives 30,162 rows for the training file and 15,060 for the test file.
    """
    data = source.read()
    if isinstance(data, Problems):
        return data
    kept, numbers = [], []
    found = ProblemCollector(source.name)
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        fields = line.split(", ")
        if not line.strip() or line.startswith("|"):
            continue
        if len(fields) != len(_FIELDS):
            message = f"the line has {len(fields)} fields instead of {len(_FIELDS)}"
            found.add(message, "give the file as it comes from its source", row=number, severity=Severity.MALFORMED)
        elif "?" not in fields:
            record = dict(zip(_FIELDS, fields, strict=True))
            record["income"] = record["income"].rstrip(".")
            kept.append(",".join(record[name] for name in SCHEMA.names))
            numbers.append(number)
    if found or not kept:
        if not found:
            found.add("there are no complete rows", "give adult.data or adult.test", severity=Severity.MALFORMED)
        return found.problems()
    table = read_table(Source(source.name.removesuffix(".gz"), "\n".join(kept).encode()), SCHEMA)
    return table if isinstance(table, Table) else _at_original_rows(table, numbers)


def _at_original_rows(problems: Problems, numbers: list[int]) -> Problems:
    return Problems((replace(p, row=numbers[p.row - 1] if p.row else None, record=None) for p in problems), problems.total)


@cache
def adult_statistics(part: str) -> Moments:
    """Moments of the complete rows of the training file (``"train"``) or the test file (``"test"``), from our own small file."""
    content = json.loads(resources.files("kakurenbo.datasets").joinpath("data", f"adult-{part}.json").read_text())
    return Moments.from_json(content, SCHEMA)
