"""The pseudonym matrices of darc2019 (rules 9a, 11 and 13b): F and F^ with a row per customer and a column per month."""

from __future__ import annotations

import csv
import datetime
import functools
import operator
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.attacks.reidentification import GUESSES, NOBODY, ReidentificationGuess
from kakurenbo.core import (
    Layout,
    ProblemCollector,
    Schema,
    Source,
    Table,
    Text,
    notice,
    read_table,
    report_in,
)
from kakurenbo.core.errors import ParameterError
from kakurenbo.data.transactions import (
    CONTEST,
    DELETED,
    MAX_MONTHS,
    Calendar,
    kept,
    kept_rows,
    months,
)

CUSTOMER = "id_user"
MAX_LISTED = 20  # missing customers
SEPARATOR = ":"  # between the guesses of a cell in mode aicrowd
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, eq=False)
class Answer:
    """F: the pseudonym of each customer in each month.

    Attributes
    ----------
    customers, pseudonyms : tuple of str
        Sorted.
    cells : array of int32, shape (n, months)
        Codes of pseudonyms; -1 where the customer has no kept row in that month (DEL).
    calendar : Calendar
        The months of T.
    """

    customers: tuple[str, ...]
    pseudonyms: tuple[str, ...]
    cells: NDArray[np.int32]
    calendar: Calendar = CONTEST

    def __post_init__(self) -> None:
        if self.cells.shape != (len(self.customers), self.calendar.months):
            raise ParameterError(
                "cells", "a row per customer and a column per month", self.cells.shape
            )


def answer_of(original: Table, released: Table) -> tuple[Answer, Table]:
    """Return F, and the kept rows of A(T) in file order (S before it is shuffled).

    Where a customer has several pseudonyms in a month, which only mode ``aicrowd`` lets pass, F holds the one that was newly
    seen last in file order.
    """
    alive, rows = kept(released), kept_rows(released)
    customers, calendar = original.vocabularies["id_user"], Calendar.of(original)
    customer = original.codes["id_user"][alive].astype(np.int64)
    cell = customer * calendar.months + months(original)[alive]
    names, pseudonym = rows.vocabularies["id_user"], rows.codes["id_user"]
    cells = np.full(len(customers) * calendar.months, NOBODY, dtype=np.int32)
    cells[cell] = pseudonym
    if (cells[cell] != pseudonym).any():
        _, first = np.unique(cell * len(names) + pseudonym, return_index=True)
        newly_seen = np.sort(first)
        cells[cell[newly_seen]] = pseudonym[newly_seen]
    matrix = cells.reshape(len(customers), calendar.months)
    return Answer(customers, names, matrix, calendar), rows


# -- files out --------------------------------------------------------------------------------------------------------


def answer_bytes(answer: Answer) -> bytes:
    """Write F."""
    return _matrix_bytes(answer, answer.cells[:, :, None])


def guess_bytes(guess: ReidentificationGuess, mode: str) -> bytes:
    """Write F^: one guess per cell by the rules, up to three a:b:c in mode ``aicrowd``."""
    return _matrix_bytes(guess, guess.cells[:, :, :1] if mode == "rules" else guess.cells)


def _matrix_bytes(matrix: Answer | ReidentificationGuess, cells: NDArray[np.int32]) -> bytes:
    """Write a matrix as CSV; ``cells`` has shape (n, months, guesses), and -1 stands for no guess."""
    names = pl.Series([*matrix.pseudonyms, None], dtype=pl.String)  # code -1 takes the last
    guesses = pl.DataFrame(
        {
            str(place): names.gather(cells[:, :, place].ravel() % len(names))
            for place in range(cells.shape[2])
        }
    )
    joined = pl.concat_str(pl.all(), separator=SEPARATOR, ignore_nulls=True)
    texts = guesses.select(joined.replace("", DELETED)).to_series().to_numpy()
    months_of = texts.reshape(cells.shape[:2]).T
    columns = dict(zip(matrix.calendar.names, months_of, strict=True))
    frame = pl.DataFrame({CUSTOMER: matrix.customers, **columns})
    return frame.write_csv(line_terminator="\n").encode()


# -- files in ---------------------------------------------------------------------------------------------------------


def read_answer(source: Source) -> Answer:
    """Read F; its header says which months it has."""
    calendar = _named_calendar(_first_cells(source.read())[1:]) or CONTEST
    reader = _MatrixReader(source, calendar, ())
    order = reader.customer_order()
    reader.problems.check()
    pseudonyms, (codes,) = _numbered([reader.cells])
    cells = codes.reshape(calendar.months, len(order)).T[order]
    return Answer(reader.customers, pseudonyms, cells, calendar)


@dataclass(frozen=True)
class GuessForm:
    """Form of F^.

    Attributes
    ----------
    customers : tuple of str
        Of T, sorted.
    pseudonyms : tuple of str
        Those that occur in S. A guess of another gets a notice; a cell longer than the three longest joined is refused, as
        one that held all of them would match everybody (``darc2019-evaluator.md``, 16).
    calendar : Calendar
        The months of T.
    mode : str
        ``rules``: a cell is one pseudonym. ``aicrowd``: up to three, ``a:b:c``; blanks around them are taken off.
    """

    customers: tuple[str, ...]
    pseudonyms: tuple[str, ...]
    calendar: Calendar
    mode: str


def read_guess(source: Source, form: GuessForm) -> ReidentificationGuess:
    """Read F^: a row per customer of T in any order, a column per month, DEL for no guess.

    The file comes with or without a header; a header must name the months in order.
    """
    reader = _MatrixReader(source, form.calendar, form.customers)
    order = reader.customer_order()
    parts = [reader.cells] if form.mode == "rules" else reader.split_lists(form.pseudonyms)
    reader.check_lengths(form.pseudonyms)
    reader.problems.check()
    pseudonyms, codes = _numbered(parts)
    reader.notice_unknown(parts, form.pseudonyms)
    cells = np.full((len(order), form.calendar.months, GUESSES), NOBODY, dtype=np.int32)
    for place, code in enumerate(codes):
        cells[:, :, place] = code.reshape(form.calendar.months, len(order)).T
    return ReidentificationGuess(reader.customers, pseudonyms, cells[order], form.calendar)


class _MatrixReader:
    """Reads a matrix and collects its problems.

    Attributes
    ----------
    customers : tuple of str
        Sorted.
    cells : Series of texts
        Column by column: a month has as many cells as there are rows.
    """

    def __init__(self, source: Source, calendar: Calendar, expected: Sequence[str]) -> None:
        """Read the cells; ``expected`` are the customers of a guess, none for F."""
        self.problems = ProblemCollector(source.name)
        self._months, self._expected = calendar.names, expected
        self._refused_rows: set[int] = set()
        data, columns = source.read(), (CUSTOMER, *calendar.names)
        first = _first_cells(data)
        has_header = self._is_header(first)
        if has_header and len(first) == len(columns):
            self._check_header(first[1:])
            data = under_header(data, columns)
        self._first_line = 1 + int(has_header)
        layout = Layout(has_header, 1, len(expected) or None)
        plain = Source(source.name.removesuffix(".gz"), data)
        with report_in(source.name):
            table = read_table(plain, Schema([Text(name) for name in columns]), layout)
        self.customers, self._rows = table.vocabularies[CUSTOMER], table.codes[CUSTOMER]
        self.cells = pl.concat([table.texts(name).alias("cell") for name in calendar.names])

    def _is_header(self, first: Sequence[str]) -> bool:
        """Return whether the first line names columns: ``id_user``, or no customer before what looks like months."""
        if not first or first[0] in self._expected:
            return False
        names = {*self._months, *map(str, range(len(self._months)))}
        return first[0] == CUSTOMER or (len(first) > 1 and names.issuperset(first[1:]))

    def _check_header(self, names: Sequence[str]) -> None:
        """Check that months are in order, by name or, as the competition did, by number from 0."""
        numbers = [str(number) for number in range(len(self._months))]
        expected = numbers if set(names) <= set(numbers) else self._months
        triples = zip(self._months, names, expected, strict=True)
        for number, (column, name, month) in enumerate(triples, start=2):
            if name != month:
                where = {"row": 1, "column": column, "value": name}
                self._add("darc2019.month_order", where, number=number, month=month)
        self.problems.check()

    def _add(self, code: str, where: Mapping[str, Any], **details: Any) -> None:
        self._refused_rows.add(where["row"])
        self.problems.add(code, **where, **details)

    def _cell(self, place: int) -> dict[str, Any]:
        """Return row, record, column and value of a cell, for a message."""
        month, record = divmod(place, len(self._rows))
        return self._where(record, self._months[month], self.cells[place])

    def _where(self, record: int, column: str, value: str) -> dict[str, Any]:
        row = record + self._first_line
        return {"row": row, "record": record, "column": column, "value": value}

    def customer_order(self) -> NDArray[np.int64]:
        """Check that each customer has one row; return the rows in the order of the sorted customers."""
        names, codes, expected = self.customers, self._rows, self._expected
        _, first = np.unique(codes, return_index=True)
        unknown = np.zeros(len(names), dtype=bool)
        if expected:
            unknown = ~np.isin(names, expected)
        for record in np.setdiff1d(np.arange(len(codes)), first).tolist():
            where = self._where(record, CUSTOMER, names[codes[record]])
            first_line = int(first[codes[record]]) + self._first_line
            self._add("darc2019.customer_twice", where, first=first_line)
        for record in np.flatnonzero(unknown[codes]).tolist():
            where = self._where(record, CUSTOMER, names[codes[record]])
            self._add("darc2019.no_customer", where)
        missing = sorted(set(expected) - set(names))
        end: dict[str, Any] = {"row": len(codes) + self._first_line - 1, "column": CUSTOMER}
        if len(missing) == 1:
            self._add("darc2019.customer_missing", end, value=missing[0])
        elif missing:
            listed = ", ".join(missing[:MAX_LISTED] + ["…"] * (len(missing) > MAX_LISTED))
            counts = {"count": len(missing), "rows": len(codes), "customers": len(expected)}
            self._add("darc2019.customers_missing", end, missing=listed, **counts)
        return first

    def split_lists(self, pseudonyms: Sequence[str]) -> list[pl.Series]:
        """Return first, second and third guess of each cell; a list has up to three, none of them empty."""
        parts = self.cells.str.split(SEPARATOR)
        counts = parts.list.len().to_numpy()
        blank = parts.list.eval(pl.element().str.strip_chars() == "").list.any().to_numpy()
        for place in np.flatnonzero((counts > GUESSES) | blank).tolist():
            code = "darc2019.many_guesses" if counts[place] > GUESSES else "darc2019.empty_guess"
            details = {"count": int(counts[place]), "limit": GUESSES, "separator": SEPARATOR}
            self._add(code, self._cell(place), **details)
        guesses = []
        for place in range(GUESSES):
            guess = parts.list.get(place, null_on_oob=True)
            stripped = guess.str.strip_chars()
            # Blanks around a guess are taken off, unless a pseudonym of S is written with them.
            padded = (guess != stripped).fill_null(False) & ~guess.is_in(list(pseudonyms))
            self._notice("darc2019.blanks", padded)
            guesses.append(guess.zip_with(~padded, stripped))
        return guesses

    def check_lengths(self, pseudonyms: Sequence[str]) -> None:
        """Check that no cell is longer than the three longest pseudonyms of S joined; rows with a problem are skipped."""
        longest = max(len(DELETED), len(SEPARATOR.join(sorted(pseudonyms, key=len)[-GUESSES:])))
        refused_rows = frozenset(self._refused_rows)
        for place in np.flatnonzero((self.cells.str.len_chars() > longest).to_numpy()).tolist():
            where = self._cell(place)
            if where["row"] not in refused_rows:
                length = len(self.cells[place])
                self._add("darc2019.long_cell", where, length=length, longest=longest)

    def notice_unknown(self, parts: Sequence[pl.Series], pseudonyms: Sequence[str]) -> None:
        """Give notice of pseudonyms that do not occur in S, which is allowed (13b) and cannot be right.

        Some were probably changed by a tool: a pseudonym of S but for blanks at its ends or invisible characters.
        """
        unknown = set(pl.concat(parts).unique().drop_nulls()) - {*pseudonyms, DELETED}
        visible = {as_seen(name) for name in pseudonyms}
        near = {name for name in unknown if as_seen(name) in visible}
        for code, names in (
            ("darc2019.unknown_pseudonyms", unknown),
            ("darc2019.nearly_pseudonyms", near),
        ):
            matches = [part.is_in(list(names)).fill_null(False) for part in parts]
            self._notice(code, functools.reduce(operator.or_, matches))

    def _notice(self, code: str, cells: pl.Series) -> None:
        """Give notice of the first of these cells, and of their number."""
        places = cells.arg_true()
        if len(places):
            notice(code, file=self.problems.file, count=len(places), **self._cell(places[0]))


def under_header(data: bytes, names: Sequence[str]) -> bytes:
    """Return a file under these column names, where its first line has as many."""
    head, newline, rest = data.partition(b"\n")
    if head.count(b",") != len(names) - 1:
        return data
    mark, end = _BOM * head.startswith(_BOM), b"\r" * head.endswith(b"\r")
    return mark + ",".join(names).encode() + end + newline + rest


def _first_cells(data: bytes) -> list[str]:
    """Return the cells of the first line."""
    line = data.removeprefix(_BOM).partition(b"\n")[0].decode("utf-8", "replace").removesuffix("\r")
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return line.split(",")


def _named_calendar(names: Sequence[str]) -> Calendar | None:
    """Return the calendar whose months have these names; None if they are not months in a row."""
    try:
        first = datetime.datetime.strptime(names[0], "%Y/%m").date() if names else None
    except ValueError:
        return None
    if first is None or len(names) > MAX_MONTHS:
        return None
    calendar = Calendar(first, len(names))
    return calendar if calendar.names == tuple(names) else None


def _numbered(places: Sequence[pl.Series]) -> tuple[tuple[str, ...], list[NDArray[np.int32]]]:
    """Return the guessed pseudonyms, sorted, and each series as their codes; -1 for DEL and for no guess."""
    names = pl.concat(places).unique().drop_nulls().sort()
    names = names.filter(names != DELETED)
    codes = [
        place.cast(pl.Enum(names), strict=False).to_physical().cast(pl.Int32).fill_null(NOBODY)
        for place in places
    ]
    return tuple(names), [code.to_numpy() for code in codes]


def as_seen(name: str) -> str:
    """Return what is left of a text when a tool strips it, drops invisible characters, and composes its letters.

    Examples
    --------
    >>> as_seen(" p\\u200b1 "), len(as_seen("e\\u0301"))
    ('p1', 1)
    """
    visible = "".join(char for char in name if char == " " or char.isprintable())
    return unicodedata.normalize("NFC", visible.strip())
