"""Top and bottom coding: extreme numbers are told as the boundary, and every row stays (`top` and `bottom` drop rows)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kakurenbo.contracts import Anonymizer, Release, unknown_column
from kakurenbo.errors import ParameterError
from kakurenbo.parameters import parameter
from kakurenbo.tables import Category, Decimal, Integer, Schema, Table


@dataclass(frozen=True)
class TopBottom(Anonymizer):
    """Replace numbers beyond two quantiles of their column by the number at the quantile; no row is dropped.

    Examples
    --------
    >>> table = Table.from_rows(Schema([Integer("age", 0, 99)]), [(n,) for n in range(10)])
    >>> TopBottom(top=0.2, bottom=0.1)(table, np.random.default_rng(0)).table.values("age").tolist()
    [1, 1, 2, 3, 4, 5, 6, 7, 7, 7]
    """

    top: float = parameter(0.01, "share of the largest numbers that become the boundary", low=0, high=0.5)
    bottom: float = parameter(0.01, "share of the smallest numbers that become the boundary", low=0, high=0.5)
    columns: tuple[str, ...] | None = parameter(None, "columns of numbers", none="all columns of numbers")

    @classmethod
    def accepts(cls, schema: Schema) -> bool:
        """Tables of numbers and categories, with a number at least."""
        known = all(isinstance(column, Category | Integer | Decimal) for column in schema)
        return known and any(isinstance(column, Integer | Decimal) for column in schema)

    def unfit(self, schema: Schema) -> str:
        wrong = super().unfit(schema) or unknown_column(schema, self.columns)
        words = [name for name in self.columns or () if not wrong and isinstance(schema[name], Category)]
        return f"column {words[0]!r} holds words, not numbers" if words else wrong

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        if self.columns is None:
            names = tuple(column.name for column in table.schema if not isinstance(column, Category))
        else:
            names = table.schema.select(self.columns).names
        if words := [name for name in names if isinstance(table.schema[name], Category)]:
            raise ParameterError("columns", "columns of numbers", words[0])
        changed = {}
        for name in names if len(table) else ():
            ordered, last = np.sort(table.codes[name]), len(table) - 1
            low, high = ordered[min(int(self.bottom * len(table)), last)], ordered[max(last - int(self.top * len(table)), 0)]
            changed[name] = np.clip(table.codes[name], min(low, high), max(low, high))
        return Release.of(table.with_codes(changed))
