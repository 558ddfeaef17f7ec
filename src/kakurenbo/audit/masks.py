"""Cells of a release that are the original's by a rule that anybody can try, put back before anything is measured.

Texts under another spelling or as digests (:mod:`kakurenbo.audit.spelling`), numbers and dates in other units
(:mod:`kakurenbo.audit.units`). What is left then may be a secret bijection (:mod:`kakurenbo.audit.recoding`).
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.audit.encoding import tells_nothing
from kakurenbo.audit.frames import Frame
from kakurenbo.audit.reading import Reader
from kakurenbo.audit.result import RecodedColumn
from kakurenbo.audit.schema import ColumnSchema, TableSchema
from kakurenbo.audit.spelling import Disguise, digested, plain_values
from kakurenbo.audit.units import Unit, found_unit
from kakurenbo.audit.values import covered_texts

_LOOKED_AT = 2000  # released rows by which it is told whether a column is understood
_SOME = 0.1  # share of them that must not be, for rules to be tried
_MOST = 0.5  # share beyond which the cells of a column of numbers are taken for names of numbers
_MOST_VALUES = 1_000_000  # that digests are made of
_NUMBERS = 0.9  # share of released cells that must be numbers to be in another unit
_NO_NUMBERS = np.zeros(0)
_DECIMAL = ColumnSchema("", "decimal")


def put_back(
    schema: TableSchema,
    original: Frame,
    release: Frame,
    holdout: Frame | None,
    identifying: Sequence[str] = (),
) -> tuple[Frame, TableSchema, tuple[RecodedColumn, ...]]:
    """The release with its values as the original has them, the schema to read it by, and which columns that took.

    Parameters
    ----------
    schema : TableSchema
    original, release : Frame
        Every file of a release that has several is looked at for itself.
    holdout : Frame or None
    identifying : sequence of str
        Columns of names of people: digests are undone, but other rules would take new names for old ones.

    Returns
    -------
    Frame, TableSchema, tuple of RecodedColumn
        A column of numbers that were replaced by names of no known rule is read as names, which may still be told by how
        common they are.
    """
    columns: dict[str, ColumnSchema] = {}
    undone: dict[str, RecodedColumn] = {}
    tables = []
    for table in release.parts or (release,):
        cells = {}
        for name in (name for name in schema.names if name in table.columns):
            people = [
                frame.cells[name]
                for frame in (original, holdout)
                if frame is not None and name in frame.columns
            ]
            column = _Column(schema[name], pl.concat(people), table.cells[name])
            found = column.undigested() if name in identifying else column.unmasked()
            if found is not None:
                cells[name], undone[name] = found
                column = _Column(schema[name], pl.concat(people), cells[name])
            if column.schema.numeric and column.not_understood > _MOST:
                columns[name] = replace(column.schema, kind="text")
        tables.append(replace(table, cells=table.cells.with_columns(**cells)) if cells else table)
    shown = (
        tables[0]
        if not release.parts
        else replace(release, cells=tables[0].cells, parts=tuple(tables))
    )
    read = (
        TableSchema(tuple(columns.get(column.name, column) for column in schema))
        if columns
        else schema
    )
    return shown, read, tuple(undone.values())


class _Column:
    """One column of the release, beside the values that people have."""

    def __init__(self, schema: ColumnSchema, pool: pl.Series, released: pl.Series) -> None:
        self.schema, self._pool, self._released = schema, pool, released
        self._numbers = (
            schema.numbers(pool).drop_nulls().to_numpy() if schema.numeric else _NO_NUMBERS
        )
        some = released.gather_every(-(-len(released) // _LOOKED_AT))
        self._reader = (
            Reader(schema, some.unique().sort(), self._numbers) if schema.numeric else None
        )
        self.not_understood = int(some.is_in(self._strange(some)).sum()) / max(1, len(some))

    @cached_property
    def _values(self) -> list[str]:
        """What people have, the commonest first."""
        counts = (
            self._pool.alias("value")
            .value_counts()
            .sort("count", "value", descending=[True, False])
        )
        return list(counts["value"].to_list())

    @cached_property
    def _known(self) -> set[str]:
        return set(self._values)

    @cached_property
    def _levels(self) -> list[str]:
        return sorted(self._known)

    def unmasked(self) -> tuple[pl.Series, RecodedColumn] | None:
        if self.not_understood > _SOME:
            strange = self._strange(self._released)
            different = self._released.unique().sort()
            others = different.filter(~different.is_in([*self._levels, *strange])).to_list()
            found = plain_values(
                self.schema.name, strange, self._is_value, self._all_values(), others
            )
            if found is not None:
                return self._replaced(found, len(strange))
        if not self.schema.numeric or self._is_covered_by_words():
            return None
        numbers = self.schema.numbers(self._released)
        if self.schema.kind == "date" and self.not_understood > _MOST:
            numbers = _DECIMAL.numbers(self._released)  # days since some day or other
        return self._in_own_unit(numbers)

    def undigested(self) -> tuple[pl.Series, RecodedColumn] | None:
        """Where names of people are digests of their names."""
        if self.not_understood <= _SOME:
            return None
        texts = self._released.unique().sort().to_list()
        found = digested(
            self.schema.name,
            [text for text in texts if text not in self._known],
            self._all_values(),
        )
        return None if found is None else self._replaced(found, len(texts))

    def _strange(self, texts: pl.Series) -> list[str]:
        """The different texts of which nobody can say what they stand for, sorted."""
        different = texts.unique().sort()
        known = (
            self.schema.numbers(different).is_not_null()
            if self.schema.numeric
            else different.is_in(self._levels)
        )
        return [
            text
            for text in different.filter(~known).to_list()
            if not tells_nothing(text) and not self._is_covered(text)
        ]

    def _is_covered(self, text: str) -> bool:
        """Whether a text that is no value stands for a set of values."""
        if self._reader is not None:
            return self._reader.covered(text) is not None
        return covered_texts(text, self._levels) is not None

    def _is_value(self, text: str) -> bool:
        if not self.schema.numeric:
            return text in self._known
        return self.schema.numbers(pl.Series([text])).null_count() == 0

    def _is_covered_by_words(self) -> bool:
        """Whether released numbers are beginnings of numbers, or rounded dates, and no numbers themselves."""
        return (
            self._reader is not None
            and not self.not_understood
            and bool(np.isnan(self._reader.released).all())
        )

    def _all_values(self) -> list[str]:
        """What somebody would make digests of: everybody's values, and all that are possible, where these can be listed."""
        return list(dict.fromkeys([*self._values, *_possible(self.schema)]))[:_MOST_VALUES]

    def _replaced(self, found: Disguise, strange: int) -> tuple[pl.Series, RecodedColumn]:
        texts = self._released.replace(list(found.values), list(found.values.values()))
        return texts, RecodedColumn(self.schema.name, strange, len(found.values), found.rule)

    def _in_own_unit(self, numbers: pl.Series) -> tuple[pl.Series, RecodedColumn] | None:
        told = numbers.drop_nulls().to_numpy()
        if len(told) < _NUMBERS * len(self._released) or not len(self._numbers):
            return None
        unit = found_unit(self._numbers, told)
        if unit is None:
            return None
        written = _writer(self.schema, self._numbers, unit)
        different = numbers.drop_nulls().unique()
        named = dict(zip(different.to_list(), written(different.to_numpy()), strict=True))
        back = numbers.replace_strict(named, default=None, return_dtype=pl.String)
        name, values = self.schema.name, len(different)
        texts = pl.select(pl.coalesce(back, self._released)).to_series().alias(name)
        return texts, RecodedColumn(name, values, values, unit.formula)


def _possible(schema: ColumnSchema) -> list[str]:
    """All values between the least and the greatest, of integers and days that are not too many."""
    if schema.kind == "integer" and schema.low is not None and schema.high is not None:
        first, last = int(schema.low), int(schema.high)
        return (
            [str(value) for value in range(first, last + 1)] if last - first < _MOST_VALUES else []
        )
    if schema.kind == "date" and schema.first is not None and schema.last is not None:
        days = range((schema.last - schema.first).days + 1)
        return [(schema.first + datetime.timedelta(day)).strftime(schema.pattern) for day in days]
    return []


def _writer(
    schema: ColumnSchema, known: NDArray[np.float64], unit: Unit
) -> Callable[[NDArray[np.float64]], list[str]]:
    """How numbers in the original's unit are written: as near to known ones as those are to each other."""
    decimals = 0 if schema.kind in ("integer", "date") else _decimals(known)

    def written(released: NDArray[np.float64]) -> list[str]:
        numbers = np.round(unit.undone(released), decimals)
        if schema.kind == "date":
            first = datetime.date(1970, 1, 1)
            return [
                (first + datetime.timedelta(int(day))).strftime(schema.pattern) for day in numbers
            ]
        return [f"{number:.15g}" for number in numbers.tolist()]

    return written


def _decimals(numbers: NDArray[np.float64]) -> int:
    """Digits after the point that all numbers are written with, six at most."""
    return next(
        (
            count
            for count in range(6)
            if np.allclose(numbers, np.round(numbers, count), rtol=1e-12, atol=1e-9)
        ),
        6,
    )
