"""Scores and ranks of amic2020, in exact fractions: 1 - 32/100 is 680 points, not the 679 of floating point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contest import (
    Chance,
    Credit,
    RoundResults,
    Standing,
    Standings,
    awarded,
    by_number,
    rank,
    shown_unranked,
    why_no_attack,
    why_out,
)
from kakurenbo.contest.results import DISQUALIFIED, NO_AWARDS
from kakurenbo.core.messages import render
from kakurenbo.rulebooks.amic2020.files import GUESSES, Answer

FIRST = 3  # how many anonymizers an attacker is scored on
POINTS = 1000  # what a score is multiplied by before it is shown
WITHOUT_AWARDS = {"pre": "award.none.amic2020.pre", "trial": "award.none.amic2020.trial"}
"""Rounds that give no awards where they are ranked alone, and the message that says why."""


def count_hits(answer: Answer, rows: NDArray[np.int64]) -> Credit:
    """|E_ij intersect C_i| of 100, beside what blind guessing gets."""
    hits = int(np.isin(rows, answer.rows).sum())
    return Credit(hits, GUESSES, blind_guessing(answer.population, len(answer.rows)))


@cache
def blind_guessing(population: int, members: int, guesses: int = GUESSES) -> Chance:
    """Hits of guesses drawn without looking: hypergeometric, 10 of 100 on average.

    Examples
    --------
    >>> blind_guessing(100_000, 10_000)
    Chance(mean=10.0, low=5.0, high=16.0)
    """
    from scipy.stats import hypergeom

    law = hypergeom(population, members, guesses)
    return Chance(float(law.mean()), float(law.ppf(0.025)), float(law.ppf(0.975)))


@dataclass(frozen=True)
class RoundScores:
    """Scores of one round: of every release in play, and of everybody who attacks; ranked or not."""

    anonymization: Mapping[str, Fraction]
    attack: Mapping[str, Fraction]

    @classmethod
    def of(cls, results: RoundResults) -> RoundScores:
        """Anonymizer i: 1 - max_j accuracy_ij. Attacker j: mean accuracy over the first three anonymizers without j.

        A missing or invalid guess counts 0 for that pair alone.
        """
        anonymization = {team: 1 - _best_accuracy(results, team) for team in results.in_play}
        order = [
            line.team
            for line in rank({team: anonymization[team] for team in results.ranked_targets})
        ]
        attack = {}
        for attacker in results.attackers:
            first = [team for team in order if team != attacker][:FIRST]
            total = sum((results.share(team, attacker) for team in first), Fraction(0))
            attack[attacker] = total / len(first) if first else Fraction(0)
        return cls(anonymization, attack)


def standings(
    rounds: Mapping[str, RoundResults], weights: Mapping[str, Fraction], *, rounding: str = "cut"
) -> Standings:
    """Ranks and awards of one round, or of the contest with pre:main = 1:9; equal scores share a rank (1, 1, 3).

    An anonymizer that is disqualified or missing in one of two rounds has 0 there; in every round, it stands behind all
    others without a rank, and so it does overall. Who was disqualified in any takes no award but that for attack: the places
    go to the next. The preliminary round alone gives no awards, nor does a trial.
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
        parts = {
            name: one.anonymization[team]
            for name, one in scored.items()
            if team in one.anonymization
        }
        return (
            sum((weights[name] * part for name, part in parts.items()), Fraction(0))
            if parts
            else None
        )

    def attack(team: str) -> Fraction:
        return sum(
            (weights[name] * one.attack.get(team, Fraction(0)) for name, one in scored.items()),
            Fraction(0),
        )

    notes = {team: why_out(team, rounds) for team in (*teams, *excluded)}
    by_anonymization = rank({team: anonymization(team) for team in teams}, notes)
    by_attack = rank(
        {team: attack(team) for team in teams},
        {team: why_no_attack(team, rounds) for team in teams},
    )
    overall = rank(_overall(by_anonymization, by_attack), notes)
    releases = {team: anonymization(team) for team in excluded if anonymization(team) is not None}
    attackers = {
        name: attack(name) for name in shown if any(name in one.attack for one in scored.values())
    }
    # A place in both rankings makes the overall score: who has none is shown without a score.
    without_places = dict.fromkeys(excluded & {*releases, *attackers})
    awards = {
        "anonymization": awarded(_of_those_who_may_win(by_anonymization, rounds)),
        "attack": awarded(by_attack),
        "overall": awarded(_of_those_who_may_win(overall, rounds)),
    }
    reason = WITHOUT_AWARDS.get(next(iter(rounds))) if len(rounds) == 1 else None
    return Standings(
        anonymization=_shown(by_anonymization + shown_unranked(releases, notes), rounding),
        attack=_shown(by_attack + shown_unranked(attackers), rounding),
        overall=_shown(overall + shown_unranked(without_places, notes), rounding),
        awards=awards if reason is None else {},
        details={} if reason is None else {NO_AWARDS: render(reason, {}, "en").message},
    )


def _overall(
    by_anonymization: tuple[Standing, ...], by_attack: tuple[Standing, ...]
) -> dict[str, Fraction | None]:
    """1 / (anonymization rank + attack rank); none without both ranks."""
    places = {line.team: line.rank for line in by_attack}
    scores: dict[str, Fraction | None] = {}
    for line in by_anonymization:
        place = places[line.team]
        scores[line.team] = (
            None if line.rank is None or place is None else Fraction(1, line.rank + place)
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
    return rank({line.team: line.score for line in ranking if line.team not in barred})


def _best_accuracy(results: RoundResults, team: str) -> Fraction:
    """The best accuracy against a release; a release that nobody attacked has 0 against it."""
    others = (attacker for attacker in results.ranked_attackers if attacker != team)
    return max((results.share(team, attacker) for attacker in others), default=Fraction(0))


def _shown(lines: tuple[Standing, ...], rounding: str) -> tuple[Standing, ...]:
    return tuple(
        line if line.score is None else replace(line, shown=points(line.score, rounding))
        for line in lines
    )


def points(score: Fraction, rounding: str = "cut") -> str:
    """The score times 1,000, cut; or rounded half up, as the published final table did.

    Examples
    --------
    >>> points(Fraction(71, 100)), points(Fraction(2, 3)), points(Fraction(2, 3), "round")
    ('710', '666', '667')
    """
    scaled = score * POINTS + (Fraction(1, 2) if rounding == "round" else 0)
    return str(scaled.numerator // scaled.denominator)
