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

from kakurenbo.attacks.reconstruction.knowledge import RATING_VALUES, STAR, UNKNOWN, RatingsGuess
from kakurenbo.contracts import FoundGuess, Guesses, Rulebook, by_number
from kakurenbo.rulebooks.pwscup2024 import names
from kakurenbo.rulebooks.pwscup2024.handout import TEST_ROWS
from kakurenbo.tables import (
    Layout,
    Problem,
    ProblemCollector,
    Problems,
    Read,
    Reading,
    Schema,
    Severity,
    Source,
    Table,
    Text,
    is_archive,
    notices_of,
    open_archive,
    read_table,
    refused,
)

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
    parts = [part for guess in guesses for part in ((guess.people, guess.values) if guess is not None else (nothing, nothing))]
    columns = [[STAR if value == UNKNOWN else str(value) for value in part.tolist()] for part in parts]
    return "".join(",".join(line) + "\n" for line in zip(*columns, strict=True)).encode()


def guesses_bytes(guesses: Mapping[str, RatingsGuess], attacker: str) -> bytes:
    """All guesses of an attacker as one E file."""
    by_team = {int(team): guess for team, guess in guesses.items()}
    last = max([*by_team, int(attacker)])
    rows = next((len(guess.people) for guess in guesses.values()), TEST_ROWS)
    return guess_bytes([by_team.get(number) for number in range(1, last + 1)], rows)


# -- one guess -----------------------------------------------------------------------------------------------------------


def check_guess(form: GuessForm, source: Source) -> Reading[RatingsGuess]:
    """The two columns of one target; or an E file, of which the target's are taken where it is known which."""
    opened = _the_e_file(source) if is_archive(source) else Read(source)
    if isinstance(opened, Problems):
        return opened
    pairs = _read_pairs(opened.value, form.rows)
    if isinstance(pairs, Problems):
        return pairs
    number = 1 if pairs.value.count == 1 else int(form.target or 0)
    if not number:
        return refused("pwscup2024.one_target", source.name, count=pairs.value.count)
    if number > pairs.value.count:
        return _too_few(source.name, pairs.value, form.target)
    guess = pairs.value.guess(number)
    return guess if isinstance(guess, Problems) else Read(guess.value, notices_of(opened, pairs))


def _the_e_file(archive: Source) -> Reading[Source]:
    """The only E file of an archive, whose ``id.txt`` names the same attacker."""
    opened = open_archive(archive)
    if isinstance(opened, Problems):
        return opened
    found = [source for source in opened.value if source.name != names.ID_FILE]
    fields = names.GUESSES.parse(found[0].name) if len(found) == 1 else None
    if fields is None:
        listed = [source.name for source in found[:5]]
        return refused("pwscup2024.guess_archive", archive.name, listed=listed, example=names.GUESSES.name(attacker="07"))
    identity = names.check_id(opened.value, fields["attacker"])
    return Problems.of(identity) or Read(found[0], notices_of(opened, identity))


# -- all guesses of an attacker ------------------------------------------------------------------------------------------


def read_guesses(forms: Mapping[str, GuessForm], sources: Sequence[Source], attacker: str) -> Guesses[RatingsGuess]:
    """Every guess in an attacker's files: one E file for all targets, or files for single ones; in zips or not."""
    reader = _Reader(forms, attacker)
    reader.read([source for source in sources if not is_archive(source)], ())
    for archive in [source for source in sources if is_archive(source)]:
        opened = open_archive(archive)
        if isinstance(opened, Problems):
            reader.refusals.append((archive.name, opened))
        else:
            reader.read(opened.value, opened.notices)
    found = sorted(reader.found.values(), key=lambda guess: by_number(guess.target))
    return Guesses(tuple(found), tuple(reader.refusals))


class _Reader:
    """Collects the guesses of one attacker: the first at each target, and what was refused."""

    def __init__(self, forms: Mapping[str, GuessForm], attacker: str) -> None:
        self.forms, self.attacker = forms, attacker
        self.own = int(attacker) if attacker.isdecimal() else 0
        self.found: dict[str, FoundGuess[RatingsGuess]] = {}
        self.refusals: Refusals = []

    def read(self, sources: Sequence[Source], notices: tuple[Problem, ...]) -> None:
        """Files that were handed in together, under one ``id.txt``."""
        identity = names.check_id(sources, self.attacker if self.own else "")
        if isinstance(identity, Problems):
            self.refusals.append((names.ID_FILE, identity))
            return
        notices = (*notices, *identity.notices)
        for source in sources:
            whole, single = names.GUESSES.parse(source.name), names.ONE_GUESS.parse(source.name)
            fields = whole or single
            if source.name == names.ID_FILE:
                continue
            if fields is None:
                example = names.GUESSES.name(attacker=self.attacker)
                self._refuse(source, refused("guess.unknown_name", source.name, example=example))
            elif fields["attacker"] != self.attacker:
                named = fields["attacker"]
                self._refuse(source, refused("guess.other_attacker", source.name, named=named, attacker=self.attacker))
            elif whole:
                self._read_all(source, notices)
            else:
                self._read_one(source, fields["target"], notices)

    def _read_all(self, source: Source, notices: tuple[Problem, ...]) -> None:
        read = _read_pairs(source, next((form.rows for form in self.forms.values()), TEST_ROWS))
        if isinstance(read, Problems):
            self._refuse(source, read)
            return
        pairs = read.value
        targets = {int(target): target for target in self.forms}
        missed = [number for number in targets if number > pairs.count and number != self.own]
        if missed:
            self._refuse(source, _too_few(source.name, pairs, targets[max(missed)]))
            return
        for number in pairs.filled():
            if number == self.own or number not in targets:
                self._refuse(source, self._of_nobody(source.name, number))
            else:
                self._keep(source, targets[number], pairs.guess(number), (*notices, *read.notices))

    def _read_one(self, source: Source, target: str, notices: tuple[Problem, ...]) -> None:
        if int(target.partition("-")[0]) == self.own:
            self._refuse(source, refused("guess.own_target", source.name, attacker=self.attacker))
        elif target not in self.forms:
            listed = ", ".join(sorted(self.forms, key=by_number)[:20])
            self._refuse(source, refused("guess.unknown_target", source.name, target=target, targets=listed))
        else:
            self._keep(source, target, check_guess(self.forms[target], source), notices)

    def _keep(self, source: Source, target: str, read: Reading[RatingsGuess], notices: tuple[Problem, ...]) -> None:
        if isinstance(read, Problems):
            self._refuse(source, read)
        elif target in self.found:
            first = self.found[target].file
            self._refuse(source, refused("pwscup2024.guess_twice", source.name, target=target, first=first))
        else:
            # What was put right in a file is told once, not for each of its guesses.
            told = {notice for guess in self.found.values() for notice in guess.notices}
            new = tuple(notice for notice in (*notices, *read.notices) if notice not in told)
            self.found[target] = FoundGuess(target, source.name, read.value, new)

    def _of_nobody(self, file: str, number: int) -> Problems:
        """Columns that hold something but are the attacker's own, or of a team that is not attacked."""
        columns = [2 * number - 1, 2 * number]
        place = " ".join(map(str, columns))
        if number == self.own:
            return refused("pwscup2024.own_columns", file, column=place, columns=columns)
        listed = sorted(self.forms, key=by_number)[:20]
        return refused("pwscup2024.columns_of_nobody", file, column=place, columns=columns, number=number, targets=listed)

    def _refuse(self, source: Source, problems: Problems) -> None:
        self.refusals.append((source.name, problems))


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
        return [number for number in range(1, self.count + 1) if any(set(texts) != {STAR} for texts in self._texts(number))]

    def guess(self, number: int) -> Reading[RatingsGuess]:
        """One pair as a guess."""
        found = ProblemCollector(self.file)
        people, values = self._texts(number)
        guess = RatingsGuess(
            _numbers(people, len(people), "pwscup2024.no_row_of_a", 2 * number - 1, found),
            _numbers(values, RATING_VALUES, "pwscup2024.no_rating", 2 * number, found),
        )
        return found.problems() if found else Read(guess)

    def _texts(self, number: int) -> tuple[list[str], list[str]]:
        first, second = (self.cells.texts(str(column)).to_list() for column in (2 * number - 1, 2 * number))
        return first, second


def _read_pairs(source: Source, rows: int) -> Reading[_Pairs]:
    data = source.read(names.GUESSES.max_bytes)
    if isinstance(data, Problems):
        return data
    width = data.partition(b"\n")[0].count(b",") + 1
    if width > _MOST_COLUMNS:
        return refused("pwscup2024.too_many_columns", source.name, row=1, severity=Severity.MALFORMED, most=_MOST_COLUMNS)
    if width % 2:
        return refused("pwscup2024.odd_columns", source.name, row=1, record=0, severity=Severity.MALFORMED, width=width)
    schema = Schema(Text(str(column)) for column in range(1, width + 1))
    layout = Layout(min_rows=rows, max_rows=rows, max_bytes=names.GUESSES.max_bytes)
    return read_table(source, schema, layout, _stars_for_blanks).map(lambda table: _Pairs(source.name, table))


def _stars_for_blanks(cells: pl.DataFrame) -> pl.DataFrame:
    return cells.with_columns(pl.all().str.strip_chars().replace("", STAR))


def _numbers(texts: Sequence[str], size: int, code: str, column: int, found: ProblemCollector) -> NDArray[np.int64]:
    """Whole numbers from 0 to ``size`` - 1; ``UNKNOWN`` for a star."""
    allowed = {**{str(value): value for value in range(size)}, STAR: UNKNOWN}
    for record, text in enumerate(texts):
        if text not in allowed:
            found.add(code, row=record + 1, record=record, column=str(column), value=text, high=size - 1)
    return np.array([allowed.get(text, UNKNOWN) for text in texts], dtype=np.int64)


def _too_few(file: str, pairs: _Pairs, target: str) -> Problems:
    width, columns = 2 * pairs.count, [2 * int(target) - 1, 2 * int(target)]
    return refused("pwscup2024.too_few_columns", file, severity=Severity.MALFORMED, width=width, target=target, columns=columns)
