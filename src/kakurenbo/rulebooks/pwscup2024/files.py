"""The files of pwscup2024: names, what a team is given, and the small files ``id.txt`` and ``choice.json``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kakurenbo.contest import ContestFolder, FilePattern
from kakurenbo.core import (
    InputError,
    Layout,
    Schema,
    Severity,
    Source,
    Table,
    Text,
    gather,
    json_bytes,
    read_json,
    read_table,
    table_bytes,
)
from kakurenbo.data import ratings

CANDIDATES = 3
TEST_ROWS = ratings.FEWEST_ROWS
"""People that are attacked: rows of a and b, 50."""
UNNAMED = "00"
"""The team of files that name none."""
ID_FILE = "id.txt"
PUBLIC_TABLE = "A.csv"
"""The table that the contest published beside the B files."""
SMALL_BYTES = 10_000

RELEASE = FilePattern("C{team}_{number}.csv", 10_000_000, numbers=range(len(ratings.SPLITS)))
ARCHIVE = FilePattern("C{team}.zip", 100_000_000, optional=True, instead_of=RELEASE.template)
CHOICE = FilePattern("C{team}_choice.json", SMALL_BYTES, optional=True)
PLAIN_CHOICE = FilePattern("choice.json", SMALL_BYTES, optional=True, instead_of=CHOICE.template)
ID = FilePattern(ID_FILE, SMALL_BYTES, optional=True)
GUESSES = FilePattern("E{attacker}.csv", 10_000_000)
SINGLE_GUESS = FilePattern(
    "E{attacker}_{target}.csv", 1_000_000, optional=True, instead_of=GUESSES.template
)
GUESS_ARCHIVE = FilePattern(
    "E{attacker}.zip", 10_000_000, optional=True, instead_of=GUESSES.template
)
_CANDIDATE = re.compile(r"Bi?(\d{2,4})(?:-(\d))?\.csv(?:\.gz)?")
_ATTACK_FILE = re.compile(r"(?:B(\d{2,4}))?([abx])\.csv(?:\.gz)?")


# -- names ---------------------------------------------------------------------------------------------------------------


def candidate_file(team: str, number: int) -> str:
    """Return the name of a candidate table B of a team, counted from 1; the contest called one ``Bi00.csv``."""
    return f"Bi{team}-{number}.csv"


def candidate_team(name: str) -> str | None:
    """Return the team in the name of a table B, ``Bi07-2.csv``, ``B07-2.csv``, ``Bi07.csv`` or ``B07.csv``; None for others."""
    match = _CANDIDATE.fullmatch(name)
    return match[1] if match else None


def candidate_number(name: str) -> int | None:
    """Return which of a team's candidates a file name says, from 1; None if it does not."""
    match = _CANDIDATE.fullmatch(name)
    return int(match[2]) if match and match[2] else None


def is_public_table(name: str) -> bool:
    return name in (PUBLIC_TABLE, f"{PUBLIC_TABLE}.gz")


def release_number(name: str) -> tuple[str, int] | None:
    """Return team and number of a file name such as ``C07_3.csv``; None for other names."""
    fields = RELEASE.parse(name)
    if fields is None or int(fields["number"]) >= len(ratings.SPLITS):
        return None
    return fields["team"], int(fields["number"])


def attack_file(team: str, letter: str) -> str:
    """Return the name of file a (people), b (ratings) or x (answer) of a target."""
    return f"B{team}{letter}.csv"


def attack_letter(name: str) -> tuple[str, str] | None:
    """Return team (may be empty) and letter of such a file name; None for other names."""
    match = _ATTACK_FILE.fullmatch(name)
    return (match[1] or "", match[2]) if match else None


def is_choice(name: str) -> bool:
    """Return whether a file says which candidate a team chose."""
    return CHOICE.parse(name) is not None or PLAIN_CHOICE.parse(name) is not None


# -- what a team is given ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Handout:
    """Candidates of a team.

    Attributes
    ----------
    team : str
    candidates : tuple of Table
    chosen : int
        The candidate that the team works on, from 0.
    assigned : bool
        Whether the organizer's word (``contest.json``) says whose it is, so that files of other teams are refused.
    named : int or None
        The number of the candidate whose file was named, from 0; None where a folder was.
    """

    team: str
    candidates: tuple[Table, ...]
    chosen: int = 0
    assigned: bool = False
    named: int | None = None

    @property
    def table(self) -> Table:
        """The candidate that the team works on."""
        return self.candidates[self.chosen]


def handout_files(team: str, candidates: Sequence[Table]) -> dict[str, bytes]:
    """Write the candidates and the ten split files of each; the contest called one of these ``Bi00_0.csv``."""
    files: dict[str, bytes] = {}
    for number, table in enumerate(candidates, start=1):
        name = candidate_file(team, number)
        files[name] = table_bytes(table, header=True)
        for index, split in enumerate(ratings.split(table)):
            files[name.replace(".", f"_{index}.")] = table_bytes(split, header=True)
    return files


def read_handout(folder: ContestFolder, rulebook: str) -> Handout:
    """Read the folder of a team, one of the candidates in it, or any single table B."""
    sources, chosen = _candidates(folder)
    if not sources:
        code, example = "pwscup2024.no_candidate", candidate_file("07", 1)
        raise InputError.of(code, folder.name, severity=Severity.MALFORMED, example=example)
    choices = [source for source in folder.sources if is_choice(source.name)]
    with gather() as problems:
        if choices and folder.file is None:
            chosen = problems.of(read_choice, choices[0], len(sources))
        tables = [problems.of(ratings.read_ratings, source) for source in sources]
    number = candidate_number(folder.file.name) if folder.file else None
    named = None if number is None else number - 1
    facts = folder.facts(rulebook)
    if facts and facts.team:
        return Handout(facts.team, tuple(tables), chosen, assigned=True, named=named)
    teams = {candidate_team(source.name) for source in sources}
    team = (len(teams) == 1 and teams.pop()) or UNNAMED
    return Handout(team, tuple(tables), chosen, named=named)


def _candidates(folder: ContestFolder) -> tuple[list[Source], int]:
    """Return all candidates, and which of them was named (from 0): those beside a file that is one of several, else it alone."""
    file = folder.file
    if file is None:
        return [source for source in folder.sources if candidate_team(source.name) is not None], 0
    team = candidate_team(file.name)
    sources = [s for s in folder.sources if team is not None and candidate_team(s.name) == team]
    listed = [source.name for source in sources]
    if [*map(candidate_number, listed)] != [*range(1, len(listed) + 1)] or file.name not in listed:
        return [file], 0
    return sources, listed.index(file.name)


def read_choice(source: Source, candidates: int) -> int:
    """Read ``{"candidate": n}``, counted from 1 in the file; from 0 here."""
    content = read_json(source, CHOICE.max_bytes)
    number = content.get("candidate") if isinstance(content, dict) else None
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= candidates:
        code, malformed = "pwscup2024.no_choice", Severity.MALFORMED
        raise InputError.of(code, source.name, severity=malformed, candidates=candidates)
    return number - 1


def choice_bytes(chosen: int) -> bytes:
    return json_bytes({"candidate": chosen + 1})


def check_id(sources: Sequence[Source], team: str) -> None:
    """Check ``id.txt``, which the contest wanted in every archive: the number of the team; it may be absent.

    Parameters
    ----------
    sources : sequence of Source
        The submitted files; those with other names are passed over.
    team : str
        The team that submitted them; empty if it is not known.
    """
    with gather() as problems:
        for source in sources:
            if source.name == ID_FILE:
                problems.of(_check_id_file, source, team)


def _check_id_file(source: Source, team: str) -> None:
    table = read_table(source, Schema([Text("team")]), Layout(False, 1, 1, SMALL_BYTES))
    number = str(table.values("team")[0]).strip()
    details = {"row": 1, "value": number, "team": team or UNNAMED}
    if not (number.isascii() and number.isdecimal() and len(number) <= 4):
        raise InputError.of("pwscup2024.id_no_number", source.name, **details)
    if team and int(number) != int(team):
        raise InputError.of("pwscup2024.id_other_team", source.name, **details)
