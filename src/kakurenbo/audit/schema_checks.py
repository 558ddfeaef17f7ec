"""An original held to the schema that somebody put right: what stands in no edited bound or level is told, cell by cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.audit.frames import Frame
from kakurenbo.audit.schema import ColumnSchema, TableSchema
from kakurenbo.core.problems import ProblemCollector, Severity

_HEADER = 2  # the line of the first record


def check_cells(
    schema: TableSchema, original: Frame, severity: Severity = Severity.MALFORMED
) -> None:
    """Refuse cells of the original that a schema does not allow, in columns that both have.

    Releases are not held to it, since they write values in forms of their own, and neither are holdouts: other people may
    well be older than the oldest of the original. By default nothing can be done with such a table: exit code 1 of an audit
    says that a release gives people away.
    """
    found = ProblemCollector(original.name)
    for column in schema:
        if column.name in original.columns:
            _check_column(column, original.cells[column.name], severity, found)
    found.check()


def _check_column(
    column: ColumnSchema, texts: pl.Series, severity: Severity, found: ProblemCollector
) -> None:
    told, bad = ~texts.is_in(list(column.missing)).to_numpy(), {}
    if column.numeric:
        bad[
            "audit.schema_date" if column.kind == "date" else "audit.schema_number"
        ] = ~_within_bounds(column, texts)
    # Numbers have levels where some are missing: a method then takes the column for a category.
    if column.levels:
        bad["audit.schema_level"] = ~texts.is_in(list(column.levels)).to_numpy()
    bounds: dict[str, Any] = {
        name: str(getattr(column, name)) for name in ("kind", "low", "high", "first", "last")
    }
    for code, rows in bad.items():
        for record in np.flatnonzero(told & rows).tolist():
            place: dict[str, Any] = {
                "row": record + _HEADER,
                "record": record,
                "column": column.name,
            }
            # Whoever sets the schema must not read the original out of a log.
            found.add(code, **place, severity=severity, **bounds)


def _within_bounds(column: ColumnSchema, texts: pl.Series) -> NDArray[np.bool_]:
    numbers = column.numbers(texts).to_numpy()
    if column.kind == "date":
        ends = pl.Series([column.first, column.last], dtype=pl.Date).to_physical()
        return np.asarray((numbers >= ends[0]) & (numbers <= ends[1]))
    within = (numbers >= column.low) & (numbers <= column.high)
    return np.asarray(
        within & (numbers == np.round(numbers)) if column.kind == "integer" else within
    )
