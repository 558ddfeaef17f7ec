"""Mondrian (LeFevre et al. 2006): halve the records at medians while every part stays k-anonymous, l-diverse and t-close."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.anonymizers.tables.grouping import rewritten
from kakurenbo.contracts import Anonymizer, Release, unknown_column
from kakurenbo.parameters import parameter
from kakurenbo.tables import Category, Codes, Schema, Table

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Mondrian(Anonymizer):
    """Cut the records into parts at medians, as finely as k, l and t allow, and make each part alike.

    The sensitive column stays as it is: every part has at least l of its values, and their distribution is at most t (total
    variation) from that of the whole table. Without one, all columns are made alike.

    Examples
    --------
    >>> from kakurenbo.tables import Integer
    >>> table = Table.from_rows(Schema([Integer("age", 0, 99)]), [(20,), (70,), (22,), (72,), (21,), (71,)])
    >>> Mondrian(k=3)(table, np.random.default_rng(0)).table.values("age").tolist()
    [21, 71, 21, 71, 21, 71]
    """

    k: int = parameter(5, "smallest number of records in a part", low=1)
    l: int = parameter(1, "fewest different sensitive values in a part", low=1)  # noqa: E741 - the name of the guarantee
    t: float = parameter(1.0, "how far a part's sensitive values may be from the table's, in total variation", low=0, high=1)
    sensitive: str = parameter("", "column that stays as it is, and that l and t are about", none="no column")

    def unfit(self, schema: Schema) -> str:
        wrong = super().unfit(schema) or unknown_column(schema, [self.sensitive] if self.sensitive else ())
        if not wrong and not self.sensitive and (self.l > 1 or self.t < 1):
            return "l and t are about a sensitive column; name one in sensitive"
        return wrong

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        names = tuple(name for name in table.schema.names if name != self.sensitive)
        groups = np.zeros(len(table), dtype=np.int64)
        for number, rows in enumerate(self._parts(table, names)):
            groups[rows] = number
        # The questionnaire's k is about whole records: a column that stays as it is makes them differ again.
        holds = len(names) == len(table.schema) and len(table) >= self.k
        return Release.of(rewritten(table, names, groups), claims={"k": float(self.k)} if holds else {})

    def _parts(self, table: Table, names: tuple[str, ...]) -> list[Rows]:
        columns = [table.codes[name].astype(np.int64) for name in names]
        spans = [_span(table.schema[name], codes) for name, codes in zip(names, columns, strict=True)]
        values = np.unique(table.codes[self.sensitive], return_inverse=True)[1] if self.sensitive else None
        finished, waiting = [], [np.arange(len(table))]
        while waiting:
            rows = waiting.pop()
            halves = self._halved(rows, columns, spans, values)
            if halves is None:
                finished.append(rows)
            else:
                waiting.extend(halves)
        return finished

    def _halved(
        self, rows: Rows, columns: list[Codes], spans: list[float], values: NDArray[np.int64] | None
    ) -> tuple[Rows, Rows] | None:
        """Both halves by the widest column that can be cut; None where no column can."""
        if len(rows) < 2 * self.k:
            return None
        widths = np.array([np.ptp(codes[rows]) / span for codes, span in zip(columns, spans, strict=True)])
        for place in np.argsort(-widths, kind="stable")[: int((widths > 0).sum())]:
            own = columns[place][rows]
            median = np.partition(own, (len(own) - 1) // 2)[(len(own) - 1) // 2]
            # Ties stand together; where the median is the largest value, it goes to the right by itself.
            left = own <= median if (own > median).any() else own < median
            if self._allowed(rows[left], values) and self._allowed(rows[~left], values):
                return rows[left], rows[~left]
        return None

    def _allowed(self, rows: Rows, values: NDArray[np.int64] | None) -> bool:
        if len(rows) < self.k:
            return False
        if values is None:
            return True
        size = int(values.max()) + 1
        own, whole = np.bincount(values[rows], minlength=size), np.bincount(values, minlength=size)
        distance = np.abs(own / len(rows) - whole / len(values)).sum() / 2
        return int((own > 0).sum()) >= self.l and float(distance) <= self.t


def _span(column: object, codes: Codes) -> float:
    """What a column's width is counted in: the levels of a category, the range that a number really has."""
    return float(column.size) if isinstance(column, Category) else float(max(1, np.ptp(codes))) if len(codes) else 1.0
