"""Build a document from its inputs: what was played, by which rules. Joining or disqualifying changes inputs and builds again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Any

import msgspec

from kakurenbo.contest import (
    AnyRulebook,
    Figure,
    RoundResults,
    Standing,
    Standings,
    by_number,
    rank_scores,
    team_of,
)
from kakurenbo.contest.records import Refusal, ReleaseRecord
from kakurenbo.contest.results import DISQUALIFIED, MISSING
from kakurenbo.contest.rounds import ScoredRound
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message
from kakurenbo.reports.document import (
    COMMITTEE,
    RANKINGS,
    Document,
    FailureEntry,
    FigureEntry,
    PlayerEntry,
    Ranking,
    RankingLine,
    ReleaseEntry,
    RoundEntry,
    RulebookEntry,
)
from kakurenbo.reports.estimates import Estimate, Limits, estimate, limits_of
from kakurenbo.reports.rounds import attacker_entries, complete_round, release_entries
from kakurenbo.reports.verdicts import award_notices, with_verdicts

Rounds = Mapping[str, Sequence[RoundResults]]
"""The results of each round, one for each repeat."""


def make_document(
    rulebook: AnyRulebook,
    rounds: Rounds,
    records: Mapping[str, Sequence[Sequence[ReleaseRecord]]],
    *,
    players: Sequence[PlayerEntry] = (),
    reports: Mapping[str, Mapping[str, Any]] | None = None,
    claims: Mapping[str, Mapping[str, Mapping[str, float | str]]] | None = None,
    failures: Sequence[FailureEntry] = (),
    manifest: Mapping[str, Any] | None = None,
    judges: Sequence[str] = (),
) -> Document:
    """Return the document of these results.

    Parameters
    ----------
    rulebook : Rulebook
    rounds : mapping of round to sequence of RoundResults
        One for each repeat.
    records : mapping of round to sequence of sequence of ReleaseRecord
        The state of every release, for each repeat.
    players : sequence of PlayerEntry
    reports : mapping of round to mapping
        What is known of the data.
    claims : mapping of round to mapping of target to mapping
        Guarantees by construction.
    failures : sequence of FailureEntry
    manifest : mapping
        What is needed to play it again.
    judges : sequence of str
        Teams with members of the committee.
    """
    entries = [
        RoundEntry(
            name,
            (reports or {}).get(name, {}),
            release_entries(records.get(name, ()), (claims or {}).get(name, {}), rulebook.figures),
            repeats=tuple(repeats),
        )
        for name, repeats in rounds.items()
    ]
    return _build(rulebook, entries, players, failures, manifest or {}, judges)


def scored_document(rulebook: AnyRulebook, scored: ScoredRound) -> Document:
    """Return the document of one round that was scored from files."""
    facts, results = scored.facts, scored.results
    teams = sorted({*facts.teams, *results.ranked_attackers}, key=by_number)
    contest = {"version": facts.version, "settings": dict(facts.settings)}
    for name, value in {"judges": facts.judges, "schedule": facts.schedule}.items():
        contest |= {name: msgspec.to_builtins(value)} if value else {}

    def failure(what: str, state: str, refusal: Refusal) -> FailureEntry:
        cause = refusal.problems[0].in_language("en")
        return FailureEntry(what, refusal.team, state, cause, facts.round, file=refusal.file)

    return make_document(
        rulebook,
        {facts.round: [results]},
        {facts.round: [scored.records]},
        players=[PlayerEntry(team, excluded=team in results.excluded) for team in teams],
        reports={facts.round: {"data": facts.data.get("source", "")}},
        failures=[
            *(failure(f"guesses of {file.team}", "refused", file) for file in scored.refused),
            *(failure(file.file, "failed", file) for file in scored.failed),
        ],
        judges=facts.judges,
        manifest={"contest": contest, "commitments": {facts.round: facts.commitments}},
    )


def joined(rulebook: AnyRulebook, documents: Sequence[tuple[str, Document]]) -> Document:
    """Return the document of all rounds of several documents, ranked together.

    Parameters
    ----------
    rulebook : Rulebook
        The contest of all documents, under the settings on which they agree.
    documents : sequence of path and Document
        The path is named where a round is given twice or the contest is another one.
    """
    entries: dict[str, RoundEntry] = {}
    commitments: dict[str, Any] = {}
    players: dict[str, PlayerEntry] = {}
    for path, document in documents:
        if (name := document.rulebook.name) != rulebook.name:
            expected = rulebook.name
            raise UsageError("usage.other_contest", path=path, found=name, expected=expected)
        for entry in document.rounds:
            if entry.name in entries:
                raise UsageError("usage.round_twice", path=path, round=entry.name)
            entries[entry.name] = entry
        commitments |= document.manifest.get("commitments", {})
        players |= {player.team: player for player in document.players}
    parts = [document for _, document in documents]
    settings = agreed_settings([part.settings for part in parts])
    judges = sorted({team for part in parts for team in part.judges}, key=by_number)
    dates = [msgspec.to_builtins(part.schedule) for part in parts if part.schedule]
    contest: dict[str, Any] = {"settings": settings}
    contest |= {"judges": judges} if judges else {}
    contest |= {"schedule": dates[-1]} if dates else {}
    order = [*(name for name in rulebook.rounds if name in entries), *entries]
    return _build(
        rulebook.defaulting(settings),
        [entries[name] for name in dict.fromkeys(order)],
        [players[team] for team in sorted(players, key=by_number)],
        [failure for part in parts for failure in part.failures],
        {"contest": contest, "commitments": commitments},
        judges,
    )


def agreed_settings(settings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the settings that are the same in all files of a contest."""
    first, *others = settings
    return {
        name: value
        for name, value in first.items()
        if all(name in other and other[name] == value for other in others)
    }


def without(rounds: Rounds, names: Sequence[str]) -> dict[str, Sequence[RoundResults]]:
    """Take the releases ``[ROUND:]TARGET`` out of play, in all rounds where no round is named."""
    remaining = dict(rounds)
    for entry in names:
        round_, colon, target = entry.rpartition(":")
        if colon and round_ not in remaining:
            listed = list(remaining)
            raise UsageError("usage.disqualified_round", entry=entry, round=round_, rounds=listed)
        for name in [round_] if colon else list(remaining):
            remaining[name] = [results.without([target]) for results in remaining[name]]
    return remaining


def document_without(rulebook: AnyRulebook, document: Document, names: Sequence[str]) -> Document:
    """Return the document without the releases ``[ROUND:]TARGET``, under its own settings."""
    rounds = without({entry.name: entry.repeats for entry in document.rounds}, names)
    entries = [
        replace(
            entry,
            repeats=tuple(rounds[entry.name]),
            releases={
                target: _disqualified(release, rounds[entry.name])
                for target, release in entry.releases.items()
            },
        )
        for entry in document.rounds
    ]
    rules = rulebook.defaulting(document.settings)
    inputs = (document.players, document.failures, document.manifest, document.judges)
    return _build(rules, entries, *inputs)


def _disqualified(release: ReleaseEntry, repeats: Sequence[RoundResults]) -> ReleaseEntry:
    """Return a release as it is where organizers took it out; one that was out keeps its cause."""
    is_out = any(results.out.get(release.target) == DISQUALIFIED for results in repeats)
    if not is_out or release.state == DISQUALIFIED:
        return release
    count = release.of_repeats
    return replace(release, state=DISQUALIFIED, verdict=DISQUALIFIED, cause="", in_repeats=count)


def recompute(document: Document) -> Document:
    """Compute again all that follows from the repeats of a document without its rules."""
    every = [results for entry in document.rounds for results in entry.repeats]
    samples = {name for results in every for name in results.unranked}
    only_shown, score = frozenset(document.only_shown), document.rulebook.utility_score
    entries = tuple(complete_round(entry, only_shown, score) for entry in document.rounds)
    return replace(
        document,
        rounds=entries,
        sample_attacks=tuple(sorted(samples, key=by_number)),
        attackers=attacker_entries(entries, samples - only_shown),
        attack_count=sum(len(row) for entry in entries for row in entry.attacks.values()),
        repeat_count=max((1, *(len(entry.repeats) for entry in entries))),
    )


def _build(
    rulebook: AnyRulebook,
    rounds: Sequence[RoundEntry],
    players: Sequence[PlayerEntry],
    failures: Sequence[FailureEntry],
    manifest: Mapping[str, Any],
    judges: Sequence[str],
) -> Document:
    """Compute a document; of its rounds name, report, releases and repeats are the inputs."""
    results = {entry.name: entry.repeats for entry in rounds}
    rankings, awards, details = ranked(rulebook, results, judges)
    contest = (rulebook.name, rulebook.title, rulebook.version, rulebook.utility_score)
    samples = {
        name for repeats in results.values() for round_ in repeats for name in round_.unranked
    }
    document = recompute(
        Document(
            rulebook=RulebookEntry(*contest),
            rounds=tuple(rounds),
            rankings=rankings,
            awards=awards,
            award_notices=award_notices(awards, rankings, details),
            details=details,
            players=tuple(players),
            only_shown=tuple(sorted(rulebook.only_shown & samples, key=by_number)),
            failures=tuple(failures),
            manifest=dict(manifest),
        )
    )
    figures = figure_entries(rulebook, document.rounds, rankings)
    return with_verdicts(replace(document, figures=figures))


def figure_entries(
    rulebook: AnyRulebook, rounds: Sequence[RoundEntry], rankings: Mapping[str, Ranking]
) -> dict[str, FigureEntry]:
    """Return what the rulebook declares of its figures, with the directions of measures and rankings."""
    measures = [measure for entry in rounds for measure in entry.measures]
    higher = {
        "hits": True,
        **{measure.name: measure.higher_is_better for measure in measures},
        **{name: not rank.lower_is_better for name, rank in rankings.items() if rank.lines},
    }
    return {
        name: FigureEntry(
            figure.unit, figure.of, higher.get(name), figure.definitions, figure.shown_times
        )
        for name, figure in rulebook.figures.items()
    }


# -- rankings over repeats -------------------------------------------------------------------------


def ranked(
    rulebook: AnyRulebook, rounds: Rounds, judges: Sequence[str] = ()
) -> tuple[dict[str, Ranking], dict[str, tuple[str, ...]], dict[str, Any]]:
    """Return rankings, awards and details of rounds with equal numbers of repeats; mark ``judges``."""
    counts = {name: len(repeats) for name, repeats in rounds.items()}
    if len(set(counts.values())) != 1:
        listed = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise UsageError("error.same_run", problem=Message("error.repeats"), repeats=listed)
    standings = [
        rulebook.standings({name: repeats[number] for name, repeats in rounds.items()})
        for number in range(max(counts.values()))
    ]
    rankings, awards, details = combined(standings, rulebook.figures)
    for name, ranking in rankings.items():
        lines = list(ranking.lines)
        for place, line in enumerate(lines):
            if team_of(line.team) in judges:  # it is ranked like every team
                note = ", ".join(filter(None, (line.note, COMMITTEE)))
                lines[place] = replace(line, note=note)
        rankings[name] = replace(ranking, lines=tuple(lines))
    return rankings, entitled_awards(awards, standings[0].award_for, rounds), details


def combined(
    repeats: Sequence[Standings], figures: Mapping[str, Figure] | None = None
) -> tuple[dict[str, Ranking], dict[str, tuple[str, ...]], dict[str, Any]]:
    """Return rankings, awards and details; of several repeats the ranking of the means, without awards."""
    first, *others = repeats
    rankings = {}
    for name in RANKINGS:
        lowest_wins = name in first.lower_is_better
        if others:
            declared = (figures or {}).get(name, Figure())
            limits = limits_of(declared.unit, declared.of)
            lines = _means([getattr(repeat, name) for repeat in repeats], limits, lowest_wins)
        else:
            standings = getattr(first, name)
            scores = [None if line.score is None else float(line.score) for line in standings]
            lines = tuple(
                RankingLine(line.team, score, line.rank, line.note, line.shown)
                for line, score in zip(standings, scores, strict=True)
            )
        winners = tuple(line.team for line in lines if line.rank == 1)
        same_as = first.overall_is if name == "overall" else ""
        rankings[name] = Ranking(lines, lowest_wins, winners, same_as)
    return rankings, {} if others else dict(first.awards), {} if others else dict(first.details)


def _means(
    repeats: Sequence[Sequence[Standing]], limits: Limits, lowest_wins: bool
) -> tuple[RankingLine, ...]:
    """Rank teams by their mean score; a team without a score in any repeat has no mean."""
    lines: dict[str, list[Standing]] = {}
    for line in chain.from_iterable(repeats):
        lines.setdefault(line.team, []).append(line)
    values: dict[str, list[float]] = {}
    with_rank: dict[str, Fraction | None] = {}
    without_rank: dict[str, Fraction | None] = {}
    for team, of_team in lines.items():
        scores = [line.score for line in of_team if line.score is not None]
        mean = sum(scores, Fraction(0)) / len(scores) if len(scores) == len(repeats) else None
        has_rank = mean is not None and any(line.rank is not None for line in of_team)
        (with_rank if has_rank else without_rank)[team] = mean
        values[team] = list(map(float, scores))
    unranked = rank_scores(without_rank, lowest_wins=lowest_wins)
    in_order = [
        *rank_scores(with_rank, lowest_wins=lowest_wins),
        *(replace(line, rank=None) for line in unranked),
    ]
    ranked_lines = []
    for line in in_order:
        notes = (repeat.note for repeat in lines[line.team])
        interval = estimate(values[line.team], limits) if line.score is not None else Estimate(0)
        ranked_lines.append(
            RankingLine(
                team=line.team,
                score=None if line.score is None else float(line.score),
                rank=line.rank,
                note="; ".join(dict.fromkeys(filter(None, notes))),
                n=len(repeats),
                low=interval.low,
                high=interval.high,
                half=interval.half,
                tied_with=tuple(
                    other.team
                    for other in in_order
                    if None not in (line.rank, other.rank)
                    and other.team != line.team
                    and _is_reversible(values[line.team], values[other.team])
                ),
            )
        )
    return tuple(ranked_lines)


def _is_reversible(scores: Sequence[float], others: Sequence[float]) -> bool:
    """Return whether the interval of the mean difference includes 0.

    Repeats of one number share data and seeds: what makes a repeat hard for all is no noise between two teams.
    """
    difference = estimate([a - b for a, b in zip(scores, others, strict=True)])
    low, high = difference.low, difference.high
    return low is not None and high is not None and low <= 0 <= high


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
