"""T of darc2019 from a file that has its six columns: the contest's ``ground_truth.csv``, or the table of another shop."""

from __future__ import annotations

from typing import Any

import numpy as np

from kakurenbo.datasets.transactions import ANY_MONTHS, DELETED, MAX_MONTHS, SCHEMA, kept, month_span, narrowed
from kakurenbo.tables import Layout, Problems, Reading, Source, Table, read_table, refused

MAX_BYTES = 200 * 1000 * 1000
_FIRST_LINE = 2  # the header is line 1


def read_transactions(source: Source, max_bytes: int = MAX_BYTES) -> Reading[Table]:
    """Every row of a shop's table, none of them deleted, in the calendar of its own dates."""
    layout = Layout(header=True, min_rows=1, max_bytes=max_bytes)
    read = read_table(source, SCHEMA, layout)
    if isinstance(read, Problems) and any(problem.column == "date" for problem in read):  # another shop's, perhaps
        read = read_table(source, ANY_MONTHS, layout)
    if isinstance(read, Problems):
        return read
    table = read.value
    if not kept(table).all():
        record = int(np.flatnonzero(~kept(table))[0])
        row = record + _FIRST_LINE
        return refused("transactions.deleted", source.name, row=row, record=record, column="id_user", value=DELETED)
    if (span := month_span(table)) > MAX_MONTHS:
        record = int(table.codes["date"].argmax())
        row, value = record + _FIRST_LINE, table.texts("date")[record]
        counts: dict[str, Any] = {"span": span, "limit": MAX_MONTHS}
        return refused("transactions.many_months", source.name, row=row, record=record, column="date", value=value, **counts)
    return read.map(narrowed)
