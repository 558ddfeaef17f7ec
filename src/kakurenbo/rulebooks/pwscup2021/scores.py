"""Danger, scores and ranks of pwscup2021, in exact fractions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import comb

from kakurenbo.attacks.linkage import CHOICES, LinkageGuess
from kakurenbo.contest import Chance, Credit, RoundResults, Standings, as_decimal, rank_scores
from kakurenbo.contest import results as contest_results
from kakurenbo.contest.results import DISQUALIFIED, best_attack, rank_rounds
from kakurenbo.core import Source
from kakurenbo.rulebooks import published
from kakurenbo.rulebooks.pwscup2021.files import Answer

FIRST = 3  # how many anonymizers an attacker is scored on
WORST = Fraction(1)  # the danger of a release that breaks a limit
SAMPLE_ATTACK = "sample_rlink"
_COLUMN = re.compile(r"R_on_(\d{1,4})")
_NUMBER = re.compile(r"[0-9](\.[0-9]{1,20})?")
_MAX_DANGER = 1.030301  # (1 + 0.01)^3


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
    linked = (guess.rows == answer.rows[:, None]).any(axis=1)
    people, both = int(kept.sum()), int((kept & named).sum())
    recall = Fraction(both, max(1, people))
    precision = Fraction(both, max(1, int(named.sum())))  # 0 if the guess names no row
    topk = Fraction(int((linked & kept).sum()), max(1, people))
    added = as_decimal(d)
    return Credit(
        float(danger(recall, precision, topk, added)),
        float((1 + added) ** 3),
        blind_guessing(len(answer.rows), people, answer.released or rows, d),
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
    p = min(1.0, CHOICES / rows)
    law = [comb(kept, n) * p**n * (1 - p) ** (kept - n) for n in range(kept + 1)]
    below = list(itertools.accumulate(law))
    low, high = (
        next((n for n, share in enumerate(below) if share >= part), kept) for part in (0.025, 0.975)
    )
    factor = (1 + d) * (kept / people + d)
    return Chance(*(round(factor * (n / max(1, kept) + d), 12) for n in (kept * p, low, high)))


@dataclass(frozen=True)
class RoundScores(contest_results.RoundScores):
    """R_i of every release that takes part, whether in play or disqualified, and A_j of everybody who attacks."""

    first: tuple[str, ...]

    @classmethod
    def of(cls, results: RoundResults) -> RoundScores:
        """R_i = max_j R(i, j), 1 where disqualified. A_j = mean of R(i, j) over the three lowest R_i, without j's own.

        A missing guess cannot raise the maximum, and counts 0 in the mean. Who ties with the third is among the three.
        """
        anonymization = {team: best_attack(results, team, results.hits) for team in results.in_play}
        in_ranking = {team: anonymization[team] for team in results.ranked_targets}
        ranked = rank_scores(in_ranking, lowest_wins=True)
        first = tuple(line.team for line in ranked if line.rank is not None and line.rank <= FIRST)
        attack = {}
        for attacker in results.attackers:
            others = [results.hits(team, attacker) for team in first if team != attacker]
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
    details = {}
    for name, of_round in scores.items():
        dangers = {team: float(value) for team, value in of_round.anonymization.items()}
        details[name] = {"danger": dangers, "attacked": list(of_round.first)}
    return replace(ranked, details={"rounds": details})


def read_matrix(source: Source) -> RoundResults:
    """Read the published matrix of the main round: columns ``R_on_NN``, means in the last column and in the row ``max``."""
    return published.read_matrix(
        source,
        "pwscup2021",
        _read_danger,
        column=_COLUMN,
        other_rows=("max",),
        sample_attack=SAMPLE_ATTACK,
    )


def _read_danger(cell: str, _: bool) -> Credit | None:
    is_danger = _NUMBER.fullmatch(cell) and float(cell) <= _MAX_DANGER
    return Credit(float(cell), _MAX_DANGER) if is_danger else None
