"""The files of amic2020: names, what may stand in them, and the handout, submission and answer they hold."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership import MembershipGuess
from kakurenbo.datasets.adult import SCHEMA, read_uci
from kakurenbo.rulebooks.amic2020.questionnaire import Questionnaire
from kakurenbo.tables import Integer, Layout, ProblemCollector, Problems, Schema, Severity, Source, Table, read_table
from kakurenbo.tables.transitional import plain, taken

SAMPLING_RATE = 10  # C_i is a random tenth of B
GUESSES = 100  # rows of B that an attacker names per target
MAX_TEAMS = 99

CONTEST_FILE = "contest.json"
TEST_FILE = "test.csv"
PERSONAL_FILE = "census_income.data.csv"


def population_file(round_: str) -> str:
    return f"{round_}_syntheticdata.csv"


def sample_file(round_: str, team: str) -> str:
    return f"{round_}_samplingdata_{team}.csv"


def answer_file(round_: str, team: str) -> str:
    return f"{round_}_answer_{team}.index"


def release_file(round_: str, team: str) -> str:
    return f"{round_}_anonymizeddata_{team}.csv"


def guess_file(target: str, attacker: str) -> str:
    return f"inference_{target}_{attacker}.index"


def questionnaire_file(team: str) -> str:
    return f"questionnaire_{team}.json"


@dataclass(frozen=True, eq=False)
class Handout:
    """What anonymizer i is given: its sample C_i and the rows that the trees are tested on.

    ``test`` is None where the rows were not there; ``facts`` holds what ``contest.json`` says of the round.
    """

    team: str
    sample: Table
    test: Table | None
    facts: dict[str, Any] = field(default_factory=dict)


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


def release_layout(sample_rows: int) -> Layout:
    """1,000 to 100,000 records for a sample of 10,000: from a tenth to ten times the sample."""
    return Layout(min_rows=max(1, sample_rows // 10), max_rows=sample_rows * 10)


def read_rows(source: Source, population: int, count: int) -> NDArray[np.int64] | Problems:
    """An ``.index`` file: ``count`` different row numbers of B, counted from 0."""
    schema = Schema([Integer("row", 0, population - 1)])
    table = taken(read_table(source, schema, Layout(min_rows=count, max_rows=count)))
    if isinstance(table, Problems):
        return table
    rows = table.values("row")
    first: dict[int, int] = {}
    found = ProblemCollector(source.name)
    for record, row in enumerate(rows.tolist()):
        if row in first:
            message = f"row number {row} is named twice (first in line {first[row] + 1})"
            found.add(
                "plain",
                message=message,
                fix=f"give {count} different rows",
                row=record + 1,
                record=record,
                column="row",
                value=str(row),
            )
        first.setdefault(row, record)
    return found.problems() if found else rows


def rows_bytes(rows: NDArray[np.int64]) -> bytes:
    """Row numbers as an ``.index`` file."""
    return "".join(f"{row}\n" for row in rows.tolist()).encode()


def read_answer(path: Path) -> Answer | Problems:
    """The secret row numbers of one team; B is ten times as long as they are."""
    source = Source.of(path)
    data = source.read()
    if isinstance(data, Problems):
        return data
    count = data.count(b"\n") + (not data.endswith(b"\n"))
    rows = read_rows(source, count * SAMPLING_RATE, count)
    return rows if isinstance(rows, Problems) else Answer(rows, count * SAMPLING_RATE)


def read_guess(source: Source, population: int) -> MembershipGuess | Problems:
    """E_ij: 100 different row numbers of B."""
    rows = read_rows(source, population, GUESSES)
    return rows if isinstance(rows, Problems) else MembershipGuess(rows)


def read_test_rows(source: Source) -> Table | Problems:
    """The rows for the trees: nine columns, or the Census test file as it comes from its source."""
    data = source.read()
    if isinstance(data, Problems):
        return data
    if data.startswith(b"|1x3") or data.split(b"\n", 1)[0].count(b",") == 14:
        return taken(read_uci(source))
    return taken(read_table(source, SCHEMA, Layout(min_rows=1)))


def find_file(folder: Path, pattern: str) -> Path | Problems:
    """The one file of a folder whose name matches the pattern, packed or not."""
    found = sorted(path for path in folder.iterdir() if re.fullmatch(pattern + r"(\.gz)?", path.name))
    if len(found) == 1:
        return found[0]
    shown = pattern.replace(r"\d\d", "NN").replace("\\", "").replace(".*", "*")
    message = f"there are {len(found)} files named {shown}" if found else f"there is no file named {shown}"
    return Problems([plain(message, "give the folder as prepare wrote it", folder.name, severity=Severity.MALFORMED)])


def team_of(name: str) -> str | None:
    """The team number in a file name such as ``main_anonymizeddata_07.csv``."""
    match = re.search(r"_(\d\d)\.(?:csv|index|json)(?:\.gz)?$", name)
    return match.group(1) if match else None
