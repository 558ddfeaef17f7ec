"""Rules 12 and 14 to 18 of darc2019: what a guess matrix earns, the score of a table, ranks and awards."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

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

Cells = NDArray[np.int32]


def count_credit(answer: Answer, guess: ReidentificationGuess, mode: str) -> Credit:
    """Score a guess matrix in cells, with both figures of rule 12: per cell that is not DEL (b) and per cell (a)."""
    thirds, cells = _thirds(answer, guess, mode)
    details = {
        "reid": _rate(thirds, cells, mode),
        "reid_of_all_cells": thirds / 3 / max(1, answer.cells.size),
    }
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
        raise ParameterError(
            "guess",
            "a matrix of the customers and months of T",
            (len(guess.customers), guess.calendar.names),
        )
    counted = counted_months(answer.calendar.months, mode)
    truth, guessed = answer.cells[:, :counted], guess.cells[:, :counted, : _guesses(mode)]
    is_present = truth != NOBODY
    if mode == "rules" or _equally_long(answer, guess):
        hits = _equal(answer, guess, truth, guessed)
    else:
        hits = _contained(answer, guess, truth, guessed)
    earned = np.where(
        hits & is_present[:, :, None] & (guessed != NOBODY), THIRDS[: guessed.shape[2]], 0
    )
    # The evaluator lets a later match overwrite an earlier one: the smallest worth that is not 0.
    best = np.where(earned > 0, earned, len(THIRDS) + 1).min(axis=2) % (len(THIRDS) + 1)
    return int(best.sum()), int(is_present.sum())


def _equal(
    answer: Answer, guess: ReidentificationGuess, truth: Cells, guessed: Cells
) -> NDArray[np.bool_]:
    """Return whether a guess is the true pseudonym, letter for letter; shape of ``guessed``."""
    if guess.pseudonyms == answer.pseudonyms:
        return np.asarray(guessed == truth[:, :, None])
    position = {name: code for code, name in enumerate(answer.pseudonyms)}
    lookup = np.array([*(position.get(name, NOBODY) for name in guess.pseudonyms), NOBODY])
    return np.asarray(lookup[guessed] == truth[:, :, None])


def _contained(
    answer: Answer, guess: ReidentificationGuess, truth: Cells, guessed: Cells
) -> NDArray[np.bool_]:
    """Return whether the true pseudonym is a part of the guess, which was enough for the evaluator."""
    hits = np.zeros(guessed.shape, dtype=bool)
    places = np.nonzero((truth != NOBODY)[:, :, None] & (guessed != NOBODY))
    pairs = zip(truth[places[:2]].tolist(), guessed[places].tolist(), strict=True)
    hits[places] = [answer.pseudonyms[true] in guess.pseudonyms[code] for true, code in pairs]
    return hits


def _equally_long(answer: Answer, guess: ReidentificationGuess) -> bool:
    """Return whether a pseudonym can be part of another only by being equal to it."""
    return len({len(name) for name in {*answer.pseudonyms, *guess.pseudonyms}}) <= 1


# -- tables and teams ------------------------------------------------------------------------------

AWARDED = 3
_OWN_TABLE, _OTHER_TABLE = (
    Message("state.owns_the_table").stored(),
    Message("state.other_table").stored(),
)
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

    def as_json(self) -> dict[str, float]:
        return {"U": float(self.utility), "reid": float(self.reid), "score": float(self.score)}


def standings(rounds: Mapping[str, RoundResults], mode: str = "rules") -> Standings:
    """Rank teams by the lowest score of their last three tables, attackers by their best attack on the first-ranked table."""
    if len(rounds) != 1:
        raise UsageError("error.darc2019_rounds", given=", ".join(rounds) or Message("word.none"))
    (results,) = rounds.values()
    tables = {
        table: _table_score(results, table, mode)
        for table in _counting(results)
        if table not in results.out
    }
    scores: dict[str, Fraction | None] = dict.fromkeys(map(team_of, results.targets))
    for table, one in tables.items():
        lowest = scores[team_of(table)]
        scores[team_of(table)] = one.score if lowest is None else min(lowest, one.score)
    notes = {team: why_out(team, rounds) for team, score in scores.items() if score is None}
    ranked_scores = {team: scores[team] for team in scores if team not in results.excluded}
    ranked = rank_scores(ranked_scores, notes, lowest_wins=True)
    excluded = {team: scores[team] for team in scores if team in results.excluded}
    lines = (*ranked, *shown_unranked(excluded, notes))
    first_scores = {line.score for line in ranked if line.rank == 1}
    first = [
        table
        for table, one in tables.items()
        if one.score in first_scores and team_of(table) not in results.excluded
    ]
    attack = _attack_ranking(results, first)
    return Standings(
        anonymization=lines,
        attack=attack,
        overall=lines,
        awards={
            "anonymization": awarded(ranked, AWARDED),
            "re-identification": tuple(
                line.team for line in attack if line.rank == 1 and line.score
            ),
        },
        details={
            "tables": {
                table: {**one.as_json(), **results.beside.get(table, {})}
                for table, one in tables.items()
            }
        },
        lower_is_better=frozenset({"anonymization", "overall"}),
        overall_is="anonymization",
        award_for={"re-identification": "attack"},
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
        attacker: _exact_rate(credit)
        for attacker, credit in results.credits.get(table, {}).items()
        if attacker != team_of(table)
    }


def _exact_rate(credit: Credit) -> Fraction:
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
    notes: dict[str, str] = {}
    for team in nothing:
        absent = _OTHER_TABLE if team in guessing else state_note(MISSING)
        notes[team] = _OWN_TABLE if team in owners else absent
    return (*rank_scores(rates, notes), *shown_unranked(shown, notes))


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
