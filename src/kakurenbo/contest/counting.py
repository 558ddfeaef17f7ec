"""Which of a team's entries count, by the rulebook's word: for whoever has them in a database, and whoever has an archive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from kakurenbo.contest.declarations import ANONYMIZE, Counting, Phase
from kakurenbo.contest.records import PUBLISHED

LATEST, LAST_FEW, BEST, CHOSEN = "latest", "last_few", "best", "chosen"
NOT_CHOSEN, BELOW = "not_chosen", "below_threshold"
ON_TARGETS, BEST_ON_TARGETS = "latest_on_targets", "best_on_targets"
"""Reasons why an entry counts."""
T = TypeVar("T")


@dataclass(frozen=True)
class Scored(Generic[T]):
    """An entry that was judged and has its scores.

    Attributes
    ----------
    entry : T
        Whatever the asker knows it by.
    number : int
        In the order they were handed in.
    chosen_at : Any
        When the team chose it last; None where it never did.
    record : mapping
        Of a release, what became of it (``ReleaseRecord``).
    targets : tuple of str
        Of guesses, the releases they are about.
    """

    entry: T
    number: int
    chosen_at: Any = None
    record: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[str, ...] = ()


Counted = list[tuple[T, str]]


def counting(phase: Phase, scored: Sequence[Scored[T]], utility_score: str = "") -> Counted[T]:
    """The entries that count, in the order they were handed in, each with the reason.

    Of releases those that hold every threshold come first; where there is none, the latest counts as it is, and is out. Of
    guesses an entry counts for the targets it is about, each for itself.

    Parameters
    ----------
    phase : Phase
        As the rulebook declares it.
    scored : sequence of Scored
        One team's, in the order they were handed in.
    utility_score : str
        The measure that makes one release better than another, where the best counts.
    """
    chosen = _chosen(scored) if phase.counts is Counting.CHOSEN else None
    if chosen is not None:
        return [(chosen.entry, CHOSEN)]
    return (
        _releases(phase, scored, utility_score)
        if phase.name == ANONYMIZE
        else _guesses(phase, scored)
    )


def _releases(phase: Phase, scored: Sequence[Scored[T]], utility_score: str) -> Counted[T]:
    valid = [one for one in scored if one.record.get("state") == PUBLISHED]
    if not valid:
        return [(one.entry, BELOW) for one in scored[-1:]]
    if phase.counts is Counting.LAST_FEW:
        return [(one.entry, LAST_FEW) for one in valid[-phase.keep :]]
    if phase.counts is Counting.BEST:
        return [
            (max(valid, key=lambda one: (_goodness(one, utility_score), one.number)).entry, BEST)
        ]
    return [(valid[-1].entry, NOT_CHOSEN if phase.counts is Counting.CHOSEN else LATEST)]


def _guesses(phase: Phase, scored: Sequence[Scored[T]]) -> Counted[T]:
    if phase.counts is Counting.BEST:
        return [(one.entry, BEST_ON_TARGETS) for one in scored]
    latest = {target: one.number for one in scored for target in one.targets}
    return [(one.entry, ON_TARGETS) for one in scored if one.number in set(latest.values())]


def _chosen(scored: Sequence[Scored[T]]) -> Scored[T] | None:
    """The one that the team chose last."""
    moments = {one.chosen_at: one for one in scored if one.chosen_at is not None}
    return moments[max(moments)] if moments else None


def _goodness(one: Scored[T], measure: str) -> float:
    """The figure that is the rulebook's score of a release, turned so that more is better."""
    for measured in one.record.get("measurements", ()):
        if measured["name"] == measure:
            value = float(measured["value"])
            return value if measured["higher_is_better"] else -value
    return float("-inf")
