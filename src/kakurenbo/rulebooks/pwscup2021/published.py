"""The matrix of the main round as the contest published it: rows attackers, columns releases, cells R."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kakurenbo.contest import Credit, RoundResults, two_digits
from kakurenbo.core import ProblemCollector, Row, Severity, Source, read_cells

SAMPLE_ATTACK = "sample_rlink"
_COLUMN = re.compile(r"R_on_(\d{1,4})")
_NUMBER = re.compile(r"[0-9](\.[0-9]{1,20})?")
_LEFT_OUT = ("max",)
_MOST = 1.030301  # (1 + 0.01)^3


def read_matrix(source: Source) -> RoundResults:
    """A published matrix (CSV; a blank is one's own release or a missing guess).

    Columns are ``R_on_NN``; a last column of means and a row ``max`` are passed over. The row ``sample_rlink`` is the
    organizers' sample attack: shown, not ranked.
    """
    rows, found = read_cells(source), ProblemCollector(source.name)
    header = rows[0][1] if rows else ()
    columns = {
        place: two_digits(match[1])
        for place, cell in enumerate(header)
        if (match := _COLUMN.fullmatch(cell))
    }
    targets = list(columns.values())
    body = [row for row in rows[1:] if row[1][0] not in _LEFT_OUT]
    attackers = [two_digits(cells[0]) for _, cells in body]
    if not targets or not attackers:
        found.add("pwscup2021.no_matrix", severity=Severity.MALFORMED)
        raise found.error()
    for names, row in ((targets, rows[0][0]), (attackers, rows[1][0])):
        twice = next((name for name in names if not name or names.count(name) > 1), None)
        if twice is not None:
            found.add("pwscup2021.matrix_name", row=row, value=twice, times=names.count(twice))
    credits = _credits(found, columns, body)
    found.check()
    unranked = frozenset({SAMPLE_ATTACK} & set(attackers))
    return RoundResults(credits, tuple(targets), tuple(attackers), unranked=unranked)


def _credits(
    found: ProblemCollector, columns: dict[int, str], body: Sequence[Row]
) -> dict[str, dict[str, Credit]]:
    credits: dict[str, dict[str, Credit]] = {target: {} for target in columns.values()}
    for number, cells in body:
        for place, target in columns.items():
            cell = cells[place] if place < len(cells) else ""
            if _NUMBER.fullmatch(cell) and float(cell) <= _MOST:
                credits[target][two_digits(cells[0])] = Credit(float(cell), _MOST)
            elif cell:
                found.add("pwscup2021.matrix_cell", row=number, column=target, value=cell)
    return credits
