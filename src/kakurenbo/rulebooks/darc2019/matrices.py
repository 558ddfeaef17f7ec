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
MAX_NAMED = 20  # missing customers
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
    """F, and the kept rows of A(T) in file order (S before it is shuffled).

    Where a customer has several pseudonyms in a month, which only mode ``aicrowd`` lets pass, F holds the one that was newly
    seen last in file order.
    """
    alive = kept(released)
    rows = kept_rows(released)
    customers, calendar = original.vocabularies["id_user"], Calendar.of(original)
    cell = (
        original.codes["id_user"][alive].astype(np.int64) * calendar.months
        + months(original)[alive]
    )
    pseudonym = rows.codes["id_user"]
    cells = np.full(len(customers) * calendar.months, NOBODY, dtype=np.int32)
    cells[cell] = pseudonym
    if (cells[cell] != pseudonym).any():
        _, first = np.unique(
            cell * len(rows.vocabularies["id_user"]) + pseudonym, return_index=True
        )
        newly_seen = np.sort(first)
        cells[cell[newly_seen]] = pseudonym[newly_seen]
    return Answer(
        customers,
        rows.vocabularies["id_user"],
        cells.reshape(len(customers), calendar.months),
        calendar,
    ), rows


# -- files out --------------------------------------------------------------------------------------------------------


def answer_bytes(answer: Answer) -> bytes:
    """F as a file."""
    return _matrix_bytes(
        answer.customers, answer.pseudonyms, answer.cells[:, :, None], answer.calendar
    )


def guess_bytes(guess: ReidentificationGuess, mode: str) -> bytes:
    """F^ as a file: one guess per cell by the rules, up to three a:b:c in mode ``aicrowd``."""
    cells = guess.cells[:, :, :1] if mode == "rules" else guess.cells
    return _matrix_bytes(guess.customers, guess.pseudonyms, cells, guess.calendar)


def _matrix_bytes(
    customers: Sequence[str],
    pseudonyms: Sequence[str],
    cells: NDArray[np.int32],
    calendar: Calendar,
) -> bytes:
    """A matrix as CSV; ``cells`` has shape (n, months, guesses), and -1 stands for no guess."""
    names = pl.Series([*pseudonyms, None], dtype=pl.String)  # code -1 takes the last
    parts = [
        names.gather(cells[:, :, place].ravel() % len(names)) for place in range(cells.shape[2])
    ]
    joined = pl.DataFrame({str(place): part for place, part in enumerate(parts)}).select(
        pl.concat_str(pl.all(), separator=SEPARATOR, ignore_nulls=True).alias("cell")
    )["cell"]
    texts = pl.select(pl.when(joined == "").then(pl.lit(DELETED)).otherwise(joined)).to_series()
    columns = {
        name: texts.gather_every(calendar.months, month)
        for month, name in enumerate(calendar.names)
    }
    frame = pl.DataFrame({CUSTOMER: pl.Series(customers, dtype=pl.String), **columns})
    return frame.write_csv(line_terminator="\n").encode()


# -- files in ---------------------------------------------------------------------------------------------------------


def read_answer(source: Source) -> Answer:
    """Read F; its header says which months it has."""
    calendar = _named_calendar(_first_cells(source.read())[1:]) or CONTEST
    reader = _MatrixReader(source, calendar, ())
    order = reader.customer_order(None)
    reader.problems.check()
    pseudonyms, (codes,) = _numbered([reader.cells])
    cells = codes.reshape(calendar.months, len(order)).T[order]
    return Answer(reader.customers, pseudonyms, cells, calendar)


@dataclass(frozen=True)
class GuessForm:
    """What F^ must look like.

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
    order = reader.customer_order(form.customers)
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

    def __init__(self, source: Source, calendar: Calendar, customers: Sequence[str]) -> None:
        self.problems = ProblemCollector(source.name)
        self._calendar = calendar
        self._refused: set[int] = set()  # places of cells that already have a problem
        data = source.read()
        first, columns = _first_cells(data), (CUSTOMER, *calendar.names)
        has_header = self._is_header(first, customers)
        if has_header and len(first) == len(columns):
            self._check_header(first[1:])
            data = under_header(data, columns)
        self._first_line = 1 + int(has_header)
        layout = Layout(header=has_header, min_rows=1, max_rows=len(customers) or None)
        plain = Source(source.name.removesuffix(".gz"), data)
        with report_in(source.name):
            table = read_table(plain, Schema([Text(name) for name in columns]), layout)
        self.customers, self._rows = table.vocabularies[CUSTOMER], table.codes[CUSTOMER]
        self.cells = pl.concat([table.texts(name).alias("cell") for name in calendar.names])

    def _is_header(self, first: Sequence[str], customers: Sequence[str]) -> bool:
        """Return whether the first line names columns: ``id_user``, or no customer before what looks like months."""
        if first[:1] == [CUSTOMER]:
            return CUSTOMER not in customers
        months = {*self._calendar.names, *map(str, range(self._calendar.months))}
        return len(first) > 1 and first[0] not in customers and months.issuperset(first[1:])

    def _check_header(self, names: Sequence[str]) -> None:
        """Check that months are in order, by name or, as the competition did, by number from 0."""
        by_number = tuple(map(str, range(self._calendar.months)))
        expected = by_number if set(names) <= set(by_number) else self._calendar.names
        for column, month in enumerate(self._calendar.names):
            name, right = names[column], expected[column]
            if name != right:
                where = {"row": 1, "column": month, "value": name}
                self._add("darc2019.month_order", where, number=column + 2, month=right)
        self.problems.check()

    def _add(self, code: str, where: Mapping[str, Any], **details: Any) -> None:
        self.problems.add(code, **where, **details)

    def _cell(self, place: int) -> dict[str, Any]:
        """Return row, record, column and value of a cell, for a message."""
        month, record = divmod(place, len(self._rows))
        return {
            "row": record + self._first_line,
            "record": record,
            "column": self._calendar.names[month],
            "value": self.cells[place],
        }

    def customer_order(self, expected: Sequence[str] | None) -> NDArray[np.int64]:
        """Check that each customer stands there once; return the rows in the order of the sorted customers."""
        names, codes, line = self.customers, self._rows, self._first_line
        _, first = np.unique(codes, return_index=True)

        def where(record: int) -> dict[str, Any]:
            value = names[codes[record]]
            return {"row": record + line, "record": record, "column": CUSTOMER, "value": value}

        for record in np.setdiff1d(np.arange(len(codes)), first).tolist():
            first_line = int(first[codes[record]] + line)
            self._add("darc2019.customer_twice", where(record), first=first_line)
        if expected is None:
            return first
        for record in np.flatnonzero(~np.isin(names, expected)[codes]).tolist():
            self._add("darc2019.no_customer", where(record))
        end: dict[str, Any] = {"row": len(codes) + line - 1, "column": CUSTOMER}
        missing = sorted(set(expected) - set(names))
        if len(missing) == 1:
            self._add("darc2019.customer_missing", end, value=missing[0])
        elif missing:
            named = missing[:MAX_NAMED] + ["…"] * (len(missing) > MAX_NAMED)
            self._add(
                "darc2019.customers_missing",
                end,
                count=len(missing),
                rows=len(codes),
                customers=len(expected),
                missing=", ".join(named),
            )
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
            self._refused.add(place)
        guesses = [parts.list.get(place, null_on_oob=True) for place in range(GUESSES)]
        return [self._without_blanks(guess, pseudonyms) for guess in guesses]

    def _without_blanks(self, guesses: pl.Series, pseudonyms: Sequence[str]) -> pl.Series:
        """Read ``a : b`` as a and b, unless a pseudonym of S is written with the blank."""
        stripped = guesses.str.strip_chars()
        padded = (guesses != stripped).fill_null(False) & ~guesses.is_in(list(pseudonyms))
        self._notice("darc2019.blanks", padded)
        return pl.select(pl.when(padded).then(stripped).otherwise(guesses)).to_series()

    def check_lengths(self, pseudonyms: Sequence[str]) -> None:
        """Check that no cell is longer than the three longest pseudonyms of S joined."""
        longest = max(len(DELETED), len(SEPARATOR.join(sorted(pseudonyms, key=len)[-GUESSES:])))
        rows = {row for problem in self.problems.problems() for row in (problem.row, *problem.rows)}
        for place in np.flatnonzero((self.cells.str.len_chars() > longest).to_numpy()).tolist():
            where = self._cell(place)
            if place not in self._refused and where["row"] not in rows:
                length = len(self.cells[place])
                self._add("darc2019.long_cell", where, length=length, longest=longest)

    def notice_unknown(self, parts: Sequence[pl.Series], pseudonyms: Sequence[str]) -> None:
        """Give notice of pseudonyms that do not occur in S, which is allowed (13b) and cannot be right.

        Some were probably changed by a tool: a pseudonym of S but for blanks at its ends or invisible characters.
        """
        known = {*pseudonyms, DELETED}
        guesses = pl.concat([part.unique() for part in parts]).drop_nulls().unique().to_list()
        unknown = [name for name in guesses if name not in known]
        shown = {as_seen(name) for name in pseudonyms}
        near = [name for name in unknown if as_seen(name) in shown]
        for code, names in (
            ("darc2019.unknown_pseudonyms", unknown),
            ("darc2019.nearly_pseudonyms", near),
        ):
            matches = [part.is_in(names).fill_null(False) for part in parts]
            self._notice(code, functools.reduce(operator.or_, matches))

    def _notice(self, code: str, cells: pl.Series) -> None:
        """Give notice of the first of these cells, and of their number."""
        places = cells.arg_true()
        if len(places):
            notice(code, file=self.problems.file, count=len(places), **self._cell(places[0]))


def under_header(data: bytes, names: Sequence[str]) -> bytes:
    """A file whose first line names as many columns in another way, under these names."""
    head, newline, rest = data.partition(b"\n")
    if head.count(b",") != len(names) - 1:
        return data
    mark, end = _BOM * head.startswith(_BOM), b"\r" * head.endswith(b"\r")
    return mark + ",".join(names).encode() + end + newline + rest


def _first_cells(data: bytes) -> list[str]:
    """The cells of the first line."""
    line = data.removeprefix(_BOM).partition(b"\n")[0].decode("utf-8", "replace").removesuffix("\r")
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return line.split(",")


def _named_calendar(names: Sequence[str]) -> Calendar | None:
    """The calendar whose months are named so; None where these are no months in a row."""
    try:
        first = datetime.datetime.strptime(names[0], "%Y/%m").date() if names else None
    except ValueError:
        return None
    if first is None or len(names) > MAX_MONTHS:
        return None
    calendar = Calendar(first, len(names))
    return calendar if calendar.names == tuple(names) else None


def _numbered(places: Sequence[pl.Series]) -> tuple[tuple[str, ...], list[NDArray[np.int32]]]:
    """The pseudonyms that are guessed, sorted, and each series as their codes; -1 for DEL and for no guess."""
    names = pl.concat([place.unique() for place in places]).drop_nulls().unique().sort()
    names = names.filter(names != DELETED)
    codes = [
        place.cast(pl.Enum(names), strict=False).to_physical().cast(pl.Int32).fill_null(NOBODY)
        for place in places
    ]
    return tuple(names), [code.to_numpy() for code in codes]


def as_seen(name: str) -> str:
    """Return what is left of a text when a tool strips it, drops what nobody sees, and composes its letters.

    Examples
    --------
    >>> as_seen(" p\\u200b1 "), len(as_seen("e\\u0301"))
    ('p1', 1)
    """
    return unicodedata.normalize(
        "NFC", "".join(char for char in name if char == " " or char.isprintable()).strip()
    )
