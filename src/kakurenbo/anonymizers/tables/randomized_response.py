"""Randomized response (PRAM): keep each cell with probability p, else replace it (`rr` and `rrp` of amic2020)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kakurenbo.anonymizers.tables.columns import ColumnMethod
from kakurenbo.contest import Mechanism, Release
from kakurenbo.core import Column, Schema, Table
from kakurenbo.core.arrays import Floats, Rng
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.messages import Message
from kakurenbo.methods.parameters import parameter

MAX_MATRIX_SIZE = 4096  # values of a column up to which transitions are written down
MAX_DOMAIN = 1_000_000  # values of a column that can be randomized


@dataclass(frozen=True)
class RandomizedResponse(ColumnMethod):
    """Keep each cell with probability p, else a uniformly random value of the attribute.

    Examples
    --------
    >>> from kakurenbo.core import Category, Schema
    >>> table = Table.from_texts(Schema([Category("sex", ("F", "M"))]), {"sex": ["F", "M"]})
    >>> release = RandomizedResponse(p=0.5)(table, np.random.default_rng(0))
    >>> round(release.claims["epsilon"], 6)  # ln((.5 + .25) / .25) = ln 3
    1.098612
    """

    expectation = "columns with a finite domain"
    refusal = "misfit.no_values"

    p: float = parameter(0.9, "probability of keeping a cell", low=0, high=1)
    columns: tuple[str, ...] | None = parameter(
        None, "columns to randomize", none="word.all_columns"
    )

    @classmethod
    def takes(cls, column: Column) -> bool:
        return column.size is not None

    def unfit(self, schema: Schema) -> str | Message:
        return super().unfit(schema) or self._too_wide(schema)

    def __call__(self, table: Table, rng: Rng) -> Release:
        if reason := self._too_wide(table.schema):
            raise ParameterError("columns", reason, self.columns)
        changed = {}
        for name in self.names(table.schema):
            codes, q = table.codes[name], self.replacement_distribution(table, name)
            keep = rng.random(len(codes)) < self.p
            changed[name] = np.where(keep, codes, rng.choice(len(q), size=len(codes), p=q))
        mechanism = self.mechanism(table)
        epsilon = math.inf if mechanism is None else mechanism.epsilon(table.schema.names)
        claims = {"epsilon": epsilon} if math.isfinite(epsilon) else {}
        return Release.of(table.with_codes(changed), mechanism, claims)

    def mechanism(self, table: Table) -> Mechanism | None:
        """T[x, y] = p [x = y] + (1 - p) q[y]; None for a column too wide for a matrix."""
        names = self.names(table.schema)
        if any((table.schema[name].size or 0) > MAX_MATRIX_SIZE for name in names):
            return None
        q = {name: self.replacement_distribution(table, name) for name in names}
        matrices = {name: self.p * np.eye(len(law)) + (1 - self.p) * law for name, law in q.items()}
        return Mechanism(matrices, {name: law > 0 for name, law in q.items()})

    def replacement_distribution(self, table: Table, name: str) -> Floats:
        """Return the distribution q of the replaced cells of a column, shape (size,)."""
        size = table.schema[name].size or 0
        return np.full(size, 1 / size)

    def _too_wide(self, schema: Schema) -> str:
        sizes = {name: schema[name].size or 0 for name in self.names(schema)}
        wide = [name for name, size in sizes.items() if size > MAX_DOMAIN]
        limit = f"more than {MAX_DOMAIN:,} values; name others in columns"
        return f"column {wide[0]!r} has {limit}" if wide else ""


@dataclass(frozen=True)
class ProportionalResponse(RandomizedResponse):
    """Keep each cell with probability p, else a value drawn from the attribute's distribution in the input.

    Histograms stay as they are on average. The claimed epsilon counts the values that occur in the input, and takes
    their distribution as known.
    """

    def replacement_distribution(self, table: Table, name: str) -> Floats:
        return table.frequencies(name) / len(table)
