"""Guesses: ``E{ID}.csv`` holds two columns for each team (row of a, rating), 2i-1 and 2i for team i, own and absent ones blank.

A pair of columns that is wrong costs the guess at that target alone; a file whose shape is wrong costs the file, since
nobody can tell which columns are whose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.types import RATING_VALUES, STAR, UNKNOWN, RatingsGuess
from kakurenbo.contest import FoundGuess, Guesses, Rulebook, by_number
from kakurenbo.core import (
    InputError,
    Layout,
    Problem,
    ProblemCollector,
    Problems,
    Schema,
    Severity,
    Source,
    Text,
    collect_notices,
    is_archive,
    open_archive,
    read_table,
)
from kakurenbo.rulebooks.pwscup2024.files import GUESSES, ID_FILE, SINGLE_GUESS, TEST_ROWS, check_id

Columns = list[list[str]]
"""The cells of a file of guesses, two columns for each team; blank ones are stars."""
MAX_COLUMNS = 2 * Rulebook.max_teams


@dataclass(frozen=True)
class GuessForm:
    """Form of a guess: so many rows, and whose columns of an E file it is, where that is known."""

    rows: int = TEST_ROWS
    target: str = ""


def guess_bytes(guesses: Sequence[RatingsGuess | None], rows: int) -> bytes:
    """Write guesses side by side; stars for a target without a guess and for a cell without an answer."""
    columns: Columns = []
    for guess in guesses:
        parts = [np.full(rows, UNKNOWN)] * 2 if guess is None else [guess.people, guess.values]
        for part in parts:
            columns.append([STAR if value == UNKNOWN else str(value) for value in part.tolist()])
    return "".join(",".join(line) + "\n" for line in zip(*columns, strict=True)).encode()


def guesses_bytes(guesses: Mapping[str, RatingsGuess], attacker: str) -> bytes:
    """Write all guesses of an attacker as one E file."""
    by_team = {int(team): guess for team, guess in guesses.items()}
    last = max([*by_team, int(attacker)])
    rows = next((len(guess.people) for guess in guesses.values()), TEST_ROWS)
    return guess_bytes([by_team.get(number) for number in range(1, last + 1)], rows)


# -- one guess -----------------------------------------------------------------------------------------------------------


def read_guess(form: GuessForm, source: Source) -> RatingsGuess:
    """Read the two columns of one target; or an E file, of which the target's are taken where it is known which."""
    columns = read_columns(_e_file(source) if is_archive(source) else source, form.rows)
    count = len(columns) // 2
    number = 1 if count == 1 else int(form.target or 0)
    if not number:
        raise InputError.of("pwscup2024.one_target", source.name, count=count)
    if number > count:
        raise _too_few(source.name, columns, form.target)
    return _guess(source.name, columns, number)


def _e_file(archive: Source) -> Source:
    """Return the only E file of an archive, whose ``id.txt`` names the same attacker."""
    opened = open_archive(archive)
    files = [source for source in opened if source.name != ID_FILE]
    fields = GUESSES.parse(files[0].name) if len(files) == 1 else None
    if fields is None:
        listed, example = [source.name for source in files[:5]], GUESSES.name(attacker="07")
        code = "pwscup2024.guess_archive"
        raise InputError.of(code, archive.name, listed=listed, example=example)
    check_id(opened, fields["attacker"])
    return files[0]


# -- all guesses of an attacker ------------------------------------------------------------------------------------------


def read_guesses(
    forms: Mapping[str, GuessForm], sources: Sequence[Source], attacker: str
) -> Guesses[RatingsGuess]:
    """Read every guess in an attacker's files: one E file for all targets, or files for single ones; in zips or not."""
    reader = _Reader(forms, attacker)
    with collect_notices() as notices:
        reader.read([source for source in sources if not is_archive(source)], notices)
    for archive in filter(is_archive, sources):
        with reader.refusing(archive.name), collect_notices() as notices:
            reader.read(open_archive(archive), notices)
    guesses = sorted(reader.guesses.values(), key=lambda guess: by_number(guess.target))
    return Guesses(tuple(guesses), tuple(reader.refusals))


class _Reader:
    """Collects the guesses of one attacker: the first at each target, and what was refused."""

    def __init__(self, forms: Mapping[str, GuessForm], attacker: str) -> None:
        self.forms, self.attacker = forms, attacker
        self.number = int(attacker) if attacker.isdecimal() else 0
        self.guesses: dict[str, FoundGuess[RatingsGuess]] = {}
        self.refusals: list[tuple[str, Problems]] = []

    @contextmanager
    def refusing(self, file: str) -> Iterator[None]:
        """Keep the problems of a file, or of a part of it."""
        try:
            yield
        except InputError as error:
            self.refusals.append((file, error.problems))

    def read(self, sources: Sequence[Source], notices: list[Problem]) -> None:
        """Read files that were submitted together, under one ``id.txt``; each notice goes with one guess."""
        with self.refusing(ID_FILE):
            check_id(sources, self.attacker if self.number else "")
            for source in sources:
                if source.name != ID_FILE:
                    with self.refusing(source.name):
                        self._read_file(source, notices)

    def _read_file(self, source: Source, notices: list[Problem]) -> None:
        file, attacker = source.name, self.attacker
        single = SINGLE_GUESS.parse(file)
        fields = single or GUESSES.parse(file)
        if fields is None:
            example = GUESSES.name(attacker=attacker)
            raise InputError.of("guess.unknown_name", file, example=example)
        if fields["attacker"] != attacker:
            code, named = "guess.other_attacker", fields["attacker"]
            raise InputError.of(code, file, named=named, attacker=attacker)
        if single is None:
            self._read_e_file(source, notices)
            return
        target = single["target"]
        if int(target.partition("-")[0]) == self.number:
            raise InputError.of("guess.own_target", file, attacker=attacker)
        if target not in self.forms:
            targets = ", ".join(self._listed_targets())
            raise InputError.of("guess.unknown_target", file, target=target, targets=targets)
        self._keep(file, target, read_guess(self.forms[target], source), notices)

    def _read_e_file(self, source: Source, notices: list[Problem]) -> None:
        rows = next((form.rows for form in self.forms.values()), TEST_ROWS)
        columns, targets = read_columns(source, rows), {int(team): team for team in self.forms}
        missed = [n for n in targets if 2 * n > len(columns) and n != self.number]
        if missed:
            raise _too_few(source.name, columns, targets[max(missed)])
        for number in range(1, len(columns) // 2 + 1):
            if set(columns[2 * number - 2] + columns[2 * number - 1]) == {STAR}:
                continue
            with self.refusing(source.name):
                self._check_target(source.name, number, targets)
                guess = _guess(source.name, columns, number)
                self._keep(source.name, targets[number], guess, notices)

    def _check_target(self, file: str, number: int, targets: Mapping[int, str]) -> None:
        """Refuse filled columns that are the attacker's own, or of a team that is not attacked."""
        columns = [2 * number - 1, 2 * number]
        where = {"column": " ".join(map(str, columns)), "columns": columns}
        if number == self.number:
            raise InputError.of("pwscup2024.own_columns", file, **where)
        if number not in targets:
            code, listed = "pwscup2024.columns_of_nobody", self._listed_targets()
            raise InputError.of(code, file, number=number, targets=listed, **where)

    def _keep(self, file: str, target: str, guess: RatingsGuess, notices: list[Problem]) -> None:
        if target in self.guesses:
            first = self.guesses[target].file
            raise InputError.of("pwscup2024.guess_twice", file, target=target, first=first)
        self.guesses[target] = FoundGuess(target, file, guess, tuple(notices))
        notices.clear()

    def _listed_targets(self) -> list[str]:
        return sorted(self.forms, key=by_number)[:20]


# -- pairs of columns ----------------------------------------------------------------------------------------------------


def read_columns(source: Source, rows: int) -> Columns:
    """Read the cells of a file of guesses."""
    data, malformed = source.read(GUESSES.max_bytes), {"severity": Severity.MALFORMED}
    width = data.partition(b"\n")[0].count(b",") + 1
    if width > MAX_COLUMNS:
        code = "pwscup2024.too_many_columns"
        raise InputError.of(code, source.name, row=1, most=MAX_COLUMNS, **malformed)
    if data.strip() and width % 2:  # an empty file is refused by read_table
        code = "pwscup2024.odd_columns"
        raise InputError.of(code, source.name, row=1, record=0, width=width, **malformed)
    schema = Schema(Text(str(column)) for column in range(width))
    layout = Layout(min_rows=rows, max_rows=rows, max_bytes=GUESSES.max_bytes)
    cells = read_table(source, schema, layout, _stars_for_blanks)
    return [cells.texts(name).to_list() for name in schema.names]


def _stars_for_blanks(cells: pl.DataFrame) -> pl.DataFrame:
    return cells.with_columns(pl.all().str.strip_chars().replace("", STAR))


def _guess(file: str, columns: Columns, number: int) -> RatingsGuess:
    """Read the pair of columns of a team."""
    problems, second = ProblemCollector(file), 2 * number
    people, values = columns[second - 2 : second]
    guess = RatingsGuess(
        _numbers(people, len(people), "pwscup2024.no_row_of_a", second - 1, problems),
        _numbers(values, RATING_VALUES, "pwscup2024.no_rating", second, problems),
    )
    problems.check()
    return guess


def _numbers(
    texts: Sequence[str], size: int, code: str, column: int, problems: ProblemCollector
) -> NDArray[np.int64]:
    """Return whole numbers from 0 to ``size`` - 1; ``UNKNOWN`` for a star."""
    allowed = {STAR: UNKNOWN} | {str(value): value for value in range(size)}
    for record, text in enumerate(texts):
        if text not in allowed:
            where = {"row": record + 1, "record": record, "column": str(column)}
            problems.add(code, value=text, high=size - 1, **where)  # type: ignore[arg-type]
    return np.array([allowed.get(text, UNKNOWN) for text in texts], dtype=np.int64)


def _too_few(file: str, columns: Columns, target: str) -> InputError:
    """Return the refusal of an E file without the columns of a target."""
    place = [2 * int(target) - 1, 2 * int(target)]
    details = {"width": len(columns), "target": target, "columns": place}
    return InputError.of("pwscup2024.too_few_columns", file, severity=Severity.MALFORMED, **details)
