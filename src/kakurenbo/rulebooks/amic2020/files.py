"""The files of amic2020: names, what may stand in them, and the handout, submission and answer they hold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kakurenbo.contest import ContestFolder, FilePattern
from kakurenbo.contest.bases import MembershipAnswer, TeamTable, read_rows
from kakurenbo.contest.folders import TARGET
from kakurenbo.core import Source, Table
from kakurenbo.rulebooks import sources
from kakurenbo.rulebooks.amic2020.questionnaire import MAX_BYTES, Questionnaire

GUESSES = 100  # rows of B that an attacker names per target
TRIAL = "trial"
TEST_FILE, PERSONAL_FILE = "test.csv", "census_income.data.csv"
SAMPLE, POPULATION = "{round}_samplingdata_{team}.csv", "{round}_syntheticdata.csv"
ANSWER = "{round}_answer_{team}.index"
RELEASE = FilePattern("{round}_anonymizeddata_{team}.csv")
QUESTIONNAIRE = FilePattern(
    "questionnaire_{team}.json", max_bytes=MAX_BYTES, optional=True, attachment=True
)
GUESS = FilePattern("inference_{target}_{attacker}.index", max_bytes=1_000_000)
ROW_TWICE = "amic2020.row_twice"

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

Answer = MembershipAnswer


def without_team(template: str) -> str:
    """Return the name of a file of the trial, where files carry no team number."""
    return template.replace("_{team}", "")


@dataclass(frozen=True)
class Scale:
    """Row counts: rows of B, and rows for the trees."""

    population: int
    test: int


SCALES = {"full": Scale(100_000, 15_060), "small": Scale(10_000, 1_506)}


@dataclass(frozen=True, eq=False)
class Handout(TeamTable):
    """Data of anonymizer i: its sample C_i, and the rows that the trees are tested on if they are known."""

    test: Table | None


@dataclass(frozen=True, eq=False)
class Submission:
    """Valid D_i and the team's questionnaire."""

    table: Table
    questionnaire: Questionnaire


def read_answer(source: Source, rate: float) -> Answer:
    """Read the secret row numbers of one team, of which there are ``rate`` times as many as B has rows."""
    source = source.loaded()
    data = source.read()
    count = data.count(b"\n") + (not data.endswith(b"\n"))
    population = population_of(count, rate)
    return Answer(read_rows(source, population, count, ROW_TWICE), population)


def population_of(count: int, rate: float) -> int:
    """Return how many rows B has of which ``count`` were sampled: those of a scale where it fits one, else the nearest number.

    Examples
    --------
    >>> population_of(10_000, 0.1), population_of(1_000, 0.1), population_of(12_346, 0.123456)
    (100000, 10000, 100000)
    """
    sizes = (scale.population for scale in SCALES.values())
    fitting = (population for population in sizes if sample_size(population, rate) == count)
    return next(fitting, max(count, round(count / rate)))


def sample_size(population: int, rate: float) -> int:
    """Return how many rows a sample has: ``rate * population``, rounded."""
    return round(rate * population)


def team_in(name: str) -> str:
    """Return the team number in a file name such as ``main_samplingdata_07.csv``; empty for none."""
    match = re.search(r"_(\d\d)\.[a-z]+(?:\.gz)?$", name)
    return match[1] if match else ""


def name_patterns(template: str) -> tuple[FilePattern, FilePattern]:
    """Return names with and without a team number."""
    return FilePattern(template), FilePattern(without_team(template))


def find_file(folder: ContestFolder, template: str) -> Source:
    """Return the file that was given, or the only one of such a name in a folder."""
    name = without_team(template).replace("{round}", "ROUND")
    patterns = name_patterns(template)
    return sources.find_file(folder, "amic2020.not_one_file", *patterns, name=name)


def published_form(release: Source) -> Source | None:
    """Return the questionnaire beside a release that is given as a single file of a published target."""
    if not isinstance(release.origin, Path):
        return None
    folder = ContestFolder(release.origin)
    facts = folder.facts()
    if facts is None or facts.folder != TARGET:
        return None
    named = (source for source in folder.sources if source.name.startswith("questionnaire"))
    return next(named, None)
