"""The files of amic2020: names, what may stand in them, and the handout, submission and answer they hold."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contest import ContestFolder, FilePattern
from kakurenbo.core import (
    InputError,
    Integer,
    Layout,
    ProblemCollector,
    Schema,
    Severity,
    Source,
    Table,
    read_table,
)
from kakurenbo.rulebooks.amic2020.questionnaire import MAX_BYTES, Questionnaire

GUESSES = 100  # rows of B that an attacker names per target
TRIAL = "trial"
TEST_FILE, PERSONAL_FILE = "test.csv", "census_income.data.csv"
RELEASE = FilePattern("{round}_anonymizeddata_{team}.csv")
QUESTIONNAIRE = FilePattern(
    "questionnaire_{team}.json", max_bytes=MAX_BYTES, optional=True, attachment=True
)
GUESS = FilePattern("inference_{target}_{attacker}.index", max_bytes=1_000_000)

SAMPLE_NAME = re.compile(r"[a-z]+_samplingdata(_\d\d)?\.csv(\.gz)?")
POPULATION_NAME = re.compile(r"[a-z]+_syntheticdata\.csv(\.gz)?")
RELEASE_NAME = re.compile(r"[a-z]+_anonymizeddata(_\d\d)?\.csv(\.gz)?")
ANSWER_NAME = re.compile(r"[a-z]+_answer(_\d\d)?\.index(\.gz)?")
QUESTIONNAIRE_NAME = re.compile(r".*\.json(\.gz)?")

DESCRIPTIONS = {
    "*_samplingdata*.csv": "amic2020.file.sample",
    TEST_FILE: "amic2020.file.test",
    "questionnaire*.json": "amic2020.file.questionnaire",
    PERSONAL_FILE: "amic2020.file.personal",
    "*_syntheticdata.csv": "amic2020.file.population",
    "*_anonymizeddata*.csv": "amic2020.file.release",
    "*_answer*.index": "amic2020.file.answer",
}
"""Message codes of what each file holds, by pattern of its name."""


def population_file(round_: str) -> str:
    return f"{round_}_syntheticdata.csv"


def sample_file(round_: str, team: str) -> str:
    return f"{round_}_samplingdata{_number(round_, team)}.csv"


def answer_file(round_: str, team: str) -> str:
    return f"{round_}_answer{_number(round_, team)}.index"


def release_file(round_: str, team: str) -> str:
    return f"{round_}_anonymizeddata{_number(round_, team)}.csv"


def questionnaire_file(round_: str, team: str) -> str:
    return f"questionnaire{_number(round_, team)}.json"


def _number(round_: str, team: str) -> str:
    """Files of the trial carry no team number."""
    return "" if round_ == TRIAL else f"_{team}"


@dataclass(frozen=True)
class Scale:
    """Row counts: rows of B, and rows for the trees."""

    population: int
    test: int


SCALES = {"full": Scale(100_000, 15_060), "small": Scale(10_000, 1_506)}


@dataclass(frozen=True, eq=False)
class Handout:
    """What anonymizer i is given: its sample C_i and the rows that the trees are tested on (None where they are not there)."""

    team: str
    sample: Table
    test: Table | None


@dataclass(frozen=True, eq=False)
class Submission:
    """A valid D_i and the team's questionnaire."""

    table: Table
    questionnaire: Questionnaire


@dataclass(frozen=True, eq=False)
class Answer:
    """The rows of B that are in C_i, and how many rows B has."""

    rows: NDArray[np.int64]
    population: int


def read_rows(source: Source, population: int, count: int) -> NDArray[np.int64]:
    """An ``.index`` file: ``count`` different row numbers of B, counted from 0."""
    schema = Schema([Integer("row", 0, population - 1)])
    rows = read_table(source, schema, Layout(min_rows=count, max_rows=count)).values("row")
    first: dict[int, int] = {}
    found = ProblemCollector(source.name)
    for record, row in enumerate(rows.tolist()):
        if row in first:
            told = {"number": row, "line": first[row] + 1, "count": count}
            found.add(
                "amic2020.row_twice",
                row=record + 1,
                record=record,
                column="row",
                value=str(row),
                **told,
            )
        first.setdefault(row, record)
    found.check()
    return rows


def rows_bytes(rows: NDArray[np.int64]) -> bytes:
    """Row numbers as an ``.index`` file."""
    return "".join(f"{row}\n" for row in rows.tolist()).encode()


def read_answer(folder: ContestFolder, rate: float) -> Answer:
    """The secret row numbers of one team, of which there are ``rate`` times as many as B has rows."""
    return read_answer_file(find_file(folder, ANSWER_NAME), rate)


def read_answer_file(source: Source, rate: float) -> Answer:
    """The same, from its file."""
    source = source.loaded()
    data = source.read()
    count = data.count(b"\n") + (not data.endswith(b"\n"))
    population = population_of(count, rate)
    return Answer(read_rows(source, population, count), population)


def population_of(count: int, rate: float) -> int:
    """How many rows B has of which ``count`` were sampled: those of a scale where it fits one, else the nearest number.

    Examples
    --------
    >>> population_of(10_000, 0.1), population_of(1_000, 0.1), population_of(12_346, 0.123456)
    (100000, 10000, 100000)
    """
    fitting = (
        scale.population
        for scale in SCALES.values()
        if sample_size(scale.population, rate) == count
    )
    return next(fitting, max(count, round(count / rate)))


def sample_size(population: int, rate: float) -> int:
    """How many rows a sample has: ``rate * population``, rounded."""
    return round(rate * population)


def team_in(name: str) -> str:
    """The team number in a file name such as ``main_samplingdata_07.csv``; empty for none."""
    match = re.search(r"_(\d\d)\.[a-z]+(?:\.gz)?$", name)
    return match[1] if match else ""


def find_file(folder: ContestFolder, name: re.Pattern[str]) -> Source:
    """The one file of a folder that goes by such a name, packed or not; or the file that was given."""
    found = folder.find(name)
    if len(found) == 1:
        return found[0]
    shown = re.sub(r"\(.*?\)\?|\\", "", name.pattern).replace("[a-z]+", "ROUND")
    raise InputError.of(
        "amic2020.not_one_file",
        folder.name,
        severity=Severity.MALFORMED,
        count=len(found),
        name=shown,
    )
