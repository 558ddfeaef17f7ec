"""One row per person out of several: what the risks that count people need, where a pseudonym lasts as long as the table."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from kakurenbo.audit.frames import Frame
from kakurenbo.audit.persons import Rows
from kakurenbo.audit.schema import TableSchema

ROWS = "rows"
_NUMBERS = (
    0.9  # share of the texts of every table that must be numbers for a median to mean anything
)
_DIGITS = 6


def summarized(schema: TableSchema, names: Sequence[str], tables: Sequence[Rows]) -> list[Frame]:
    """Each table with a row per name: the median of numbers and dates, the commonest of other values, and how many rows.

    Parameters
    ----------
    names : sequence of str
        Columns that take part, the person aside; every table has them.
    tables : sequence of Rows
        All are summarized alike: as numbers only what is a number in every one of them.
    """
    numeric = [
        name
        for name in names
        if schema[name].numeric and all(_is_numeric(schema, name, rows) for rows in tables)
    ]
    return [_summary(schema, names, numeric, rows) for rows in tables]


def _is_numeric(schema: TableSchema, name: str, rows: Rows) -> bool:
    numbers = schema[name].numbers(rows.frame.cells[name])
    return numbers.null_count() <= (1 - _NUMBERS) * len(numbers)


def _summary(
    schema: TableSchema, names: Sequence[str], numeric: Sequence[str], rows: Rows
) -> Frame:
    columns = [
        schema[name].numbers(rows.frame.cells[name]).alias(name)
        if name in numeric
        else rows.frame.cells[name]
        for name in names
    ]
    own, counted = _free_name(names, "owner"), _free_name(names, ROWS)
    # Of several values that are equally common the first in order: the same whatever the order of the rows.
    summed = [
        pl.col(name).median() if name in numeric else pl.col(name).mode().sort().first()
        for name in names
    ]
    whole = pl.DataFrame([pl.Series(own, rows.owner), *columns])
    table = whole.group_by(own).agg(*summed, pl.len().alias(counted)).sort(own).drop(own)
    texts = [
        _written(schema, column)
        if column.name in numeric
        else column.cast(pl.String).fill_null("").alias(column.name)
        for column in table
    ]
    return Frame(rows.frame.name, pl.DataFrame(texts), rows.frame.digest)


def _written(schema: TableSchema, medians: pl.Series) -> pl.Series:
    """Medians as the table writes its values."""
    own = schema[medians.name]
    if own.kind == "date":
        days = medians.floor().cast(pl.Int32).cast(pl.Date)
        return days.dt.strftime(own.pattern).fill_null("").alias(medians.name)
    whole = medians.floor().cast(pl.Int64) if own.kind == "integer" else medians.round(_DIGITS)
    return whole.cast(pl.String).fill_null("").alias(medians.name)


def _free_name(names: Sequence[str], name: str) -> str:
    while name in names:
        name = f"{name} of the person"
    return name
