"""Scores and ranks of amic2020, in exact fractions: 1 - 32/100 is 680 points, not the 679 of floating point."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from kakurenbo.contest import Credit, RoundResults, Standing, Standings, rank_scores
from kakurenbo.contest.results import NO_AWARDS, RoundScores, best_attack, rank_rounds
from kakurenbo.core import Source
from kakurenbo.core.messages import Message
from kakurenbo.rulebooks import published
from kakurenbo.rulebooks.amic2020.files import GUESSES

FIRST = 3  # how many anonymizers an attacker is scored on
POINTS = 1000  # what a score is multiplied by before it is shown
SAMPLE_ATTACK = "attack.py"
WITHOUT_AWARDS = {"pre": "award.none.amic2020.pre", "trial": "award.none.amic2020.trial"}
"""Rounds that give no awards where they are ranked alone, and the message that says why."""
_NUMBER = re.compile(r"[0-9]{1,3}(\.[0-9]{1,20})?")


def standings(
    rounds: Mapping[str, RoundResults], weights: Mapping[str, Fraction], *, rounding: str = "cut"
) -> Standings:
    """Rank one round, or the contest with pre:main = 1:9; overall score 1 / (anonymization rank + attack rank).

    An anonymizer that is disqualified or missing in one of two rounds has 0 there. The preliminary round alone gives no
    awards, nor does a trial.
    """
    scores = {name: round_scores(results) for name, results in rounds.items()}
    ranked = rank_rounds(
        rounds,
        scores,
        weights,
        overall=lambda anonymization, attack: Fraction(1, anonymization + attack),
        lowest_wins=frozenset(),
    )
    reason = WITHOUT_AWARDS.get(next(iter(rounds))) if len(rounds) == 1 else None
    return replace(
        ranked,
        anonymization=_with_points(ranked.anonymization, rounding),
        attack=_with_points(ranked.attack, rounding),
        overall=_with_points(ranked.overall, rounding),
        awards=ranked.awards if reason is None else {},
        details={} if reason is None else {NO_AWARDS: Message(reason).stored()},
    )


def round_scores(results: RoundResults) -> RoundScores:
    """Anonymizer i: 1 - max_j accuracy_ij. Attacker j: mean accuracy over the first three anonymizers without j.

    A missing or invalid guess counts 0 for that pair alone.
    """
    anonymization = {
        team: 1 - best_attack(results, team, results.share) for team in results.in_play
    }
    ranked = rank_scores({team: anonymization[team] for team in results.ranked_targets})
    attack = {}
    for attacker in results.attackers:
        first = [line.team for line in ranked if line.team != attacker][:FIRST]
        total = sum((results.share(team, attacker) for team in first), Fraction(0))
        attack[attacker] = total / max(1, len(first))
    return RoundScores(anonymization, attack)


def _with_points(lines: tuple[Standing, ...], rounding: str) -> tuple[Standing, ...]:
    return tuple(
        line if line.score is None else replace(line, shown=points(line.score, rounding))
        for line in lines
    )


def points(score: Fraction, rounding: str = "cut") -> str:
    """Return the score times 1,000, cut; or rounded half up, as the published final table did.

    Examples
    --------
    >>> points(Fraction(71, 100)), points(Fraction(2, 3)), points(Fraction(2, 3), "round")
    ('710', '666', '667')
    """
    scaled = score * POINTS + (Fraction(1, 2) if rounding == "round" else 0)
    return str(scaled.numerator // scaled.denominator)


def read_matrix(source: Source) -> RoundResults:
    """Read a published matrix; cells are hits of 100, or accuracies if any of them has a decimal point."""
    return published.read_matrix(
        source, "amic2020", _read_hits, column=re.compile("(.*)"), sample_attack=SAMPLE_ATTACK
    )


def _read_hits(cell: str, has_decimals: bool) -> Credit | None:
    if not _NUMBER.fullmatch(cell):
        return None
    hits = Fraction(cell) * (GUESSES if has_decimals else 1)
    return Credit(int(hits), GUESSES) if hits.denominator == 1 and hits <= GUESSES else None
