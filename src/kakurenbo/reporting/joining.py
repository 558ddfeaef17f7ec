"""Documents of single rounds, as ``score`` writes them, joined into the document of their contest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kakurenbo.contracts import AnyRulebook, by_number
from kakurenbo.errors import UsageError
from kakurenbo.messages import text
from kakurenbo.reporting.awards import award_notices
from kakurenbo.reporting.building import figure_entries, ranked
from kakurenbo.reporting.document import Document, PlayerEntry, RoundEntry
from kakurenbo.reporting.rounds import attacker_entries
from kakurenbo.reporting.verdicts import with_verdicts


def joined(rulebook: AnyRulebook, documents: Sequence[tuple[str, Document]]) -> Document:
    """The document of all their rounds, ranked together.

    Parameters
    ----------
    rulebook : Rulebook
        The contest of them all; what the documents agree on of its settings is followed.
    documents : sequence of path and Document
        The path is named where a round is given twice, or where the document is of another contest.
    """
    entries = _rounds(rulebook, documents)
    parts = [document for _, document in documents]
    settings = agreed_settings([one.settings for one in parts])
    rules = rulebook.defaulting(settings)
    rounds = {entry.name: entry.repeats for entry in entries}
    rankings, awards, details = ranked(rules, rounds)
    samples = tuple(sorted({name for one in parts for name in one.sample_attacks}, key=by_number))
    only_shown = tuple(name for name in samples if any(name in one.only_shown for one in parts))
    commitments: dict[str, Any] = {}
    for one in parts:
        commitments |= one.manifest.get("commitments", {})
    document = Document(
        rulebook=parts[0].rulebook,
        rounds=entries,
        rankings=rankings,
        awards=awards,
        award_notices=award_notices(awards, rankings),
        details=details,
        players=_players(parts),
        sample_attacks=samples,
        only_shown=only_shown,
        attackers=attacker_entries(entries, {*samples} - {*only_shown}),
        attack_count=sum(one.attack_count for one in parts),
        repeat_count=max(one.repeat_count for one in parts),
        failures=tuple(failure for one in parts for failure in one.failures),
        figures=figure_entries(rules, entries, rankings),
        manifest={"contest": {"settings": settings}, "commitments": commitments},
    )
    return with_verdicts(document)


def agreed_settings(settings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What all files say of their contest; the round, which they do not share, is told by their names."""
    first, *others = settings
    return {name: value for name, value in first.items() if all(name in one and one[name] == value for one in others)}


def _rounds(rulebook: AnyRulebook, documents: Sequence[tuple[str, Document]]) -> tuple[RoundEntry, ...]:
    """Every round once, in the order of the rules."""
    found: dict[str, RoundEntry] = {}
    for path, document in documents:
        if document.rulebook.name != rulebook.name:
            raise UsageError(text("usage.other_contest", path=path, found=document.rulebook.name, expected=rulebook.name))
        for entry in document.rounds:
            if entry.name in found:
                raise UsageError(text("usage.round_twice", path=path, round=entry.name))
            found[entry.name] = entry
    order = {name: place for place, name in enumerate(rulebook.rounds)}
    return tuple(sorted(found.values(), key=lambda entry: order.get(entry.name, len(order))))


def _players(documents: Sequence[Document]) -> tuple[PlayerEntry, ...]:
    """Everybody who took part in any round, as the last one tells of them."""
    players = {player.team: player for one in documents for player in one.players}
    return tuple(players[team] for team in sorted(players, key=by_number))
