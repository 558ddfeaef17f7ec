"""Rules 12 and 14 to 18 of darc2019: what a guess matrix earns, the score of a table, ranks and awards."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from kakurenbo.attacks.reidentification import GUESSES, NOBODY, ReidentificationGuess
from kakurenbo.contest import (
    Chance,
    Credit,
    RoundResults,
    Standing,
    Standings,
    as_decimal,
    awarded,
    by_number,
    rank_scores,
    shown_unranked,
    team_of,
    two_digits,
    why_out,
)
from kakurenbo.contest.results import FAILED, MISSING, REFUSED, state_note
from kakurenbo.core import (
    InputError,
    ProblemCollector,
    Severity,
    Source,
    notice,
    read_cells,
)
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.core.messages import Message
from kakurenbo.data.transactions import CONTEST
from kakurenbo.rulebooks.darc2019.files import ATTACKS_PER_TABLE, TABLES_PER_TEAM
from kakurenbo.rulebooks.darc2019.matrices import Answer

THIRDS = np.array([3, 2, 1])  # worth of a guess by its position, mode aicrowd


def count_credit(answer: Answer, guess: ReidentificationGuess, mode: str) -> Credit:
    """Score a guess matrix in cells, with both figures of rule 12: per cell that is not DEL (b) and per cell (a)."""
    thirds, cells = _thirds(answer, guess, mode)
    of_all_cells = thirds / 3 / max(1, answer.cells.size)
    details = {"reid": _rate(thirds, cells, mode), "reid_of_all_cells": of_all_cells}
    return Credit(thirds / 3, cells, blind_guessing(answer, mode), details=details)


def reid(answer: Answer, guess: ReidentificationGuess, mode: str) -> float:
    """Return the score per cell of F that is not DEL (rule 12b)."""
    return _rate(*_thirds(answer, guess, mode), mode)


def counts_in(mode: str, baseline: str) -> bool:
    """Return whether a baseline counts in reid(S): the seventh is the evaluator's, and only shown by the rules."""
    return mode == "aicrowd" or baseline != "S7"


def counted_months(months: int, mode: str) -> int:
    """Return how many months are compared: all, but in mode ``aicrowd`` the contest's last of thirteen (December 2011) is not.

    A shop with another number of months has no such column that the evaluator would have left out.
    """
    return months - 1 if mode == "aicrowd" and months == CONTEST.months else months


def blind_guessing(answer: Answer, mode: str) -> Chance:
    """Return the score of different pseudonyms of the month, drawn for each cell; the band is that of a normal sum, in cells.

    One pseudonym per cell by the rules, three in mode ``aicrowd``. The band is rounded outward: no guess hits a part of a cell.
    """
    mean = variance = 0.0
    for column in answer.cells[:, : counted_months(answer.calendar.months, mode)].T:
        present = column[column != NOBODY]
        pseudonyms = len(np.unique(present))
        if pseudonyms:
            worth = THIRDS[: min(_guesses(mode), pseudonyms)] / 3
            expected, square = float(worth.sum()) / pseudonyms, float((worth**2).sum()) / pseudonyms
            mean += len(present) * expected
            variance += len(present) * (square - expected**2)
    spread = 1.96 * math.sqrt(variance)
    # Rounded first: the last bits are no cell.
    low, high = math.floor(round(mean - spread, 6)), math.ceil(round(mean + spread, 6))
    return Chance(round(mean, 2), float(max(0, low)), float(high))


def _guesses(mode: str) -> int:
    return 1 if mode == "rules" else GUESSES


def _rate(thirds: int, cells: int, mode: str) -> float:
    rate = thirds / 3 / cells if cells else 0.0
    return round(rate, 6) if mode == "aicrowd" else rate


def _thirds(answer: Answer, guess: ReidentificationGuess, mode: str) -> tuple[int, int]:
    """Return the score in thirds of a cell, and how many cells count."""
    if guess.customers != answer.customers or guess.calendar != answer.calendar:
        given = (len(guess.customers), guess.calendar.names)
        raise ParameterError("guess", "a matrix of the customers and months of T", given)
    counted = counted_months(answer.calendar.months, mode)
    truth, guessed = answer.cells[:, :counted], guess.cells[:, :counted, : _guesses(mode)]
    is_present = truth != NOBODY
    lengths = {len(name) for name in (*answer.pseudonyms, *guess.pseudonyms)}
    if mode == "rules" or len(lengths) <= 1:
        # The guess is the true pseudonym, letter for letter.
        code_of = {name: code for code, name in enumerate(answer.pseudonyms)}
        lookup = np.array([*(code_of.get(name, NOBODY) for name in guess.pseudonyms), NOBODY])
        hits = lookup[guessed] == truth[:, :, None]
    else:
        # The true pseudonym is a part of the guess, which was enough for the evaluator.
        hits = np.zeros(guessed.shape, dtype=bool)
        places = np.nonzero(is_present[:, :, None] & (guessed != NOBODY))
        pairs = zip(truth[places[:2]].tolist(), guessed[places].tolist(), strict=True)
        hits[places] = [answer.pseudonyms[true] in guess.pseudonyms[code] for true, code in pairs]
    hits &= is_present[:, :, None] & (guessed != NOBODY)
    # The evaluator lets a later match overwrite an earlier one: the smallest worth that is not 0.
    earned = np.where(hits, THIRDS[: guessed.shape[2]], len(THIRDS) + 1)
    best = earned.min(axis=2) % (len(THIRDS) + 1)
    return int(best.sum()), int(is_present.sum())


# -- tables and teams ------------------------------------------------------------------------------

OWNS_TABLE = Message("state.owns_the_table").stored()
OTHER_TABLE = Message("state.other_table").stored()
"""Why a team has no rate in the attack ranking though it may have attacked."""
NEVER_ACCEPTED = (REFUSED, FAILED, MISSING)
"""Unlike a table that was disqualified after it had taken its place."""
Rates = dict[str, Fraction]


def standings(rounds: Mapping[str, RoundResults], mode: str = "rules") -> Standings:
    """Rank teams by the lowest score of their last three tables, attackers by their best attack on the first-ranked table.

    The score of a table is (U + reid(S)) / 2, with reid(S) = max over baselines and attacks.
    """
    if len(rounds) != 1:
        raise UsageError("error.darc2019_rounds", given=", ".join(rounds) or Message("word.none"))
    (results,) = rounds.values()
    tables = {table: _table_figures(results, table, mode) for table in _counting_tables(results)}
    scores: dict[str, Fraction | None] = dict.fromkeys(map(team_of, results.targets))
    for table, figures in tables.items():
        lowest = scores[team_of(table)]
        score = figures["score"]
        scores[team_of(table)] = score if lowest is None else min(lowest, score)
    notes = {team: why_out(team, rounds) for team, score in scores.items() if score is None}
    excluded = {team: scores.pop(team) for team in [*scores] if team in results.excluded}
    ranked = rank_scores(scores, notes, lowest_wins=True)
    best = {line.score for line in ranked if line.rank == 1}
    first = [name for name, table in tables.items() if table["score"] in best]
    attack = _attack_ranking(results, [t for t in first if team_of(t) not in results.excluded])
    lines = (*ranked, *shown_unranked(excluded, notes))
    details = {
        table: {name: float(figure) for name, figure in figures.items()}
        | {**results.beside.get(table, {})}
        for table, figures in tables.items()
    }
    winners = tuple(line.team for line in attack if line.rank == 1 and line.score)
    return Standings(
        anonymization=lines,
        attack=attack,
        overall=lines,
        awards={"anonymization": awarded(ranked), "re-identification": winners},
        details={"tables": details},
        lower_is_better=frozenset({"anonymization", "overall"}),
        overall_is="anonymization",
        award_for={"re-identification": "attack"},
    )


def _counting_tables(results: RoundResults) -> list[str]:
    """Return those of the last three accepted tables of each team that are in play."""
    by_team: dict[str, list[str]] = {}
    for table in sorted(results.targets, key=by_number):
        if results.out.get(table) not in NEVER_ACCEPTED:
            by_team.setdefault(team_of(table), []).append(table)
    last = [table for tables in by_team.values() for table in tables[-TABLES_PER_TEAM:]]
    return [table for table in last if table not in results.out]


def _table_figures(results: RoundResults, table: str, mode: str) -> Rates:
    """Return U, reid and the score of a table."""
    if table not in results.utility:
        raise UsageError("error.darc2019_utility", table=table)
    counting = [
        rate
        for name, rate in _rates(results, table).items()
        if name not in results.excluded and (name not in results.unranked or counts_in(mode, name))
    ]
    utility, rate = as_decimal(results.utility[table]), max(counting, default=Fraction(0))
    return {"U": utility, "reid": rate, "score": (utility + rate) / 2}


def _rates(results: RoundResults, table: str) -> Rates:
    """Return the rate of each attacker on a table, without its owner."""
    rates = {}
    for attacker, credit in results.credits.get(table, {}).items():
        if attacker == team_of(table):
            continue
        if "reid" in credit.details:
            rates[attacker] = as_decimal(credit.details["reid"])
        else:
            rates[attacker] = Fraction(round(credit.hits * 3), 3 * max(1, int(credit.of)))
    return rates


def _attack_ranking(results: RoundResults, first: Sequence[str]) -> tuple[Standing, ...]:
    """Rank attackers by their best rate on the first-ranked table; on several tables that tie for it, by the highest.

    Everybody who takes part is listed, whatever they attacked. Baselines and attacks of the organizers' own team are listed
    below, without a rank.
    """
    rates: dict[str, Fraction | None] = dict.fromkeys(results.teams)
    unranked: dict[str, Fraction | None] = dict.fromkeys(results.unranked, Fraction(0))
    unranked |= dict.fromkeys(results.excluded & {*results.attackers})
    for table in first:
        for attacker, rate in _rates(results, table).items():
            known = rates if attacker in rates else unranked
            known[attacker] = max(known.get(attacker) or rate, rate)
    owners = {team_of(table) for table in first}
    attacking = {attacker for table in results.credits for attacker in _rates(results, table)}
    notes = {}
    for team, best in (rates | unranked).items():
        if best is None:
            without = OTHER_TABLE if team in attacking else state_note(MISSING)
            notes[team] = OWNS_TABLE if team in owners else without
    return (*rank_scores(rates, notes), *shown_unranked(unranked, notes))


# -- tables from files ------------------------------------------------------------------------------------------------


def read_published(source: Source) -> RoundResults:
    """Read a CSV with the header ``table,utility,ATTACKER,...``: U and the reid of each attack, blank for none.

    Attackers whose name is S and a number are the baselines: they count against a table and are not ranked. Of several
    attacks of an attacker (columns 02-1, 02-2 ...) the best of the first ten counts.
    """
    rows = read_cells(source)
    if len(rows) < 2 or rows[0].cells[:2] != ["table", "utility"]:
        code = "darc2019.no_results_table"
        raise InputError.of(code, source.name, severity=Severity.MALFORMED)
    columns = ["utility", *map(two_digits, rows[0].cells[2:])]
    attackers, problems = columns[1:], ProblemCollector(source.name)
    if len(set(attackers)) < len(attackers):
        problems.add("darc2019.attacker_twice", row=1)
    credits: dict[str, dict[str, Credit]] = {}
    tries: dict[str, dict[str, tuple[Credit, ...]]] = {}
    utility: dict[str, float] = {}
    for number, (name, *cells) in rows[1:]:
        table = two_digits(name)
        if len(cells) != len(columns) or table in credits or not table:
            problems.add("darc2019.bad_results_row", row=number, value=name)
            continue
        attacks: dict[str, tuple[Credit, ...]] = {}
        for column, cell in zip(columns, cells, strict=True):
            share = _share(cell)
            if share is None and (cell or column == "utility"):
                problems.add("darc2019.no_share", row=number, column=column, value=cell)
            elif share is not None and column == "utility":
                utility[table] = share
            elif share is not None:
                attacker, credit = team_of(column), Credit(share, 1, details={"reid": share})
                attacks[attacker] = (*attacks.get(attacker, ()), credit)[:ATTACKS_PER_TABLE]
        credits[table] = {name: max(each, key=_hits) for name, each in attacks.items()}
        tries[table] = {name: each for name, each in attacks.items() if len(each) > 1}
    problems.check()
    unranked = frozenset(name for name in attackers if name[:1] == "S" and name[1:].isdecimal())
    if not unranked:
        notice("darc2019.no_baselines", file=source.name)
    names = tuple(dict.fromkeys(map(team_of, attackers)))
    return RoundResults(credits, tuple(credits), names, utility, unranked=unranked, tries=tries)


def _hits(credit: Credit) -> float:
    return credit.hits


def _share(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None
