"""From the results of rounds to a document: means, intervals, verdicts and rankings, each computed here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from kakurenbo.contracts import AnyRulebook, Figure, RoundResults, Standing, Standings, by_number
from kakurenbo.errors import UsageError
from kakurenbo.reporting.awards import award_notices, of_those_who_played
from kakurenbo.reporting.document import (
    RANKINGS,
    Document,
    FailureEntry,
    FigureEntry,
    PlayerEntry,
    Ranking,
    RankingLine,
    RoundEntry,
    RulebookEntry,
)
from kakurenbo.reporting.estimates import Limits, estimate, limits_of
from kakurenbo.reporting.rounds import attacker_entries, round_entry
from kakurenbo.reporting.verdicts import with_verdicts
from kakurenbo.rounds import ReleaseRecord, ScoredRound


def make_document(
    rulebook: AnyRulebook,
    rounds: Mapping[str, Sequence[RoundResults]],
    records: Mapping[str, Sequence[Sequence[ReleaseRecord]]],
    *,
    players: Sequence[PlayerEntry] = (),
    reports: Mapping[str, Mapping[str, Any]] | None = None,
    claims: Mapping[str, Mapping[str, Mapping[str, float | str]]] | None = None,
    failures: Sequence[FailureEntry] = (),
    manifest: Mapping[str, Any] | None = None,
) -> Document:
    """The document of these results.

    Parameters
    ----------
    rulebook : Rulebook
    rounds : mapping of round to sequence of RoundResults
        One for each repeat.
    records : mapping of round to sequence of sequence of ReleaseRecord
        What became of every release, for each repeat.
    players : sequence of PlayerEntry
    reports : mapping of round to mapping
        What is known of the data.
    claims : mapping of round to mapping of target to mapping
        Guarantees by construction.
    failures : sequence of FailureEntry
    manifest : mapping
        What is needed to play it again.
    """
    rankings, awards, details = ranked(rulebook, rounds)
    unranked = {name for results in rounds.values() for one in results for name in one.unranked}
    samples = tuple(sorted(unranked, key=by_number))
    entries = tuple(
        round_entry(name, results, records.get(name, ()), (reports or {}).get(name, {}), (claims or {}).get(name, {}), rulebook)
        for name, results in rounds.items()
    )
    document = Document(
        rulebook=RulebookEntry(rulebook.name, rulebook.title, rulebook.version, rulebook.utility_score),
        rounds=entries,
        rankings=rankings,
        awards=awards,
        award_notices=award_notices(awards, rankings),
        details=details,
        players=tuple(players),
        sample_attacks=samples,
        only_shown=tuple(name for name in samples if name in rulebook.only_shown),
        attackers=attacker_entries(entries, unranked - rulebook.only_shown),
        attack_count=sum(len(row) for entry in entries for row in entry.attacks.values()),
        repeat_count=max(map(len, rounds.values())),
        failures=tuple(failures),
        figures=figure_entries(rulebook, entries, rankings),
        manifest=dict(manifest or {}),
    )
    return with_verdicts(document)


def figure_entries(
    rulebook: AnyRulebook, rounds: Sequence[RoundEntry], rankings: Mapping[str, Ranking]
) -> dict[str, FigureEntry]:
    """What the rulebook declares of its figures, with the directions that measures and rankings have."""
    higher: dict[str, bool] = {"hits": True}
    higher |= {measure.name: measure.higher_is_better for entry in rounds for measure in entry.measures}
    higher |= {name: not ranking.lower_is_better for name, ranking in rankings.items() if ranking.lines}
    return {
        name: FigureEntry(figure.unit, figure.of, higher.get(name), figure.definitions, figure.shown_times)
        for name, figure in rulebook.figures.items()
    }


def scored_document(rulebook: AnyRulebook, scored: ScoredRound) -> Document:
    """The document of one round that was scored from files."""
    facts, results = scored.facts, scored.results
    teams = sorted({*facts.teams, *results.ranked_attackers}, key=by_number)
    return make_document(
        rulebook,
        {facts.round: [results]},
        {facts.round: [scored.records]},
        players=[PlayerEntry(team, excluded=team in results.excluded) for team in teams],
        reports={facts.round: {"data": facts.data.get("source", "")}},
        failures=[
            FailureEntry(
                f"guesses of {one.team}", one.team, "refused", one.problems[0].in_language("en"), facts.round, file=one.file
            )
            for one in scored.refused
        ]
        + [
            FailureEntry(one.file, one.team, "failed", one.problems[0].in_language("en"), facts.round, file=one.file)
            for one in scored.failed
        ],
        manifest={
            "contest": {"version": facts.version, "settings": dict(facts.settings)},
            "commitments": {facts.round: facts.commitments},
        },
    )


# -- rankings over repeats ---------------------------------------------------------------------------------------------


def ranked(
    rulebook: AnyRulebook, rounds: Mapping[str, Sequence[RoundResults]]
) -> tuple[dict[str, Ranking], dict[str, tuple[str, ...]], dict[str, Any]]:
    """Rankings, awards and details of rounds that were each repeated as often as the others."""
    counts = {name: len(repeats) for name, repeats in rounds.items()}
    if len(set(counts.values())) != 1:
        listed = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise UsageError(f"the rounds have different numbers of repeats: {listed}; give rounds of the same run")
    played = [{name: repeats[number] for name, repeats in rounds.items()} for number in range(max(counts.values()))]
    standings = [rulebook.standings(one) for one in played]
    rankings, awards, details = combined(standings, rulebook.figures)
    return rankings, of_those_who_played(awards, standings[0].award_for, rounds), details


def combined(
    repeats: Sequence[Standings], figures: Mapping[str, Figure] | None = None
) -> tuple[dict[str, Ranking], dict[str, tuple[str, ...]], dict[str, Any]]:
    """Rankings, awards and details; of several repeats the means with their intervals, ranked by the mean, and no awards."""
    single = len(repeats) == 1
    rankings = {}
    for name in RANKINGS:
        declared = (figures or {}).get(name, Figure())
        limits = limits_of(declared.unit, declared.of)
        low = name in repeats[0].lower_is_better
        lines = (
            tuple(_single(line) for line in getattr(repeats[0], name))
            if single
            else _means([getattr(standings, name) for standings in repeats], limits, lower_is_better=low)
        )
        same_as = repeats[0].overall_is if name == "overall" else ""
        rankings[name] = Ranking(lines, low, tuple(line.team for line in lines if line.rank == 1), same_as)
    return rankings, dict(repeats[0].awards) if single else {}, dict(repeats[0].details) if single else {}


def _single(line: Standing) -> RankingLine:
    score = None if line.score is None else float(line.score)
    return RankingLine(line.team, score, line.rank, line.note, line.shown)


def _means(repeats: Sequence[Sequence[Standing]], limits: Limits, *, lower_is_better: bool) -> tuple[RankingLine, ...]:
    lines: dict[str, list[Standing]] = {}
    for ranking in repeats:
        for line in ranking:
            lines.setdefault(line.team, []).append(line)
    means: dict[str, Fraction | None] = {}
    for team, own in lines.items():
        exact = [line.score for line in own if line.score is not None]
        # Without a score in some repeat (disqualified there) there is no mean to rank by.
        means[team] = sum(exact, Fraction(0)) / len(exact) if len(exact) == len(repeats) else None
    ranked = {team: means[team] is not None and any(line.rank is not None for line in own) for team, own in lines.items()}
    sign = 1 if lower_is_better else -1

    def place(team: str) -> tuple[Any, ...]:
        mean = means[team]
        return (not ranked[team], mean is None, sign * mean if mean is not None else 0, by_number(team))

    out: list[RankingLine] = []
    for number, team in enumerate(sorted(lines, key=place), start=1):
        mean, own = means[team], lines[team]
        tied = bool(out) and ranked[team] and ranked[out[-1].team] and mean == means[out[-1].team]
        scores = [float(line.score) for line in own if line.score is not None]
        found = estimate(scores, limits) if mean is not None else None
        out.append(
            RankingLine(
                team=team,
                score=None if mean is None else float(mean),
                rank=(out[-1].rank if tied else number) if ranked[team] else None,
                note="; ".join(dict.fromkeys(line.note for line in own if line.note)),
                n=len(repeats),
                low=found.low if found else None,
                high=found.high if found else None,
                half=found.half if found else None,
            )
        )
    return _with_ties(out, lines)


def _with_ties(ranked: Sequence[RankingLine], repeats: Mapping[str, Sequence[Standing]]) -> tuple[RankingLine, ...]:
    """The lines, each with the teams whose places noise could exchange with its own."""
    scores = {
        line.team: [float(one.score) for one in repeats[line.team] if one.score is not None]
        for line in ranked
        if line.rank is not None
    }
    return tuple(
        replace(
            line,
            tied_with=tuple(
                team
                for team in scores
                if line.team in scores and team != line.team and _reversible(scores[line.team], scores[team])
            ),
        )
        for line in ranked
    )


def _reversible(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether the interval of the mean difference includes 0.

    Repeats of one number share data and seeds, so their differences are compared, not two intervals: what makes a repeat hard
    for everybody is no noise between two teams.
    """
    found = estimate([a - b for a, b in zip(one, other, strict=True)])
    return found.low is not None and found.high is not None and found.low <= 0 <= found.high
