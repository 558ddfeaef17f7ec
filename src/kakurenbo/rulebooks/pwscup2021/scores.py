"""Danger, scores and ranks of pwscup2021, in exact fractions."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb
from typing import Any

from kakurenbo.attacks.linkage import CHOICES, LinkageGuess
from kakurenbo.contest import (
    Chance,
    Credit,
    RoundResults,
    Standing,
    Standings,
    as_decimal,
    awarded,
    by_number,
    rank,
    shown_unranked,
    why_no_attack,
    why_out,
)
from kakurenbo.contest.results import DISQUALIFIED
from kakurenbo.rulebooks.pwscup2021.files import Answer

FIRST = 3  # how many anonymizers an attacker is scored on
WORST = Fraction(1)  # the danger of a release that breaks a limit
Scores = dict[str, Fraction | None]


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
class RoundScores:
    """R_i of every release that takes part, whether in play or disqualified, and A_j of everybody who attacks."""

    anonymization: Mapping[str, Fraction]
    attack: Mapping[str, Fraction]
    first: tuple[str, ...]

    @classmethod
    def of(cls, results: RoundResults) -> RoundScores:
        """R_i = max_j R(i, j), 1 where disqualified. A_j = mean of R(i, j) over the three lowest R_i, without j's own.

        A missing guess cannot raise the maximum, and counts 0 in the mean. Who ties with the third is among the three.
        """
        anonymization = {team: _largest(results, team) for team in results.in_play}
        ranking = rank(
            {team: anonymization[team] for team in results.ranked_targets}, lowest_wins=True
        )
        first = tuple(line.team for line in ranking if line.rank is not None and line.rank <= FIRST)
        attack = {}
        for attacker in results.attackers:
            others = [_danger(results, team, attacker) for team in first if team != attacker]
            attack[attacker] = sum(others, Fraction(0)) / len(others) if others else Fraction(0)
        out = {team: WORST for team, why in results.out.items() if why == DISQUALIFIED}
        return cls({**anonymization, **out}, attack, first)


def _largest(results: RoundResults, team: str) -> Fraction:
    others = (attacker for attacker in results.ranked_attackers if attacker != team)
    return max((_danger(results, team, attacker) for attacker in others), default=Fraction(0))


def _danger(results: RoundResults, team: str, attacker: str) -> Fraction:
    credit = results.credit(team, attacker)
    return Fraction(0) if credit is None else as_decimal(credit.hits)


def standings(rounds: Mapping[str, RoundResults], weights: Mapping[str, Fraction]) -> Standings:
    """Ranks and awards of one round, or of the contest with pre:main = 1:9; the sum of both ranks is the overall score.

    A round in which a team handed in nothing that could be judged counts like one in which it was disqualified; a team
    without a release in any has no score. Who was disqualified in any takes no award but that for attack.
    """
    scored = {name: RoundScores.of(results) for name, results in rounds.items()}
    excluded = frozenset[str]().union(*(results.excluded for results in rounds.values()))
    shown = frozenset[str]().union(
        *(results.unranked | results.excluded for results in rounds.values())
    )
    teams = sorted(
        {team for results in rounds.values() for team in results.teams} - excluded, key=by_number
    )

    def anonymization(team: str) -> Fraction | None:
        if not any(team in one.anonymization for one in scored.values()):
            return None
        return sum(
            (weights[name] * one.anonymization.get(team, WORST) for name, one in scored.items()),
            Fraction(0),
        )

    def attack(team: str) -> Fraction:
        return sum(
            (weights[name] * one.attack.get(team, Fraction(0)) for name, one in scored.items()),
            Fraction(0),
        )

    notes = {team: why_out(team, rounds) for team in (*teams, *excluded)}
    by_anonymization = rank({team: anonymization(team) for team in teams}, notes, lowest_wins=True)
    by_attack = rank(
        {team: attack(team) for team in teams},
        {team: why_no_attack(team, rounds) for team in teams},
    )
    overall = rank(_overall(by_anonymization, by_attack), notes, lowest_wins=True)
    releases = {team: anonymization(team) for team in excluded if anonymization(team) is not None}
    attackers = {
        name: attack(name) for name in shown if any(name in one.attack for one in scored.values())
    }
    return Standings(
        anonymization=by_anonymization + shown_unranked(releases, notes),
        attack=by_attack + shown_unranked(dict(attackers)),
        overall=overall + shown_unranked(dict.fromkeys(excluded & {*releases, *attackers}), notes),
        awards={
            "anonymization": awarded(_of_those_who_may_win(by_anonymization, rounds)),
            "attack": awarded(by_attack),
            "overall": awarded(_of_those_who_may_win(overall, rounds)),
        },
        details={"rounds": {name: _details(one) for name, one in scored.items()}},
        lower_is_better=frozenset({"anonymization", "overall"}),
    )


def _overall(by_anonymization: tuple[Standing, ...], by_attack: tuple[Standing, ...]) -> Scores:
    """The sum of both ranks; none without both."""
    places = {line.team: line.rank for line in by_attack}
    scores: Scores = {}
    for line in by_anonymization:
        place = places[line.team]
        scores[line.team] = (
            None if line.rank is None or place is None else Fraction(line.rank + place)
        )
    return scores


def _of_those_who_may_win(
    ranking: tuple[Standing, ...], rounds: Mapping[str, RoundResults]
) -> tuple[Standing, ...]:
    """The ranking as it is without those who were disqualified in a round that counts."""
    barred = {
        team
        for results in rounds.values()
        for team, why in results.out.items()
        if why == DISQUALIFIED
    }
    return rank(
        {line.team: line.score for line in ranking if line.team not in barred}, lowest_wins=True
    )


def _details(scores: RoundScores) -> dict[str, Any]:
    """What the scores are made of, for readers of the JSON."""
    return {
        "danger": {team: float(value) for team, value in scores.anonymization.items()},
        "attacked": list(scores.first),
    }
