"""Hits, anonymity, total, attack score and ranks of pwscup2024, in exact fractions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from kakurenbo.attacks.reconstruction.types import RATING_VALUES, RatingsGuess
from kakurenbo.contest import (
    Chance,
    Credit,
    RoundResults,
    Standings,
    as_decimal,
    rank_scores,
    two_digits,
)
from kakurenbo.contest import results as contest_results
from kakurenbo.contest.results import DISQUALIFIED, WITHDREW, best_attack, rank_rounds
from kakurenbo.core import ProblemCollector, Row, Severity, Source, read_cells
from kakurenbo.rulebooks.pwscup2024.targets import Answer

FIRST = 5  # how many anonymizers an attacker is scored on
FULL = 100  # hits of both kinds at most
HALF = 50
UTILITY = "utility"
_KINDS = {"i": "identification", "d": "reconstruction"}
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


def count_hits(answer: Answer, guess: RatingsGuess) -> Credit:
    """Count equal cells of both columns, 0..50 each, beside blind guessing and what "always 0" in both columns earns."""
    pairs = ((answer.people, guess.people), (answer.values, guess.values))
    identified, reconstructed = (int((truth == guessed).sum()) for truth, guessed in pairs)
    rows = len(answer.people)
    return Credit(
        identified + reconstructed,
        2 * rows,
        blind_guessing(rows),
        sum(int((truth == 0).sum()) for truth, _ in pairs),
        {"identification": identified, "reconstruction": reconstructed},
    )


def blind_guessing(rows: int) -> Chance:
    """Hits of a random assignment and random ratings: about 1 + 50 / 6 of 100.

    Examples
    --------
    >>> chance = blind_guessing(50)
    >>> round(chance.mean, 2), chance.low, chance.high
    (9.33, 4.0, 15.0)
    """
    from scipy.special import factorial
    from scipy.stats import binom

    counts = np.arange(rows + 1)
    # Of n people, k stay in their place with the chance that the other n - k do not, 1/0! - 1/1! + 1/2! ..., over k!.
    nobody_stays = np.cumsum((-1.0) ** counts / factorial(counts))
    met = nobody_stays[::-1] / factorial(counts)
    below = np.cumsum(np.convolve(met, binom.pmf(counts, rows, 1 / RATING_VALUES)))
    low, high = np.searchsorted(below, 0.025), np.searchsorted(below, 0.975)
    return Chance(1 + rows / RATING_VALUES, float(low), float(high))


def total_score(anonymity: Fraction, utility: Fraction) -> Fraction:
    """max(0, A + U - 2 max(0, 50 - A) - 2 max(0, 50 - U)).

    Examples
    --------
    >>> float(total_score(Fraction(31), Fraction("91.02")))
    84.02
    """
    short = max(Fraction(0), HALF - anonymity) + max(Fraction(0), HALF - utility)
    return max(Fraction(0), anonymity + utility - 2 * short)


@dataclass(frozen=True)
class RoundScores(contest_results.RoundScores):
    """Total of each anonymizer and the attack score of everybody who attacks, with what totals are made of."""

    anonymity: Mapping[str, Fraction]
    utility: Mapping[str, Fraction]

    @classmethod
    def of(cls, results: RoundResults) -> RoundScores:
        """A = 100 - most hits of an attacker. Attack score: hits on the five best anonymizers, for one of them 100 - A_self."""
        anonymity = {
            team: FULL - best_attack(results, team, results.hits) for team in results.in_play
        }
        utility = {team: as_decimal(results.utility[team]) for team in results.in_play}
        total = {team: total_score(anonymity[team], utility[team]) for team in results.in_play}
        ranked = rank_scores({team: total[team] for team in results.ranked_targets})
        first = [line.team for line in ranked][:FIRST]
        attack = {}
        for attacker in results.attackers:
            of_itself = FULL - anonymity[attacker] if attacker in first else Fraction(0)
            others = (results.hits(team, attacker) for team in first if team != attacker)
            attack[attacker] = of_itself + sum(others, Fraction(0))
        return cls(total, attack, anonymity, utility)

    def as_json(self) -> dict[str, Any]:
        """Return what every total is made of, for readers of the JSON."""
        return {
            team: {
                "utility": float(self.utility[team]),
                "anonymity": float(self.anonymity[team]),
                "total": float(total),
                "attack": float(self.attack[team]) if team in self.attack else None,
            }
            for team, total in self.anonymization.items()
        }


def standings(rounds: Mapping[str, RoundResults], weights: Mapping[str, Fraction]) -> Standings:
    """Rank one round, or the contest with pre:main = 1:9, separately for total and attack.

    A round in which a team has no release in play counts 0 for its total; a team that is disqualified in any, or in play in
    none, has no total and no rank.
    """
    scores = {name: RoundScores.of(results) for name, results in rounds.items()}
    outs = [out for results in rounds.values() for out in results.out.items()]
    disqualified = {team for team, reason in outs if reason == DISQUALIFIED}
    ranked_scores = {}
    for name, of_round in scores.items():
        totals = of_round.anonymization.items()
        total = {team: score for team, score in totals if team not in disqualified}
        ranked_scores[name] = replace(of_round, anonymization=total)
    nothing: frozenset[str] = frozenset()
    ranked = rank_rounds(rounds, ranked_scores, weights, lowest_wins=nothing, ranks_idle=False)
    return replace(
        ranked,
        overall=ranked.anonymization,
        awards={"total": ranked.awards["anonymization"], "attack": ranked.awards["attack"]},
        details={"rounds": {name: of_round.as_json() for name, of_round in scores.items()}},
        overall_is="anonymization",
    )


# -- the table that the contest published ----------------------------------------------------------


def read_published(source: Source) -> RoundResults:
    """Read a published table.

    A row per anonymizer: ``anonymizer``, per attacker ``NN`` (both hits) or ``NNi`` and ``NNd`` (hits of each kind), and
    ``utility``. Further columns are not read. A row of zeros or blanks only is a team that withdrew. ``1`` and ``01`` are one team.
    """
    rows, problems = read_cells(source), ProblemCollector(source.name)
    header = rows[0].cells if rows else []
    columns: dict[str, dict[str, int]] = {}
    if len(rows) > 1 and UTILITY in header and len(set(header)) == len(header):
        columns = _attacker_columns(header, problems)
    if not columns:
        code, value = "pwscup2024.no_results_table", ",".join(header)
        problems.add(code, row=1, value=value, severity=Severity.MALFORMED)
        raise problems.error()
    credits: dict[str, dict[str, Credit]] = {}
    utility: dict[str, float] = {}
    reader = _NumberReader(header, problems)
    for row in rows[1:]:
        name = row.cells[0]
        if len(row.cells) != len(header):
            counts = {"count": len(row.cells), "width": len(header)}
            problems.add("pwscup2024.cells", row=row.number, **counts)  # type: ignore[arg-type]
        elif not re.fullmatch(r"\d{1,4}", name) or two_digits(name) in credits:
            where = {"column": header[0], "value": name}
            problems.add("pwscup2024.no_anonymizer", row=row.number, **where)  # type: ignore[arg-type]
        else:
            team = two_digits(name)
            others = {attacker: places for attacker, places in columns.items() if attacker != team}
            credits[team] = {
                attacker: reader.credit(row, places)
                for attacker, places in others.items()
                if any(row.cells[place].strip() for place in places.values())
            }
            is_blank = not any(
                cell.strip() for cell in row.cells[1:]
            )  # as for a team that withdrew
            place = header.index(UTILITY)
            number = Fraction(0) if is_blank else reader.number(row, place, FULL, is_whole=False)
            utility[team] = float(number)
    problems.check()
    out = {
        team: WITHDREW
        for team, row in credits.items()
        if not utility[team] and not any(credit.hits for credit in row.values())
    }
    # A team that withdrew did not attack either.
    for of_team in credits.values():
        for team in out:
            of_team.pop(team, None)
    # Without a guess at another team there is no attack score.
    guessed = {attacker for of_team in credits.values() for attacker in of_team}
    attackers = tuple(attacker for attacker in columns if attacker in guessed)
    return RoundResults(credits, tuple(credits), attackers, utility=utility, out=out)


def _attacker_columns(
    header: Sequence[str], problems: ProblemCollector
) -> dict[str, dict[str, int]]:
    """Return for each attacker the places of its columns by kind: ``""`` for both hits, or ``i`` and ``d``."""
    columns: dict[str, dict[str, int]] = {}
    for place, name in enumerate(header[1:], start=1):
        match = re.fullmatch(r"(\d{1,4})([id]?)", name)
        if match is None:
            continue
        team, kind = two_digits(match[1]), match[2]
        places = columns.setdefault(team, {})
        if kind in places:
            problems.add("pwscup2024.attacker_twice", row=1, column=name, team=team)
        places[kind] = place
    for team, places in columns.items():
        if set(places) not in ({""}, set(_KINDS)):
            column = header[max(places.values())]
            problems.add("pwscup2024.attacker_columns", row=1, column=column, team=team)
    return columns


@dataclass(frozen=True)
class _NumberReader:
    """Reads numbers of a published table."""

    header: Sequence[str]
    problems: ProblemCollector

    def credit(self, row: Row, places: Mapping[str, int]) -> Credit:
        """Read the hits of an attacker, of each kind or of both."""
        hits = {
            kind: int(self.number(row, place, HALF if kind else FULL, is_whole=True))
            for kind, place in places.items()
        }
        details = {_KINDS[kind]: count for kind, count in hits.items() if kind}
        return Credit(sum(hits.values()), FULL, details=details)

    def number(self, row: Row, place: int, most: int, *, is_whole: bool) -> Fraction:
        cell = row.cells[place]
        value = Fraction(cell) if _NUMBER.fullmatch(cell) else None
        if value is None or value > most or (is_whole and value.denominator != 1):
            code = "pwscup2024.no_hits" if is_whole else "pwscup2024.no_utility"
            column = self.header[place]
            self.problems.add(code, row=row.number, column=column, value=cell, most=most)
            return Fraction(0)
        return value
