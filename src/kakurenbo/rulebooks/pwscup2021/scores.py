"""Danger, scores and ranks of pwscup2021, in exact fractions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import comb
from typing import Any

from kakurenbo.attacks.linkage import CHOICES, LinkageGuess
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
from kakurenbo.contest.results import DISQUALIFIED, best_attack, check_team_names, rank_rounds
from kakurenbo.core import ProblemCollector, Row, Severity, Source, read_cells
from kakurenbo.rulebooks.pwscup2021.files import Answer

FIRST = 3  # how many anonymizers an attacker is scored on
WORST = Fraction(1)  # the danger of a release that breaks a limit
SAMPLE_ATTACK = "sample_rlink"
_COLUMN = re.compile(r"R_on_(\d{1,4})")
_NUMBER = re.compile(r"[0-9](\.[0-9]{1,20})?")
_LEFT_OUT = ("max",)
_MOST = 1.030301  # (1 + 0.01)^3


def danger(recall: Fraction, precision: Fraction, topk: Fraction, d: Fraction) -> Fraction:
    """R = (recall + d)(precision + d)(top-k + d).

    Examples
    --------
    >>> round(float(danger(Fraction(1), Fraction(1, 2), Fraction(7, 50), Fraction(1, 100))), 3)
    0.077
    """
    return (recall + d) * (precision + d) * (topk + d)


def count_credit(answer: Answer, guess: LinkageGuess, d: float, rows: int) -> Credit:
    """R of a guess, beside what blind guessing gets.

    Parameters
    ----------
    answer : Answer
    guess : LinkageGuess
        Its first column alone says who was deleted; for top-k all three count, whatever the first says.
    d : float
        What is added to each factor.
    rows : int
        Rows that a blind guess draws from, where the answer does not tell those of the release.
    """
    kept, named = answer.rows >= 0, guess.rows[:, 0] >= 0
    both, linked = (
        int((kept & named).sum()),
        int(((guess.rows == answer.rows[:, None]).any(axis=1) & kept).sum()),
    )
    recall = Fraction(both, max(1, int(kept.sum())))
    precision = Fraction(both, max(1, int(named.sum())))  # nobody named: 0
    topk = Fraction(linked, max(1, int(kept.sum())))
    added = as_decimal(d)
    return Credit(
        float(danger(recall, precision, topk, added)),
        float((1 + added) ** 3),
        blind_guessing(len(answer.rows), int(kept.sum()), answer.released or rows, d),
        details={"recall": float(recall), "precision": float(precision), "topk": float(topk)},
        least=float(added**3),
    )


@cache
def blind_guessing(people: int, kept: int, rows: int, d: float) -> Chance:
    """R of naming three random rows for everybody: recall 1, precision the share of those who are there.

    Examples
    --------
    >>> blind_guessing(100, 50, 3000, 0.01)
    Chance(mean=0.0056661, low=0.005151, high=0.015453)
    """
    chance = min(1.0, CHOICES / rows)
    below = list(
        itertools.accumulate(
            comb(kept, n) * chance**n * (1 - chance) ** (kept - n) for n in range(kept + 1)
        )
    )
    low, high = (
        next((n for n, share in enumerate(below) if share >= part), kept) for part in (0.025, 0.975)
    )
    hits = (kept * chance, low, high)
    factor = (1 + d) * (kept / people + d)
    return Chance(*(round(factor * (hit / max(1, kept) + d), 12) for hit in hits))


@dataclass(frozen=True)
class RoundScores(contest_results.RoundScores):
    """R_i of every release that takes part, whether in play or disqualified, and A_j of everybody who attacks."""

    first: tuple[str, ...]

    @classmethod
    def of(cls, results: RoundResults) -> RoundScores:
        """R_i = max_j R(i, j), 1 where disqualified. A_j = mean of R(i, j) over the three lowest R_i, without j's own.

        A missing guess cannot raise the maximum, and counts 0 in the mean. Who ties with the third is among the three.
        """

        def danger_of(team: str, attacker: str) -> Fraction:
            credit = results.credit(team, attacker)
            return Fraction(0) if credit is None else as_decimal(credit.hits)

        anonymization = {team: best_attack(results, team, danger_of) for team in results.in_play}
        ranked = rank_scores(
            {team: anonymization[team] for team in results.ranked_targets}, lowest_wins=True
        )
        first = tuple(line.team for line in ranked if line.rank is not None and line.rank <= FIRST)
        attack = {}
        for attacker in results.attackers:
            others = [danger_of(team, attacker) for team in first if team != attacker]
            attack[attacker] = sum(others, Fraction(0)) / max(1, len(others))
        out = {team: WORST for team, why in results.out.items() if why == DISQUALIFIED}
        return cls({**anonymization, **out}, attack, first)


def standings(rounds: Mapping[str, RoundResults], weights: Mapping[str, Fraction]) -> Standings:
    """Rank one round, or the contest with pre:main = 1:9; the sum of both ranks is the overall score.

    A round in which a team submitted nothing that could be judged counts like one in which it was disqualified.
    """
    scores = {name: RoundScores.of(results) for name, results in rounds.items()}
    lowest_wins = frozenset({"anonymization", "overall"})
    ranked = rank_rounds(rounds, scores, weights, lowest_wins=lowest_wins, missing=WORST)
    return replace(
        ranked, details={"rounds": {name: _details(one) for name, one in scores.items()}}
    )


def _details(scores: RoundScores) -> dict[str, Any]:
    """Return what the scores are made of, for readers of the JSON."""
    return {
        "danger": {team: float(value) for team, value in scores.anonymization.items()},
        "attacked": list(scores.first),
    }


# -- the matrix of the main round as the contest published it --------------------------------------


def read_matrix(source: Source) -> RoundResults:
    """Read a published matrix (CSV; a blank is one's own release or a missing guess).

    Columns are ``R_on_NN``; a last column of means and a row ``max`` are passed over. The row ``sample_rlink`` is the
    organizers' sample attack: shown, not ranked.
    """
    rows, problems = read_cells(source), ProblemCollector(source.name)
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
        problems.add("pwscup2021.no_matrix", severity=Severity.MALFORMED)
        raise problems.error()
    for names, (row, _) in ((targets, rows[0]), (attackers, rows[1])):
        check_team_names(problems, names, row, "pwscup2021.matrix_name")
    credits = _credits(problems, columns, body)
    problems.check()
    unranked = frozenset({SAMPLE_ATTACK} & set(attackers))
    return RoundResults(credits, tuple(targets), tuple(attackers), unranked=unranked)


def _credits(
    problems: ProblemCollector, columns: dict[int, str], body: Sequence[Row]
) -> dict[str, dict[str, Credit]]:
    credits: dict[str, dict[str, Credit]] = {target: {} for target in columns.values()}
    for number, cells in body:
        for place, target in columns.items():
            cell = cells[place] if place < len(cells) else ""
            if _NUMBER.fullmatch(cell) and float(cell) <= _MOST:
                credits[target][two_digits(cells[0])] = Credit(float(cell), _MOST)
            elif cell:
                problems.add("pwscup2021.matrix_cell", row=number, column=target, value=cell)
    return credits
