"""NHANES health checks: the twelve columns of pwscup2021, its table B, and the statistics of it that are embedded."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

import numpy as np

from kakurenbo.tables import Category, Decimal, Integer, Layout, Moments, Problems, Read, Schema, Source, Table, read_table

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
