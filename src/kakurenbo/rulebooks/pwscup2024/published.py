"""The table that the contest published: a row per anonymizer, hits per attacker, utility."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from kakurenbo.contest import Credit, RoundResults, two_digits
from kakurenbo.contest.results import WITHDREW
from kakurenbo.core import ProblemCollector, Row, Severity, Source, read_cells
from kakurenbo.rulebooks.pwscup2024.scores import FULL, HALF

UTILITY = "utility"
_KINDS = {"i": "identification", "d": "reconstruction"}


def read_published(source: Source) -> RoundResults:
    """A published table.

    A row per anonymizer: ``anonymizer``, per attacker ``NN`` (both hits) or ``NNi`` and ``NNd`` (hits of each kind), and
    ``utility``. Further columns are not looked at. A row of zeros only is a team that withdrew. ``1`` and ``01`` are one team.
    """
    rows, found = read_cells(source), ProblemCollector(source.name)
    header = rows[0].cells if rows else []
    if len(rows) < 2 or UTILITY not in header or len(set(header)) < len(header):
        found.add(
            "pwscup2024.no_results_table",
            row=1,
            value=",".join(header),
            severity=Severity.MALFORMED,
        )
        raise found.error()
    columns = _attacker_columns(rows[0][1], found)
    if not columns:
        raise found.error()
    results = _results(rows, columns, found)
    found.check()
    return results


def _attacker_columns(
    header: Sequence[str], found: ProblemCollector
) -> Mapping[str, Mapping[str, int]]:
    """For each attacker the places of its columns by kind: ``""`` for both hits, or ``i`` and ``d``."""
    columns: dict[str, dict[str, int]] = {}
    for place, name in enumerate(header[1:], start=1):
        match = re.fullmatch(r"(\d{1,4})([id]?)", name)
        if match is None:
            continue
        own = columns.setdefault(two_digits(match[1]), {})
        if match[2] in own:
            found.add("pwscup2024.attacker_twice", row=1, column=name, team=two_digits(match[1]))
        own[match[2]] = place
    for attacker, own in columns.items():
        if set(own) not in ({""}, set(_KINDS)):
            found.add(
                "pwscup2024.attacker_columns",
                row=1,
                column=header[max(own.values())],
                team=attacker,
            )
    if not columns:
        found.add(
            "pwscup2024.no_results_table",
            row=1,
            value=",".join(header),
            severity=Severity.MALFORMED,
        )
    return columns


def _results(
    rows: Sequence[Row], columns: Mapping[str, Mapping[str, int]], found: ProblemCollector
) -> RoundResults:
    header = rows[0][1]
    credits: dict[str, dict[str, Credit]] = {}
    utility: dict[str, float] = {}
    for number, row in rows[1:]:
        if len(row) != len(header):
            found.add("pwscup2024.cells", row=number, count=len(row), width=len(header))
        elif not re.fullmatch(r"\d{1,4}", row[0]) or two_digits(row[0]) in credits:
            found.add("pwscup2024.no_anonymizer", row=number, column=header[0], value=row[0])
        else:
            team = two_digits(row[0])
            cells = _Cells(header, row, number, found)
            credits[team] = {
                attacker: cells.credit(own) for attacker, own in columns.items() if attacker != team
            }
            utility[team] = float(
                cells.number(header.index(UTILITY), FULL, "pwscup2024.no_utility")
            )
    out = {
        team: WITHDREW
        for team in credits
        if not utility[team] and not any(c.hits for c in credits[team].values())
    }
    attackers = tuple(
        attacker for attacker in columns if attacker not in out
    )  # who withdrew did not attack either
    present = {
        team: {name: credit for name, credit in row.items() if name not in out}
        for team, row in credits.items()
    }
    return RoundResults(present, tuple(credits), attackers, utility=utility, out=out)


class _Cells:
    """The cells of one row, as numbers."""

    def __init__(
        self, header: Sequence[str], row: Sequence[str], number: int, found: ProblemCollector
    ) -> None:
        self._header, self._row, self._number, self._found = header, row, number, found

    def credit(self, own: Mapping[str, int]) -> Credit:
        hits = {
            kind: int(self.number(place, HALF if kind else FULL, "pwscup2024.no_hits"))
            for kind, place in own.items()
        }
        details = {_KINDS[kind]: count for kind, count in hits.items() if kind}
        return Credit(sum(hits.values()), FULL, details=details)

    def number(self, place: int, most: int, code: str) -> Fraction:
        cell = self._row[place]
        value = Fraction(cell) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", cell) else None
        whole = code != "pwscup2024.no_utility"
        if value is None or value > most or (whole and value.denominator != 1):
            self._found.add(
                code, row=self._number, column=self._header[place], value=cell, most=most
            )
            return Fraction(0)
        return value
