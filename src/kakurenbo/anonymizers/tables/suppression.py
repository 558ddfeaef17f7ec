"""k-anonymity by suppression (amic2020's `kanony`): rows of rare combinations are dropped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kakurenbo.contracts import Anonymizer, Release, unknown_column
from kakurenbo.errors import ParameterError
from kakurenbo.parameters import parameter
from kakurenbo.tables import Category, Decimal, Integer, Schema, Table


@dataclass(frozen=True)
class SuppressRare(Anonymizer):
    """Drop the rows whose combination on the chosen columns occurs fewer than k times.

    Examples
    --------
    >>> from kakurenbo.tables import Category, Schema
    >>> table = Table.from_texts(Schema([Category("sex", ("F", "M"))]), {"sex": ["F", "F", "M"]})
    >>> len(SuppressRare(k=2, columns=("sex",))(table, np.random.default_rng(0)).table)
    2
    """

    k: int = parameter(2, "smallest group of equal rows that is kept", low=1)
    columns: tuple[str, ...] | None = parameter(
        ("education", "marital-status"), "columns that make up a combination", none="all columns"
    )

    @classmethod
    def accepts(cls, schema: Schema) -> bool:
        """Tables of numbers and categories."""
        return all(isinstance(column, Category | Integer | Decimal) for column in schema)

    def unfit(self, schema: Schema) -> str:
        return super().unfit(schema) or unknown_column(schema, self.columns)

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        names = table.schema.names if self.columns is None else table.schema.select(self.columns).names
        if not names:
            raise ParameterError("columns", "at least one column", self.columns)
        _, group, counts = np.unique(table.keys(names), return_inverse=True, return_counts=True)
        # The claim of the questionnaire is about whole records: only then does it follow from the suppression.
        claims = {"k": float(self.k)} if len(names) == len(table.schema) else {}
        return Release.keeping(table, counts[group] >= self.k, claims)
