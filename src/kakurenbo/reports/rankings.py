"""Rankings of a document over all repeats, awards, and the notices beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any

from msgspec.structs import replace

from kakurenbo.contest import (
    AnyRulebook,
    Figure,
    RoundResults,
    Standing,
    Standings,
    rank_scores,
    team_of,
)
from kakurenbo.contest.results import DISQUALIFIED, MISSING, NO_AWARDS
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import LANGUAGES, Message, is_known, join_stored, render, translated
from kakurenbo.reports.document import RANKINGS, Ranking, RankingLine
from kakurenbo.reports.estimates import Estimate, Limits, estimate, limits_of

Rounds = Mapping[str, Sequence[RoundResults]]
"""The results of each round, one for each repeat."""
Ranked = tuple[dict[str, Ranking], dict[str, tuple[str, ...]], dict[str, Any]]
"""Rankings, awards and details."""


def ranked(rulebook: AnyRulebook, rounds: Rounds, judges: Sequence[str] = ()) -> Ranked:
    """Rank rounds with equal numbers of repeats; mark teams of ``judges``."""
    counts = {name: len(repeats) for name, repeats in rounds.items()}
    if len(set(counts.values())) != 1:
        listed = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise UsageError("error.same_run", problem=Message("error.repeats"), repeats=listed)
    standings = [
        rulebook.standings(dict(zip(rounds, results, strict=True)))
        for results in zip(*rounds.values(), strict=True)
    ]
    rankings, awards, details = combined(standings, rulebook.figures)
    for name, ranking in rankings.items():
        lines = list(ranking.lines)
        for place, line in enumerate(lines):
            if team_of(line.team) in judges:  # it is ranked like every team
                note = join_stored([line.note, Message("word.committee").stored()])
                lines[place] = replace(line, note=note)
        rankings[name] = replace(ranking, lines=tuple(lines))
    return rankings, entitled_awards(awards, standings[0].award_for, rounds), details


def combined(repeats: Sequence[Standings], figures: Mapping[str, Figure] | None = None) -> Ranked:
    """Return the rankings of a single play; of several repeats those of the means, without awards."""
    first = repeats[0]
    is_single = len(repeats) == 1
    rankings = {}
    for name in RANKINGS:
        listed = [getattr(repeat, name) for repeat in repeats]
        lowest_wins = name in first.lower_is_better
        if is_single:
            lines = tuple(
                RankingLine(line.team, _number(line.score), line.rank, line.note, line.shown)
                for line in listed[0]
            )
        else:
            declared = (figures or {}).get(name, Figure())
            limits = limits_of(declared.unit, declared.of)
            lines = _mean_lines(listed, limits, lowest_wins=lowest_wins)
        winners = tuple(line.team for line in lines if line.rank == 1)
        same_as = first.overall_is if name == "overall" else ""
        rankings[name] = Ranking(lines, lowest_wins, winners, same_as)
    return (
        rankings,
        dict(first.awards) if is_single else {},
        dict(first.details) if is_single else {},
    )


def _number(score: Fraction | None) -> float | None:
    return None if score is None else float(score)


def _mean_lines(
    repeats: Sequence[Sequence[Standing]], limits: Limits, *, lowest_wins: bool
) -> tuple[RankingLine, ...]:
    """Rank teams by their mean score; a team without a score in any repeat has no mean."""
    lines: dict[str, list[Standing]] = {}
    for line in chain.from_iterable(repeats):
        lines.setdefault(line.team, []).append(line)
    means: dict[str, Fraction | None] = {}
    values: dict[str, list[float]] = {}
    for team, listed in lines.items():
        scores = [line.score for line in listed if line.score is not None]
        means[team] = (
            sum(scores, Fraction(0)) / len(repeats) if len(scores) == len(repeats) else None
        )
        values[team] = list(map(float, scores))
    with_rank = {
        team: mean
        for team, mean in means.items()
        if mean is not None and any(line.rank is not None for line in lines[team])
    }
    others = {team: mean for team, mean in means.items() if team not in with_rank}
    ordered = rank_scores(with_rank, lowest_wins=lowest_wins)
    result = []
    for line in (*ordered, *rank_scores(others, lowest_wins=lowest_wins)):
        team, is_ranked = line.team, line.team in with_rank
        mean = estimate(values[team], limits) if line.score is not None else Estimate(0)
        tied = [
            other.team
            for other in ordered
            if is_ranked and other is not line and _is_reversible(values[team], values[other.team])
        ]
        result.append(
            RankingLine(
                team=team,
                score=_number(line.score),
                rank=line.rank if is_ranked else None,
                note=join_stored(dict.fromkeys(each.note for each in lines[team]), "; "),
                n=len(repeats),
                low=mean.low,
                high=mean.high,
                half=mean.half,
                tied_with=tuple(tied),
            )
        )
    return tuple(result)


def _is_reversible(scores: Sequence[float], others: Sequence[float]) -> bool:
    """Return whether the interval of the mean difference includes 0.

    Repeats of one number share data and seeds: what makes a repeat hard for all is no noise between two teams.
    """
    difference = estimate([a - b for a, b in zip(scores, others, strict=True)])
    low, high = difference.low, difference.high
    return low is not None and high is not None and low <= 0 <= high


# -- awards ----------------------------------------------------------------------------------------


def entitled_awards(
    awards: Mapping[str, Sequence[str]], award_for: Mapping[str, str], rounds: Rounds
) -> dict[str, tuple[str, ...]]:
    """Take teams that did nothing for an award out of it: a formula may rank them, too.

    The award for attack is for teams of which a guess was scored, that for anonymization for teams that released something,
    any other for teams that did either.
    """
    every = [results for repeats in rounds.values() for results in repeats]
    attacked = {name for results in every for row in results.credits.values() for name in row}
    # A disqualified team released something only where that was measured or attacked.
    released = {
        team_of(target)
        for results in every
        for target in results.targets
        if results.out.get(target) not in (MISSING, DISQUALIFIED)
        or target in results.utility
        or results.credits.get(target)
    }
    entitled = {"anonymization": released, "attack": attacked}
    either = released | attacked
    return {
        name: tuple(
            team for team in teams if team in entitled.get(award_for.get(name, name), either)
        )
        for name, teams in awards.items()
    }


def award_notices(
    awards: Mapping[str, Sequence[str]],
    rankings: Mapping[str, Ranking],
    details: Mapping[str, Any] | None = None,
) -> dict[str, dict[str, str]]:
    """Return a sentence in each language beside awards that nobody takes or that teams with no score take.

    The formulas give everybody a score, and where few attack a score of nothing is enough for a place. The award stands: it is
    what the rules say. ``no_awards`` says why a round gives none at all.
    """
    without_score = {
        line.team for line in rankings.get("attack", Ranking()).lines if not line.score
    }
    luckless = [team for team in awards.get("attack", ()) if team in without_score]
    codes = {name: f"award.nobody.{name}" for name, teams in awards.items() if not teams}
    codes |= {"attack": "award.luckless"} if luckless else {}
    notices = {
        name: {spoken: render(code, {"teams": luckless}, spoken).message for spoken in LANGUAGES}
        for name, code in codes.items()
        if is_known(code, "en")
    }
    if details and NO_AWARDS in details:
        notices[NO_AWARDS] = {
            spoken: translated(details[NO_AWARDS], spoken) for spoken in LANGUAGES
        }
    return notices
