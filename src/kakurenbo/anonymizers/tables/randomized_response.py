"""Randomized response (PRAM): each cell is kept with probability p, else replaced (amic2020's `rr` and `rrp`)."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contracts import Anonymizer, Mechanism, Release, unknown_column
from kakurenbo.errors import ParameterError
from kakurenbo.parameters import parameter
from kakurenbo.tables import Category, Decimal, Integer, Schema, Table

_LARGEST_DOMAIN = 4096  # values of a column whose transitions are written down, a number for each pair


@dataclass(frozen=True)
class _KeepOrReplace(Anonymizer):
    """Keep each cell of the chosen columns with probability p, else draw a value from a fixed distribution."""

    p: float = parameter(0.9, "probability of keeping a cell", low=0, high=1)
    columns: tuple[str, ...] | None = parameter(None, "columns to randomize", none="all columns")

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        changed = {}
        for name in self._names(table):
            codes = table.codes[name]
            replaced = rng.random(len(codes)) >= self.p
            changed[name] = np.where(replaced, self._drawn(table, name, rng), codes)
        mechanism = self.mechanism(table)
        epsilon = math.inf if mechanism is None else mechanism.epsilon(table.schema.names)
        claims = {"epsilon": epsilon} if math.isfinite(epsilon) else {}
        return Release.of(table.with_codes(changed), mechanism, claims)

    def mechanism(self, table: Table) -> Mechanism | None:
        """T[x, y] = p [x = y] + (1 - p) q[y], with q the distribution of the replacements.

        None where a domain is too large to write the transitions down.
        """
        if any((table.schema[name].size or 0) > _LARGEST_DOMAIN for name in self._names(table)):
            return None
        replacements = {name: self._replacement(table, name) for name in self._names(table)}
        return Mechanism(
            {name: self.p * np.eye(len(law)) + (1 - self.p) * law[None, :] for name, law in replacements.items()},
            {name: law > 0 for name, law in replacements.items()},
        )

    @classmethod
    def accepts(cls, schema: Schema) -> bool:
        """Tables of numbers and categories; of them only columns with a list of values can be randomized."""
        return all(isinstance(column, Category | Integer | Decimal) for column in schema)

    def unfit(self, schema: Schema) -> str:
        wrong = super().unfit(schema) or unknown_column(schema, self.columns)
        endless = [name for name in self.columns or () if not wrong and schema[name].size is None]
        return f"column {endless[0]!r} has no list of values; name others in columns" if endless else wrong

    def _names(self, table: Table) -> tuple[str, ...]:
        if self.columns is None:
            return tuple(column.name for column in table.schema if column.size is not None)
        names = table.schema.select(self.columns).names
        for name in names:
            if table.schema[name].size is None:
                raise ParameterError("columns", "columns with a finite domain", name)
        return names

    @abstractmethod
    def _drawn(self, table: Table, name: str, rng: np.random.Generator) -> NDArray[np.int64]:
        """A replacement for every cell of a column, shape (n,)."""

    @abstractmethod
    def _replacement(self, table: Table, name: str) -> NDArray[np.float64]:
        """Distribution of the replacements of a column, shape (size,)."""


@dataclass(frozen=True)
class RandomizedResponse(_KeepOrReplace):
    """Keep each cell with probability p, else a uniformly random value of the attribute.

    Examples
    --------
    >>> from kakurenbo.tables import Category, Schema
    >>> table = Table.from_texts(Schema([Category("sex", ("F", "M"))]), {"sex": ["F", "M"]})
    >>> release = RandomizedResponse(p=0.5)(table, np.random.default_rng(0))
    >>> round(release.claims["epsilon"], 6)  # ln((.5 + .25) / .25) = ln 3
    1.098612
    """

    def _drawn(self, table: Table, name: str, rng: np.random.Generator) -> NDArray[np.int64]:
        return (rng.random(len(table)) * self._size(table, name)).astype(np.int64)

    def _replacement(self, table: Table, name: str) -> NDArray[np.float64]:
        size = self._size(table, name)
        return np.full(size, 1 / size)

    @staticmethod
    def _size(table: Table, name: str) -> int:
        size = table.schema[name].size
        assert size is not None
        return size


@dataclass(frozen=True)
class ProportionalResponse(_KeepOrReplace):
    """Keep each cell with probability p, else a value drawn from the attribute's distribution in the input.

    Histograms stay as they are on average. The claimed epsilon counts the values that occur in the input, and takes
    their distribution as known.
    """

    def _drawn(self, table: Table, name: str, rng: np.random.Generator) -> NDArray[np.int64]:
        values, counts = np.unique(table.codes[name], return_counts=True)
        return values.astype(np.int64)[rng.choice(len(values), size=len(table), p=counts / len(table))]

    def _replacement(self, table: Table, name: str) -> NDArray[np.float64]:
        return table.frequencies(name) / len(table)
