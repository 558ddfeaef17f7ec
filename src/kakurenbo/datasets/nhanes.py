"""NHANES health checks: the twelve columns of pwscup2021, its table B, and the statistics of it that are embedded."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.datasets.xport import read_xport
from kakurenbo.tables import (
    Category,
    Decimal,
    Integer,
    Layout,
    Moments,
    Problems,
    Read,
    Schema,
    Severity,
    Source,
    Table,
    read_table,
    refused,
)

GEN, AGE, RACE, EDU, MAR, BMI, DEP, PIR, GH, METS, QM, DIA = NAMES = (
    *("gen", "age", "race", "edu", "mar", "bmi", "dep", "pir", "gh", "mets", "qm", "dia"),
)
"""The columns in their order: files have no header."""
TEXTS = (GEN, RACE, EDU, MAR, QM)
NUMBERS = (AGE, BMI)
FLAGS = (DEP, PIR, DIA)
UNUSED = (GH, METS)

AGES, BMIS = (13, 85), (13, 75)
"""What a released age and body mass index may be."""
_ANY_AGE, _ANY_BMI = (0, 120), (5, 200)  # of people as they are: one of 2017-2018 has 84.4
LEVELS = {
    GEN: ("Female", "Male"),
    RACE: ("Black", "Hispanic", "Mexican", "Other", "White"),
    EDU: ("11th", "9th", "College", "Graduate", "HighSchool"),
    MAR: ("Divorced", "Married", "Never", "Parther", "Separated", "Widowed"),
    QM: ("Q1", "Q2", "Q3", "Q4"),
}
"""In alphabetical order, so that the first is the base of a regression; ``Parther`` is how the contest wrote it."""

ROWS = 4190
"""Of the contest's B (NHANES 2015-2016)."""
STATISTICS_FILE = "nhanes.json"
_TENTHS = 10


SCHEMA = Schema(
    [
        Category(GEN, LEVELS[GEN]),
        Decimal(AGE, *_ANY_AGE),
        Category(RACE, LEVELS[RACE]),
        Category(EDU, LEVELS[EDU]),
        Category(MAR, LEVELS[MAR]),
        Decimal(BMI, *_ANY_BMI),
        Integer(DEP, 0, 1),
        Integer(PIR, 0, 1),
        Integer(GH, 0, 0),
        Integer(METS, 0, 0),
        Category(QM, LEVELS[QM]),
        Integer(DIA, 0, 1),
    ]
)
"""Of a table B, and of what anonymizers are given."""

# The generators know whole numbers: ages in years, body mass indices in tenths.
_COUNTED = Schema(
    Integer(AGE, *_ANY_AGE) if column.name == AGE
    else Integer(BMI, _ANY_BMI[0] * _TENTHS, _ANY_BMI[1] * _TENTHS) if column.name == BMI
    else column
    for column in SCHEMA
)  # fmt: skip


def read_health(source: Source, least: int = 1) -> Read[Table] | Problems:
    """A table B: twelve columns, no header, at least so many rows."""
    return read_table(source, SCHEMA, Layout(min_rows=least))


def counted(table: Table) -> Table:
    """The table in whole numbers, ages rounded to years and body mass indices to tenths, as generators take it."""
    ages = np.rint(table.values(AGE)).astype(np.int64) - _ANY_AGE[0]
    tenths = np.rint(table.values(BMI) * _TENTHS).astype(np.int64) - _ANY_BMI[0] * _TENTHS
    return Table(_COUNTED, {**table.codes, AGE: ages, BMI: tenths})


def uncounted(table: Table) -> Table:
    """The table of years and tenths as health checks are written."""
    ages = table.values(AGE).astype(np.float64)
    return Table(SCHEMA, {**table.codes, AGE: ages, BMI: table.values(BMI) / _TENTHS})


@cache
def embedded_statistics() -> Moments:
    """Counts and cross products of a table like the contest's B; see ``scripts/make_nhanes_statistics.py``."""
    stored = resources.files("kakurenbo.datasets").joinpath("data", STATISTICS_FILE).read_text(encoding="utf-8")
    return Moments.from_json(json.loads(stored), _COUNTED)


# -- from the files of NHANES ------------------------------------------------------------------------------------------------

FILES = ("DEMO", "DIQ", "BMX", "PAQ", "GHB", "DPQ", "INQ")
"""What B is made from, as the files of a survey are called before their letter: ``DEMO_I.XPT``."""
_PERSON = "SEQN"
_VIGOROUS = (("PAD615", "PAQ610"), ("PAD660", "PAQ655"))
_MODERATE = (("PAD630", "PAQ625"), ("PAD645", "PAQ640"), ("PAD675", "PAQ670"))
_NOT_TOLD = (99, 9999)
_CODED: Mapping[str, tuple[str, Mapping[int, str]]] = {
    GEN: ("RIAGENDR", {1: "Male", 2: "Female"}),
    RACE: ("RIDRETH1", {1: "Mexican", 2: "Hispanic", 3: "White", 4: "Black", 5: "Other"}),
    EDU: ("DMDEDUC2", {1: "9th", 2: "11th", 3: "HighSchool", 4: "College", 5: "Graduate"}),
    MAR: ("DMDMARTL", {1: "Married", 2: "Widowed", 3: "Divorced", 4: "Separated", 5: "Never", 6: "Parther"}),
}
_NEEDED = (
    *(variable for variable, _ in _CODED.values()),
    *("RIDAGEYR", "BMXBMI", "LBXGH", "DIQ010", "DIQ050", "DIQ070", "DIQ175A", "DPQ020", "INDFMMPI"),
    *(variable for pair in (*_VIGOROUS, *_MODERATE) for variable in pair),
)
Variables = Mapping[str, NDArray[np.float64]]


def read_survey(sources: Sequence[Source]) -> Read[Table] | Problems:
    """B from the original files of a survey, as the contest made it; see :func:`health_table`."""
    readings = [read_xport(source) for source in sources]
    problems = [read for read in readings if isinstance(read, Problems)]
    if problems:
        return Problems.of(*problems)
    found = [read.value for read in readings if isinstance(read, Read)]
    given = {variable for one in found for variable in one}
    lacking = [variable for variable in (_PERSON, *_NEEDED) if variable not in given]
    if lacking:
        files = [f"{name}_I.XPT" for name in FILES]
        return refused("nhanes.lacks", sources[0].name, severity=Severity.MALFORMED, missing=lacking[:5], files=files)
    return Read(health_table(_joined([one for one in found if _PERSON in one])))


def _joined(files: Sequence[Variables]) -> dict[str, NDArray[np.float64]]:
    """The variables of the people who are in every file, by their number."""
    people = files[0][_PERSON]
    for other in files[1:]:
        people = np.intersect1d(people, other[_PERSON])
    joined: dict[str, NDArray[np.float64]] = {}
    for one in files:
        order = np.argsort(one[_PERSON], kind="stable")
        rows = order[np.searchsorted(one[_PERSON], people, sorter=order)]
        joined |= {name: values[rows] for name, values in one.items() if name not in joined}
    return joined


def health_table(people: Variables) -> Table:
    """B: people of 20 years and more, without those at genetic risk (DIQ175A = 10), none with a value missing.

    The quartiles of activity are those of all people who were joined.
    """
    sick = people["LBXGH"] >= 6.5
    for name in ("DIQ010", "DIQ050", "DIQ070"):
        sick |= people[name] == 1
    effort = _effort(people)
    quartile = np.searchsorted(np.quantile(effort, (0.25, 0.5, 0.75)), effort, side="left")
    chosen = (people["RIDAGEYR"] >= 20) & (people["DIQ175A"] != 10)
    texts: dict[str, NDArray[Any]] = {QM: np.asarray(LEVELS[QM])[quartile]}
    for name, (variable, words) in _CODED.items():
        texts[name] = np.array([words.get(int(code), "") if code == code else "" for code in people[variable].tolist()])
        chosen &= texts[name] != ""
    for variable in ("RIDAGEYR", "BMXBMI", "LBXGH", "DPQ020"):
        chosen &= ~np.isnan(people[variable])
    numbers = {
        AGE: people["RIDAGEYR"],
        BMI: people["BMXBMI"].round(1),
        DEP: np.isin(people["DPQ020"], (1, 2, 3)).astype(np.int64),
        PIR: (people["INDFMMPI"] < 1).astype(np.int64),
        DIA: sick.astype(np.int64),
        **{name: np.zeros(len(sick), dtype=np.int64) for name in UNUSED},
    }
    rows = np.flatnonzero(chosen)
    columns = {name: (texts[name] if name in texts else numbers[name])[rows].tolist() for name in NAMES}
    return Table.from_rows(SCHEMA, list(zip(*columns.values(), strict=True)))


def _effort(people: Variables) -> NDArray[np.float64]:
    """Minutes x days x 8 of vigorous activities and x 4 of moderate ones; what was not told counts 0."""
    told = {name: np.nan_to_num(people[name]) for pair in (*_VIGOROUS, *_MODERATE) for name in pair}
    told = {name: np.where(np.isin(values, _NOT_TOLD), 0, values) for name, values in told.items()}
    vigorous = sum(told[minutes] * told[days] for minutes, days in _VIGOROUS)
    moderate = sum(told[minutes] * told[days] for minutes, days in _MODERATE)
    return np.asarray(8 * vigorous + 4 * moderate, dtype=np.float64)
