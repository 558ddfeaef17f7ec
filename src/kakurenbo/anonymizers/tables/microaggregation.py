"""Microaggregation by MDAV (Domingo-Ferrer and Torra 2005): groups of k near records, each told as one record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kakurenbo.anonymizers.tables.grouping import rewritten, standard_view
from kakurenbo.compiling import compiled
from kakurenbo.contracts import Anonymizer, Release, unknown_column
from kakurenbo.parameters import parameter
from kakurenbo.tables import Schema, Table


@dataclass(frozen=True)
class Microaggregate(Anonymizer):
    """Put records into groups of k to 2k - 1 that are near each other, and make each group alike on the chosen columns.

    Examples
    --------
    >>> from kakurenbo.tables import Integer
    >>> table = Table.from_rows(Schema([Integer("age", 0, 99)]), [(20,), (70,), (22,), (72,), (21,), (71,)])
    >>> Microaggregate(k=3)(table, np.random.default_rng(0)).table.values("age").tolist()
    [21, 71, 21, 71, 21, 71]
    """

    k: int = parameter(5, "smallest number of records in a group", low=1)
    columns: tuple[str, ...] | None = parameter(None, "columns that are made alike", none="all columns")

    def unfit(self, schema: Schema) -> str:
        return super().unfit(schema) or unknown_column(schema, self.columns)

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        names = table.schema.names if self.columns is None else table.schema.select(self.columns).names
        groups = _mdav(standard_view(table, names), self.k)
        # The questionnaire's k is about whole records: it follows only where all columns are made alike.
        holds = len(names) == len(table.schema) and len(table) >= self.k
        return Release.of(rewritten(table, names, groups), claims={"k": float(self.k)} if holds else {})


@compiled
def _mdav(view: Any, k: int) -> Any:
    """The group of each row of shape (n, d): around the row farthest from the centre, then the one farthest from that."""
    rows, width = view.shape
    groups = np.zeros(rows, dtype=np.int64)
    left = np.arange(rows)
    count, group = rows, 0
    distances, centre = np.zeros(rows), np.zeros(width)
    while count >= 2 * k:
        centre[:] = 0.0
        for place in range(count):
            centre += view[left[place]]
        centre /= count
        seeds = 2 if count >= 3 * k else 1
        towards = centre
        for _ in range(seeds):
            far = 0
            farthest = -1.0
            for place in range(count):
                distance = ((view[left[place]] - towards) ** 2).sum()
                if distance > farthest:
                    far, farthest = place, distance
            towards = view[left[far]].copy()
            for place in range(count):
                distances[place] = ((view[left[place]] - towards) ** 2).sum()
            distances[far] = -1.0  # a twin of the seed that stands before it must not push it out of its own group
            nearest = np.argsort(distances[:count], kind="mergesort")
            for place in nearest[:k]:
                groups[left[place]] = group
            left[: count - k] = left[np.sort(nearest[k:])]
            count -= k
            group += 1
    for place in range(count):
        groups[left[place]] = group
    return groups
