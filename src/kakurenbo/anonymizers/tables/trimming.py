"""Rows with an extreme number are dropped (pwscup2021's samples `top` and `bottom`)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contracts import Anonymizer, Release, unknown_column
from kakurenbo.parameters import parameter
from kakurenbo.tables import Category, Decimal, Integer, Schema, Table


@dataclass(frozen=True)
class _OneNumber(Anonymizer):
    """A method that looks at one column of numbers."""

    column: str = parameter("age", "the column of numbers")

    @classmethod
    def accepts(cls, schema: Schema) -> bool:
        """Tables of numbers and categories, with a number at least."""
        known = all(isinstance(column, Category | Integer | Decimal) for column in schema)
        return known and any(isinstance(column, Integer | Decimal) for column in schema)

    def unfit(self, schema: Schema) -> str:
        wrong = super().unfit(schema) or unknown_column(schema, [self.column])
        words = not wrong and isinstance(schema[self.column], Category)
        return f"column {self.column!r} holds words, not numbers" if words else wrong


@dataclass(frozen=True)
class _Trim(_OneNumber):
    """Drop the rows whose number is beyond a limit."""

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        return Release.keeping(table, ~self._beyond(table.values(self.column)))

    @abstractmethod
    def _beyond(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which numbers are beyond the limit, shape (n,)."""


@dataclass(frozen=True)
class Top(_Trim):
    """Drop the rows whose number is above a limit.

    Examples
    --------
    >>> table = Table.from_rows(Schema([Integer("age", 0, 99)]), [(75,), (76,)])
    >>> Top(above=75)(table, np.random.default_rng(0)).table.rows()
    [(75,)]
    """

    above: float = parameter(75.0, "the largest number that is kept")

    def _beyond(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        return values > self.above


@dataclass(frozen=True)
class Bottom(_Trim):
    """Drop the rows whose number is below a limit.

    Examples
    --------
    >>> table = Table.from_rows(Schema([Integer("age", 0, 99)]), [(21,), (22,)])
    >>> Bottom(below=22)(table, np.random.default_rng(0)).table.rows()
    [(22,)]
    """

    below: float = parameter(22.0, "the smallest number that is kept")

    def _beyond(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        return values < self.below


@dataclass(frozen=True)
class Laplace(_OneNumber):
    """Add noise of Laplace's distribution with scale 1 / epsilon, cut the decimals off, and stay in the column's range."""

    epsilon: float = parameter(1.0, "the larger, the less noise", low=1e-6)
    whole: bool = parameter(True, "whether decimals are cut off")

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        column = table.schema[self.column]
        assert isinstance(column, Integer | Decimal)
        noisy = table.values(self.column) + rng.laplace(0, 1 / self.epsilon, len(table))
        if self.whole or isinstance(column, Integer):
            noisy = np.trunc(noisy)
        noisy = np.clip(noisy, column.low, column.high)
        codes = noisy - column.low if isinstance(column, Integer) else noisy
        return Release.of(table.with_codes({self.column: codes}))
