"""Rankings of one or several rounds: scores are weighed, ranked and awarded the same way in every contest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kakurenbo.contest.results import (
    DISQUALIFIED,
    RoundResults,
    Standing,
    Standings,
    awarded,
    rank,
    shown_unranked,
    team_of,
    why_no_attack,
    why_out,
)
from kakurenbo.core import ProblemCollector

LOWEST_WINS = frozenset({"overall"})
"""Rankings in which the lowest score wins, where the overall score is a sum of ranks."""


@dataclass(frozen=True)
class RoundScores:
    """Scores of one round: of every release that has one, and of everybody who attacks, ranked or not."""

    anonymization: Mapping[str, Fraction]
    attack: Mapping[str, Fraction]

    @classmethod
    def of(cls, results: RoundResults) -> RoundScores:
        """1 - best accuracy against the best table of a team; mean accuracy of an attacker over all other teams' tables."""
        anonymization: dict[str, Fraction] = {}
        for target in results.in_play:
            team = team_of(target)
            score = 1 - best_attack(results, target, results.share)
            anonymization[team] = max(score, anonymization.get(team, score))
        attack = {}
        for attacker in results.attackers:
            shares = [
                results.share(target, attacker)
                for target in results.in_play
                if team_of(target) != attacker
            ]
            attack[attacker] = sum(shares, Fraction(0)) / max(1, len(shares))
        return cls(anonymization, attack)


def best_attack(
    results: RoundResults, target: str, figure: Callable[[str, str], Fraction]
) -> Fraction:
    """Return the highest figure of another team's attack on a target; 0 where nobody attacked it."""
    others = (attacker for attacker in results.ranked_attackers if attacker != team_of(target))
    return max((figure(target, attacker) for attacker in others), default=Fraction(0))


def check_names(problems: ProblemCollector, names: Sequence[str], row: int, code: str) -> None:
    """Report the first name in a published table that is missing or stands there twice."""
    for name in names:
        if not name or names.count(name) > 1:
            problems.add(code, row=row, value=name, times=names.count(name))
            return


def sum_of_ranks(anonymization: int, attack: int) -> Fraction:
    """Return the overall score of two ranks; the lowest wins."""
    return Fraction(anonymization + attack)


def rank_rounds(
    rounds: Mapping[str, RoundResults],
    scores: Mapping[str, RoundScores],
    weights: Mapping[str, Fraction],
    *,
    overall: Callable[[int, int], Fraction] = sum_of_ranks,
    lowest_wins: frozenset[str] = LOWEST_WINS,
    missing: Fraction = Fraction(0),
    ranks_idle: bool = True,
) -> Standings:
    """Rank one round, or several by their weights; equal scores share a rank (1, 1, 3).

    A team without a release in every round has no anonymization score and no rank, there and overall. A team that was
    disqualified in a round gets no award but that for attack: the places go to the next.

    Parameters
    ----------
    rounds, scores, weights : mapping of round
    overall : callable
        Overall score of a team with these ranks of anonymization and attack.
    lowest_wins : frozenset of str
        Rankings in which the lowest score wins.
    missing : Fraction
        Anonymization score of a round in which a team has no release, where it has one in another.
    ranks_idle : bool
        Whether a team that attacks in no round has the attack score 0 and a rank, or neither.
    """
    excluded = frozenset[str]().union(*(results.excluded for results in rounds.values()))
    unranked = frozenset[str]().union(*(results.unranked for results in rounds.values()))
    teams = {team for results in rounds.values() for team in results.teams} - excluded

    def anonymization(team: str) -> Fraction | None:
        if not any(team in one.anonymization for one in scores.values()):
            return None
        parts = (
            weights[name] * one.anonymization.get(team, missing) for name, one in scores.items()
        )
        return sum(parts, Fraction(0))

    def attack(team: str) -> Fraction | None:
        if not ranks_idle and not any(team in one.attack for one in scores.values()):
            return None
        parts = (weights[name] * one.attack.get(team, Fraction(0)) for name, one in scores.items())
        return sum(parts, Fraction(0))

    notes = {team: why_out(team, rounds) for team in teams | excluded}
    by_anonymization = rank(
        {team: anonymization(team) for team in teams},
        notes,
        lowest_wins="anonymization" in lowest_wins,
    )
    no_attack = {team: why_no_attack(team, rounds) for team in teams}
    by_attack = rank({team: attack(team) for team in teams}, no_attack)
    both = _overall_scores(by_anonymization, by_attack, overall)
    by_overall = rank(both, notes, lowest_wins="overall" in lowest_wins)
    releases = {team: anonymization(team) for team in excluded if anonymization(team) is not None}
    attackers = {
        name: attack(name)
        for name in unranked | excluded
        if any(name in one.attack for one in scores.values())
    }
    # The overall score is made of two ranks: teams without ranks are shown without a score.
    without_ranks = dict.fromkeys(excluded & {*releases, *attackers})
    return Standings(
        anonymization=by_anonymization + shown_unranked(releases, notes),
        attack=by_attack + shown_unranked(attackers),
        overall=by_overall + shown_unranked(without_ranks, notes),
        awards={
            "anonymization": _winners(by_anonymization, rounds, lowest_wins, "anonymization"),
            "attack": awarded(by_attack),
            "overall": _winners(by_overall, rounds, lowest_wins, "overall"),
        },
        lower_is_better=lowest_wins,
    )


def _overall_scores(
    by_anonymization: tuple[Standing, ...],
    by_attack: tuple[Standing, ...],
    overall: Callable[[int, int], Fraction],
) -> dict[str, Fraction | None]:
    places = {line.team: line.rank for line in by_attack}
    scores: dict[str, Fraction | None] = {}
    for line in by_anonymization:
        place = places[line.team]
        is_ranked = line.rank is not None and place is not None
        scores[line.team] = overall(line.rank, place) if is_ranked else None  # type: ignore[arg-type]
    return scores


def _winners(
    ranking: tuple[Standing, ...],
    rounds: Mapping[str, RoundResults],
    lowest_wins: frozenset[str],
    name: str,
) -> tuple[str, ...]:
    """Return who wins a prize among those who were not disqualified in any round."""
    disqualified = {
        team_of(target)
        for results in rounds.values()
        for target, reason in results.out.items()
        if reason == DISQUALIFIED
    }
    scores = {line.team: line.score for line in ranking if line.team not in disqualified}
    return awarded(rank(scores, lowest_wins=name in lowest_wins))
