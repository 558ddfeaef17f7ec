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
from kakurenbo.core.arrays import Ints
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
BYTES_PER_ROW = 400  # far more than a row needs


@dataclass(frozen=True)
class _Item(Category):
    """Item of T."""

    @property
    def domain(self) -> Message:
        return Message("domain.item_of_t")


def read_release(source: Source, original: Table, mode: str) -> Table:
    """Read A(T), or report everything that is wrong with its cells and how its rows stand to those of T."""
    rows = len(original)
    layout = Layout(True, rows, rows, 10**6 + BYTES_PER_ROW * rows)
    data = source.read(layout.max_bytes)
    if mode == "aicrowd":
        data = under_header(data, headed(SCHEMA, data).header)
    rows_deleted = b"\nDEL," in data or b'\n"DEL"' in data
    reader = _Reader(original, headed(_schema(original, mode, rows_deleted), data))
    of_rows = ProblemCollector(source.name)
    with gather() as problems:
        table = problems.of(reader.read_release, source.name, data, layout)
        if reader.cells is not None and len(reader.cells) == rows:
            _RowRules(reader.cells, reader.schema, original, mode, of_rows).check()
        problems.add(of_rows.problems())
    return table


def read_published(source: Source, original: Table, mode: str) -> Table:
    """Read S of this T: kept rows of A(T) in any order."""
    data = source.read(MAX_TABLE_BYTES)
    rows_deleted = data.count(b"\n") - int(data.endswith(b"\n")) < len(original)
    reader = _Reader(original, headed(_schema(original, mode, rows_deleted), data))
    return reader.read(source.name, data, Layout(True, 1, len(original), MAX_TABLE_BYTES))


def _schema(original: Table, mode: str, rows_deleted: bool) -> Schema:
    """Return the columns of A(T) and S, items being those of T."""
    calendar = Calendar.of(original)
    schema = transaction_schema(calendar)
    if mode == "aicrowd":
        schema = evaluator_schema(calendar, rows_deleted=rows_deleted)
    items = _Item("id_item", original.vocabularies["id_item"])
    return Schema([items if column.name == "id_item" else column for column in schema])


class _Reader:
    """Reads A(T) or S; of A(T) it keeps the cells of the file, and gives deleted rows, which may hold anything, values of T."""

    def __init__(self, original: Table, schema: Schema) -> None:
        self.original, self.schema = original, schema
        self.cells: pl.DataFrame | None = None

    def read(self, file: str, data: bytes, layout: Layout, mend: Any = None) -> Table:
        """Read a table in columns that other tables of T have."""
        with report_in(file):
            plain = Source(file.removesuffix(".gz"), data)
            table = read_table(plain, self.schema, layout, mend)
        calendar, items = Calendar.of(self.original), self.original.vocabularies["id_item"]
        dates = Date("date", calendar.first_day, calendar.last_day)
        usual = {"id_item": Text("id_item"), "date": dates}
        schema = Schema(usual.get(column.name, column) for column in table.schema)
        return Table(schema, table.codes, {**table.vocabularies, "id_item": items})

    def read_release(self, file: str, data: bytes, layout: Layout) -> Table:
        """Read a table of which deleted rows get T's own values."""
        table = self.read(file, data, layout, self._undelete)
        deleted = table.texts("id_user") == DELETED
        if not deleted.any():
            return table
        columns = [c.name for c in table.schema.columns[1:] if not isinstance(c, Text)]
        codes = {"id_item": self.original.codes["id_item"]}
        codes |= {name: self.original.codes[name] for name in columns}
        rows = deleted.to_numpy()
        return table.with_codes(
            {name: np.where(rows, code, table.codes[name]) for name, code in codes.items()}
        )

    def _undelete(self, cells: pl.DataFrame) -> pl.DataFrame:
        """Return cells that can be judged: a deleted row shows those of T's first row."""
        self.cells = cells
        deleted = cells.to_series(0) == DELETED
        if not deleted.any():
            return cells
        if len(cells) != len(self.original):
            return cells.filter(~deleted)
        first = self.original.take([0])
        texts = [first.texts(name)[0] for name in self.schema.names[1:]]
        return cells.with_columns(
            pl.when(deleted).then(pl.lit(text)).otherwise(pl.col(column)).alias(column)
            for column, text in zip(cells.columns[1:], texts, strict=True)
        )


class _RowRules:
    """Checks what must hold between the rows of A(T) and those of T."""

    def __init__(
        self,
        cells: pl.DataFrame,
        schema: Schema,
        original: Table,
        mode: str,
        problems: ProblemCollector,
    ) -> None:
        self.texts = {"id_user": cells.to_series(0), "date": cells.to_series(1)}
        self.is_strict, self.problems = mode == "rules", problems
        self.calendar, self.months = Calendar.of(original), months(original)
        self.customer = original.codes["id_user"].astype(np.int64)
        users = self.texts["id_user"]
        self.names = users.unique().sort().to_list()
        self.user = users.cast(pl.Enum(self.names)).to_physical().to_numpy()
        days = schema["date"].encode(self.texts["date"])
        self.day = days.cast(pl.Int64).fill_null(-1).to_numpy()
        self.kept = (users != DELETED).to_numpy()

    def check(self) -> None:
        self._check_row_count()
        self._check_months()
        if self.is_strict:
            self._check_one_pseudonym()
        else:
            has_separator = self._kept_rows_with(SEPARATOR in name for name in self.names)
            self._refuse("darc2019.separator", has_separator, separator=SEPARATOR)
        formulas = self._kept_rows_with(name.startswith(FORMULA) for name in self.names)
        if len(formulas):  # any text may be a pseudonym, but a spreadsheet would compute some
            where = self._where(int(formulas[0]), "id_user")
            notice("darc2019.formula", file=self.problems.file, count=len(formulas), **where)
        if self.is_strict:
            self._check_customers()

    def _kept_rows_with(self, is_meant: Iterable[bool]) -> Ints:
        """Return the kept rows whose pseudonym is meant; one answer for each pseudonym."""
        return np.flatnonzero(np.array(list(is_meant))[self.user] & self.kept)

    def _check_row_count(self) -> None:
        """Check that |S| > |T| / 2."""
        rows = len(self.kept)
        allowed = (rows - 1) // 2 if self.is_strict else rows // 2
        deleted = np.flatnonzero(~self.kept)
        counts: dict[str, Any] = {"deleted": len(deleted), "rows": rows, "allowed": allowed}
        self._refuse("darc2019.too_many_deleted", deleted[allowed : allowed + 1], **counts)

    def _check_months(self) -> None:
        """Check that the month of each kept row is unchanged; the reader refuses what is no date."""
        month, expected = self.calendar.month_of_day[self.day], self.months
        if not self.is_strict:  # the evaluator compared the number of the month only
            month, expected = (self.calendar.month_of_year[of] for of in (month, expected))
        changed = (month != expected) & (self.day >= 0) & self.kept
        self._refuse("darc2019.month_changed", np.flatnonzero(changed), "date")

    def _check_one_pseudonym(self) -> None:
        """Check that a customer has one pseudonym in a month."""
        rows = np.flatnonzero(self.kept)
        cell = self.customer[rows] * self.calendar.months + self.months[rows]
        first = np.zeros(cell.max(initial=0) + 1, dtype=np.int64)
        first[cell[::-1]] = self.user[rows[::-1]]  # the first row is written last
        self._refuse("darc2019.second_pseudonym", rows[self.user[rows] != first[cell]])

    def _check_customers(self) -> None:
        """Check that every customer keeps at least one pseudonym in the whole table."""
        customers = int(self.customer.max()) + 1
        has_rows = np.bincount(self.customer[self.kept], minlength=customers) > 0
        lost = np.flatnonzero(~has_rows[self.customer])
        _, first = np.unique(self.customer[lost], return_index=True)
        self._refuse("darc2019.customer_lost", np.sort(lost[first]))

    def _where(self, record: int, column: str) -> dict[str, Any]:
        value = self.texts[column][record]
        return {"row": record + FIRST_LINE, "record": record, "column": column, "value": value}

    def _refuse(self, code: str, records: Ints, column: str = "id_user", **details: Any) -> None:
        """Report the first of these rows, and the number of all."""
        if len(records):
            where = self._where(int(records[0]), column)
            others = (records[1:] + FIRST_LINE).tolist()
            self.problems.add(code, also=others, **where, **details)
