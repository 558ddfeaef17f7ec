"""What a team is given: its candidate tables B, their ten split files each, and which of the candidates it works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kakurenbo.contracts import read_facts
from kakurenbo.datasets import ratings
from kakurenbo.rulebooks.pwscup2024 import names
from kakurenbo.tables import (
    Problems,
    Read,
    Reading,
    Severity,
    Source,
    Table,
    json_bytes,
    notices_of,
    read_json,
    refused,
    sources_of,
    table_bytes,
)

CANDIDATES = 3
TEST_ROWS = ratings.FEWEST_ROWS
"""People that are attacked: rows of a and b, 50."""


@dataclass(frozen=True, eq=False)
class Handout:
    """The candidates of a team.

    Attributes
    ----------
    team : str
    candidates : tuple of Table
    chosen : int
        The candidate that the team works on, from 0.
    assigned : bool
        Whether the organizer's word (``contest.json``) says whose it is, so that files of other teams are refused.
    """

    team: str
    candidates: tuple[Table, ...]
    chosen: int = 0
    assigned: bool = False

    @property
    def table(self) -> Table:
        """The candidate that the team works on."""
        return self.candidates[self.chosen]


def handout_files(team: str, candidates: Sequence[Table]) -> dict[str, bytes]:
    """The candidates and the ten split files of each."""
    files: dict[str, bytes] = {}
    for number, table in enumerate(candidates, start=1):
        files[names.candidate_file(team, number)] = table_bytes(table, header=True)
        for index, split in enumerate(ratings.split(table)):
            files[names.split_file(team, number, index)] = table_bytes(split, header=True)
    return files


def read_handout(path: Path, rulebook: str) -> Reading[Handout]:
    """The folder of a team, one of the candidates in it, or any single table B."""
    found, chosen = _candidates(path)
    if not found:
        example = names.candidate_file("07", 1)
        return refused("pwscup2024.no_candidate", path.name, severity=Severity.MALFORMED, example=example)
    choices = [source for source in sources_of(path) if names.is_choice(source.name)] if path.is_dir() else []
    choice = read_choice(choices[0], len(found)) if choices else Read(chosen)
    readings = [ratings.read_ratings(source) for source in found]
    problems = Problems.of(choice, *readings)
    if problems or isinstance(choice, Problems):
        return problems
    tables = tuple(reading.value for reading in readings if isinstance(reading, Read))
    facts = read_facts(path, rulebook)
    named = {names.candidate_team(source.name) for source in found}
    team = facts.team if facts and facts.team else (named.pop() if len(named) == 1 else None) or names.UNNAMED
    handout = Handout(team, tables, choice.value, assigned=bool(facts and facts.team))
    return Read(handout, notices_of(choice, *readings))


def _candidates(path: Path) -> tuple[list[Source], int]:
    """All candidates, and which of them was named (from 0): those beside a file that is one of several, else it alone."""
    if path.is_dir():
        return [source for source in sources_of(path) if names.candidate_team(source.name) is not None], 0
    team = names.candidate_team(path.name)
    beside = [source for source in sources_of(path.parent) if team and names.candidate_team(source.name) == team]
    numbers = [names.candidate_number(source.name) for source in beside]
    if numbers != list(range(1, len(beside) + 1)) or path.name not in {source.name for source in beside}:
        return [Source.of(path)], 0
    return beside, [source.name for source in beside].index(path.name)


def read_choice(source: Source, candidates: int) -> Reading[int]:
    """``{"candidate": n}``, counted from 1 in the file; from 0 here."""
    read = read_json(source, names.CHOICE.max_bytes)
    if isinstance(read, Problems):
        return read
    number = read.value.get("candidate") if isinstance(read.value, dict) else None
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= candidates:
        return refused("pwscup2024.no_choice", source.name, severity=Severity.MALFORMED, candidates=candidates)
    return Read(number - 1, read.notices)


def choice_bytes(chosen: int) -> bytes:
    return json_bytes({"candidate": chosen + 1})
