"""Hits, anonymity, total, attack score and ranks of pwscup2024, in exact fractions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    by_number,
    rank,
    shown_unranked,
    team_of,
    why_no_attack,
    why_out,
)
from kakurenbo.contest.results import DISQUALIFIED
from kakurenbo.rulebooks.pwscup2024.targets import Answer

FIRST = 5  # how many anonymizers an attacker is scored on
FULL = 100  # hits of both kinds at most
HALF = 50

Scores = dict[str, Fraction | None]


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


def standings(rounds: Mapping[str, RoundResults], weights: Mapping[str, Fraction]) -> Standings:
    """Ranks of one round, or of the contest with pre:main = 1:9, separately for total and attack.

    A round in which a team has no release in play counts 0 for its total; a team that is disqualified in any, or in play in
    none, has no total and no rank.
    """
    scored = {name: RoundScores(results) for name, results in rounds.items()}
    excluded = frozenset[str]().union(*(results.excluded for results in rounds.values()))
    unranked = frozenset[str]().union(*(results.unranked for results in rounds.values()))
    anonymizers = {team_of(target) for results in rounds.values() for target in results.targets}
    attackers = {attacker for results in rounds.values() for attacker in results.attackers}
    everybody = sorted(anonymizers | attackers - unranked, key=by_number)
    teams = [team for team in everybody if team not in excluded]
    total = {
        team: None
        if _barred(team, rounds)
        else _weighed((weights[name], one.total.get(team)) for name, one in scored.items())
        for team in everybody
    }
    attack = {
        attacker: _weighed(
            (weights[name], one.attack.get(attacker)) for name, one in scored.items()
        )
        for attacker in (*everybody, *unranked)
    }
    notes = {team: why_out(team, rounds) for team in total}
    by_total = rank({team: total[team] for team in teams}, notes)
    by_attack = rank(
        {team: attack[team] for team in teams},
        {team: why_no_attack(team, rounds) for team in teams},
    )
    shown_total = shown_unranked({team: total[team] for team in excluded & anonymizers}, notes)
    shown_attack = shown_unranked(
        {name: attack[name] for name in (excluded | unranked) & attackers}
    )
    return Standings(
        anonymization=by_total + shown_total,
        attack=by_attack + shown_attack,
        overall=by_total + shown_total,
        awards={"total": awarded(by_total), "attack": awarded(by_attack)},
        details={"rounds": {name: scores.details() for name, scores in scored.items()}},
        overall_is="anonymization",
    )


def _barred(team: str, rounds: Mapping[str, RoundResults]) -> bool:
    return any(results.out.get(team) == DISQUALIFIED for results in rounds.values())


def _weighed(parts: Iterable[tuple[Fraction, Fraction | None]]) -> Fraction | None:
    """The sum over (weight, score) of the rounds in which there is a score; None where there is none at all."""
    known = [weight * score for weight, score in parts if score is not None]
    return sum(known, Fraction(0)) if known else None


class RoundScores:
    """A, U, total and attack score of everybody in one round."""

    def __init__(self, results: RoundResults) -> None:
        self._results = results
        self.anonymity = {
            team: FULL - max(self._attacked(team), default=Fraction(0)) for team in results.in_play
        }
        self.utility = {team: as_decimal(results.utility[team]) for team in results.in_play}
        self.total = {
            team: total_score(self.anonymity[team], self.utility[team]) for team in results.in_play
        }
        ranked: Scores = {team: self.total[team] for team in results.ranked_targets}
        self.first = [line.team for line in rank(ranked)][:FIRST]
        self.attack = {attacker: self._attack(attacker) for attacker in results.attackers}

    def _attacked(self, target: str) -> list[Fraction]:
        return [
            self._hits(target, attacker)
            for attacker in self._results.ranked_attackers
            if attacker != target
        ]

    def _attack(self, attacker: str) -> Fraction:
        """Hits on the five best anonymizers; for one of the five, its own entry counts 100 - A_self."""
        own = sum(
            (FULL - self.anonymity[team] for team in self.first if team == attacker), Fraction(0)
        )
        return own + sum(
            (self._hits(team, attacker) for team in self.first if team != attacker), Fraction(0)
        )

    def _hits(self, target: str, attacker: str) -> Fraction:
        credit = self._results.credit(target, attacker)
        return as_decimal(credit.hits) if credit is not None else Fraction(0)

    def details(self) -> dict[str, Any]:
        """What every total is made of, for readers of the JSON."""
        return {
            team: {
                "utility": float(self.utility[team]),
                "anonymity": float(self.anonymity[team]),
                "total": float(self.total[team]),
                "attack": float(self.attack[team]) if team in self.attack else None,
            }
            for team in self.total
        }
