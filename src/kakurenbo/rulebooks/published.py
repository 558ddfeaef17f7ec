"""Matrices of attack results as contests published them: a row for each attacker, a column for each release."""

from __future__ import annotations

import re
from collections.abc import Callable

from kakurenbo.contest import Credit, RoundResults, two_digits
from kakurenbo.contest.results import check_team_names
from kakurenbo.core import ProblemCollector, Severity, Source, read_cells


def read_matrix(
    source: Source,
    rulebook: str,
    read_credit: Callable[[str, bool], Credit | None],
    *,
    column: re.Pattern[str],
    other_rows: tuple[str, ...] = (),
    sample_attack: str,
) -> RoundResults:
    """Read a published matrix; a blank cell is a missing guess.

    Parameters
    ----------
    source : Source
    rulebook : str
        Its messages ``no_matrix``, ``matrix_name``, ``matrix_width`` and ``matrix_cell`` say what is wrong.
    read_credit : callable
        Reads a cell, and is told whether any cell has a decimal point; returns None for what is no result.
    column : pattern
        Header of a release's column, whose first group is the team; other columns are passed over.
    other_rows : tuple of str
        First cells of rows that are passed over.
    sample_attack : str
        First cell of the row of the organizers' sample attack, which is not ranked.
    """
    rows, problems = read_cells(source), ProblemCollector(source.name)
    header = rows[0].cells if rows else []
    matches = {place: column.fullmatch(header[place]) for place in range(1, len(header))}
    columns = {place: two_digits(match[1]) for place, match in matches.items() if match}
    body = [row for row in rows[1:] if row.cells[0] not in other_rows]
    if not columns or not body:
        problems.add(f"{rulebook}.no_matrix", severity=Severity.MALFORMED)
        raise problems.error()
    targets = tuple(columns.values())
    attackers = tuple(two_digits(row.cells[0]) for row in body)
    for names, row in ((targets, rows[0]), (attackers, rows[1])):
        check_team_names(problems, names, row.number, f"{rulebook}.matrix_name")
    has_decimals = any("." in cell for row in body for cell in row.cells[1:])
    credits: dict[str, dict[str, Credit]] = {target: {} for target in targets}
    for attacker, (number, cells) in zip(attackers, body, strict=True):
        if any(cells[len(header) :]):
            counts = {"cells": len(cells) - 1, "targets": len(targets)}
            problems.add(f"{rulebook}.matrix_width", row=number, **counts)  # type: ignore[arg-type]
        for place, target in columns.items():
            cell = cells[place] if place < len(cells) else ""
            if not cell:
                continue
            if (credit := read_credit(cell, has_decimals)) is not None:
                credits[target][attacker] = credit
            else:
                problems.add(f"{rulebook}.matrix_cell", row=number, column=target, value=cell)
    problems.check()
    unranked = frozenset({sample_attack} & set(attackers))
    return RoundResults(credits, targets, attackers, unranked=unranked)
