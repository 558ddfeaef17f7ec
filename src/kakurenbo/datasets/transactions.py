"""The transaction table of darc2019: its six columns, its thirteen months, and what "DEL" in the first one means."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.messages import Phrase
from kakurenbo.tables import Category, Codes, Date, Decimal, Integer, Schema, Table, Text

DELETED = "DEL"
FIRST_DAY, LAST_DAY = datetime.date(2010, 12, 1), datetime.date(2011, 12, 31)
MONTHS = 13
LARGEST_QUANTITY = 10**9


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


SCHEMA = Schema(
    [
        Text("id_user"),
        Date("date", FIRST_DAY, LAST_DAY),
        TimeOfDay("hours"),
        Text("id_item"),
        Decimal("price", low=0.0),
        Integer("qty", -LARGEST_QUANTITY, LARGEST_QUANTITY),
    ]
)
"""T, A(T) and S. A deleted row of A(T) has the pseudonym "DEL"; its other cells mean nothing."""


def _calendar() -> tuple[NDArray[np.int8], NDArray[np.int16], NDArray[np.int16]]:
    days = [FIRST_DAY + datetime.timedelta(day) for day in range((LAST_DAY - FIRST_DAY).days + 1)]
    month = np.array([(day.year - 2010) * 12 + day.month - 12 for day in days], dtype=np.int8)
    first = np.searchsorted(month, np.arange(MONTHS)).astype(np.int16)
    return month, first, np.bincount(month).astype(np.int16)


_MONTH_OF_DAY, MONTH_START, MONTH_LENGTH = _calendar()
"""Month of each date code, and per month the date code of its first day and its number of days."""


def months(table: Table) -> NDArray[np.int8]:
    """Month of each row, 0 for 2010/12 to 12 for 2011/12, shape (n,)."""
    found: NDArray[np.int8] = _MONTH_OF_DAY[table.codes["date"]]
    return found


def month_name(month: int) -> str:
    """A month as it is written: 2010/12."""
    return (FIRST_DAY + datetime.timedelta(int(MONTH_START[month]))).strftime("%Y/%m")


def kept(table: Table) -> NDArray[np.bool_]:
    """Which rows of A(T) are not deleted, shape (n,)."""
    vocabulary = table.vocabularies["id_user"]
    if DELETED not in vocabulary:
        return np.ones(len(table), dtype=bool)
    mask: NDArray[np.bool_] = table.codes["id_user"] != vocabulary.index(DELETED)
    return mask


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


def release_bytes(table: Table) -> bytes:
    """A(T) as a file: header, and ``DEL,,,,,`` for a deleted row."""
    frame = pl.DataFrame([table.texts(name) for name in table.schema.names])
    # A null is written as nothing at all; an empty text would get quotation marks.
    shown = [pl.when(pl.col("id_user") != DELETED).then(pl.col(name)).alias(name) for name in frame.columns[1:]]
    return frame.select("id_user", *shown).write_csv(line_terminator="\n").encode()
