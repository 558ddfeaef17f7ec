"""What a team is given: its candidate tables B, their ten split files each, and which of the candidates it works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kakurenbo.contest import ContestFolder
from kakurenbo.core import (
    InputError,
    Severity,
    Source,
    Table,
    gather,
    json_bytes,
    read_json,
    table_bytes,
)
from kakurenbo.data import ratings
from kakurenbo.rulebooks.pwscup2024 import names

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


def read_handout(folder: ContestFolder, rulebook: str) -> Handout:
    """The folder of a team, one of the candidates in it, or any single table B."""
    found, chosen = _candidates(folder)
    if not found:
        example = names.candidate_file("07", 1)
        raise InputError.of(
            "pwscup2024.no_candidate", folder.name, severity=Severity.MALFORMED, example=example
        )
    choices: list[Source] = []
    if folder.file is None:
        choices = [source for source in folder.sources if names.is_choice(source.name)]
    with gather() as problems:
        if choices:
            chosen = problems.of(read_choice, choices[0], len(found))
        tables = [problems.of(ratings.read_ratings, source) for source in found]
    facts = folder.facts(rulebook)
    named = {names.candidate_team(source.name) for source in found}
    team = (
        facts.team
        if facts and facts.team
        else (named.pop() if len(named) == 1 else None) or names.UNNAMED
    )
    return Handout(team, tuple(tables), chosen, assigned=bool(facts and facts.team))


def _candidates(folder: ContestFolder) -> tuple[list[Source], int]:
    """All candidates, and which of them was named (from 0): those beside a file that is one of several, else it alone."""
    file = folder.file
    if file is None:
        sources = folder.sources
        return [source for source in sources if names.candidate_team(source.name) is not None], 0
    team = names.candidate_team(file.name)
    if not team:
        return [file], 0
    beside = [source for source in folder.sources if names.candidate_team(source.name) == team]
    numbers = [names.candidate_number(source.name) for source in beside]
    listed = [source.name for source in beside]
    if numbers != list(range(1, len(beside) + 1)) or file.name not in listed:
        return [file], 0
    return beside, listed.index(file.name)


def read_choice(source: Source, candidates: int) -> int:
    """``{"candidate": n}``, counted from 1 in the file; from 0 here."""
    content = read_json(source, names.CHOICE.max_bytes)
    number = content.get("candidate") if isinstance(content, dict) else None
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= candidates:
        raise InputError.of(
            "pwscup2024.no_choice", source.name, severity=Severity.MALFORMED, candidates=candidates
        )
    return number - 1


def choice_bytes(chosen: int) -> bytes:
    return json_bytes({"candidate": chosen + 1})
