"""Anonymizers on any table: each column stored in the kind that a method takes, and written back as it was written.

A method that knows no dates gets days as whole numbers, one that knows no decimals gets hundredths (or what the table has), one
that knows no free text gets a category of the texts that occur. A number that is missing here and there makes its column a
category: a missing value is a level of its own.
"""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import polars as pl

from kakurenbo.audit.frames import Frame
from kakurenbo.audit.schema import ColumnSchema, TableSchema, dates_of
from kakurenbo.contest import Anonymizer, Release
from kakurenbo.core import (
    Category,
    Column,
    Date,
    Decimal,
    InputError,
    Integer,
    Problems,
    Schema,
    Table,
    Text,
)
from kakurenbo.core.messages import Message
from kakurenbo.core.problems import ProblemCollector

PROBE = Schema([Integer("number", 0, 99), Category("word", ("a", "b"))])
"""A method that does not accept numbers beside words is made for the tables of one contest."""
_MOST_PLACES = 9  # decimals that are counted; more are rounding of a computer
_EPOCH = datetime.date(1970, 1, 1)


@dataclass(frozen=True)
class _Stored(ABC):
    """One column in one kind."""

    told: ColumnSchema

    @property
    @abstractmethod
    def column(self) -> Column:
        """As the method sees it."""

    @abstractmethod
    def encode(self, texts: pl.Series) -> pl.Series:
        """What :meth:`Table.from_encoded` takes; null where a text is not in the domain."""

    @abstractmethod
    def written(self, table: Table) -> pl.Series:
        """The column of a release as texts."""


@dataclass(frozen=True)
class _AsItIs(_Stored):
    """Words, whole numbers, dates or texts in the column's own kind."""

    own: Column

    @property
    def column(self) -> Column:
        return self.own

    def encode(self, texts: pl.Series) -> pl.Series:
        if isinstance(self.own, Integer):
            # "+3" and " 3" are numbers, too; they are written back as 3.
            texts = self.told.numbers(texts).round().cast(pl.Int64).cast(pl.String)
        if isinstance(self.own, Date):
            # Spreadsheets leave leading zeros out; they are written back with them.
            texts = dates_of(texts, self.own.pattern).dt.strftime(self.own.pattern).fill_null("")
        return self.own.encode(texts)

    def written(self, table: Table) -> pl.Series:
        return table.texts(self.told.name)


@dataclass(frozen=True)
class _Decimals(_Stored):
    """Decimal numbers; written back with as many places as the table has."""

    places: int

    @property
    def column(self) -> Column:
        return Decimal(self.told.name, *_bounds(self.told))

    def encode(self, texts: pl.Series) -> pl.Series:
        return self.column.encode(texts.str.strip_chars())

    def written(self, table: Table) -> pl.Series:
        return _with_places(self.told.name, table.values(self.told.name), self.places)


@dataclass(frozen=True)
class _InUnits(_Stored):
    """Decimal numbers as whole numbers of the last place that the table has."""

    places: int

    @property
    def column(self) -> Column:
        low, high = (round(bound * 10**self.places) for bound in _bounds(self.told))
        return Integer(self.told.name, low, high)

    def encode(self, texts: pl.Series) -> pl.Series:
        units = (self.told.numbers(texts) * 10**self.places).round()
        low, high = (round(bound * 10**self.places) for bound in _bounds(self.told))
        codes: pl.Series = (
            (units - low).set(~units.is_between(low, high).fill_null(False), None).cast(pl.Int64)
        )
        return codes

    def written(self, table: Table) -> pl.Series:
        return _with_places(
            self.told.name, table.values(self.told.name) / 10**self.places, self.places
        )


@dataclass(frozen=True)
class _Days(_Stored):
    """Dates as whole numbers: days since 1970."""

    @property
    def column(self) -> Column:
        first, last = (
            (day - _EPOCH).days for day in (self.told.first or _EPOCH, self.told.last or _EPOCH)
        )
        return Integer(self.told.name, first, last)

    def encode(self, texts: pl.Series) -> pl.Series:
        days = self.told.numbers(texts)
        column = self.column
        assert isinstance(column, Integer)
        return (
            (days - column.low)
            .set(~days.is_between(column.low, column.high).fill_null(False), None)
            .cast(pl.Int64)
        )

    def written(self, table: Table) -> pl.Series:
        days = pl.Series(self.told.name, table.values(self.told.name)).cast(pl.Int32).cast(pl.Date)
        return days.dt.strftime(self.told.pattern)


def _bounds(told: ColumnSchema) -> tuple[float, float]:
    return float(told.low or 0), float(told.high or 0)


def _with_places(name: str, numbers: np.ndarray, places: int) -> pl.Series:
    return pl.Series(name, [f"{number:.{places}f}" for number in numbers.tolist()], dtype=pl.String)


def _ways(told: ColumnSchema, texts: pl.Series) -> tuple[_Stored, _Stored, _Stored]:
    """A column as it is, with dates and texts as plain kinds, and with decimals as plain kinds, too."""
    occurring = tuple(texts.unique().sort().to_list())
    if told.kind != "category" and told.missing:
        # Texts that the schema allows but that do not occur are no loss: nothing could be drawn of them.
        same: _Stored = _AsItIs(told, Category(told.name, occurring))
        return same, same, same
    if told.kind == "decimal":
        places = _places(texts)
        return _Decimals(told, places), _Decimals(told, places), _InUnits(told, places)
    own = _AsItIs(told, told.as_column())
    if told.kind == "date":
        return own, _Days(told), _Days(told)
    if told.kind == "text":
        words = _AsItIs(told, Category(told.name, occurring))
        return own, words, words
    return own, own, own


def _places(texts: pl.Series) -> int:
    """The most decimals that a number of a column is written with."""
    after = texts.str.strip_chars().str.extract(r"\.([0-9]+)$", 1).str.len_chars().max()
    scientific = bool(texts.str.contains("[eE]").any())
    return _MOST_PLACES if scientific else min(_MOST_PLACES, int(str(after or 0)))


def storages(frame: Frame, schema: TableSchema) -> Iterator[tuple[_Stored, ...]]:
    """Ways to store a table, the one that says most of its columns first."""
    ways = [_ways(told, frame.cells[told.name]) for told in schema]
    for number in range(3):
        yield tuple(way[number] for way in ways)


def misfit(frame: Frame, schema: TableSchema, method: Anonymizer) -> str | Message:
    """Why a method with its parameters does not fit a table in any way to store it; empty where it does."""
    reason: str | Message = ""
    for stored in storages(frame, schema):
        reason = method.unfit(_schema_of(stored))
        if not reason:
            return ""
    return reason


def anonymized(
    frame: Frame,
    schema: TableSchema,
    method: Anonymizer,
    rng: np.random.Generator,
    release: Frame | None = None,
) -> tuple[pl.DataFrame, Release]:
    """The release of a table: as texts, and as the method made it.

    Parameters
    ----------
    frame : Frame
    schema : TableSchema
        Columns that it does not name are left out.
    method : Anonymizer
        One that fits, see :func:`misfit`.
    rng : Generator
    release : Frame, optional
        What the method repairs; columns that the schema does not name are left out of it, too.

    Raises
    ------
    InputError
        With every cell that the schema does not allow.
    """
    frames = [frame, release] if release else [frame]
    collectors = [ProblemCollector(each.name) for each in frames]
    for each, found in zip(frames, collectors, strict=True):
        for name in schema.names:
            if name not in each.columns:
                found.add("audit.schema_column", column=name, columns=each.columns)
    _raise_all(collectors)
    ways = storages(stacked(frames, schema.names), schema)
    stored = next(stored for stored in ways if not method.unfit(_schema_of(stored)))
    tables = []
    for each, found in zip(frames, collectors, strict=True):
        encoded = {one.told.name: _encoded(one, each.cells[one.told.name], found) for one in stored}
        if not found:
            tables.append(Table.from_encoded(_schema_of(stored), encoded))
    _raise_all(collectors)
    made = (
        method.after(tables[0], Release.of(tables[1]), rng) if release else method(tables[0], rng)
    )
    table = made.table
    columns = [
        one.written(table)
        if table.schema[one.told.name] == one.column
        else table.texts(one.told.name)
        for one in stored
    ]
    return pl.DataFrame(columns), made


def _raise_all(collectors: Sequence[ProblemCollector]) -> None:
    if any(collectors):
        raise InputError(Problems.join(found.problems() for found in collectors))


def stacked(frames: Sequence[Frame], names: Sequence[str]) -> Frame:
    """Return these columns of several tables, one below the other, under the name of the first."""
    return replace(frames[0], cells=pl.concat([frame.cells.select(names) for frame in frames]))


def csv_bytes(cells: pl.DataFrame) -> bytes:
    """Texts as a CSV file with a header; what is missing is written as nothing, and not as an empty text in quotation marks."""
    shown = cells.with_columns(pl.all().replace("", None)) if cells.width > 1 else cells
    return shown.write_csv(line_terminator="\n").encode()


def unchanged_columns(frame: Frame, columns: TableSchema, cells: pl.DataFrame) -> list[str]:
    """Return columns of more than one value that a release repeats row by row.

    Numbers are compared as numbers: a release may write 10438.1 as 10438.10.
    """
    if frame.cells.height != cells.height:
        return []
    varying = [name for name in cells.columns if frame.cells[name].n_unique() > 1]
    return [name for name in varying if _is_same(columns[name], frame.cells[name], cells[name])]


def _is_same(column: ColumnSchema, before: pl.Series, after: pl.Series) -> bool:
    if before.equals(after):
        return True
    if not column.numeric:
        return False
    changes = (column.numbers(before) - column.numbers(after)).abs()
    is_number = column.numbers(before).is_not_null()
    others_same = before.filter(~is_number).equals(after.filter(~is_number))
    return others_same and bool((changes.filter(is_number) < 10.0**-_MOST_PLACES).all())


def _schema_of(stored: Sequence[_Stored]) -> Schema:
    return Schema(one.column for one in stored)


def _encoded(stored: _Stored, texts: pl.Series, found: ProblemCollector) -> pl.Series:
    column = stored.column
    # A text column keeps its texts here, and its table makes the codes.
    encoded = texts if isinstance(column, Text) else stored.encode(texts)
    explain = cache((stored.told.as_column() if isinstance(stored, _Days) else column).explain)
    for record in np.flatnonzero(encoded.is_null().to_numpy()).tolist():
        why = explain(texts[record])
        found.add(
            why.code,
            row=record + 2,
            record=record,
            column=stored.told.name,
            value=texts[record],
            **why.params,
        )
    return encoded
