"""Methods that treat columns by themselves: what they share, and those that treat numbers (`top`, `bottom`, `dp` ...)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kakurenbo.contest import Anonymizer, Release, unknown_column
from kakurenbo.core import Category, Column, Decimal, Integer, Schema, Table
from kakurenbo.core.arrays import Rng
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.messages import Message
from kakurenbo.methods.parameters import parameter


class ColumnMethod(Anonymizer):
    """Base of methods that treat chosen columns, all by default; each of them may take some kinds of columns only."""

    kinds: ClassVar[Any] = Category | Integer | Decimal
    expectation: ClassVar[str] = ""
    refusal: ClassVar[str] = ""

    columns: tuple[str, ...] | None

    @classmethod
    def takes(cls, column: Column) -> bool:  # noqa: ARG003
        """Whether a column can be chosen."""
        return True

    @classmethod
    def accepts(cls, schema: Schema) -> bool:
        """Tables of numbers and categories."""
        return all(isinstance(column, cls.kinds) for column in schema)

    def chosen(self) -> tuple[str, ...] | None:
        """Return the columns that a parameter names; None for all."""
        return self.columns

    def unfit(self, schema: Schema) -> str | Message:
        chosen = self.chosen() or ()
        if wrong := super().unfit(schema) or unknown_column(schema, chosen):
            return wrong
        refused = [name for name in chosen if not self.takes(schema[name])]
        return Message(self.refusal, {"column": refused[0]}) if refused else ""

    def names(self, schema: Schema) -> tuple[str, ...]:
        """Return the names of the columns to treat."""
        chosen = self.chosen()
        if chosen is None:
            return tuple(column.name for column in schema if self.takes(column))
        names = schema.select(chosen).names
        for name in names:
            if not self.takes(schema[name]):
                raise ParameterError("columns", self.expectation, name)
        return names


class NumberMethod(ColumnMethod):
    """Base of methods that treat columns of numbers."""

    expectation = "columns of numbers"
    refusal = "misfit.holds_words"

    @classmethod
    def takes(cls, column: Column) -> bool:
        return not isinstance(column, Category)

    @classmethod
    def accepts(cls, schema: Schema) -> bool:
        """Tables of numbers and categories, with a number at least."""
        return super().accepts(schema) and any(cls.takes(column) for column in schema)


@dataclass(frozen=True)
class _OneNumber(NumberMethod):
    """Base of methods that treat one column of numbers."""

    column: str = parameter("age", "the column of numbers")

    def chosen(self) -> tuple[str, ...]:
        return (self.column,)


@dataclass(frozen=True)
class Top(_OneNumber):
    """Drop the rows whose number is above a limit."""

    above: float = parameter(75.0, "the largest number that is kept")

    def __call__(self, table: Table, rng: Rng) -> Release:
        (name,) = self.names(table.schema)
        return Release.keeping(table, table.values(name) <= self.above)


@dataclass(frozen=True)
class Bottom(_OneNumber):
    """Drop the rows whose number is below a limit."""

    below: float = parameter(22.0, "the smallest number that is kept")

    def __call__(self, table: Table, rng: Rng) -> Release:
        (name,) = self.names(table.schema)
        return Release.keeping(table, table.values(name) >= self.below)


@dataclass(frozen=True)
class TopBottom(NumberMethod):
    """Replace numbers beyond two quantiles of their column by the number at the quantile; no row is dropped.

    Examples
    --------
    >>> table = Table.from_rows(Schema([Integer("age", 0, 99)]), [(n,) for n in range(10)])
    >>> TopBottom(top=0.2, bottom=0.1)(table, np.random.default_rng(0)).table.values("age").tolist()
    [1, 1, 2, 3, 4, 5, 6, 7, 7, 7]
    """

    top: float = parameter(
        0.01, "share of the largest numbers that become the boundary", low=0, high=0.5
    )
    bottom: float = parameter(
        0.01, "share of the smallest numbers that become the boundary", low=0, high=0.5
    )
    columns: tuple[str, ...] | None = parameter(None, "columns of numbers", none="word.all_numbers")

    def __call__(self, table: Table, rng: Rng) -> Release:
        changed, last = {}, len(table) - 1
        for name in self.names(table.schema):
            if len(table):
                ordered = np.sort(table.codes[name])
                low = ordered[min(int(self.bottom * len(table)), last)]
                high = ordered[max(last - int(self.top * len(table)), 0)]
                changed[name] = np.clip(table.codes[name], min(low, high), max(low, high))
        return Release.of(table.with_codes(changed))


@dataclass(frozen=True)
class Laplace(_OneNumber):
    """Add noise of Laplace's distribution with scale 1 / epsilon, cut the decimals off, and stay in the column's range."""

    epsilon: float = parameter(1.0, "the larger, the less noise", low=1e-6)
    whole: bool = parameter(True, "whether decimals are cut off")

    def __call__(self, table: Table, rng: Rng) -> Release:
        (name,) = self.names(table.schema)
        column = table.schema[name]
        assert isinstance(column, Integer | Decimal)
        noisy = table.values(name) + rng.laplace(0, 1 / self.epsilon, len(table))
        if self.whole or isinstance(column, Integer):
            noisy = np.trunc(noisy)
        noisy = np.clip(noisy, column.low, column.high)
        codes = noisy - column.low if isinstance(column, Integer) else noisy
        return Release.of(table.with_codes({name: codes}))
