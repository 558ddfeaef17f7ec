"""The pseudonym matrices of darc2019 (rules 9a, 11 and 13b): F and F^ with a row per customer and a column per month."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

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
from kakurenbo.rulebooks.darc2019.lookalikes import as_seen

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
    """F from its file; its header says which months it has."""
    calendar = _named_calendar(_first_cells(source.read())[1:]) or CONTEST
    found = ProblemCollector(source.name)
    matrix = _read_matrix(source, calendar, (), found)
    order = _check_customers(matrix, None, found)
    found.check()
    pseudonyms, (codes,) = _numbered([matrix.cells])
    cells = codes.reshape(calendar.months, len(order)).T[order]
    return Answer(matrix.customers, pseudonyms, cells, calendar)


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
    """F^: a row per customer of T in any order, a column per month, DEL for no guess.

    The file comes with or without a header; a header must name the months in order.
    """
    customers, pseudonyms, calendar = form.customers, form.pseudonyms, form.calendar
    found = ProblemCollector(source.name)
    matrix = _read_matrix(source, calendar, customers, found)
    order = _check_customers(matrix, customers, found)
    if form.mode == "rules":
        places, told = [matrix.cells], frozenset[int]()
    else:
        parts = matrix.cells.str.split(SEPARATOR)
        told = _check_lists(matrix, parts, found)
        places = [parts.list.get(place, null_on_oob=True) for place in range(GUESSES)]
        places = [_without_blanks(part, pseudonyms, matrix, found) for part in places]
    _check_lengths(matrix, pseudonyms, told, found)
    found.check()
    guessed, codes = _numbered(places)
    _notice_unknown(matrix, places, pseudonyms, found)
    cells = np.full((len(order), calendar.months, GUESSES), NOBODY, dtype=np.int32)
    for place, code in enumerate(codes):
        cells[:, :, place] = code.reshape(calendar.months, len(order)).T
    return ReidentificationGuess(matrix.customers, guessed, cells[order], calendar)


class _Where(TypedDict):
    """Where a cell stands, for a message."""

    row: int
    record: int
    column: str
    value: str


@dataclass(frozen=True, eq=False)
class _Matrix:
    """A matrix as it was read: ``cells`` column by column, each of as many texts as there are rows."""

    table: Table
    calendar: Calendar
    first_line: int
    cells: pl.Series

    @property
    def customers(self) -> tuple[str, ...]:
        return self.table.vocabularies[CUSTOMER]

    def where(self, place: int) -> _Where:
        """Row, record, column and value of a cell, for a message."""
        month, record = divmod(place, len(self.table))
        row, column = record + self.first_line, self.calendar.names[month]
        return {"row": row, "record": record, "column": column, "value": self.cells[place]}


def _read_matrix(
    source: Source, calendar: Calendar, customers: Sequence[str], found: ProblemCollector
) -> _Matrix:
    data = source.read()
    first = _first_cells(data)
    header = _is_header(first, calendar, customers)
    columns = (CUSTOMER, *calendar.names)
    if header and len(first) == len(columns):
        _check_header(first, calendar, found)
        found.check()
        data = under_header(data, columns)
    plain = Source(source.name.removesuffix(".gz"), data)
    rows = len(customers) or None
    layout = Layout(header=header, min_rows=1, max_rows=rows)
    with report_in(source.name):
        table = read_table(plain, Schema([Text(name) for name in columns]), layout)
    cells = pl.concat([table.texts(name).alias("cell") for name in calendar.names])
    return _Matrix(table, calendar, 1 + int(header), cells)


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


def _is_header(first: Sequence[str], calendar: Calendar, customers: Sequence[str]) -> bool:
    """Whether the first line names columns: ``id_user``, or nobody's name before what looks like months."""
    if first[:1] == [CUSTOMER]:
        return CUSTOMER not in customers
    named = {*calendar.names, *map(str, range(calendar.months))}
    return (
        bool(first)
        and first[0] not in customers
        and bool(first[1:])
        and named.issuperset(first[1:])
    )


def _check_header(first: Sequence[str], calendar: Calendar, found: ProblemCollector) -> None:
    """The months in order, by name or, as the competition did, by number from 0."""
    by_number = tuple(map(str, range(calendar.months)))
    wanted = by_number if set(first[1:]) <= set(by_number) else calendar.names
    for column, (told, name) in enumerate(zip(first[1:], wanted, strict=True)):
        if told != name:
            month = calendar.names[column]
            found.add(
                "darc2019.month_order",
                row=1,
                column=month,
                value=told,
                number=column + 2,
                month=name,
            )


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


# -- what a matrix may hold -------------------------------------------------------------------------------------------


def _check_customers(
    matrix: _Matrix, customers: tuple[str, ...] | None, found: ProblemCollector
) -> NDArray[np.int64]:
    """Each customer once; gives the rows in the order of the sorted customers."""
    names, codes, line = matrix.customers, matrix.table.codes[CUSTOMER], matrix.first_line
    _, first = np.unique(codes, return_index=True)

    def where(record: int) -> _Where:
        return {
            "row": record + line,
            "record": record,
            "column": CUSTOMER,
            "value": names[codes[record]],
        }

    repeated = np.setdiff1d(np.arange(len(codes)), first)
    for record in repeated.tolist():
        found.add(
            "darc2019.customer_twice", first=int(first[codes[record]] + line), **where(record)
        )
    if customers is not None:
        for record in np.flatnonzero(~np.isin(names, customers)[codes]).tolist():
            found.add("darc2019.no_customer", **where(record))
        end = len(codes) + line - 1
        missing = sorted(set(customers) - set(names))
        if len(missing) == 1:
            found.add("darc2019.customer_missing", row=end, column=CUSTOMER, value=missing[0])
        elif missing:
            named = [*missing[:MAX_NAMED], *(["…"] if len(missing) > MAX_NAMED else [])]
            found.add(
                "darc2019.customers_missing",
                row=end,
                column=CUSTOMER,
                count=len(missing),
                rows=len(codes),
                customers=len(customers),
                missing=", ".join(named),
            )
    return first


def _check_lists(matrix: _Matrix, parts: pl.Series, found: ProblemCollector) -> frozenset[int]:
    """Up to three guesses, none of them empty; gives the cells that were refused."""
    counts = parts.list.len().to_numpy()
    blank = parts.list.eval(pl.element().str.strip_chars() == "").list.any().to_numpy()
    bad: list[int] = np.flatnonzero((counts > GUESSES) | blank).tolist()
    for place in bad:
        many = counts[place] > GUESSES
        code = "darc2019.many_guesses" if many else "darc2019.empty_guess"
        found.add(
            code,
            count=int(counts[place]),
            limit=GUESSES,
            separator=SEPARATOR,
            **matrix.where(place),
        )
    return frozenset(bad)


def _check_lengths(
    matrix: _Matrix, pseudonyms: Sequence[str], told: frozenset[int], found: ProblemCollector
) -> None:
    """No cell is longer than the three longest pseudonyms of S joined; those that were ``told`` already are not told again."""
    longest = max(len(DELETED), len(SEPARATOR.join(sorted(pseudonyms, key=len)[-GUESSES:])))
    known = {row for problem in found.problems() for row in (problem.row, *problem.rows)}
    long = np.flatnonzero((matrix.cells.str.len_chars() > longest).to_numpy()).tolist()
    for place in [
        place for place in long if place not in told and matrix.where(place)["row"] not in known
    ]:
        found.add(
            "darc2019.long_cell",
            length=len(matrix.cells[place]),
            longest=longest,
            **matrix.where(place),
        )


def _without_blanks(
    part: pl.Series, pseudonyms: Sequence[str], matrix: _Matrix, found: ProblemCollector
) -> pl.Series:
    """``a : b`` means a and b, unless a pseudonym of S is written with the blank."""
    stripped = part.str.strip_chars()
    padded = (part != stripped).fill_null(False) & ~part.is_in(list(pseudonyms))
    places = np.flatnonzero(padded.to_numpy())
    if len(places):
        where = matrix.where(int(places[0]))
        notice("darc2019.blanks", file=found.file, count=len(places), **where)
    return pl.select(pl.when(padded).then(stripped).otherwise(part)).to_series()


def _notice_unknown(
    matrix: _Matrix, places: Sequence[pl.Series], pseudonyms: Sequence[str], found: ProblemCollector
) -> None:
    """A pseudonym that does not occur in S is allowed (13b), and cannot be right."""
    known = [*pseudonyms, DELETED]
    unknown = np.logical_or.reduce(
        [(~part.is_in(known)).fill_null(False).to_numpy() for part in places]
    )
    cells = np.flatnonzero(unknown)
    if len(cells):
        where = matrix.where(int(cells[0]))
        notice("darc2019.unknown_pseudonyms", file=found.file, count=len(cells), **where)
        _notice_nearly_known(matrix, places, pseudonyms, found)


def _notice_nearly_known(
    matrix: _Matrix, places: Sequence[pl.Series], pseudonyms: Sequence[str], found: ProblemCollector
) -> None:
    """Guesses that a tool has probably changed: a pseudonym of S but for blanks at its ends or signs that nobody sees."""
    seen = {as_seen(name) for name in pseudonyms}
    guessed = pl.concat([part.unique() for part in places]).drop_nulls().unique()
    unknown = set(guessed.to_list()) - {*pseudonyms, DELETED}
    near = [name for name in unknown if as_seen(name) in seen]
    cells = np.flatnonzero(
        np.logical_or.reduce([part.is_in(near).fill_null(False).to_numpy() for part in places])
    )
    if len(cells):
        where = matrix.where(int(cells[0]))
        notice("darc2019.nearly_pseudonyms", file=found.file, count=len(cells), **where)
