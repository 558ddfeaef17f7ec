"""Make ``src/kakurenbo/data/stored/health.json``: what the embedded B of pwscup2021 is drawn from.

    python scripts/make_nhanes_statistics.py B_nhanes2017_18.csv.gz published_B_statistics.csv

The contest's B is NHANES 2015-2016, of which its organizers published the counts of every variable with and without diabetes.
The real rows that we have are those of 2017-2018 (public domain). They are weighted by raking until they have the published
shares; the moments of a table in which each row stands as often as its weight says are stored, and no row.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kakurenbo.core import Category, InputError, Moments, Source, Table, json_bytes, write_file
from kakurenbo.data import health
from kakurenbo.measures.crosstab import Bins

COPIES = 10  # rows of the weighted table for each row of the contest's B
_RAKINGS = 200
_BINS = {health.AGE: Bins.between(19, 44, 64, 80), health.BMI: Bins.between(15, 18.5, 25, 30, 70)}
_OUT = Path(__file__).parents[1] / "src" / "kakurenbo" / "data" / "stored" / health.STATISTICS_FILE


def main(rows_file: str, counts_file: str) -> None:
    """Write the statistics."""
    try:
        people = health.read_health(Source.of(rows_file))
    except InputError as error:
        raise SystemExit(str(error)) from error
    table = people.take(people.values(health.BMI) <= _BINS[health.BMI].edges[-1])
    weights = _raked(table, list(_margins(table, Path(counts_file))))
    # Systematic sampling: each row as often as its weight says, to the next whole number.
    ends = np.cumsum(weights / weights.sum()) * health.ROWS * COPIES
    places = np.searchsorted(ends, np.arange(health.ROWS * COPIES) + 0.5).clip(max=len(table) - 1)
    write_file(
        _OUT,
        json_bytes(Moments.of(health.counted(table.take(places))).as_json()).replace(
            b"\n   ", b" "
        ),
    )


def _margins(table: Table, counts_file: Path) -> Iterator[tuple[NDArray[np.bool_], float]]:
    """Which rows are in each published cell, and how many there should be."""
    sick = table.values(health.DIA) == 1
    with counts_file.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            if line["kind"] != "count":
                continue
            inside = _has_level(table, line["variable"], line["level"].replace(",", ", "))
            yield inside & ~sick, float(line["dia_0_or_coef"])
            yield inside & sick, float(line["dia_1_or_OR"])


def _has_level(table: Table, variable: str, level: str) -> NDArray[np.bool_]:
    if variable in _BINS:
        bins = _BINS[variable]
        return bins.codes(table.values(variable)) == bins.labels.index(level)
    column = table.schema[variable]
    return table.values(variable) == (level if isinstance(column, Category) else int(level))


def _raked(table: Table, margins: list[tuple[NDArray[np.bool_], float]]) -> NDArray[np.float64]:
    weights = np.ones(len(table))
    for _ in range(_RAKINGS):
        for inside, wanted in margins:
            weights[inside] *= wanted / weights[inside].sum()
    return weights


if __name__ == "__main__":
    main(*sys.argv[1:])
