"""Hits, anonymity, total, attack score and ranks of pwscup2024, in exact fractions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    awarded,
    rank_scores,
    shown_unranked,
    team_of,
    two_digits,
    why_no_attack,
    why_out,
)
from kakurenbo.contest.results import DISQUALIFIED, WITHDREW, best_attack
from kakurenbo.core import ProblemCollector, Row, Severity, Source, read_cells
from kakurenbo.rulebooks.pwscup2024.targets import Answer

FIRST = 5  # how many anonymizers an attacker is scored on
FULL = 100  # hits of both kinds at most
HALF = 50
UTILITY = "utility"
_KINDS = {"i": "identification", "d": "reconstruction"}
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


def count_hits(answer: Answer, guess: RatingsGuess) -> Credit:
    """Equal cells of both columns, 0..50 each; beside it blind guessing, and what "always 0" in both columns earns."""
    identified = int((answer.people == guess.people).sum())
    reconstructed = int((answer.values == guess.values).sum())
    constant = int((answer.people == 0).sum()) + int((answer.values == 0).sum())
    return Credit(
        identified + reconstructed,
        2 * len(answer.people),
        blind_guessing(len(answer.people)),
        constant,
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
class RoundScores:
    """A, U and total of each anonymizer, and the attack score of everybody who attacks, in one round."""

    anonymity: Mapping[str, Fraction]
    utility: Mapping[str, Fraction]
    total: Mapping[str, Fraction]
    attack: Mapping[str, Fraction]

    @classmethod
    def of(cls, results: RoundResults) -> RoundScores:
        """A = 100 - most hits of an attacker. Attack score: hits on the five best anonymizers, for one of them 100 - A_self."""

        def hits(target: str, attacker: str) -> Fraction:
            credit = results.credit(target, attacker)
            return as_decimal(credit.hits) if credit is not None else Fraction(0)

        anonymity = {team: FULL - best_attack(results, team, hits) for team in results.in_play}
        utility = {team: as_decimal(results.utility[team]) for team in results.in_play}
        total = {team: total_score(anonymity[team], utility[team]) for team in results.in_play}
        ranked = rank_scores({team: total[team] for team in results.ranked_targets})
        first = [line.team for line in ranked][:FIRST]
        attack = {}
        for attacker in results.attackers:
            own = FULL - anonymity[attacker] if attacker in first else Fraction(0)
            others = (hits(team, attacker) for team in first if team != attacker)
            attack[attacker] = own + sum(others, Fraction(0))
        return cls(anonymity, utility, total, attack)

    def as_json(self) -> dict[str, Any]:
        """Return what every total is made of, for readers of the JSON."""
        return {
            team: {
                "utility": float(self.utility[team]),
                "anonymity": float(self.anonymity[team]),
                "total": float(self.total[team]),
                "attack": float(self.attack[team]) if team in self.attack else None,
            }
            for team in self.total
        }


def standings(rounds: Mapping[str, RoundResults], weights: Mapping[str, Fraction]) -> Standings:
    """Rank one round, or the contest with pre:main = 1:9, separately for total and attack.

    A round in which a team has no release in play counts 0 for its total; a team that is disqualified in any, or in play in
    none, has no total and no rank.
    """
    scores = {name: RoundScores.of(results) for name, results in rounds.items()}
    totals = {name: one.total for name, one in scores.items()}
    attacks = {name: one.attack for name, one in scores.items()}
    excluded = frozenset[str]().union(*(results.excluded for results in rounds.values()))
    unranked = frozenset[str]().union(*(results.unranked for results in rounds.values()))
    anonymizers = {team_of(target) for results in rounds.values() for target in results.targets}
    attackers = {attacker for results in rounds.values() for attacker in results.attackers}
    everybody = anonymizers | attackers - unranked
    teams = everybody - excluded
    total = {team: _weighed(totals, weights, team) for team in everybody}
    for results in rounds.values():
        total |= {team: None for team, why in results.out.items() if why == DISQUALIFIED}
    attack = {team: _weighed(attacks, weights, team) for team in everybody | unranked}
    notes = {team: why_out(team, rounds) for team in total}
    by_total = rank_scores({team: total[team] for team in teams}, notes)
    no_attack = {team: why_no_attack(team, rounds) for team in teams}
    by_attack = rank_scores({team: attack[team] for team in teams}, no_attack)
    total_lines = by_total + shown_unranked(
        {team: total[team] for team in excluded & anonymizers}, notes
    )
    attack_lines = by_attack + shown_unranked(
        {name: attack[name] for name in (excluded | unranked) & attackers}
    )
    return Standings(
        anonymization=total_lines,
        attack=attack_lines,
        overall=total_lines,
        awards={"total": awarded(by_total), "attack": awarded(by_attack)},
        details={"rounds": {name: one.as_json() for name, one in scores.items()}},
        overall_is="anonymization",
    )


def _weighed(
    scores: Mapping[str, Mapping[str, Fraction]], weights: Mapping[str, Fraction], team: str
) -> Fraction | None:
    """Return the weighed sum of the rounds in which a team has a score; None where it has none at all."""
    parts = [weights[name] * one[team] for name, one in scores.items() if team in one]
    return sum(parts, Fraction(0)) if parts else None


# -- the table that the contest published ----------------------------------------------------------


def read_published(source: Source) -> RoundResults:
    """Read a published table.

    A row per anonymizer: ``anonymizer``, per attacker ``NN`` (both hits) or ``NNi`` and ``NNd`` (hits of each kind), and
    ``utility``. Further columns are not looked at. A row of zeros only is a team that withdrew. ``1`` and ``01`` are one team.
    """
    rows, problems = read_cells(source), ProblemCollector(source.name)
    header = rows[0].cells if rows else []
    columns: Mapping[str, Mapping[str, int]] = {}
    if len(rows) > 1 and UTILITY in header and len(set(header)) == len(header):
        columns = _attacker_columns(header, problems)
    if not columns:
        code, value = "pwscup2024.no_results_table", ",".join(header)
        problems.add(code, row=1, value=value, severity=Severity.MALFORMED)
        raise problems.error()
    results = _results(rows, columns, problems)
    problems.check()
    return results


def _attacker_columns(
    header: Sequence[str], problems: ProblemCollector
) -> Mapping[str, Mapping[str, int]]:
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


def _results(
    rows: Sequence[Row], columns: Mapping[str, Mapping[str, int]], problems: ProblemCollector
) -> RoundResults:
    header = rows[0].cells
    credits: dict[str, dict[str, Credit]] = {}
    utility: dict[str, float] = {}
    for row in rows[1:]:
        number, cells = row
        if len(cells) != len(header):
            problems.add("pwscup2024.cells", row=number, count=len(cells), width=len(header))
            continue
        if not re.fullmatch(r"\d{1,4}", cells[0]) or two_digits(cells[0]) in credits:
            column, value = header[0], cells[0]
            problems.add("pwscup2024.no_anonymizer", row=number, column=column, value=value)
            continue
        team = two_digits(cells[0])
        credits[team] = {
            attacker: _read_credit(problems, header, row, places)
            for attacker, places in columns.items()
            if attacker != team
        }
        place = header.index(UTILITY)
        utility[team] = float(_read_number(problems, header, row, place, FULL, is_whole=False))
    out = {
        team: WITHDREW
        for team, row in credits.items()
        if not utility[team] and not any(credit.hits for credit in row.values())
    }
    # A team that withdrew did not attack either.
    attackers = tuple(attacker for attacker in columns if attacker not in out)
    present = {
        team: {name: credit for name, credit in row.items() if name not in out}
        for team, row in credits.items()
    }
    return RoundResults(present, tuple(credits), attackers, utility=utility, out=out)


def _read_credit(
    problems: ProblemCollector, header: Sequence[str], row: Row, places: Mapping[str, int]
) -> Credit:
    hits = {
        kind: int(_read_number(problems, header, row, place, HALF if kind else FULL, is_whole=True))
        for kind, place in places.items()
    }
    details = {_KINDS[kind]: count for kind, count in hits.items() if kind}
    return Credit(sum(hits.values()), FULL, details=details)


def _read_number(
    problems: ProblemCollector,
    header: Sequence[str],
    row: Row,
    place: int,
    most: int,
    *,
    is_whole: bool,
) -> Fraction:
    cell = row.cells[place]
    value = Fraction(cell) if _NUMBER.fullmatch(cell) else None
    if value is None or value > most or (is_whole and value.denominator != 1):
        code = "pwscup2024.no_hits" if is_whole else "pwscup2024.no_utility"
        problems.add(code, row=row[0], column=header[place], value=cell, most=most)
        return Fraction(0)
    return value
