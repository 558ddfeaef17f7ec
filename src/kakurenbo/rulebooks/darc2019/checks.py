"""Rules 6 to 8 of darc2019: what A(T) and S may be, each violation with its row and column.

Mode ``aicrowd`` lets through what the competition's evaluator let through (``darc2019-evaluator.md``, 11 to 13): another
year's month, two pseudonyms of a customer in a month, exactly half of the rows deleted, a customer whose rows are all
deleted, any text as time, dates without leading zeros, prices inf and nan, other header names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.core import (
    Category,
    Date,
    Layout,
    ProblemCollector,
    Schema,
    Source,
    Table,
    Text,
    gather,
    notice,
    read_table,
    report_in,
)
from kakurenbo.core.messages import Message
from kakurenbo.core.texts import FORMULA
from kakurenbo.data.transactions import (
    DELETED,
    SCHEMA,
    Calendar,
    evaluator_schema,
    headed,
    months,
    transaction_schema,
)
from kakurenbo.rulebooks.darc2019.files import MAX_TABLE_BYTES
from kakurenbo.rulebooks.darc2019.matrices import SEPARATOR, under_header

FIRST_LINE = 2  # the header is line 1
_BYTES_PER_ROW = 400  # far more than a row needs


@dataclass(frozen=True)
class _Item(Category):
    """An item of T."""

    @property
    def domain(self) -> Message:
        return Message("domain.item_of_t")


def read_release(source: Source, original: Table, mode: str) -> Table:
    """A(T), or everything that is wrong with it: cells first, then how rows stand to those of T."""
    rows = len(original)
    limit = 10**6 + _BYTES_PER_ROW * rows
    data = source.read(limit)
    if mode == "aicrowd":
        data = under_header(data, headed(SCHEMA, data).header)
    plain = Source(source.name.removesuffix(".gz"), data)
    schema = headed(_schema(original, mode, b"\nDEL," in data or b'\n"DEL"' in data), data)
    layout = Layout(header=True, min_rows=rows, max_rows=rows, max_bytes=limit)
    reader = _Reader(original, schema)
    with gather() as problems:
        read = problems.of(_read_cells, source.name, plain, schema, layout, reader)
        of_rows = ProblemCollector(source.name)
        if reader.cells is not None and len(reader.cells) == rows:
            _RowRules(reader.cells, read, original, mode, of_rows).check()
        problems.add(of_rows.problems())
    return reader.finished(read)


def _read_cells(file: str, plain: Source, schema: Schema, layout: Layout, reader: _Reader) -> Table:
    with report_in(file):
        return read_table(plain, schema, layout, mend=reader.undelete)


def read_published(source: Source, original: Table, mode: str) -> Table:
    """S of this T: kept rows of A(T) in any order."""
    data = source.read(MAX_TABLE_BYTES)
    deleted = data.count(b"\n") - int(data.endswith(b"\n")) < len(original)
    layout = Layout(header=True, min_rows=1, max_rows=len(original), max_bytes=MAX_TABLE_BYTES)
    plain = Source(source.name.removesuffix(".gz"), data)
    schema = headed(_schema(original, mode, deleted), data)
    with report_in(source.name):
        read = read_table(plain, schema, layout)
    return _Reader(original, schema).finished(read)


def _schema(original: Table, mode: str, rows_deleted: bool) -> Schema:
    """The columns of A(T) and S, items being those of T."""
    calendar = Calendar.of(original)
    usual = (
        transaction_schema(calendar)
        if mode == "rules"
        else evaluator_schema(calendar, rows_deleted=rows_deleted)
    )
    items = _Item("id_item", original.vocabularies["id_item"])
    return Schema([items if column.name == "id_item" else column for column in usual])


class _Reader:
    """Keeps the cells of A(T) as they stand in the file, and gives deleted rows, which may hold anything, values of T."""

    def __init__(self, original: Table, schema: Schema) -> None:
        self.original, self.schema = original, schema
        self.cells: pl.DataFrame | None = None
        self.deleted: NDArray[np.bool_] | None = None

    def undelete(self, cells: pl.DataFrame) -> pl.DataFrame:
        """Cells that can be judged: a deleted row shows those of T's first row until ``finished``."""
        self.cells = cells
        deleted = cells.to_series(0) == DELETED
        if not deleted.any():
            return cells
        if len(cells) != len(self.original):
            return cells.filter(~deleted)
        self.deleted = deleted.to_numpy()
        first = self.original.take([0])
        return cells.with_columns(
            pl.when(deleted)
            .then(pl.lit(first.texts(name)[0]))
            .otherwise(pl.col(column))
            .alias(column)
            for column, name in zip(cells.columns[1:], self.schema.names[1:], strict=True)
        )

    def finished(self, table: Table) -> Table:
        """The table in columns that other tables of T have, deleted rows with T's own values."""
        calendar = Calendar.of(self.original)
        usual = {
            "id_item": Text("id_item"),
            "date": Date("date", calendar.first_day, calendar.last_day),
        }
        codes = dict(table.codes)
        for name in self.schema.names[1:]:
            if self.deleted is not None and not isinstance(table.schema[name], Text):
                codes[name] = np.where(self.deleted, self.original.codes[name], codes[name])
        columns = [usual.get(column.name, column) for column in table.schema]
        return Table(
            Schema(columns),
            codes,
            {**table.vocabularies, "id_item": self.original.vocabularies["id_item"]},
        )


class _RowRules:
    """Checks what must hold between the rows of A(T) and those of T."""

    def __init__(
        self,
        cells: pl.DataFrame,
        table: Table | None,
        original: Table,
        mode: str,
        problems: ProblemCollector,
    ) -> None:
        self.texts = {"id_user": cells.to_series(0), "date": cells.to_series(1)}
        self.is_strict, self.problems = mode == "rules", problems
        self.calendar, self.months = Calendar.of(original), months(original)
        self.customer = original.codes["id_user"].astype(np.int64)
        self.customers = len(original.vocabularies["id_user"])
        if table is not None:
            self.names, self.user = list(table.vocabularies["id_user"]), table.codes["id_user"]
            self.day: NDArray[np.int64] = table.codes["date"]
        else:
            users = self.texts["id_user"]
            self.names = users.unique().sort().to_list()
            self.user = users.cast(pl.Enum(self.names)).to_physical().to_numpy()
            column = _schema(original, mode, rows_deleted=True)["date"]
            days = column.encode(self.texts["date"])
            self.day = days.cast(pl.Int64).fill_null(-1).to_numpy()
        self.kept = self.user != (self.names.index(DELETED) if DELETED in self.names else -1)

    def check(self) -> None:
        self._check_row_count()
        self._check_months()
        if self.is_strict:
            self._check_one_pseudonym()
        else:
            has_separator = self._kept_with(SEPARATOR in name for name in self.names)
            self._refuse("darc2019.separator", has_separator, separator=SEPARATOR)
        self._notice_formulas()
        if self.is_strict:
            self._check_customers()

    def _kept_with(self, is_meant: Iterable[bool]) -> NDArray[np.int64]:
        """Return the kept rows whose pseudonym is meant; one answer for each pseudonym."""
        return np.flatnonzero(np.array(list(is_meant))[self.user] & self.kept)

    def _check_row_count(self) -> None:
        """|S| > |T| / 2."""
        rows = len(self.kept)
        allowed = (rows - 1) // 2 if self.is_strict else rows // 2
        deleted = np.flatnonzero(~self.kept)
        counts: dict[str, Any] = {"deleted": len(deleted), "rows": rows, "allowed": allowed}
        self._refuse("darc2019.too_many_deleted", deleted[allowed : allowed + 1], **counts)

    def _check_months(self) -> None:
        """The month of each kept row is unchanged; the reader refuses what is no date."""
        month, expected = self.calendar.month_of_day[self.day], self.months
        if not self.is_strict:  # the evaluator compared the number of the month only
            month, expected = (self.calendar.month_of_year[of] for of in (month, expected))
        changed = (month != expected) & (self.day >= 0) & self.kept
        self._refuse("darc2019.month_changed", np.flatnonzero(changed), "date")

    def _check_one_pseudonym(self) -> None:
        """A customer has one pseudonym in a month."""
        rows = np.flatnonzero(self.kept)
        cell = self.customer[rows] * self.calendar.months + self.months[rows]
        first = np.zeros(self.customers * self.calendar.months, dtype=np.int64)
        first[cell[::-1]] = self.user[rows[::-1]]  # the first row is written last
        self._refuse("darc2019.second_pseudonym", rows[self.user[rows] != first[cell]])

    def _notice_formulas(self) -> None:
        """Any text may be a pseudonym, but a spreadsheet would compute some."""
        rows = self._kept_with(name.startswith(FORMULA) for name in self.names)
        if len(rows):
            where = self._where(int(rows[0]), "id_user")
            notice("darc2019.formula", file=self.problems.file, count=len(rows), **where)

    def _check_customers(self) -> None:
        """Every customer keeps at least one pseudonym in the whole table."""
        has_rows = np.bincount(self.customer[self.kept], minlength=self.customers) > 0
        lost = np.flatnonzero(~has_rows[self.customer])
        _, first = np.unique(self.customer[lost], return_index=True)
        self._refuse("darc2019.customer_lost", np.sort(lost[first]))

    def _where(self, record: int, column: str) -> dict[str, Any]:
        value = self.texts[column][record]
        return {"row": record + FIRST_LINE, "record": record, "column": column, "value": value}

    def _refuse(
        self, code: str, records: NDArray[np.int64], column: str = "id_user", **details: Any
    ) -> None:
        for record in records.tolist():
            self.problems.add(code, **self._where(record, column), **details)
