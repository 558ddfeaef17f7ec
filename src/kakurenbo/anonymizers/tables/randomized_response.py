"""Randomized response (PRAM): keep each cell with probability p, else replace it (`rr` and `rrp` of amic2020)."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.anonymizers.tables.columns import ColumnMethod
from kakurenbo.contest import Mechanism, Release
from kakurenbo.core import Column, Table
from kakurenbo.methods.parameters import parameter

_LARGEST_DOMAIN = 4096  # values of a column whose transitions are written down


@dataclass(frozen=True)
class _KeepOrReplace(ColumnMethod):
    """Keep each cell of the chosen columns with probability p, else draw a value from a fixed distribution."""

    expectation = "columns with a finite domain"
    refusal = "has no list of values; name others in columns"

    p: float = parameter(0.9, "probability of keeping a cell", low=0, high=1)
    columns: tuple[str, ...] | None = parameter(
        None, "columns to randomize", none="word.all_columns"
    )

    @classmethod
    def takes(cls, column: Column) -> bool:
        return column.size is not None

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        changed = {}
        for name in self.names(table.schema):
            replaced = rng.random(len(table)) >= self.p
            changed[name] = np.where(replaced, self._draw(table, name, rng), table.codes[name])
        mechanism = self.mechanism(table)
        epsilon = math.inf if mechanism is None else mechanism.epsilon(table.schema.names)
        claims = {"epsilon": epsilon} if math.isfinite(epsilon) else {}
        return Release.of(table.with_codes(changed), mechanism, claims)

    def mechanism(self, table: Table) -> Mechanism | None:
        """T[x, y] = p [x = y] + (1 - p) q[y]; None for a column too wide for a matrix."""
        names = self.names(table.schema)
        if any((table.schema[name].size or 0) > _LARGEST_DOMAIN for name in names):
            return None
        q = {name: self._replacement(table, name) for name in names}
        matrices = {name: self.p * np.eye(len(law)) + (1 - self.p) * law for name, law in q.items()}
        return Mechanism(matrices, {name: law > 0 for name, law in q.items()})

    @abstractmethod
    def _draw(self, table: Table, name: str, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return a replacement for every cell of a column, shape (n,)."""

    @abstractmethod
    def _replacement(self, table: Table, name: str) -> NDArray[np.float64]:
        """Return the distribution q of the replacements of a column, shape (size,)."""


@dataclass(frozen=True)
class RandomizedResponse(_KeepOrReplace):
    """Keep each cell with probability p, else a uniformly random value of the attribute.

    Examples
    --------
    >>> from kakurenbo.core import Category, Schema
    >>> table = Table.from_texts(Schema([Category("sex", ("F", "M"))]), {"sex": ["F", "M"]})
    >>> release = RandomizedResponse(p=0.5)(table, np.random.default_rng(0))
    >>> round(release.claims["epsilon"], 6)  # ln((.5 + .25) / .25) = ln 3
    1.098612
    """

    def _draw(self, table: Table, name: str, rng: np.random.Generator) -> NDArray[np.int64]:
        return (rng.random(len(table)) * (table.schema[name].size or 0)).astype(np.int64)

    def _replacement(self, table: Table, name: str) -> NDArray[np.float64]:
        size = table.schema[name].size or 0
        return np.full(size, 1 / size)


@dataclass(frozen=True)
class ProportionalResponse(_KeepOrReplace):
    """Keep each cell with probability p, else a value drawn from the attribute's distribution in the input.

    Histograms stay as they are on average. The claimed epsilon counts the values that occur in the input, and takes
    their distribution as known.
    """

    def _draw(self, table: Table, name: str, rng: np.random.Generator) -> NDArray[np.int64]:
        values, counts = np.unique(table.codes[name], return_counts=True)
        places = rng.choice(len(values), size=len(table), p=counts / len(table))
        return values.astype(np.int64)[places]

    def _replacement(self, table: Table, name: str) -> NDArray[np.float64]:
        return table.frequencies(name) / len(table)
