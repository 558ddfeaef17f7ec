"""The questioner's work: A from the Census data, B = G(seed, A), C_i = H(i, B), and everything as folders to hand over."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo import __version__
from kakurenbo.commitments import COMMITMENTS_FILE, OPENING_FILE, commit
from kakurenbo.contracts import Files, Preparation
from kakurenbo.datasets.adult import adult_statistics
from kakurenbo.datasets.store import load_adult
from kakurenbo.errors import ParameterError, UsageError
from kakurenbo.generators import GENERATORS, distinct_rows, fidelity, sample_rows
from kakurenbo.rng import stream
from kakurenbo.rulebooks.amic2020 import files
from kakurenbo.rulebooks.amic2020.files import Handout
from kakurenbo.tables import Moments, Table, table_bytes

PERSONAL_ROWS, TEST_ROWS = 30_162, 15_060
EMBEDDED = "embedded statistics: A and test.csv are drawn from stored moments of Census Income, not its real rows"
IMPORTED = "Census Income, imported files"


@dataclass(frozen=True)
class Scale:
    """Row counts: rows of B, and rows drawn before duplicates are dropped."""

    population: int
    drawn: int
    test: int


SCALES = {"full": Scale(100_000, 1_000_000, TEST_ROWS), "small": Scale(10_000, 100_000, TEST_ROWS // 10)}


@dataclass(frozen=True, eq=False)
class Secrets:
    """B and the answers of all teams: the state that ``publish`` needs."""

    population: Table
    answers: Mapping[str, NDArray[np.int64]]


def prepare(
    seed: int, teams: Sequence[str], *, round_: str, scale: str, generator: str, data: str, settings: Mapping[str, Any]
) -> Preparation[Handout]:
    """Everything the organizer needs for a round; ``settings`` go into ``contest.json``."""
    _check_teams(teams)
    size = SCALES[scale]
    personal, test, origin = personal_data(seed, data)
    test = test.take(sample_rows(len(test), size.test, stream(seed, "amic2020", "test"))) if size.test < len(test) else test
    source = Moments.of(personal)
    population = distinct_rows(
        GENERATORS[generator], source, size.population, size.drawn, stream(seed, "amic2020", round_, "population")
    )
    answers = {team: _sampled(len(population), stream(seed, "amic2020", round_, "sample", team)) for team in teams}
    facts = {
        "rulebook": "amic2020",
        "version": __version__,
        "round": round_,
        "data": origin,
        "population_rows": len(population),
        "sample_rows": len(population) // files.SAMPLING_RATE,
        "teams": list(teams),
        "settings": dict(settings),
    }
    handouts = {team: Handout(team, population.take(rows), test, {**facts, "team": team}) for team, rows in answers.items()}
    folders = _folders(seed, round_, facts, handouts, population, answers, personal, test)
    report = {"data": origin, "fidelity": fidelity(source, population).as_json(), "teams": list(teams)}
    return Preparation(handouts, folders, report, Secrets(population, answers))


def _sampled(rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """C_i = H(i, B): a random tenth of B, shuffled.

    In B's order a release that keeps the order of its rows would tell which row is which, however well its cells are hidden.
    """
    return rng.permutation(sample_rows(rows, rows // files.SAMPLING_RATE, rng))


def _check_teams(teams: Sequence[str]) -> None:
    numbers = {f"{number:02d}" for number in range(1, files.MAX_TEAMS + 1)}
    if not teams or len(set(teams)) < len(teams) or not set(teams) <= numbers:
        raise ParameterError("teams", "different two-digit team numbers from 01 to 99", list(teams))


def personal_data(seed: int, data: str) -> tuple[Table, Table, str]:
    """A and the test rows: the imported files where they are there, else drawn from the embedded statistics."""
    imported = None if data == "embedded" else load_adult()
    if imported is not None:
        return imported.train, imported.test, IMPORTED
    if data == "imported":
        raise UsageError("the Census Income files are not imported; run: kakurenbo data import adult adult.data adult.test")
    draw = GENERATORS["moments"]
    personal = draw(adult_statistics("train"), PERSONAL_ROWS, stream(seed, "amic2020", "personal"))
    test = draw(adult_statistics("test"), TEST_ROWS, stream(seed, "amic2020", "test rows"))
    return personal, test, EMBEDDED


def _folders(
    seed: int,
    round_: str,
    facts: Mapping[str, Any],
    handouts: Mapping[str, Handout],
    population: Table,
    answers: Mapping[str, NDArray[np.int64]],
    personal: Table,
    test: Table,
) -> Mapping[str, Files]:
    population_bytes, test_bytes = table_bytes(population), table_bytes(test)
    answer_files = {files.answer_file(round_, team): files.rows_bytes(rows) for team, rows in answers.items()}
    folders: dict[str, dict[str, bytes]] = {
        "public": {files.CONTEST_FILE: json_bytes(facts)},
        "attackers": {files.CONTEST_FILE: json_bytes(facts), files.population_file(round_): population_bytes},
        "secret": dict(answer_files),
    }
    for team, handout in handouts.items():
        folders[f"teams/{team}"] = {
            files.CONTEST_FILE: json_bytes(handout.facts),
            files.sample_file(round_, team): table_bytes(handout.sample),
            files.TEST_FILE: test_bytes,
        }
        if round_ == "trial":  # for practice: nothing is secret
            folders[f"teams/{team}"] |= {
                files.population_file(round_): population_bytes,
                files.answer_file(round_, team): answer_files[files.answer_file(round_, team)],
                files.PERSONAL_FILE: table_bytes(personal),
            }
    hidden = {
        f"{folder}/{name}": content for folder, part in folders.items() if folder != "public" for name, content in part.items()
    }
    commitments, opening = commit(seed, hidden)
    _place(folders, COMMITMENTS_FILE, commitments)
    _place(folders, OPENING_FILE, opening)
    return folders


def _place(folders: dict[str, dict[str, bytes]], path: str, content: bytes) -> None:
    folder, name = path.split("/")
    folders[folder][name] = content


def json_bytes(content: object) -> bytes:
    """A JSON file, readable and the same every time."""
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()
