"""The transaction table of darc2019: its six columns, the months of its calendar, and what "DEL" in the first one means."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.core import Category, Codes, Date, Decimal, Integer, Schema, Table, Text
from kakurenbo.core.arrays import Bools, Floats, Ints
from kakurenbo.core.csv import cells_of
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.messages import Message

DELETED = "DEL"
LARGEST_QUANTITY = 10**18  # any integer that 63 bits hold with room to add
MAX_MONTHS = 120


# -- months -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Calendar:
    """Consecutive whole months that the dates of a shop's table lie in; months and days count from 0.

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
        """Return the months of two days and all between them."""
        return _calendar(first.replace(day=1), _month_count(first, last))

    @classmethod
    def of(cls, table: Table) -> Calendar:
        """Return the calendar of a transaction table: the domain of its dates."""
        column = table.schema["date"]
        assert isinstance(column, Date)
        return cls.spanning(column.first, column.last)

    @cached_property
    def _starts(self) -> NDArray[np.datetime64]:
        """First day of each month, and of the month after the last, shape (months + 1,)."""
        first = np.datetime64(self.first_day, "M")
        return np.arange(first, first + self.months + 1).astype("datetime64[D]")

    @property
    def last_day(self) -> datetime.date:
        return self.first_day + datetime.timedelta(self.days - 1)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The months as they are written: 2010/12."""
        return tuple(f"{day:%Y/%m}" for day in self._starts[:-1].tolist())

    @cached_property
    def month_start(self) -> NDArray[np.int16]:
        """Date code of the first day of each month, shape (months,)."""
        start: NDArray[np.int16] = (self._starts - self._starts[0])[:-1].astype(np.int16)
        return start

    @cached_property
    def month_length(self) -> NDArray[np.int16]:
        """Days of each month, shape (months,)."""
        return np.diff(self._starts).astype(np.int16)

    @cached_property
    def month_of_day(self) -> NDArray[np.int8]:
        """Month of each date code, shape (days,)."""
        return np.repeat(np.arange(self.months, dtype=np.int8), self.month_length)

    @cached_property
    def month_of_year(self) -> NDArray[np.int8]:
        """January 0 to December 11 of each month, shape (months,)."""
        return ((self.first_day.month - 1 + np.arange(self.months)) % 12).astype(np.int8)

    @property
    def days(self) -> int:
        """Days of all months."""
        return len(self.month_of_day)

    def day(self, date: datetime.date) -> int:
        """Return the date code of a day; outside the calendar it is negative or too large."""
        return (date - self.first_day).days


@cache
def _calendar(first_day: datetime.date, months: int) -> Calendar:
    """Return one object per calendar, so that its properties are computed once."""
    return Calendar(first_day, months)


def _month_count(first: datetime.date, last: datetime.date) -> int:
    return 12 * (last.year - first.year) + last.month - first.month + 1


CONTEST = Calendar.spanning(datetime.date(2010, 12, 1), datetime.date(2011, 12, 31))
"""The thirteen months of the contest's own T."""


def months(table: Table) -> NDArray[np.int8]:
    """Return the month of each row in the table's calendar, shape (n,)."""
    month: NDArray[np.int8] = Calendar.of(table).month_of_day[table.codes["date"]]
    return month


# -- columns ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TimeOfDay(Category):
    """A minute of the day, written HH:MM; code = minutes since midnight."""

    levels: tuple[str, ...] = field(
        default=tuple(f"{minute // 60:02d}:{minute % 60:02d}" for minute in range(24 * 60)),
        repr=False,
    )

    @property
    def domain(self) -> Message:
        return Message("domain.time")

    def _advice(self, text: str) -> Message:
        return Message("advice.time")


@dataclass(frozen=True)
class LooseDate(Date):
    """A day whose month and day may lack their leading zeros, as the competition's evaluator took them."""

    def encode(self, texts: pl.Series) -> pl.Series:
        padded = texts.str.replace("/([0-9])/", "/0$1/").str.replace("/([0-9])$", "/0$1")
        return super().encode(padded)


@dataclass(frozen=True)
class LooseDecimal(Decimal):
    """A number that may be infinite or nan, as the competition's evaluator took prices."""

    def encode(self, texts: pl.Series) -> pl.Series:
        return texts.cast(pl.Float64, strict=False)


@dataclass(frozen=True)
class NumberText(Text):
    """A number that is stored as it is written: "2.50" and "2.5" are two texts; infinite and nan are numbers, too."""

    @property
    def domain(self) -> Message:
        return Message("domain.number")

    def encode(self, texts: pl.Series) -> pl.Series:
        return texts.set(texts.cast(pl.Float64, strict=False).is_null(), None)


def transaction_schema(calendar: Calendar) -> Schema:
    """Return T, A(T) and S of a shop with this calendar. A deleted row of A(T) is "DEL"; its other cells mean nothing."""
    return _schema(Date("date", calendar.first_day, calendar.last_day))


def _schema(date: Date) -> Schema:
    quantity = Integer("qty", -LARGEST_QUANTITY, LARGEST_QUANTITY)
    texts = Text("id_user"), Text("id_item")
    return Schema([texts[0], date, TimeOfDay("hours"), texts[1], Decimal("price"), quantity])


def evaluator_schema(calendar: Calendar, *, rows_deleted: bool) -> Schema:
    """Return A(T) and S as the competition's evaluator took them: any text as time, prices as texts where rows are deleted."""
    special = {
        "date": LooseDate("date", calendar.first_day, calendar.last_day),
        "hours": Text("hours"),
        "price": NumberText("price") if rows_deleted else LooseDecimal("price"),
    }
    return Schema(special.get(column.name, column) for column in transaction_schema(calendar))


SCHEMA = transaction_schema(CONTEST)
"""The columns of the contest's own T."""

ANY_MONTHS = _schema(Date("date", datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)))
"""The columns of a T of any dates; ``narrowed`` gives such a table its own calendar."""

RULES_NAMES = {"hours": "time", "price": "unit_price", "qty": "quantity"}
"""Columns that the text of the rules calls by another name; files may use either."""


def headed(schema: Schema, data: bytes) -> Schema:
    """Return the same columns under the rules' names, as far as the first line of a file has these."""
    line = data.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].rstrip(b"\r")
    names = {*(cells_of(line.decode("utf-8", "replace")) or [])} - {*schema.names}
    return _renamed(schema, {old: new for old, new in RULES_NAMES.items() if new in names})


def with_headings(table: Table, schema: Schema | None = None) -> Table:
    """Return the same table with the column names of another in its files; by default the standard names."""
    aliases = {column.name: column.alias for column in schema or ()}
    return Table(_renamed(table.schema, aliases), table.codes, table.vocabularies)


def _renamed(schema: Schema, aliases: dict[str, str]) -> Schema:
    return Schema(replace(column, alias=aliases.get(column.name, "")) for column in schema)


def _date_range(table: Table) -> tuple[datetime.date, datetime.date]:
    codes = table.codes["date"]
    first, last = table.schema["date"].values(np.array([codes.min(), codes.max()])).tolist()
    return first, last


def month_span(table: Table) -> int:
    """Count the months from the first date of a table that is not empty to the last, both included."""
    return _month_count(*_date_range(table))


def narrowed(table: Table) -> Table:
    """Return the same rows in the calendar of the months from their first date to their last; at most 120 (``month_span``)."""
    column = table.schema["date"]
    assert isinstance(column, Date)
    calendar = Calendar.spanning(*_date_range(table))
    date = Date("date", calendar.first_day, calendar.last_day)
    schema = Schema(date if column.name == "date" else column for column in table.schema)
    if schema == table.schema:
        return table
    shifted = table.codes["date"].astype(np.int64) + calendar.day(column.first)
    return Table(schema, {**table.codes, "date": shifted}, table.vocabularies)


# -- prices -----------------------------------------------------------------------------------------------------------


def prices(table: Table) -> Floats:
    """Return the price of each row as a number, shape (n,)."""
    price = table.codes["price"]
    if isinstance(table.schema["price"], Text):
        price = np.array(table.vocabularies["price"], dtype=np.float64)[price]
    return price


def comparable_prices(table: Table) -> Ints:
    """Return a whole number per row that is equal for equal prices of any two tables, shape (n,).

    A price that was read as a text equals the number that is written just so, and no other: "2.50" is not 2.5.
    """
    if not isinstance(table.schema["price"], Text):
        return (table.codes["price"] + 0.0).view(np.int64)  # adding makes -0 and 0 one number
    numbers = [(float(text), text) for text in table.vocabularies["price"]]
    exact = [number if repr(number) == text else np.nan for number, text in numbers]
    codes: Ints = np.array(exact, dtype=np.float64).view(np.int64)
    return codes[table.codes["price"]]


def price_changes(first: Floats, second: Floats) -> Floats:
    """Compute what E5 counts (10b): 1 - min(p, p') / max(p, p'); 0 where both are 0, else 1 where one is not positive.

    Infinite prices and nan, which the competition's evaluator let through, are 1 off every price of T.

    Examples
    --------
    >>> price_changes(np.array([2.0, 0.0, 3.0]), np.array([1.0, 0.0, -3.0])).tolist()
    [0.5, 0.0, 1.0]
    """
    low, high = np.minimum(first, second), np.maximum(first, second)
    ratio = np.divide(low, high, out=np.zeros_like(high), where=(low > 0) & np.isfinite(high))
    return np.where((first == 0) & (second == 0), 0.0, 1 - ratio)


# -- users and items --------------------------------------------------------------------------------------------------


def kept(table: Table) -> Bools:
    """Return which rows of A(T) are not deleted, shape (n,)."""
    vocabulary = table.vocabularies["id_user"]
    deleted = vocabulary.index(DELETED) if DELETED in vocabulary else -1
    mask: Bools = table.codes["id_user"] != deleted
    return mask


def kept_rows(table: Table) -> Table:
    """Return the rows of A(T) that are not deleted, in file order; the vocabulary has only users of these rows."""
    rows = table.take(kept(table))
    return with_users(rows, rows.texts("id_user"))


def with_users(table: Table, users: pl.Series) -> Table:
    """Return the same rows under other users or pseudonyms; "DEL" deletes a row."""
    renamed = Table.from_encoded(Schema([Text("id_user")]), {"id_user": users})
    return Table(
        table.schema,
        {**table.codes, **renamed.codes},
        {**table.vocabularies, **renamed.vocabularies},
    )


def delete_rows(table: Table, doomed: Bools) -> Table:
    """Mark further rows as deleted."""
    return with_users(table, table.texts("id_user").set(pl.Series(doomed), DELETED))


def item_codes(table: Table, vocabulary: tuple[str, ...]) -> Codes:
    """Return items of ``table`` as positions in another table's sorted item list; -1 for an item that is not in it."""
    if table.vocabularies["id_item"] == vocabulary:
        return table.codes["id_item"]
    position = {item: code for code, item in enumerate(vocabulary)}
    places = [position.get(item, -1) for item in table.vocabularies["id_item"]]
    codes: Codes = np.array(places, dtype=np.int32)[table.codes["id_item"]]
    return codes


def top_items(items: Codes, item_count: int, places: int) -> Bools:
    """Return which items have most rows, ties by item code (codes are positions in the sorted item list), shape (items,)."""
    counts = np.bincount(items, minlength=item_count)
    order = np.argsort(-counts, kind="stable")[:places]
    top = np.zeros(item_count, dtype=bool)
    top[order[counts[order] > 0]] = True
    return top


def release_bytes(table: Table) -> bytes:
    """Write A(T) as a file: header, and ``DEL,,,,,`` for a deleted row."""
    frame = pl.DataFrame([table.texts(name) for name in table.schema.names])
    # A null is written as nothing at all; an empty text would get quotation marks.
    cells = [
        pl.when(pl.col("id_user") != DELETED).then(pl.col(column.name)).alias(column.heading)
        for column in table.schema.columns[1:]
    ]
    return frame.select("id_user", *cells).write_csv(line_terminator="\n").encode()
