"""The files of pwscup2024: names, what may stand in them, and the handout, submission and answer they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.knowledge import RATING_VALUES, STAR, UNKNOWN, RatingsGuess
from kakurenbo.datasets import ratings
from kakurenbo.tables import (
    Category,
    Layout,
    Problem,
    ProblemCollector,
    Problems,
    Schema,
    Severity,
    Source,
    Table,
    Text,
    read_table,
    table_bytes,
)
from kakurenbo.tables.transitional import plain, taken

CANDIDATES = 3
TEST_ROWS = 50  # people of a and b
CONTEST_FILE = "contest.json"
DIGESTS_FILE = "digests.json"
MASKS_FILE = "masks.csv"
UNNAMED = "00"

_BLANKS = ("", STAR)


def candidate_file(team: str, number: int) -> str:
    return f"B{team}-{number}.csv"


def release_file(team: str, number: int) -> str:
    return f"C{team}_{number}.csv"


def choice_file(team: str) -> str:
    return f"C{team}_choice.json"


def is_choice(name: str) -> bool:
    """Whether a file tells which candidate a team chose."""
    return re.fullmatch(r"(C\d\d_)?choice\.json", name) is not None


def people_file(team: str) -> str:
    return f"B{team}a.csv"


def ratings_file(team: str) -> str:
    return f"B{team}b.csv"


def answer_file(team: str) -> str:
    return f"B{team}x.csv"


def guess_file(attacker: str) -> str:
    return f"E{attacker}.csv"


def masks_file(team: str | None) -> str:
    """The committed masked columns: of all teams, or of one."""
    return MASKS_FILE if team is None else f"masks_{team}.csv"


@dataclass(frozen=True, eq=False)
class Handout:
    """What a team is given: its candidate tables B, and which of them it works on (0-based)."""

    team: str
    candidates: tuple[Table, ...]
    chosen: int = 0
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def table(self) -> Table:
        """The candidate that the team works on."""
        return self.candidates[self.chosen]


@dataclass(frozen=True, eq=False)
class Submission:
    """Ten valid files, and the candidate they were made of (0-based)."""

    tables: tuple[Table, ...]
    chosen: int = 0


@dataclass(frozen=True, eq=False)
class Answer:
    """For each row of b its row of a (0-based), and the hidden rating; both of shape (50,)."""

    people: NDArray[np.int64]
    values: NDArray[np.int64]


# -- B ------------------------------------------------------------------------------------------------------------------


def read_original(source: Source) -> Table | Problems:
    """A table B; attributes get the levels that occur in it, since only those may occur in a release of it."""
    layout = Layout(header=True, min_rows=TEST_ROWS)
    table = taken(read_table(source, ratings.widest_schema(), layout))
    return table if isinstance(table, Problems) else ratings.narrowed(table)


def read_choice(source: Source, candidates: int) -> int | Problems:
    """``{"candidate": n}``, counted from 1 in the file."""
    data = source.read(10_000)
    if isinstance(data, Problems):
        return data
    try:
        number = json.loads(data)["candidate"]
    except (ValueError, KeyError, TypeError, RecursionError):
        number = None
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= candidates:
        fix = f'write {{"candidate": n}} with n from 1 to {candidates}'
        return Problems([plain("this does not name a candidate", fix, source.name, severity=Severity.MALFORMED)])
    return number - 1


def choice_bytes(chosen: int) -> bytes:
    return (json.dumps({"candidate": chosen + 1}) + "\n").encode()


# -- C ------------------------------------------------------------------------------------------------------------------


def release_number(name: str) -> tuple[str, int] | None:
    """Team and number of a file name such as ``C07_3.csv``."""
    match = re.fullmatch(r"C(\d\d)_(\d)\.csv(?:\.gz)?", name)
    return (match.group(1), int(match.group(2))) if match else None


def sort_release(
    sources: Sequence[Source], team: str | None, notices: list[Problem] | None, *, strict: bool
) -> dict[int, Source] | Problems:
    """The ten files by number.

    Parameters
    ----------
    team : str or None
        Whose files they must be; None where any team's will do.
    strict : bool
        Whether other files beside the ten are refused (an archive) or left aside with a notice (a folder).
    """
    found: dict[int, Source] = {}
    refused: list[Problem] = []
    teams = set()
    for source in sources:
        named = release_number(source.name)
        if named is None or (team is not None and named[0] != team):
            fix = f"the ten files are {release_file(team or 'NN', 0)} to {release_file(team or 'NN', 9)}"
            if strict:
                refused.append(plain("this is no file of the release", fix, source.name))
            elif notices is not None:
                message = "this is no file of the release: left aside"
                notices.append(plain(message, file=source.name, severity=Severity.NOTICE))
        elif named[1] in found:
            refused.append(plain(f"file {named[1]} is there twice", "give each of the ten files once", source.name))
        else:
            found[named[1]] = source
            teams.add(named[0])
    missing = [release_file(team or "NN", number) for number in range(len(ratings.SPLITS)) if number not in found]
    if missing:
        refused.append(plain(f"{', '.join(missing)} is missing", "give all ten files", "release"))
    if len(teams) > 1:
        refused.append(plain(f"files of the teams {', '.join(sorted(teams))}", "give the files of one team", "release"))
    return Problems(refused) if refused else found


def read_release(
    sources: dict[int, Source], original: Table, notices: list[Problem] | None = None
) -> tuple[Table, ...] | Problems:
    """All ten files against the splits of B; the problems of all of them together."""
    tables, refused = [], []
    layout = Layout(header=True, min_rows=len(original), max_rows=len(original))
    for number, split in enumerate(ratings.split(original)):
        table = taken(read_table(sources[number], split.schema, layout), notices)
        if isinstance(table, Problems):
            refused.append(table)
        else:
            tables.append(table)
    return Problems.of(*refused) if refused else tuple(tables)


def read_released_alone(sources: dict[int, Source]) -> tuple[Table, ...] | Problems:
    """The ten files as attackers read them: without B, so any value of the contest's domains may occur."""
    schema = ratings.widest_schema(names=False)
    layout = Layout(header=True, min_rows=1)
    tables = [
        taken(read_table(sources[number], schema.select(columns), layout))
        for number, columns in enumerate(ratings.SPLIT_COLUMNS)
    ]
    refused = [table for table in tables if isinstance(table, Problems)]
    read = tuple(table for table in tables if isinstance(table, Table))
    if refused or len({len(table) for table in read}) == 1:
        return Problems.of(*refused) if refused else read
    counts = ", ".join(str(len(table)) for table in read)
    return Problems(
        [plain(f"the ten files have different numbers of rows ({counts})", "give the files of one release", "release")]
    )


# -- a, b, x and E ------------------------------------------------------------------------------------------------------


def starred_schema() -> Schema:
    """The columns of b: ratings, or the star."""
    levels = (*map(str, range(RATING_VALUES)), STAR)
    return Schema(Category(name, levels) for name in ratings.MOVIES)


def read_people(source: Source) -> Table | Problems:
    """File a."""
    schema = ratings.widest_schema().select((ratings.NAME, *ratings.ATTRIBUTES))
    return taken(read_table(source, schema, Layout(header=True, min_rows=1)))


def read_starred(source: Source, rows: int) -> Table | Problems:
    """File b: as many rows as a, one star in each."""
    layout = Layout(header=True, min_rows=rows, max_rows=rows)
    table = taken(read_table(source, starred_schema(), layout))
    if isinstance(table, Problems):
        return table
    stars = np.stack([table.codes[name] == RATING_VALUES for name in ratings.MOVIES], axis=1).sum(axis=1)
    found = ProblemCollector(source.name)
    for record in np.flatnonzero(stars != 1).tolist():
        message = f"the row has {stars[record]} stars"
        found.add(
            "plain",
            message=message,
            fix="one rating of each row is hidden",
            row=record + 2,
            record=record,
            value=str(stars[record]),
        )
    return found.problems() if found else table


def answer_bytes(answer: Answer) -> bytes:
    return "".join(f"{person},{value}\n" for person, value in zip(answer.people, answer.values, strict=True)).encode()


def read_answer(path: Path) -> Answer | Problems:
    """File x: 50 rows of (row of a, hidden value)."""
    guess = read_guess_columns(Source.of(path), rows=None)
    if isinstance(guess, Problems):
        return guess
    return Answer(guess[0].people, guess[0].values)


def guess_bytes(guesses: Sequence[RatingsGuess | None], rows: int) -> bytes:
    """Guesses side by side; stars for a target without a guess and for a cell without an answer."""
    columns: list[list[str]] = []
    for guess in guesses:
        for part in (guess.people, guess.values) if guess is not None else (np.full(rows, UNKNOWN),) * 2:
            texts = [STAR if value == UNKNOWN else str(value) for value in part.tolist()]
            columns.append(texts)
    return "".join(",".join(line) + "\n" for line in zip(*columns, strict=True)).encode()


def read_guess_columns(source: Source, rows: int | None) -> list[RatingsGuess] | Problems:
    """Pairs of columns without header: row of a, rating; blank or star for no answer.

    Parameters
    ----------
    rows : int or None
        How many rows there must be; None takes any number (an answer file says it).
    """
    data = source.read(10_000_000)
    if isinstance(data, Problems):
        return data
    width = data.split(b"\n", 1)[0].count(b",") + 1
    if width % 2:
        message, fix = f"the first line has {width} columns", "give two columns per team: row of a, rating"
        return Problems([plain(message, fix, source.name, 1, 0, severity=Severity.MALFORMED)])
    if b",," in data or b",\n" in data or b",\r" in data or data.startswith(b",") or b"\n," in data or data.endswith(b","):
        data = _blanks_starred(data)
    schema = Schema(Text(str(index)) for index in range(width))
    layout = Layout(min_rows=rows or 1, max_rows=rows)
    table = taken(read_table(Source(source.name.removesuffix(".gz"), data), schema, layout))
    if isinstance(table, Problems):
        return table
    found = ProblemCollector(source.name)
    numbers = [_numbers(table, index, len(table) if index % 2 == 0 else RATING_VALUES, found) for index in range(width)]
    if found:
        return found.problems()
    return [RatingsGuess(numbers[index], numbers[index + 1]) for index in range(0, width, 2)]


def _blanks_starred(data: bytes) -> bytes:
    """Blank cells as stars, so that every cell holds something."""
    lines = data.replace(b"\r\n", b"\n").split(b"\n")
    return b"\n".join(
        b",".join(cell if cell.strip() else STAR.encode() for cell in line.split(b",")) if line else line for line in lines
    )


def _numbers(table: Table, index: int, size: int, found: ProblemCollector) -> NDArray[np.int64]:
    """A column of whole numbers from 0 to ``size`` - 1; ``UNKNOWN`` for a star."""
    allowed = {str(value): value for value in range(size)} | dict.fromkeys(_BLANKS, UNKNOWN)
    numbers = np.full(len(table), UNKNOWN, dtype=np.int64)
    what = "a row of a" if index % 2 == 0 else "a rating"
    for record, text in enumerate(table.texts(str(index)).to_list()):
        if text.strip() in allowed:
            numbers[record] = allowed[text.strip()]
        else:
            message, fix = f"this is not {what}", f"give a whole number from 0 to {size - 1}, or * for no answer"
            found.add("plain", message=message, fix=fix, row=record + 1, record=record, column=str(index + 1), value=text)
    return numbers


def masks_bytes(masks: NDArray[np.int64]) -> bytes:
    """Masked columns: the movie hidden in row i of b, one per line."""
    return "".join(f"{ratings.MOVIES[movie]}\n" for movie in masks).encode()


def read_masks(source: Source) -> NDArray[np.int64] | Problems:
    table = taken(
        read_table(source, Schema([Category("movie", ratings.MOVIES)]), Layout(min_rows=TEST_ROWS, max_rows=TEST_ROWS))
    )
    return table if isinstance(table, Problems) else table.codes["movie"].astype(np.int64)


def split_bytes(tables: Sequence[Table], team: str) -> dict[str, bytes]:
    """The ten files of a release."""
    return {release_file(team, number): table_bytes(table, header=True) for number, table in enumerate(tables)}
