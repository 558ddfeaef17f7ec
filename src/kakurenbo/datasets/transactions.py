"""The transaction table of darc2019: its six columns, the months of its calendar, and what "DEL" in the first one means."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.errors import ParameterError
from kakurenbo.messages import Phrase
from kakurenbo.tables import Category, Codes, Date, Decimal, Integer, Schema, Table, Text

DELETED = "DEL"
LARGEST_QUANTITY = 10**18  # any integer that 63 bits hold with room to add
MAX_MONTHS = 120


# -- months -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Calendar:
    """Whole months in a row, which the dates of a shop's table lie in; months and days count from 0.

    Attributes
    ----------
    first_day : date
        First day of the first month; the date code of a day is its distance from it.
    months : int
        How many months, 1 to 120.

    Examples
    --------
    >>> calendar = Calendar.spanning(datetime.date(2019, 11, 5), datetime.date(2020, 2, 3))
    >>> calendar.names, calendar.last_day.isoformat()
    (('2019/11', '2019/12', '2020/01', '2020/02'), '2020-02-29')
    """

    first_day: datetime.date
    months: int

    def __post_init__(self) -> None:
        if self.first_day.day != 1:
            raise ParameterError("first_day", "the first day of a month", self.first_day)
        if not 1 <= self.months <= MAX_MONTHS:
            raise ParameterError("months", f"from 1 to {MAX_MONTHS}", self.months)

    @classmethod
    def spanning(cls, first: datetime.date, last: datetime.date) -> Calendar:
        """The months of two days and all between them."""
        return _calendar(first.replace(day=1), 12 * (last.year - first.year) + last.month - first.month + 1)

    @classmethod
    def of(cls, table: Table) -> Calendar:
        """The calendar of a transaction table: the domain of its dates."""
        column = table.schema["date"]
        assert isinstance(column, Date)
        return cls.spanning(column.first, column.last)

    @cached_property
    def starts(self) -> tuple[datetime.date, ...]:
        """First day of each month, and of the month after the last, length ``months`` + 1."""
        first = 12 * self.first_day.year + self.first_day.month - 1
        return tuple(datetime.date(month // 12, month % 12 + 1, 1) for month in range(first, first + self.months + 1))

    @property
    def last_day(self) -> datetime.date:
        return self.starts[-1] - datetime.timedelta(1)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The months as they are written: 2010/12."""
        return tuple(f"{day:%Y/%m}" for day in self.starts[:-1])

    @cached_property
    def month_start(self) -> NDArray[np.int16]:
        """Date code of the first day of each month, shape (months,)."""
        return np.array([self.day(day) for day in self.starts[:-1]], dtype=np.int16)

    @cached_property
    def month_length(self) -> NDArray[np.int16]:
        """Days of each month, shape (months,)."""
        return np.diff([self.day(day) for day in self.starts]).astype(np.int16)

    @cached_property
    def month_of_day(self) -> NDArray[np.int8]:
        """Month of each date code, shape (days,)."""
        return np.repeat(np.arange(self.months, dtype=np.int8), self.month_length)

    @cached_property
    def month_of_year(self) -> NDArray[np.int8]:
        """January 0 to December 11 of each month, shape (months,)."""
        return np.array([day.month - 1 for day in self.starts[:-1]], dtype=np.int8)

    @property
    def days(self) -> int:
        """Days of all months."""
        return len(self.month_of_day)

    def day(self, date: datetime.date) -> int:
        """Date code of a day; outside the calendar it is negative or too large."""
        return (date - self.first_day).days


@cache
def _calendar(first_day: datetime.date, months: int) -> Calendar:
    """One object per calendar, so that what it works out is worked out once."""
    return Calendar(first_day, months)


CONTEST = Calendar.spanning(datetime.date(2010, 12, 1), datetime.date(2011, 12, 31))
"""The thirteen months of the contest's own T."""


def months(table: Table) -> NDArray[np.int8]:
    """Month of each row in the table's calendar, shape (n,)."""
    found: NDArray[np.int8] = Calendar.of(table).month_of_day[table.codes["date"]]
    return found


# -- columns ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TimeOfDay(Category):
    """A minute of the day, written HH:MM; code = minutes since midnight."""

    levels: tuple[str, ...] = field(
        default=tuple(f"{minute // 60:02d}:{minute % 60:02d}" for minute in range(24 * 60)), repr=False
    )

    @property
    def domain(self) -> Phrase:
        return Phrase("domain.time")

    def _advice(self, text: str) -> Phrase:
        return Phrase("advice.time")


@dataclass(frozen=True)
class LooseDate(Date):
    """A day whose month and day may lack their leading zeros, as the competition's evaluator took them."""

    def encode(self, texts: pl.Series) -> pl.Series:
        written, code = _loose_spellings(self.first, self.last)
        place = texts.cast(pl.Enum(written), strict=False).to_physical()
        return pl.Series(code).gather(place)


@cache
def _loose_spellings(first: datetime.date, last: datetime.date) -> tuple[list[str], NDArray[np.int32]]:
    """Every way to write the days from ``first`` to ``last``, and the date code of each."""
    days = [first + datetime.timedelta(code) for code in range((last - first).days + 1)]
    ways = {
        f"{day.year}/{month}/{number}": code
        for code, day in enumerate(days)
        for month, number in product({f"{day.month:02d}", str(day.month)}, {f"{day.day:02d}", str(day.day)})
    }
    return list(ways), np.fromiter(ways.values(), dtype=np.int32, count=len(ways))


@dataclass(frozen=True)
class LooseDecimal(Decimal):
    """A number that may be infinite or nan, as the competition's evaluator took prices."""

    def encode(self, texts: pl.Series) -> pl.Series:
        return texts.cast(pl.Float64, strict=False)


@dataclass(frozen=True)
class NumberText(Text):
    """A number that is kept as it is written: "2.50" and "2.5" are two texts; infinite and nan are numbers, too."""

    @property
    def domain(self) -> Phrase:
        return Phrase("domain.number")

    def encode(self, texts: pl.Series) -> pl.Series:
        return texts.set(texts.cast(pl.Float64, strict=False).is_null(), None)


def transaction_schema(calendar: Calendar) -> Schema:
    """T, A(T) and S of a shop with this calendar. A deleted row of A(T) is "DEL"; its other cells mean nothing."""
    return Schema(
        [
            Text("id_user"),
            Date("date", calendar.first_day, calendar.last_day),
            TimeOfDay("hours"),
            Text("id_item"),
            Decimal("price"),
            Integer("qty", -LARGEST_QUANTITY, LARGEST_QUANTITY),
        ]
    )


def evaluator_schema(calendar: Calendar, *, rows_deleted: bool) -> Schema:
    """A(T) and S as the competition's evaluator took them: any text as time, and prices as texts where rows are deleted."""
    price = NumberText("price") if rows_deleted else LooseDecimal("price")
    special = {"date": LooseDate("date", calendar.first_day, calendar.last_day), "hours": Text("hours"), "price": price}
    return Schema([special.get(column.name, column) for column in transaction_schema(calendar)])


SCHEMA = transaction_schema(CONTEST)
"""The columns of the contest's own T."""


@dataclass(frozen=True)
class AnyDate(Date):
    """A day of two centuries, to read a table whose months are not known yet."""

    first: datetime.date = datetime.date(1900, 1, 1)
    last: datetime.date = datetime.date(2099, 12, 31)

    @property
    def spellings(self) -> tuple[str, ...]:
        return _spellings(self.first, self.last, self.pattern)


@cache
def _spellings(first: datetime.date, last: datetime.date, pattern: str) -> tuple[str, ...]:
    """Kept, as two centuries have 73,049 days."""
    return tuple(pl.date_range(first, last, eager=True).dt.strftime(pattern))


ANY_MONTHS = Schema([AnyDate("date") if column.name == "date" else column for column in SCHEMA])
"""The columns of a T of any dates; ``narrowed`` gives such a table its own calendar."""


def month_span(table: Table) -> int:
    """Months from the first date of a table that is not empty to the last, both counted."""
    first, last = _first_and_last(table)
    return 12 * (last.year - first.year) + last.month - first.month + 1


def _first_and_last(table: Table) -> tuple[datetime.date, datetime.date]:
    first, last = table.schema["date"].values(np.array([table.codes["date"].min(), table.codes["date"].max()])).tolist()
    return first, last


def narrowed(table: Table) -> Table:
    """The same rows in the calendar of the months from their first date to their last; at most 120 (``month_span``)."""
    column = table.schema["date"]
    assert isinstance(column, Date)
    calendar = Calendar.spanning(*_first_and_last(table))
    schema = transaction_schema(calendar)
    if schema == table.schema:
        return table
    shifted = table.codes["date"].astype(np.int64) + calendar.day(column.first)
    return Table(schema, {**table.codes, "date": shifted}, table.vocabularies)


# -- prices -----------------------------------------------------------------------------------------------------------


def prices(table: Table) -> NDArray[np.float64]:
    """Price of each row as a number, shape (n,)."""
    if not isinstance(table.schema["price"], Text):
        return table.codes["price"]
    found: NDArray[np.float64] = np.array([float(text) for text in table.vocabularies["price"]])[table.codes["price"]]
    return found


def comparable_prices(table: Table) -> NDArray[np.int64]:
    """A whole number per row that is equal for equal prices of any two tables, shape (n,).

    A price that was read as a text equals the number that is written just so, and no other: "2.50" is not 2.5.
    """
    if not isinstance(table.schema["price"], Text):
        return (table.codes["price"] + 0.0).view(np.int64)  # adding makes -0 and 0 one number
    own = [number if repr(number := float(text)) == text else np.nan for text in table.vocabularies["price"]]
    found: NDArray[np.int64] = np.array(own).view(np.int64)[table.codes["price"]]
    return found


def price_changes(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """What E5 counts (10b): 1 - min(p, p') / max(p, p') of each pair; 0 where both are 0, else 1 where one is not positive.

    Infinite prices and nan, which the competition's evaluator let through, are 1 off every price of T.

    Examples
    --------
    >>> price_changes(np.array([2.0, 0.0, 3.0]), np.array([1.0, 0.0, -3.0])).tolist()
    [0.5, 0.0, 1.0]
    """
    low, high = np.minimum(first, second), np.maximum(first, second)
    kept_share = np.divide(low, high, out=np.zeros_like(high), where=(low > 0) & np.isfinite(high))
    return np.where((first == 0) & (second == 0), 0.0, 1 - kept_share)


# -- users and items --------------------------------------------------------------------------------------------------


def kept(table: Table) -> NDArray[np.bool_]:
    """Which rows of A(T) are not deleted, shape (n,)."""
    vocabulary = table.vocabularies["id_user"]
    if DELETED not in vocabulary:
        return np.ones(len(table), dtype=bool)
    mask: NDArray[np.bool_] = table.codes["id_user"] != vocabulary.index(DELETED)
    return mask


def kept_rows(table: Table) -> Table:
    """The rows of A(T) that are not deleted, in file order; the vocabulary names nobody who is not in them."""
    rows = table.take(kept(table))
    there = np.bincount(rows.codes["id_user"], minlength=len(table.vocabularies["id_user"])) > 0
    users = tuple(name for name, seen in zip(table.vocabularies["id_user"], there.tolist(), strict=True) if seen)
    number = np.cumsum(there) - 1
    return Table(rows.schema, {**rows.codes, "id_user": number[rows.codes["id_user"]]}, {**rows.vocabularies, "id_user": users})


def with_users(table: Table, users: pl.Series) -> Table:
    """The same rows under other users or pseudonyms; "DEL" deletes a row."""
    renamed = Table.from_encoded(Schema([Text("id_user")]), {"id_user": users})
    return Table(
        table.schema,
        {**table.codes, "id_user": renamed.codes["id_user"]},
        {**table.vocabularies, "id_user": renamed.vocabularies["id_user"]},
    )


def delete_rows(table: Table, doomed: NDArray[np.bool_]) -> Table:
    """Mark further rows as deleted."""
    return with_users(
        table, pl.select(pl.when(pl.Series(doomed)).then(pl.lit(DELETED)).otherwise(table.texts("id_user"))).to_series()
    )


def item_codes(table: Table, vocabulary: tuple[str, ...]) -> Codes:
    """Items of ``table`` as positions in another table's sorted item list; -1 for an item that is not in it."""
    own = np.asarray(table.vocabularies["id_item"], dtype=object)
    if table.vocabularies["id_item"] == vocabulary:
        return table.codes["id_item"]
    position = {item: code for code, item in enumerate(vocabulary)}
    lookup = np.array([position.get(item, -1) for item in own], dtype=np.int32)
    found: Codes = lookup[table.codes["id_item"]]
    return found


def top_items(items: Codes, item_count: int, places: int) -> NDArray[np.bool_]:
    """The items with most rows, ties by item code (codes are positions in the sorted item list), shape (items,)."""
    counts = np.bincount(items, minlength=item_count)
    order = np.argsort(-counts, kind="stable")[:places]
    found = np.zeros(item_count, dtype=bool)
    found[order[counts[order] > 0]] = True
    return found


def release_bytes(table: Table) -> bytes:
    """A(T) as a file: header, and ``DEL,,,,,`` for a deleted row."""
    frame = pl.DataFrame([table.texts(name) for name in table.schema.names])
    # A null is written as nothing at all; an empty text would get quotation marks.
    shown = [pl.when(pl.col("id_user") != DELETED).then(pl.col(name)).alias(name) for name in frame.columns[1:]]
    return frame.select("id_user", *shown).write_csv(line_terminator="\n").encode()
