"""Rules 6 to 8 of darc2019: what A(T) may be, each violation with its row and column.

Mode ``aicrowd`` lets through what the competition's evaluator let through: another year's December, two pseudonyms of a
customer in a month, and exactly half of the rows deleted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.datasets.transactions import DELETED, MONTHS, SCHEMA, months
from kakurenbo.messages import Phrase
from kakurenbo.rulebooks.darc2019.files import SEPARATOR
from kakurenbo.tables import Category, Layout, Problem, ProblemCollector, Problems, Schema, Source, Table, read_table
from kakurenbo.tables.transitional import taken

FIRST_LINE = 2  # the header is line 1
_BYTES_PER_ROW = 400  # far more than a row needs


@dataclass(frozen=True)
class _Item(Category):
    """An item of T."""

    @property
    def domain(self) -> Phrase:
        return Phrase("domain.item_of_t")


def read_release(source: Source, original: Table, mode: str, notices: list[Problem] | None = None) -> Table | Problems:
    """A(T), or everything that is wrong with it: cells first, then how rows stand to those of T."""
    items = original.vocabularies["id_item"]
    schema = Schema([_Item("id_item", items) if column.name == "id_item" else column for column in SCHEMA])
    rows = len(original)
    layout = Layout(header=True, min_rows=rows, max_rows=rows, max_bytes=10**6 + _BYTES_PER_ROW * rows)
    seen: list[pl.DataFrame] = []

    def undelete(cells: pl.DataFrame) -> pl.DataFrame:
        """A deleted row may hold anything; give it what T has there."""
        seen.append(cells)
        deleted = cells.to_series(0) == DELETED
        if len(cells) != rows:
            return cells.filter(~deleted) if deleted.any() else cells
        return cells.with_columns(
            pl.when(deleted).then(original.texts(name)).otherwise(cells[column]).alias(column)
            for column, name in zip(cells.columns[1:], SCHEMA.names[1:], strict=True)
        )

    table = taken(read_table(source, schema, layout, mend=undelete), notices)
    found = ProblemCollector(source.name)
    if seen and len(seen[0]) == rows:
        _Relations(seen[0], original, mode, found).check()
    if isinstance(table, Problems) or found:
        return Problems.of(table, found.problems())
    return Table(SCHEMA, table.codes, {**table.vocabularies, "id_item": items})


class _Relations:
    """What holds between the rows of A(T) and those of T."""

    def __init__(self, cells: pl.DataFrame, original: Table, mode: str, found: ProblemCollector) -> None:
        self.users, self.dates = cells.to_series(0), cells.to_series(1)
        self.original, self.strict, self.found = original, mode == "rules", found
        self.kept = (self.users != DELETED).to_numpy()
        self.customer = original.codes["id_user"].astype(np.int64)
        self.cell = self.customer * MONTHS + months(original)

    def check(self) -> None:
        self._enough_rows()
        self._months()
        self._pseudonyms()
        self._every_customer()

    def _enough_rows(self) -> None:
        """|S| > |T| / 2."""
        rows = len(self.kept)
        allowed = (rows - 1) // 2 if self.strict else rows // 2
        deleted = np.flatnonzero(~self.kept)
        if len(deleted) > allowed:
            message = f"{len(deleted):,} of {rows:,} rows are deleted"
            fix = f"more than half must be kept: delete at most {allowed:,}, and this row is one too many"
            self._refuse([int(deleted[allowed])], "id_user", self.users, message, fix)

    def _months(self) -> None:
        """The month of each kept row is unchanged; a date that is none at all is the reader's to refuse."""
        days = SCHEMA["date"].spellings or ()
        there = self.dates.is_in(list(days)).to_numpy() & self.kept
        start = 0 if self.strict else 5  # the evaluator compared the number of the month only
        wanted = self.original.texts("date").str.slice(start, 7 - start)
        other = (self.dates.str.slice(start, 7 - start) != wanted).to_numpy() & there
        self._refuse(np.flatnonzero(other), "date", self.dates, "the month was changed", "keep the month of T's row")

    def _pseudonyms(self) -> None:
        """No ":" in a pseudonym; one pseudonym per customer and month."""
        listing = self.users.str.contains(SEPARATOR, literal=True).to_numpy() & self.kept
        fix = "use another sign: guesses are lists a:b:c"
        self._refuse(np.flatnonzero(listing), "id_user", self.users, f'the pseudonym holds "{SEPARATOR}"', fix)
        if not self.strict:
            return
        rows = np.flatnonzero(self.kept)
        _, first, group = np.unique(self.cell[rows], return_index=True, return_inverse=True)
        number = self.users.rank("dense").to_numpy()
        second = rows[number[rows] != number[rows[first[group]]]]
        message = "the customer has another pseudonym in this month already"
        self._refuse(second, "id_user", self.users, message, "give each customer one pseudonym per month")

    def _every_customer(self) -> None:
        """Every customer keeps at least one pseudonym in the whole table."""
        seen = np.zeros(len(self.original.vocabularies["id_user"]), dtype=bool)
        seen[self.customer[self.kept]] = True
        _, first = np.unique(self.customer, return_index=True)
        lost = np.sort(first[~seen[self.customer[first]]])
        fix = "keep at least one row of every customer"
        self._refuse(lost, "id_user", self.users, "every row of this row's customer is deleted", fix)

    def _refuse(
        self, records: NDArray[np.int64] | Iterable[int], column: str, texts: pl.Series, message: str, fix: str
    ) -> None:
        records = [int(record) for record in records]
        listed = records[: self.found.room]
        for record in listed:
            self.found.add(
                "plain", message=message, fix=fix, row=record + FIRST_LINE, record=record, column=column, value=texts[record]
            )
        self.found.count_unlisted(len(records) - len(listed))
