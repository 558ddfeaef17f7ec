"""Rules 14 to 18 of darc2019: the score of a table, ranks and awards."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from kakurenbo.contracts import Credit, RoundResults, Standing, Standings, by_number, rank
from kakurenbo.errors import UsageError
from kakurenbo.rulebooks.darc2019.files import ATTACKS_PER_TABLE, TABLES_PER_TEAM, malformed
from kakurenbo.tables import ProblemCollector, Problems, Source

MAX_RESULTS_BYTES = 10_000_000
AWARDED = 3


# -- all tables -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TableScore:
    """One table: U, reid(S) = max over baselines and attacks, and (U + reid) / 2."""

    table: str
    utility: Fraction
    reid: Fraction

    @property
    def score(self) -> Fraction:
        return (self.utility + self.reid) / 2


def team_of_table(table: str) -> str:
    """The team of a table: ``07-2`` is the second table of team 07.

    Examples
    --------
    >>> team_of_table("07-2"), team_of_table("07")
    ('07', '07')
    """
    return table.partition("-")[0]


def standings(rounds: Mapping[str, RoundResults]) -> Standings:
    """Teams by the lowest score of their last three tables; attackers by their best attack on the first-ranked table."""
    if len(rounds) != 1:
        raise UsageError(f"darc2019 has one round; got {', '.join(rounds) or 'none'}")
    (results,) = rounds.values()
    tables = {table: _table_score(results, table) for table in _counting(results.anonymizers) if table not in results.out}
    best: dict[str, TableScore] = {}
    for table, score in tables.items():
        team = team_of_table(table)
        if team not in best or score.score < best[team].score:
            best[team] = score
    teams = sorted({team_of_table(table) for table in results.anonymizers}, key=by_number)
    # `rank` puts the highest first; here the lowest wins.
    lost = {team: -best[team].score if team in best else None for team in teams}
    notes = {team: results.out.get(_last(results, team), "missing") for team in teams if team not in best}
    anonymization = tuple(replace(line, score=None if line.score is None else -line.score) for line in rank(lost, notes))
    first = [best[line.team].table for line in anonymization if line.rank == 1 and line.team in best]
    attack = _attack_ranking(results, first)
    awards = {
        "anonymization": [line.team for line in anonymization if line.score is not None and (line.rank or 0) <= AWARDED],
        "re-identification": [line.team for line in attack if line.rank == 1 and line.score],
    }
    shown = {
        table: {"U": float(score.utility), "reid": float(score.reid), "score": float(score.score)}
        for table, score in tables.items()
    }
    return Standings(anonymization, attack, anonymization, {"awards": awards, "tables": shown})


def _counting(tables: Sequence[str]) -> list[str]:
    """The last three tables of each team, in the order they were handed in."""
    by_team: dict[str, list[str]] = defaultdict(list)
    for table in sorted(tables, key=by_number):
        by_team[team_of_table(table)].append(table)
    return [table for handed_in in by_team.values() for table in handed_in[-TABLES_PER_TEAM:]]


def _last(results: RoundResults, team: str) -> str:
    return [table for table in sorted(results.anonymizers, key=by_number) if team_of_table(table) == team][-1]


def _table_score(results: RoundResults, table: str) -> TableScore:
    if table not in results.utility:
        raise UsageError(f"the results have no utility for the table {table}")
    rates = _rates(results, table)
    return TableScore(table, Fraction(results.utility[table]), max(rates.values(), default=Fraction(0)))


def _rates(results: RoundResults, table: str) -> dict[str, Fraction]:
    """Best rate of each attacker on a table: its first ten attacks count. Nobody attacks a table of their own."""
    tries: dict[str, list[str]] = defaultdict(list)
    for attack in sorted(results.credits.get(table, {}), key=by_number):
        attacker = attack if attack in results.unranked else team_of_table(attack)
        if attacker != team_of_table(table):
            tries[attacker].append(attack)
    return {
        attacker: max(_rate(results.credits[table][attack]) for attack in attacks[:ATTACKS_PER_TABLE])
        for attacker, attacks in tries.items()
    }


def _rate(credit: Credit) -> Fraction:
    if "reid" in credit.details:
        return Fraction(credit.details["reid"])
    return Fraction(round(credit.hits * 3), 3 * credit.of) if credit.of else Fraction(0)


def _attack_ranking(results: RoundResults, first: Sequence[str]) -> tuple[Standing, ...]:
    """Attackers by their best rate on the first-ranked table; on several tables that tie for it, by the highest."""
    attackers = {team_of_table(name) for name in results.ranked_attackers}
    rates: dict[str, Fraction | None] = dict.fromkeys(sorted(attackers, key=by_number))
    owners = {team_of_table(table) for table in first}
    for table in first:
        for attacker, rate in _rates(results, table).items():
            if attacker in rates:
                known = rates[attacker]
                rates[attacker] = rate if known is None else max(known, rate)
    notes = {team: "owns the table" if team in owners else "missing" for team, rate in rates.items() if rate is None}
    baselines = sorted(results.unranked, key=by_number)
    shown = [
        Standing(
            name,
            max((_rates(results, table).get(name, Fraction(0)) for table in first), default=Fraction(0)),
            None,
            "not ranked",
        )
        for name in baselines
    ]
    return (*rank(rates, notes), *shown)


# -- results from files -----------------------------------------------------------------------------------------------


def read_results(source: Source) -> RoundResults | Problems:
    """Our own JSON, or a CSV with the header ``table,utility,ATTACKER,...``: U and the reid of each attack, blank for none.

    Attackers whose name is S and a number are the baselines: they count against a table and are not ranked.
    """
    data = source.read(MAX_RESULTS_BYTES)
    if isinstance(data, Problems):
        return data
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return malformed("the file is not UTF-8 text", "save it as UTF-8", source.name)
    if text.lstrip().startswith("{"):
        try:
            return RoundResults.from_json(json.loads(text))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return malformed(
                "this JSON is not a results file", "give the results file that run wrote, or a CSV table", source.name
            )
    return _from_table(source, text)


def _from_table(source: Source, text: str) -> RoundResults | Problems:
    found = ProblemCollector(source.name)
    rows = [(number, [cell.strip() for cell in row]) for number, row in enumerate(csv.reader(io.StringIO(text)), start=1)]
    rows = [(number, row) for number, row in rows if any(row)]
    if len(rows) < 2 or rows[0][1][:2] != ["table", "utility"]:
        return malformed("there is no table of results in the file", "the header is table,utility,ATTACKER,...", source.name)
    attackers = rows[0][1][2:]
    credits: dict[str, dict[str, Credit]] = {}
    utility: dict[str, float] = {}
    for number, row in rows[1:]:
        if len(row) != len(attackers) + 2 or row[0] in credits or not row[0]:
            fix = "give each table once, with a cell for the utility and for every attacker"
            found.add("the row does not fit the header, or its table is not new", fix, row=number, value=row[0])
            continue
        credits[row[0]] = {}
        for name, cell in zip(("utility", *attackers), row[1:], strict=True):
            value = _share(cell)
            if value is None:
                if cell or name == "utility":
                    found.add(f"{cell!r} is not a share", "give a number from 0 to 1", row=number, column=name, value=cell)
            elif name == "utility":
                utility[row[0]] = value
            else:
                credits[row[0]][name] = Credit(value, 1, details={"reid": value})
    if found:
        return found.problems()
    unranked = frozenset(name for name in attackers if name[:1] == "S" and name[1:].isdecimal())
    return RoundResults(credits, tuple(credits), tuple(attackers), utility, unranked=unranked)


def _share(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None
