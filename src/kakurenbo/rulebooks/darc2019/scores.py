"""Rules 14 to 18 of darc2019: the score of a table, ranks and awards, in exact decimals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kakurenbo.contest import (
    Credit,
    RoundResults,
    Standing,
    Standings,
    as_decimal,
    awarded,
    by_number,
    rank,
    shown_unranked,
    team_of,
    two_digits,
    why_out,
)
from kakurenbo.contest.results import FAILED, MISSING, REFUSED
from kakurenbo.core import (
    InputError,
    ProblemCollector,
    Severity,
    Source,
    notice,
    read_cells,
)
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message
from kakurenbo.rulebooks.darc2019.credit import counts_in
from kakurenbo.rulebooks.darc2019.files import ATTACKS_PER_TABLE, TABLES_PER_TEAM

AWARDED = 3
_OWN_TABLE, _OTHER_TABLE = "owns the table", "did not attack the first-ranked table"
"""Why a team has no rate in the attack ranking though it may have attacked."""
_NEVER_ACCEPTED = (
    REFUSED,
    FAILED,
    MISSING,
)  # unlike a table that was disqualified after it had taken its place


@dataclass(frozen=True)
class TableScore:
    """One table: U, reid(S) = max over baselines and attacks, and (U + reid) / 2."""

    table: str
    utility: Fraction
    reid: Fraction

    @property
    def score(self) -> Fraction:
        return (self.utility + self.reid) / 2


def standings(rounds: Mapping[str, RoundResults], mode: str = "rules") -> Standings:
    """Teams by the lowest score of their last three tables; attackers by their best attack on the first-ranked table."""
    if len(rounds) != 1:
        raise UsageError("error.darc2019_rounds", given=", ".join(rounds) or Message("word.none"))
    (results,) = rounds.values()
    tables = {
        table: _table_score(results, table, mode)
        for table in _counting(results)
        if table not in results.out
    }
    best: dict[str, TableScore] = {}
    for table, score in tables.items():
        team = team_of(table)
        if team not in best or score.score < best[team].score:
            best[team] = score
    anonymizers = sorted({team_of(table) for table in results.targets}, key=by_number)
    scored = {team: best[team].score if team in best else None for team in anonymizers}
    notes = {team: why_out(team, rounds) for team in anonymizers if team not in best}
    ranked = rank(
        {team: scored[team] for team in anonymizers if team not in results.excluded},
        notes,
        lowest_wins=True,
    )
    shown = shown_unranked(
        {team: scored[team] for team in anonymizers if team in results.excluded}, notes
    )
    lowest = {line.score for line in ranked if line.rank == 1}
    first = [
        table
        for table, one in tables.items()
        if one.score in lowest and team_of(table) not in results.excluded
    ]
    attack = _attack_ranking(results, first)
    awards = {
        "anonymization": awarded(ranked, AWARDED),
        "re-identification": tuple(line.team for line in attack if line.rank == 1 and line.score),
    }
    details = {
        table: {
            "U": float(score.utility),
            "reid": float(score.reid),
            "score": float(score.score),
            **results.beside.get(table, {}),
        }
        for table, score in tables.items()
    }
    both = (*ranked, *shown)
    lower = frozenset({"anonymization", "overall"})
    award_for = {"re-identification": "attack"}
    return Standings(
        both,
        attack,
        both,
        awards,
        {"tables": details},
        lower,
        overall_is="anonymization",
        award_for=award_for,
    )


def _counting(results: RoundResults) -> list[str]:
    """The last three tables of each team that were accepted, in the order they were handed in."""
    by_team: dict[str, list[str]] = {}
    for table in sorted(results.targets, key=by_number):
        if results.out.get(table) not in _NEVER_ACCEPTED:
            by_team.setdefault(team_of(table), []).append(table)
    return [table for handed_in in by_team.values() for table in handed_in[-TABLES_PER_TEAM:]]


def _table_score(results: RoundResults, table: str, mode: str) -> TableScore:
    if table not in results.utility:
        raise UsageError("error.darc2019_utility", table=table)
    counting = [
        rate
        for name, rate in _rates(results, table).items()
        if name not in results.excluded and (name not in results.unranked or counts_in(mode, name))
    ]
    return TableScore(table, as_decimal(results.utility[table]), max(counting, default=Fraction(0)))


def _rates(results: RoundResults, table: str) -> dict[str, Fraction]:
    """Rate of each attacker on a table; nobody attacks a table of their own."""
    return {
        attacker: _rate(credit)
        for attacker, credit in results.credits.get(table, {}).items()
        if attacker != team_of(table)
    }


def _rate(credit: Credit) -> Fraction:
    if "reid" in credit.details:
        return as_decimal(credit.details["reid"])
    return Fraction(round(credit.hits * 3), 3 * int(credit.of)) if credit.of else Fraction(0)


def _attack_ranking(results: RoundResults, first: Sequence[str]) -> tuple[Standing, ...]:
    """Attackers by their best rate on the first-ranked table; on several tables that tie for it, by the highest.

    Everybody who takes part is listed, whom they attacked or not. Baselines and attacks of the organizers' own team are shown
    below, without a rank.
    """
    rates: dict[str, Fraction | None] = dict.fromkeys(results.teams)
    owners = {team_of(table) for table in first}
    shown: dict[str, Fraction | None] = dict.fromkeys(results.unranked, Fraction(0))
    shown |= dict.fromkeys(results.excluded & {*results.attackers})
    for table in first:
        for attacker, rate in _rates(results, table).items():
            known = rates if attacker in rates else shown
            known[attacker] = max(known.get(attacker) or rate, rate)
    nothing = [team for team, rate in (rates | shown).items() if rate is None]
    guessing = {attacker for table in results.credits for attacker in _rates(results, table)}
    notes = {
        team: _OWN_TABLE if team in owners else _OTHER_TABLE if team in guessing else MISSING
        for team in nothing
    }
    return (*rank(rates, notes), *shown_unranked(shown, notes))


# -- tables from files ------------------------------------------------------------------------------------------------


def read_published(source: Source) -> RoundResults:
    """A CSV with the header ``table,utility,ATTACKER,...``: U and the reid of each attack, blank for none.

    Attackers whose name is S and a number are the baselines: they count against a table and are not ranked.
    """
    rows = read_cells(source)
    if len(rows) < 2 or rows[0][1][:2] != ["table", "utility"]:
        code = "darc2019.no_results_table"
        raise InputError.of(code, source.name, severity=Severity.MALFORMED)
    attackers = [two_digits(name) for name in rows[0][1][2:]]
    found = ProblemCollector(source.name)
    if len(set(attackers)) < len(attackers):
        found.add("darc2019.attacker_twice", row=1)
    credits: dict[str, dict[str, Credit]] = {}
    tries: dict[str, dict[str, tuple[Credit, ...]]] = {}
    utility: dict[str, float] = {}
    for number, row in rows[1:]:
        table = two_digits(row[0])
        if len(row) != len(attackers) + 2 or table in credits or not table:
            found.add("darc2019.bad_results_row", row=number, value=row[0])
            continue
        shares = _shares(("utility", *attackers), row[1:], number, found)
        utility[table] = shares.pop("utility", math.nan)  # where there is none, that is told
        earned = [
            (team_of(name), Credit(share, 1, details={"reid": share}))
            for name, share in shares.items()
        ]
        credits[table], tries[table] = _best(earned)
    found.check()
    unranked = frozenset(name for name in attackers if name[:1] == "S" and name[1:].isdecimal())
    if not unranked:
        notice("darc2019.no_baselines", file=source.name)
    names = tuple(dict.fromkeys(map(team_of, attackers)))
    return RoundResults(credits, tuple(credits), names, utility, unranked=unranked, tries=tries)


def _best(
    earned: Sequence[tuple[str, Credit]],
) -> tuple[dict[str, Credit], dict[str, tuple[Credit, ...]]]:
    """The best of an attacker's first ten attacks, and all of these where there are several (columns 02-1, 02-2 ...)."""
    every: dict[str, tuple[Credit, ...]] = {}
    for attacker, credit in earned:
        every[attacker] = (*every.get(attacker, ()), credit)[:ATTACKS_PER_TABLE]
    best = {
        attacker: max(tries, key=lambda credit: credit.hits) for attacker, tries in every.items()
    }
    return best, {attacker: tries for attacker, tries in every.items() if len(tries) > 1}


def _shares(
    names: Sequence[str], cells: Sequence[str], row: int, found: ProblemCollector
) -> dict[str, float]:
    """The cells of a line by column; blank ones are left out, but for the utility."""
    shares = {}
    for name, cell in zip(names, cells, strict=True):
        value = _share(cell)
        if value is not None:
            shares[name] = value
        elif cell or name == "utility":
            found.add("darc2019.no_share", row=row, column=name, value=cell)
    return shares


def _share(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None
