"""The attack matrix that the contest published: rows attackers, columns anonymizers, hits of 100 or accuracies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from kakurenbo.contest import Credit, RoundResults, two_digits
from kakurenbo.core import ProblemCollector, Row, Severity, Source, read_cells
from kakurenbo.rulebooks.amic2020.files import GUESSES

SAMPLE_ATTACK = "attack.py"
_NUMBER = re.compile(r"[0-9]{1,3}(\.[0-9]{1,20})?")


def read_matrix(source: Source) -> RoundResults:
    """A published matrix (CSV; a blank is a missing guess).

    Cells are hits of 100, or accuracies where any of them has a decimal point. Every column is a release, be it that nobody
    attacked it. The row ``attack.py`` is the organizers' sample attack: shown, not ranked.
    """
    rows, found = read_cells(source), ProblemCollector(source.name)
    if len(rows) < 2 or len(rows[0][1]) < 2:
        found.add("amic2020.no_matrix", severity=Severity.MALFORMED)
        raise found.error()
    targets = [two_digits(cell) for cell in rows[0][1][1:]]
    attackers = [two_digits(row[0]) for _, row in rows[1:]]
    _check_names(found, targets, rows[0][0])
    _check_names(found, attackers, rows[1][0])
    credits = _credits(found, targets, rows[1:])
    found.check()
    unranked = frozenset({SAMPLE_ATTACK} & set(attackers))
    return RoundResults(credits, tuple(targets), tuple(attackers), unranked=unranked)


def _credits(
    found: ProblemCollector, targets: Sequence[str], rows: Sequence[Row]
) -> dict[str, dict[str, Credit]]:
    """Credits by target and attacker; cells that are no number of hits are told."""
    scale = GUESSES if any("." in cell for _, row in rows for cell in row[1:]) else 1
    credits: dict[str, dict[str, Credit]] = {target: {} for target in targets}
    for number, row in rows:
        if len(row) > len(targets) + 1:
            found.add("amic2020.matrix_width", row=number, cells=len(row) - 1, targets=len(targets))
        for target, cell in zip(targets, row[1:], strict=False):
            hits = _hits(cell, scale)
            if hits is not None:
                credits[target][two_digits(row[0])] = Credit(hits, GUESSES)
            elif cell:
                found.add(
                    "amic2020.matrix_cell", row=number, column=target, value=cell, most=GUESSES
                )
    return credits


def _check_names(found: ProblemCollector, names: Sequence[str], row: int) -> None:
    for name in names:
        if not name or names.count(name) > 1:
            found.add("amic2020.matrix_name", row=row, value=name, times=names.count(name))
            return


def _hits(cell: str, scale: int) -> int | None:
    """Hits of 100; None for anything that is not a whole number of hits from 0 to 100."""
    if not _NUMBER.fullmatch(cell):
        return None
    hits = Fraction(cell) * scale
    return int(hits) if hits.denominator == 1 and hits <= GUESSES else None
