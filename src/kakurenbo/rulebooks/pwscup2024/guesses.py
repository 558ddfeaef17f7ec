"""Guesses: ``E{ID}.csv`` holds two columns for each team (row of a, rating), 2i-1 and 2i for team i, own and absent ones blank.

A pair of columns that is wrong costs the guess at that target alone; a file whose shape is wrong costs the file, since
nobody can tell which columns are whose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    Table,
    Text,
    collect_notices,
    is_archive,
    open_archive,
    read_table,
)
from kakurenbo.rulebooks.pwscup2024 import names
from kakurenbo.rulebooks.pwscup2024.handout import TEST_ROWS

Refusals = list[tuple[str, Problems]]
_MOST_COLUMNS = 2 * Rulebook.max_teams


@dataclass(frozen=True)
class GuessForm:
    """What a guess looks like: so many rows, and whose columns of an E file it is, where that is known."""

    rows: int = TEST_ROWS
    target: str = ""


def guess_bytes(guesses: Sequence[RatingsGuess | None], rows: int) -> bytes:
    """Guesses side by side; stars for a target without a guess and for a cell without an answer."""
    nothing = np.full(rows, UNKNOWN)
    parts = [
        part
        for guess in guesses
        for part in ((guess.people, guess.values) if guess is not None else (nothing, nothing))
    ]
    columns = [
        [STAR if value == UNKNOWN else str(value) for value in part.tolist()] for part in parts
    ]
    return "".join(",".join(line) + "\n" for line in zip(*columns, strict=True)).encode()


def guesses_bytes(guesses: Mapping[str, RatingsGuess], attacker: str) -> bytes:
    """All guesses of an attacker as one E file."""
    by_team = {int(team): guess for team, guess in guesses.items()}
    last = max([*by_team, int(attacker)])
    rows = next((len(guess.people) for guess in guesses.values()), TEST_ROWS)
    return guess_bytes([by_team.get(number) for number in range(1, last + 1)], rows)


# -- one guess -----------------------------------------------------------------------------------------------------------


def read_guess(form: GuessForm, source: Source) -> RatingsGuess:
    """The two columns of one target; or an E file, of which the target's are taken where it is known which."""
    pairs = _read_pairs(_the_e_file(source) if is_archive(source) else source, form.rows)
    number = 1 if pairs.count == 1 else int(form.target or 0)
    if not number:
        raise InputError.of("pwscup2024.one_target", source.name, count=pairs.count)
    if number > pairs.count:
        raise _too_few(source.name, pairs, form.target)
    return pairs.guess(number)


def _the_e_file(archive: Source) -> Source:
    """The only E file of an archive, whose ``id.txt`` names the same attacker."""
    opened = open_archive(archive)
    found = [source for source in opened if source.name != names.ID_FILE]
    fields = names.GUESSES.parse(found[0].name) if len(found) == 1 else None
    if fields is None:
        listed = [source.name for source in found[:5]]
        raise InputError.of(
            "pwscup2024.guess_archive",
            archive.name,
            listed=listed,
            example=names.GUESSES.name(attacker="07"),
        )
    names.check_id(opened, fields["attacker"])
    return found[0]


# -- all guesses of an attacker ------------------------------------------------------------------------------------------


def read_guesses(
    forms: Mapping[str, GuessForm], sources: Sequence[Source], attacker: str
) -> Guesses[RatingsGuess]:
    """Every guess in an attacker's files: one E file for all targets, or files for single ones; in zips or not."""
    reader = _Reader(forms, attacker)
    reader.read([source for source in sources if not is_archive(source)], ())
    for archive in [source for source in sources if is_archive(source)]:
        try:
            with collect_notices() as notices:
                opened = open_archive(archive)
        except InputError as error:
            reader.refusals.append((archive.name, error.problems))
            continue
        reader.read(opened, notices)
    found = sorted(reader.found.values(), key=lambda guess: by_number(guess.target))
    return Guesses(tuple(found), tuple(reader.refusals))


class _Reader:
    """Collects the guesses of one attacker: the first at each target, and what was refused."""

    def __init__(self, forms: Mapping[str, GuessForm], attacker: str) -> None:
        self.forms, self.attacker = forms, attacker
        self.own = int(attacker) if attacker.isdecimal() else 0
        self.found: dict[str, FoundGuess[RatingsGuess]] = {}
        self.refusals: Refusals = []

    def read(self, sources: Sequence[Source], notices: Sequence[Problem]) -> None:
        """Files that were handed in together, under one ``id.txt``."""
        try:
            with collect_notices() as of_id:
                names.check_id(sources, self.attacker if self.own else "")
        except InputError as error:
            self.refusals.append((names.ID_FILE, error.problems))
            return
        for source in sources:
            if source.name != names.ID_FILE:
                try:
                    self._read_file(source, [*notices, *of_id])
                except InputError as error:
                    self.refusals.append((source.name, error.problems))

    def _read_file(self, source: Source, notices: Sequence[Problem]) -> None:
        whole, single = names.GUESSES.parse(source.name), names.ONE_GUESS.parse(source.name)
        fields = whole or single
        if fields is None:
            example = names.GUESSES.name(attacker=self.attacker)
            raise InputError.of("guess.unknown_name", source.name, example=example)
        if fields["attacker"] != self.attacker:
            named = fields["attacker"]
            raise InputError.of(
                "guess.other_attacker", source.name, named=named, attacker=self.attacker
            )
        if whole:
            self._read_all(source, notices)
        else:
            self._read_one(source, fields["target"], notices)

    def _read_all(self, source: Source, notices: Sequence[Problem]) -> None:
        rows = next((form.rows for form in self.forms.values()), TEST_ROWS)
        with collect_notices() as of_file:
            pairs = _read_pairs(source, rows)
        targets = {int(target): target for target in self.forms}
        missed = [number for number in targets if number > pairs.count and number != self.own]
        if missed:
            raise _too_few(source.name, pairs, targets[max(missed)])
        for number in pairs.filled():
            try:
                if number == self.own or number not in targets:
                    raise self._of_nobody(source.name, number)
                guess = pairs.guess(number)
                self._keep(source, targets[number], guess, [*notices, *of_file])
            except InputError as error:
                self.refusals.append((source.name, error.problems))

    def _read_one(self, source: Source, target: str, notices: Sequence[Problem]) -> None:
        if int(target.partition("-")[0]) == self.own:
            raise InputError.of("guess.own_target", source.name, attacker=self.attacker)
        if target not in self.forms:
            listed = ", ".join(sorted(self.forms, key=by_number)[:20])
            raise InputError.of("guess.unknown_target", source.name, target=target, targets=listed)
        with collect_notices() as of_file:
            guess = read_guess(self.forms[target], source)
        self._keep(source, target, guess, [*notices, *of_file])

    def _keep(
        self, source: Source, target: str, guess: RatingsGuess, notices: Sequence[Problem]
    ) -> None:
        if target in self.found:
            first = self.found[target].file
            raise InputError.of("pwscup2024.guess_twice", source.name, target=target, first=first)
        # What was put right in a file is told once, not for each of its guesses.
        told = {notice for guess in self.found.values() for notice in guess.notices}
        new = tuple(notice for notice in notices if notice not in told)
        self.found[target] = FoundGuess(target, source.name, guess, new)

    def _of_nobody(self, file: str, number: int) -> InputError:
        """Columns that hold something but are the attacker's own, or of a team that is not attacked."""
        columns = [2 * number - 1, 2 * number]
        place = " ".join(map(str, columns))
        if number == self.own:
            return InputError.of("pwscup2024.own_columns", file, column=place, columns=columns)
        listed = sorted(self.forms, key=by_number)[:20]
        return InputError.of(
            "pwscup2024.columns_of_nobody",
            file,
            column=place,
            columns=columns,
            number=number,
            targets=listed,
        )


# -- pairs of columns ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Pairs:
    """The cells of a file of guesses, two columns for each team; blank cells are stars."""

    file: str
    cells: Table

    @property
    def count(self) -> int:
        return len(self.cells.schema) // 2

    def filled(self) -> list[int]:
        """Numbers (from 1) of the pairs that hold something."""
        return [
            number
            for number in range(1, self.count + 1)
            if any(set(texts) != {STAR} for texts in self._texts(number))
        ]

    def guess(self, number: int) -> RatingsGuess:
        """One pair as a guess."""
        found = ProblemCollector(self.file)
        people, values = self._texts(number)
        guess = RatingsGuess(
            _numbers(people, len(people), "pwscup2024.no_row_of_a", 2 * number - 1, found),
            _numbers(values, RATING_VALUES, "pwscup2024.no_rating", 2 * number, found),
        )
        found.check()
        return guess

    def _texts(self, number: int) -> tuple[list[str], list[str]]:
        first, second = (
            self.cells.texts(str(column)).to_list() for column in (2 * number - 1, 2 * number)
        )
        return first, second


def _read_pairs(source: Source, rows: int) -> _Pairs:
    data = source.read(names.GUESSES.max_bytes)
    width = data.partition(b"\n")[0].count(b",") + 1
    if width > _MOST_COLUMNS:
        raise InputError.of(
            "pwscup2024.too_many_columns",
            source.name,
            row=1,
            severity=Severity.MALFORMED,
            most=_MOST_COLUMNS,
        )
    if data.strip() and width % 2:  # an empty file is refused by read_table
        raise InputError.of(
            "pwscup2024.odd_columns",
            source.name,
            row=1,
            record=0,
            severity=Severity.MALFORMED,
            width=width,
        )
    schema = Schema(Text(str(column)) for column in range(1, width + 1))
    layout = Layout(min_rows=rows, max_rows=rows, max_bytes=names.GUESSES.max_bytes)
    return _Pairs(source.name, read_table(source, schema, layout, _stars_for_blanks))


def _stars_for_blanks(cells: pl.DataFrame) -> pl.DataFrame:
    return cells.with_columns(pl.all().str.strip_chars().replace("", STAR))


def _numbers(
    texts: Sequence[str], size: int, code: str, column: int, found: ProblemCollector
) -> NDArray[np.int64]:
    """Whole numbers from 0 to ``size`` - 1; ``UNKNOWN`` for a star."""
    allowed = {**{str(value): value for value in range(size)}, STAR: UNKNOWN}
    for record, text in enumerate(texts):
        if text not in allowed:
            found.add(
                code, row=record + 1, record=record, column=str(column), value=text, high=size - 1
            )
    return np.array([allowed.get(text, UNKNOWN) for text in texts], dtype=np.int64)


def _too_few(file: str, pairs: _Pairs, target: str) -> InputError:
    width, columns = 2 * pairs.count, [2 * int(target) - 1, 2 * int(target)]
    return InputError.of(
        "pwscup2024.too_few_columns",
        file,
        severity=Severity.MALFORMED,
        width=width,
        target=target,
        columns=columns,
    )
