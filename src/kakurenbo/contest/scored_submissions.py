"""Which of a team's submissions are scored, as the rulebook says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from kakurenbo.contest.declarations import ANONYMIZE, Counting, Phase
from kakurenbo.contest.records import PUBLISHED

LATEST, LAST_FEW, BEST, CHOSEN = "latest", "last_few", "best", "chosen"
NOT_CHOSEN, BELOW = "not_chosen", "below_threshold"
ON_TARGETS, BEST_ON_TARGETS = "latest_on_targets", "best_on_targets"
"""Reasons why a submission is scored."""
T = TypeVar("T")


@dataclass(frozen=True)
class JudgedSubmission(Generic[T]):
    """A submission that was judged.

    Attributes
    ----------
    key : T
        What the caller knows it by.
    number : int
        In the order of submission.
    chosen_at : Any
        When the team chose it last; None where it never did.
    record : mapping
        Of a release, what became of it (``ReleaseRecord``).
    targets : tuple of str
        Of guesses, the releases they are about.
    """

    key: T
    number: int
    chosen_at: Any = None
    record: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[str, ...] = ()


def scored_submissions(
    phase: Phase, submissions: Sequence[JudgedSubmission[T]], utility_score: str = ""
) -> list[tuple[T, str]]:
    """Return the submissions of one team that are scored, in order, each with the reason.

    Of releases those that reach every threshold come first; where none does, the latest is scored as it is, and is out. Of
    guesses a submission is scored for the targets it is about, each for itself.

    Parameters
    ----------
    phase : Phase
    submissions : sequence of JudgedSubmission
        One team's, in order.
    utility_score : str
        The measure that makes one release better than another, where the best is scored.
    """
    chosen = [submission for submission in submissions if submission.chosen_at is not None]
    if phase.counts is Counting.CHOSEN and chosen:
        last = max(chosen, key=lambda submission: (submission.chosen_at, submission.number))
        return [(last.key, CHOSEN)]
    if phase.name != ANONYMIZE and phase.counts is Counting.BEST:
        return [(submission.key, BEST_ON_TARGETS) for submission in submissions]
    if phase.name != ANONYMIZE:
        latest = {
            target: submission.number for submission in submissions for target in submission.targets
        }
        numbers = set(latest.values())
        return [
            (submission.key, ON_TARGETS)
            for submission in submissions
            if submission.number in numbers
        ]
    valid = [
        submission for submission in submissions if submission.record.get("state") == PUBLISHED
    ]
    if not valid:
        return [(submission.key, BELOW) for submission in submissions[-1:]]
    if phase.counts is Counting.LAST_FEW:
        return [(submission.key, LAST_FEW) for submission in valid[-phase.keep :]]
    if phase.counts is Counting.BEST:
        best = max(valid, key=lambda item: (_utility(item.record, utility_score), item.number))
        return [(best.key, BEST)]
    return [(valid[-1].key, NOT_CHOSEN if phase.counts is Counting.CHOSEN else LATEST)]


def _utility(record: Mapping[str, Any], name: str) -> float:
    """Return the score of a release, turned so that more is better."""
    for measured in record.get("measurements", ()):
        if measured["name"] == name:
            value = float(measured["value"])
            return value if measured["higher_is_better"] else -value
    return float("-inf")
