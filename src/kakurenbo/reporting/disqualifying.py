"""Releases that organizers take out after the fact: of the results of rounds, and of a whole document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kakurenbo.contracts import AnyRulebook, RoundResults
from kakurenbo.contracts.results import DISQUALIFIED
from kakurenbo.errors import UsageError
from kakurenbo.messages import text
from kakurenbo.reporting.awards import award_notices
from kakurenbo.reporting.building import figure_entries, ranked
from kakurenbo.reporting.document import Document, ReleaseEntry, RoundEntry
from kakurenbo.reporting.verdicts import with_verdicts


def without(rounds: Mapping[str, Sequence[RoundResults]], named: Sequence[str]) -> dict[str, Sequence[RoundResults]]:
    """The rounds without the releases that ``[ROUND:]TARGET`` names; without a round it is out of all."""
    out = dict(rounds)
    for entry in named:
        round_, colon, target = entry.rpartition(":")
        if colon and round_ not in out:
            raise UsageError(text("usage.disqualified_round", entry=entry, round=round_, rounds=list(out)))
        for name in [round_] if colon else list(out):
            out[name] = [results.without([target]) for results in out[name]]
    return out


def document_without(rulebook: AnyRulebook, document: Document, named: Sequence[str]) -> Document:
    """A document whose releases of these names are out, ranked anew by the rules and settings that it was made with."""
    rounds = without({entry.name: entry.repeats for entry in document.rounds}, named)
    entries = tuple(_entry(entry, rounds[entry.name]) for entry in document.rounds)
    rules = rulebook.defaulting(document.settings)
    rankings, awards, details = ranked(rules, rounds)
    changed = replace(
        document,
        rounds=entries,
        rankings=rankings,
        awards=awards,
        award_notices=award_notices(awards, rankings),
        details=details,
        figures=figure_entries(rules, entries, rankings),
    )
    return with_verdicts(changed)


def _entry(entry: RoundEntry, repeats: Sequence[RoundResults]) -> RoundEntry:
    out = {target for results in repeats for target, why in results.out.items() if why == DISQUALIFIED}
    releases = {target: _out(release) if target in out else release for target, release in entry.releases.items()}
    passing = sum(release.verdict == "passes" for release in releases.values())
    return replace(entry, repeats=tuple(repeats), releases=releases, passing=passing)


def _out(release: ReleaseEntry) -> ReleaseEntry:
    """A release as one that is out; what was out already keeps its cause."""
    if release.state == DISQUALIFIED:
        return release
    return replace(release, state=DISQUALIFIED, verdict=DISQUALIFIED, cause="", in_repeats=release.of_repeats)
