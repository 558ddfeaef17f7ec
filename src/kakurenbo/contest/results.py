"""Results of a round and the rankings made of them: one set of types for every contest.

A *target* is a release under attack. It is named by its team, ``07``; where a team has several tables, ``07-2`` is its second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from kakurenbo.contest.measure import Credit
from kakurenbo.core import ProblemCollector
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message, StoredText, join_stored

PUBLISHED, SUPERSEDED = "published", "superseded"
"""States of a release beside the reasons why it has no score: ``superseded`` where later tables of the team count."""
DISQUALIFIED, MISSING, REFUSED, FAILED, WITHDREW = (
    "disqualified",
    "missing",
    "refused",
    "failed",
    "withdrew",
)
STATES = (DISQUALIFIED, MISSING, REFUSED, FAILED, WITHDREW)
"""Why a target has no score."""
NO_AWARDS = "no_awards"
"""The detail of standings that says in a sentence why a round gives no awards."""


def team_of(target: str) -> str:
    """Return the team of a target: ``07-2`` is the second table of team 07.

    Examples
    --------
    >>> team_of("07-2"), team_of("07")
    ('07', '07')
    """
    return target.partition("-")[0]


def two_digits(name: str) -> str:
    """Return a team or target by its number: column ``1`` and row ``01`` of a table are one; other names stay as they are.

    Examples
    --------
    >>> two_digits("1"), two_digits("007"), two_digits("1-2"), two_digits("attack.py")
    ('01', '07', '01-2', 'attack.py')
    """
    team, dash, table = name.partition("-")
    known = team.isascii() and team.isdecimal() and len(team) <= 9
    return f"{int(team):02d}{dash}{table}" if known else name


def by_number(team: str) -> tuple[tuple[int, str], ...]:
    """Sorting key that puts team 2 before team 10.

    Examples
    --------
    >>> sorted(["10", "2", "attack.py"], key=by_number)
    ['2', '10', 'attack.py']
    """
    parts = re.findall(r"\d+|\D+", team)
    return tuple(
        (int(part), "") if part.isdecimal() and len(part) < 19 else (2**63, part) for part in parts
    )


def as_decimal(value: float) -> Fraction:
    """Return a figure as people write it down, so that .1 + .2 ties with .15 + .15.

    Examples
    --------
    >>> as_decimal(0.1) + as_decimal(0.2) == as_decimal(0.15) + as_decimal(0.15)
    True
    """
    return Fraction(str(value))


@dataclass(frozen=True)
class RoundResults:
    """What a round gave: the input of every ranking.

    Attributes
    ----------
    credits : mapping of target to mapping of attacker to Credit
        The credit that counts, where an attacker had several tries. A pair that is not there is a missing guess.
    targets : tuple of str
        Every release that takes part, with or without results, in the order a team handed them in.
    attackers : tuple of str
        Everybody who attacks, with or without results.
    utility : mapping of target to float
        Where utility is a number in the score.
    beside : mapping of target to mapping of measure to float
        What a contest shows beside its scores, though it counts for nothing.
    out : mapping of target to str
        Targets without a score, and why: ``disqualified``, ``missing``, ``refused``, ``failed`` or ``withdrew``.
    unranked : frozenset of str
        Attackers that are shown but not ranked, such as the organizers' sample attack.
    excluded : frozenset of str
        Teams without rank or award on either side, such as the organizers' own; their releases can be attacked.
    tries : mapping of target to mapping of attacker to tuple of Credit
        Every try, in order, where there were several.
    """

    credits: Mapping[str, Mapping[str, Credit]]
    targets: tuple[str, ...]
    attackers: tuple[str, ...]
    utility: Mapping[str, float] = field(default_factory=dict)
    out: Mapping[str, str] = field(default_factory=dict)
    unranked: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    tries: Mapping[str, Mapping[str, tuple[Credit, ...]]] = field(default_factory=dict)
    beside: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def teams(self) -> tuple[str, ...]:
        """Everybody who anonymizes or attacks and takes part in the rankings, by number."""
        everybody = {*map(team_of, self.targets), *self.ranked_attackers} - self.excluded
        return tuple(sorted(everybody, key=by_number))

    @property
    def in_play(self) -> tuple[str, ...]:
        """The targets that have a score."""
        return tuple(target for target in self.targets if target not in self.out)

    @property
    def ranked_targets(self) -> tuple[str, ...]:
        """The targets that have a score and take part in the rankings."""
        return tuple(target for target in self.in_play if team_of(target) not in self.excluded)

    @property
    def ranked_attackers(self) -> tuple[str, ...]:
        return tuple(
            attacker for attacker in self.attackers if attacker not in self.unranked | self.excluded
        )

    def credit(self, target: str, attacker: str) -> Credit | None:
        """Return what an attacker earned on a target; None where there was no valid guess."""
        return self.credits.get(target, {}).get(attacker)

    def share(self, target: str, attacker: str) -> Fraction:
        """Return what an attacker earned on a target of what could be earned, exactly; 0 without a valid guess."""
        credit = self.credit(target, attacker)
        if credit is None or credit.of <= credit.least:
            return Fraction(0)
        return (as_decimal(credit.hits) - as_decimal(credit.least)) / (
            as_decimal(credit.of) - as_decimal(credit.least)
        )

    def hits(self, target: str, attacker: str) -> Fraction:
        """Return what an attacker earned on a target, exactly; 0 without a valid guess."""
        credit = self.credit(target, attacker)
        return Fraction(0) if credit is None else as_decimal(credit.hits)

    def without(self, targets: Iterable[str], why: str = DISQUALIFIED) -> RoundResults:
        """Return the results with these targets, or all targets of these teams, out of play."""
        out = dict(self.out)
        for name in targets:
            meant = [target for target in self.targets if name in (target, team_of(target))]
            if not meant:
                raise UsageError("error.no_release", name=repr(name), releases=list(self.targets))
            out |= dict.fromkeys(meant, why)
        return replace(self, out=out)

    def excluding(self, teams: Iterable[str]) -> RoundResults:
        """Return the results with these teams shown but not ranked."""
        teams = frozenset(teams)
        unknown = sorted(teams - {*map(team_of, self.targets), *self.attackers})
        if unknown:
            raise UsageError("error.no_team", name=repr(unknown[0]), teams=list(self.teams))
        return replace(self, excluded=self.excluded | teams)


@dataclass(frozen=True)
class Standing:
    """One line of a ranking.

    Attributes
    ----------
    team : str
    score : Fraction or None
        Exact; None for a team that has no score (disqualified or missing).
    rank : int or None
        From 1; equal scores share a rank (1, 1, 3). None without a score, and where a team is shown but not ranked.
    note : str
        Why a line is special: ``disqualified``, ``missing``, ``not ranked``.
    shown : str
        The score as the contest shows it, e.g. multiplied and cut.
    """

    team: str
    score: Fraction | None
    rank: int | None
    note: str = ""
    shown: str = ""


@dataclass(frozen=True)
class Standings:
    """Rankings of a round or of a whole contest, each best first.

    Attributes
    ----------
    anonymization, attack, overall : tuple of Standing
    awards : mapping of ranking to tuple of str
        Who wins a prize, in order.
    details : mapping
        What the scores are made of, ready for JSON.
    lower_is_better : frozenset of str
        Names of the rankings in which the lowest score wins.
    overall_is : str
        The ranking that is the overall one, where the rules have no other; empty where they have.
    award_for : mapping of str to str
        What an award of another name than its ranking is given for: ``anonymization`` or ``attack``. No award for
        anonymization goes to a team without a release, none for attack to one without a guess that was scored.
    """

    anonymization: tuple[Standing, ...]
    attack: tuple[Standing, ...]
    overall: tuple[Standing, ...]
    awards: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    lower_is_better: frozenset[str] = frozenset()
    overall_is: str = ""
    award_for: Mapping[str, str] = field(default_factory=dict)


def rank_scores(
    scores: Mapping[str, Fraction | None],
    notes: Mapping[str, str] | None = None,
    *,
    lowest_wins: bool = False,
) -> tuple[Standing, ...]:
    """Rank teams by score, best first; equal scores share a rank, and teams without a score come last without a rank.

    Examples
    --------
    >>> [(line.team, line.rank) for line in rank_scores({"a": Fraction(1, 2), "b": Fraction(1), "c": Fraction(1, 2), "d": None})]
    [('b', 1), ('a', 2), ('c', 2), ('d', None)]
    """
    sign = 1 if lowest_wins else -1
    order = sorted(
        scores, key=lambda team: (scores[team] is None, sign * (scores[team] or 0), by_number(team))
    )
    lines: list[Standing] = []
    for place, team in enumerate(order, start=1):
        score = scores[team]
        tied = lines and lines[-1].score == score
        number = None if score is None else (lines[-1].rank if tied else place)
        lines.append(Standing(team, score, number, (notes or {}).get(team, "")))
    return tuple(lines)


def shown_unranked(
    scores: Mapping[str, Fraction | None], notes: Mapping[str, str] | None = None
) -> tuple[Standing, ...]:
    """Return lines below a ranking: organizers' attacks and teams, with their scores and notes but no rank."""
    not_ranked, notes = Message("word.not_ranked").stored(), notes or {}
    return tuple(
        Standing(name, scores[name], None, join_stored([not_ranked, notes.get(name, "")]))
        for name in sorted(scores, key=by_number)
    )


def awarded(ranking: Sequence[Standing], places: int = 3) -> tuple[str, ...]:
    """Return the teams on the first places, ties included; never one without a rank.

    Examples
    --------
    >>> awarded(rank_scores({"a": Fraction(1), "b": Fraction(0)}), places=1)
    ('a',)
    """
    return tuple(line.team for line in ranking if line.rank is not None and line.rank <= places)


def why_out(team: str, rounds: Mapping[str, RoundResults]) -> str:
    """Return why a team has no release in play, as a note: ``disqualified``, or ``missing in pre, disqualified in main``."""
    targets = {
        name: [target for target in results.targets if team_of(target) == team]
        for name, results in rounds.items()
    }
    if not any(targets.values()):
        return Message("word.only_attacks").stored()
    reasons = {
        name: state_note(rounds[name].out[known[-1]] if known else MISSING)
        for name, known in targets.items()
        if all(target in rounds[name].out for target in known)
    }
    if len(rounds) == 1:
        return join_stored(reasons.values())
    return join_stored(
        Message("word.in_round", {"state": reason, "round": name}).stored()
        for name, reason in reasons.items()
    )


def state_note(state: str) -> StoredText:
    """Return the note of a team whose release has no score."""
    return Message(f"word.{state}" if state in STATES else state).stored()


def why_no_attack(team: str, rounds: Mapping[str, RoundResults]) -> str:
    """Return the note of a team that is among the attackers of no round; empty for one that is, whatever its guesses were worth."""
    if any(team in results.attackers for results in rounds.values()):
        return ""
    return Message("word.does_not_attack").stored()


def weights_of(rounds: Iterable[str], weights: Mapping[str, Fraction]) -> Mapping[str, Fraction]:
    """Return the factor of each round: one round alone counts fully, several as the rules weigh them."""
    names = list(rounds)
    if len(names) == 1:
        return {names[0]: Fraction(1)}
    if not names or set(names) != set(weights):
        expected = " and ".join(weights) or "one round"
        raise UsageError(
            "error.overall", expected=expected, given=", ".join(names) or Message("word.none")
        )
    return weights


# -- scores and rankings of rounds ------------------------------------------------------------

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


def check_team_names(problems: ProblemCollector, names: Sequence[str], row: int, code: str) -> None:
    """Report the first name in a published table that is missing or stands there twice."""
    for name in names:
        if not name or names.count(name) > 1:
            problems.add(code, row=row, value=name, times=names.count(name))
            return


def rank_rounds(
    rounds: Mapping[str, RoundResults],
    scores: Mapping[str, RoundScores],
    weights: Mapping[str, Fraction],
    *,
    overall: Callable[[int, int], Fraction] = lambda release, attack: Fraction(release + attack),
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
    release_scores = _weighed(
        {name: part.anonymization for name, part in scores.items()}, weights, missing
    )
    attack_scores = _weighed({name: part.attack for name, part in scores.items()}, weights)
    notes = {team: why_out(team, rounds) for team in teams | excluded}
    is_low = {name: name in lowest_wins for name in ("anonymization", "overall")}
    by_anonymization = rank_scores(
        {team: release_scores.get(team) for team in teams},
        notes,
        lowest_wins=is_low["anonymization"],
    )
    by_attack = rank_scores(
        {team: attack_scores.get(team, Fraction(0) if ranks_idle else None) for team in teams},
        {team: why_no_attack(team, rounds) for team in teams},
    )
    attack_ranks = {line.team: line.rank or 0 for line in by_attack}
    totals = {
        line.team: None if line.rank is None else overall(line.rank, attack_ranks[line.team])
        for line in by_anonymization
    }
    by_overall = rank_scores(totals, notes, lowest_wins=is_low["overall"])
    releases = {team: release_scores[team] for team in excluded if team in release_scores}
    attackers = {name: attack_scores[name] for name in unranked | excluded if name in attack_scores}
    # The overall score is made of two ranks: teams without ranks are shown without a score.
    without_ranks = dict.fromkeys(excluded & {*releases, *attackers})
    return Standings(
        anonymization=by_anonymization + shown_unranked(releases, notes),
        attack=by_attack + shown_unranked(attackers),
        overall=by_overall + shown_unranked(without_ranks, notes),
        awards={
            "anonymization": _winners(by_anonymization, rounds, is_low["anonymization"]),
            "attack": awarded(by_attack),
            "overall": _winners(by_overall, rounds, is_low["overall"]),
        },
        lower_is_better=lowest_wins,
    )


def _weighed(
    scores: Mapping[str, Mapping[str, Fraction]],
    weights: Mapping[str, Fraction],
    missing: Fraction = Fraction(0),
) -> dict[str, Fraction]:
    """Return the weighed sum of each team's scores over the rounds; ``missing`` counts where a round has none."""
    teams = {team for known in scores.values() for team in known}
    return {
        team: sum(
            (weights[name] * known.get(team, missing) for name, known in scores.items()),
            Fraction(0),
        )
        for team in teams
    }


def _winners(
    ranking: tuple[Standing, ...], rounds: Mapping[str, RoundResults], lowest_wins: bool
) -> tuple[str, ...]:
    """Return who wins a prize among those who were not disqualified in any round."""
    disqualified = {
        team_of(target)
        for results in rounds.values()
        for target, reason in results.out.items()
        if reason == DISQUALIFIED
    }
    scores = {line.team: line.score for line in ranking if line.team not in disqualified}
    return awarded(rank_scores(scores, lowest_wins=lowest_wins))
