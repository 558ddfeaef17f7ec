"""Names of the files of pwscup2024, and the small files that only tell something: ``id.txt``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kakurenbo.contest import FilePattern
from kakurenbo.core import InputError, Layout, Schema, Source, Text, gather, read_table
from kakurenbo.data.ratings import SPLITS

UNNAMED = "00"
"""The team of files that name none."""
ID_FILE = "id.txt"
PUBLIC_TABLE = "A.csv"
"""The table that the contest published beside the B files."""
_SMALL = 10_000  # bytes

RELEASE = FilePattern("C{team}_{number}.csv", 10_000_000, numbers=range(len(SPLITS)))
ARCHIVE = FilePattern("C{team}.zip", 100_000_000, optional=True, instead_of=RELEASE.template)
CHOICE = FilePattern("C{team}_choice.json", _SMALL, optional=True)
PLAIN_CHOICE = FilePattern("choice.json", _SMALL, optional=True, instead_of=CHOICE.template)
ID = FilePattern(ID_FILE, _SMALL, optional=True)
GUESSES = FilePattern("E{attacker}.csv", 10_000_000)
ONE_GUESS = FilePattern(
    "E{attacker}_{target}.csv", 1_000_000, optional=True, instead_of=GUESSES.template
)
GUESS_ARCHIVE = FilePattern(
    "E{attacker}.zip", 10_000_000, optional=True, instead_of=GUESSES.template
)

_CANDIDATE = re.compile(r"Bi?(\d{2,4})(?:-(\d))?\.csv(?:\.gz)?")
_ATTACK_FILE = re.compile(r"(?:B(\d{2,4}))?([abx])\.csv(?:\.gz)?")


def candidate_file(team: str, number: int) -> str:
    """A candidate table B of a team, counted from 1; the contest called one ``Bi00.csv``."""
    return f"Bi{team}-{number}.csv"


def split_file(team: str, candidate: int, number: int) -> str:
    """One of the ten split files of a candidate, counted from 0; the contest called one ``Bi00_0.csv``."""
    return f"Bi{team}-{candidate}_{number}.csv"


def candidate_team(name: str) -> str | None:
    """The number in the name of a table B, ``Bi07-2.csv``, ``B07-2.csv``, ``Bi07.csv`` or ``B07.csv``; None for other names."""
    match = _CANDIDATE.fullmatch(name)
    return match[1] if match else None


def is_of_others(name: str) -> bool:
    """Whether a file is no part of a target but a table of other people: a candidate B, or the public A."""
    return candidate_team(name) is not None or name in (PUBLIC_TABLE, f"{PUBLIC_TABLE}.gz")


def candidate_number(name: str) -> int | None:
    """Which of a team's candidates a file name says, from 1; None where it does not."""
    match = _CANDIDATE.fullmatch(name)
    return int(match[2]) if match and match[2] else None


def release_number(name: str) -> tuple[str, int] | None:
    """Team and number of a file name such as ``C07_3.csv``; None for other names."""
    fields = RELEASE.parse(name)
    return (
        (fields["team"], int(fields["number"]))
        if fields and int(fields["number"]) < len(SPLITS)
        else None
    )


def attack_file(team: str, letter: str) -> str:
    """File a (people), b (ratings) or x (answer) of a target."""
    return f"B{team}{letter}.csv"


def attack_letter(name: str) -> tuple[str, str] | None:
    """Team (may be empty) and letter of such a file name; None for other names."""
    match = _ATTACK_FILE.fullmatch(name)
    return (match[1] or "", match[2]) if match else None


def is_choice(name: str) -> bool:
    """Whether a file tells which candidate a team chose."""
    return CHOICE.parse(name) is not None or PLAIN_CHOICE.parse(name) is not None


def check_id(sources: Sequence[Source], team: str) -> None:
    """Check ``id.txt``, which the contest wanted in every archive: the number of who hands it in; it need not be there.

    Parameters
    ----------
    sources : sequence of Source
        The files that were handed in; those with other names are passed over.
    team : str
        Who handed them in; empty where nobody knows.
    """
    with gather() as problems:
        for source in sources:
            if source.name == ID_FILE:
                problems.of(_check_one_id, source, team)


def _check_one_id(source: Source, team: str) -> None:
    layout = Layout(min_rows=1, max_rows=1, max_bytes=_SMALL)
    table = read_table(source, Schema([Text("team")]), layout)
    text = str(table.values("team")[0]).strip()
    if not (text.isascii() and text.isdecimal() and len(text) <= 4):
        raise InputError.of(
            "pwscup2024.id_no_number", source.name, row=1, value=text, team=team or UNNAMED
        )
    if team and int(text) != int(team):
        raise InputError.of("pwscup2024.id_other_team", source.name, row=1, value=text, team=team)
