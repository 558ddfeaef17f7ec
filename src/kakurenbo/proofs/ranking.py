"""From what the judge knows of rounds to standings, in the scoring child: the engine's results, the rulebook's ranking.

Beside every figure stand what blind guessing and the organizers' own attacks would have earned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from kakurenbo.contest import AnyRulebook, Credit, RoundResults
from kakurenbo.contest.engine import round_results
from kakurenbo.contest.folders import ContestFacts
from kakurenbo.contest.records import ReleaseRecord
from kakurenbo.contest.results import DISQUALIFIED, SUPERSEDED
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import messages_of
from kakurenbo.reports import PlayerEntry, make_document


def standings(rulebook: AnyRulebook, request: Mapping[str, Any]) -> dict[str, Any]:
    """Standings of one round, or of all together, with the results they are made of and the document that shows them.

    Nothing where the rulebook does not weigh these rounds together, such as when not all of its rounds are played.
    """
    rounds = {
        name: _Round(rulebook.for_round(name), known) for name, known in request["rounds"].items()
    }
    rules = next(iter(rounds.values())).rules
    results = {name: one.results for name, one in rounds.items()}
    try:
        rules.weighed(results)
    except UsageError:
        return {}
    document = make_document(
        rules,
        {name: [one] for name, one in results.items()},
        {name: [one.records] for name, one in rounds.items()},
        players=_players(request["rounds"].values()),
        reports={name: {"data": one.facts.source} for name, one in rounds.items()},
    )
    lines = [line for ranking in document.rankings.values() for line in ranking.lines]
    found: dict[str, Any] = {
        "results": {name: _results_json(one) for name, one in results.items()},
        "standings": {
            **document.standings(),
            "messages": messages_of([line.note for line in lines]),
            "beside": {name: _beside(one) for name, one in results.items()},
        },
        "document": document.as_builtins(),
    }
    return msgspec.to_builtins(found, enc_hook=str)  # type: ignore[no-any-return]


class _Round:
    """A round as the judge knows it: releases, credits, and who takes part."""

    def __init__(self, rulebook: AnyRulebook, known: Mapping[str, Any]) -> None:
        self.facts = msgspec.convert(known["facts"], ContestFacts)
        self.rules = rulebook.under(self.facts)
        self.records = tuple(_record(one, known["disqualified"]) for one in known["records"])
        self.results = self._results(known)

    def _results(self, known: Mapping[str, Any]) -> RoundResults:
        earned: dict[str, list[tuple[str, Credit]]] = {
            attacker: [] for attacker in (*known["attackers"], *known["samples"])
        }
        for one in known["credits"]:
            score = msgspec.convert(one["credit"], Credit)
            earned[one["attacker"]].append((one["target"], score))
        return round_results(
            self.rules,
            self.records,
            earned,
            targets=[record.target for record in self.records if record.state != SUPERSEDED],
            samples=known["samples"],
            excluded=known["excluded"],
        )


def _record(known: Mapping[str, Any], disqualified: Mapping[str, str]) -> ReleaseRecord:
    """What became of a release; of a team that is out, that it is."""
    record = msgspec.convert(known, ReleaseRecord).public()
    why = disqualified.get(record.team)
    return record if why is None else replace(record, state=DISQUALIFIED, cause=why)


def _players(rounds: Any) -> Sequence[PlayerEntry]:
    known = {player["team"]: player for one in rounds for player in one["players"]}
    return [
        PlayerEntry(team, player["name"], excluded=player["excluded"])
        for team, player in sorted(known.items())
    ]


def _results_json(results: RoundResults) -> dict[str, Any]:
    built: dict[str, Any] = msgspec.to_builtins(results)
    return {**built, "unranked": sorted(results.unranked), "excluded": sorted(results.excluded)}


def _beside(results: RoundResults) -> dict[str, Any]:
    """What blind guessing, and each of the organizers' attacks, earns on the releases in play, as a share of what can be."""
    in_play = results.in_play
    blind = []
    for target in in_play:
        known = [
            credit
            for credit in results.credits.get(target, {}).values()
            if credit.chance is not None
        ]
        blind += [
            known[0].share(known[0].chance.mean) for _ in known[:1] if known[0].chance is not None
        ]
    samples = {
        name: [float(results.share(target, name)) for target in in_play]
        for name in sorted(results.unranked)
    }
    return {
        "chance": sum(blind) / len(blind) if blind else None,
        "samples": {name: sum(shares) / len(shares) for name, shares in samples.items() if shares},
    }
