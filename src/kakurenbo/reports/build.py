"""Build a document from its inputs: what was played, by which rules. Joining or disqualifying changes inputs and builds again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from kakurenbo.contest import AnyRulebook, RoundResults, by_number
from kakurenbo.contest.records import Refusal, ReleaseRecord
from kakurenbo.contest.results import DISQUALIFIED
from kakurenbo.contest.rounds import ScoredRound
from kakurenbo.contest.schedule import NO_SCHEDULE
from kakurenbo.core import Message
from kakurenbo.core.errors import UsageError
from kakurenbo.reports.document import (
    ContestRecord,
    Document,
    FailureEntry,
    FigureEntry,
    PlayerEntry,
    ReleaseEntry,
    RoundEntry,
    RulebookEntry,
)
from kakurenbo.reports.rankings import Rounds, award_notices, ranked
from kakurenbo.reports.rounds import attacker_entries, complete_round, release_entries
from kakurenbo.reports.verdicts import with_verdicts


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
        What is needed to play it again, and what is known of the contest (``ContestRecord``).
    """
    entries = []
    for name, repeats in rounds.items():
        claimed = (claims or {}).get(name, {})
        releases = release_entries(records.get(name, ()), claimed, rulebook.figures)
        report = (reports or {}).get(name, {})
        entries.append(RoundEntry(name, report, releases, repeats=tuple(repeats)))
    document = Document(
        rulebook_entry(rulebook),
        tuple(entries),
        players=tuple(players),
        failures=tuple(failures),
        manifest=manifest or {},
    )
    return build(rulebook, document)


def rulebook_entry(rulebook: AnyRulebook) -> RulebookEntry:
    return RulebookEntry(rulebook.name, rulebook.title, rulebook.version, rulebook.utility_score)


def scored_document(rulebook: AnyRulebook, scored: ScoredRound) -> Document:
    """Return the document of one round that was scored from files."""
    facts, results = scored.facts, scored.results
    teams = sorted({*facts.teams, *results.ranked_attackers}, key=by_number)
    contest = ContestRecord(
        version=facts.version,
        settings=dict(facts.settings),
        judges=facts.judges,
        schedule=facts.schedule or NO_SCHEDULE,
    )

    def failure(what: str, state: str, refusal: Refusal) -> FailureEntry:
        cause = refusal.problems[0].stored()
        return FailureEntry(what, refusal.team, state, cause, facts.round, file=refusal.file)

    def guesses_of(team: str) -> str:
        return Message("word.guesses_of", {"attacker": team}).stored()

    return make_document(
        rulebook,
        {facts.round: [results]},
        {facts.round: [scored.records]},
        players=[PlayerEntry(team, excluded=team in results.excluded) for team in teams],
        reports={facts.round: {"data": facts.source}},
        failures=[
            *(failure(guesses_of(file.team), "refused", file) for file in scored.refused),
            *(failure(file.file, "failed", file) for file in scored.failed),
        ],
        manifest=_manifest(contest, {facts.round: facts.commitments}),
    )


def _manifest(contest: ContestRecord, commitments: Mapping[str, Any]) -> dict[str, Any]:
    return {"contest": msgspec.to_builtins(contest), "commitments": commitments}


def joined(rulebook: AnyRulebook, documents: Sequence[tuple[str, Document]]) -> Document:
    """Return the document of all rounds of several documents, ranked together.

    Parameters
    ----------
    rulebook : Rulebook
        The contest of all documents; settings on which they agree are added to it.
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
    parts = [document.contest for _, document in documents]
    settings = {
        name: value
        for name, value in parts[0].settings.items()
        if all(name in part.settings and part.settings[name] == value for part in parts)
    }
    judges = {team for part in parts for team in part.judges}
    dates = [part.schedule for part in parts if part.schedule]
    contest = ContestRecord(
        settings=settings,
        judges=tuple(sorted(judges, key=by_number)),
        schedule=dates[-1] if dates else NO_SCHEDULE,
    )
    order = [*(name for name in rulebook.rounds if name in entries), *entries]
    document = Document(
        rulebook_entry(rulebook),
        tuple(entries[name] for name in dict.fromkeys(order)),
        players=tuple(players[team] for team in sorted(players, key=by_number)),
        failures=tuple(failure for _, document in documents for failure in document.failures),
        manifest=_manifest(contest, commitments),
    )
    return build(rulebook.defaulting(settings), document)


def document_without(
    rulebook: AnyRulebook,
    document: Document,
    disqualified: Sequence[str] = (),
    unranked: Sequence[str] = (),
) -> Document:
    """Return the document without the releases ``[ROUND:]TARGET`` and without ranks of teams, under its own settings."""
    rounds = {entry.name: entry for entry in document.rounds}
    for name in disqualified:
        round_, colon, target = name.rpartition(":")
        if colon and round_ not in rounds:
            raise UsageError(
                "usage.disqualified_round", entry=name, round=round_, rounds=list(rounds)
            )
        for each in [round_] if colon else list(rounds):
            repeats = tuple(results.without([target]) for results in rounds[each].repeats)
            rounds[each] = replace(rounds[each], repeats=repeats)
    entries = []
    for entry in rounds.values():
        repeats = tuple(results.excluding(unranked) for results in entry.repeats)
        releases = {
            target: _disqualified(release, repeats) for target, release in entry.releases.items()
        }
        entries.append(replace(entry, repeats=repeats, releases=releases))
    rules = rulebook.defaulting(document.contest.settings)
    return build(rules, replace(document, rounds=tuple(entries)))


def _disqualified(release: ReleaseEntry, repeats: Sequence[RoundResults]) -> ReleaseEntry:
    """Return a release as it is where organizers took it out; one that was out keeps its cause."""
    is_out = any(results.out.get(release.target) == DISQUALIFIED for results in repeats)
    if not is_out or release.state == DISQUALIFIED:
        return release
    count = release.of_repeats
    return replace(
        release,
        state=DISQUALIFIED,
        verdict=DISQUALIFIED,
        cause="",
        below_threshold=False,
        in_repeats=count,
    )


def build(rulebook: AnyRulebook, document: Document) -> Document:
    """Compute a document from its rounds (name, report, releases, repeats), players, failures and manifest."""
    results = {entry.name: entry.repeats for entry in document.rounds}
    rankings, awards, details = ranked(rulebook, results, document.contest.judges)
    samples = {
        name for repeats in results.values() for round_ in repeats for name in round_.unranked
    }
    document = recompute(
        replace(
            document,
            rulebook=rulebook_entry(rulebook),
            rankings=rankings,
            awards=awards,
            award_notices=award_notices(awards, rankings, details),
            details=details,
            only_shown=tuple(sorted(rulebook.only_shown & samples, key=by_number)),
        )
    )
    measures = [measure for entry in document.rounds for measure in entry.measures]
    higher = {
        "hits": True,
        **{measure.name: measure.higher_is_better for measure in measures},
        **{
            name: not ranking.lower_is_better for name, ranking in rankings.items() if ranking.lines
        },
    }
    figures = {
        name: FigureEntry(
            figure.unit, figure.of, higher.get(name), figure.definitions, figure.shown_times
        )
        for name, figure in rulebook.figures.items()
    }
    return with_verdicts(replace(document, figures=figures))


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
