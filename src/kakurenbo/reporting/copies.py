"""Figures that a document holds twice: what was ranked stands in the repeats, and all that people are shown is made of it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import msgspec

from kakurenbo.reporting.document import Document
from kakurenbo.reporting.rounds import attacked_round, attacker_entries, with_attacks

_CLOSE = 1e-9  # quantiles may differ in their last digits from version to version of a library


def disagreement(document: Document) -> str:
    """Where a document shows something else than its repeats tell, e.g. ``rounds.main.attacks.01.02.hits``; empty: nowhere."""
    try:
        made_again = _made_again(document)
    except (OverflowError, ValueError):  # figures so large that they have no mean
        return "rounds"
    return _first_difference(_copies(document), _copies(made_again))


def _made_again(document: Document) -> Document:
    rounds = []
    for entry in document.rounds:
        fresh = attacked_round(entry.name, entry.repeats, document.only_shown)
        releases = {name: with_attacks(one, fresh, document.only_shown) for name, one in entry.releases.items()}
        rounds.append(replace(fresh, releases=releases))
    unranked = {name for entry in rounds for one in entry.repeats for name in one.unranked}
    return replace(
        document,
        rounds=tuple(rounds),
        attackers=attacker_entries(rounds, unranked.difference(document.only_shown)),
        attack_count=sum(len(row) for entry in rounds for row in entry.attacks.values()),
        repeat_count=max((1, *(len(entry.repeats) for entry in rounds))),
    )


def _copies(document: Document) -> Any:
    """What is shown of attacks."""
    fields = ("releases", "attacks", "attackers", "of", "chance", "chance_privacy", "chance_hits", "constant")
    return msgspec.to_builtins(
        {
            "rounds": {entry.name: {field: getattr(entry, field) for field in fields} for entry in document.rounds},
            "attackers": document.attackers,
            "attack_count": document.attack_count,
            "repeat_count": document.repeat_count,
        }
    )


def _first_difference(one: Any, other: Any, place: str = "") -> str:
    if isinstance(one, dict) and isinstance(other, dict):
        inner = (
            _first_difference(one.get(key), other.get(key), f"{place}.{key}" if place else str(key))
            for key in dict.fromkeys((*one, *other))
        )
        return next(filter(None, inner), "")
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        inner = (_first_difference(a, b, f"{place}[{at}]") for at, (a, b) in enumerate(zip(one, other, strict=True)))
        return next(filter(None, inner), "")
    if isinstance(one, int | float) and isinstance(other, int | float):
        return "" if math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE) else place
    return "" if one == other else place
