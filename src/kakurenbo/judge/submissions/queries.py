"""Reading submissions: the history of a team, and which of its entries count, with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Prefetch, QuerySet

from kakurenbo.contracts import ANONYMIZE, Counting
from kakurenbo.judge.contests.models import Entry, Phase
from kakurenbo.judge.contests.rulebooks import declared_phase, rules_of
from kakurenbo.judge.scoring.models import Judging
from kakurenbo.judge.submissions.models import State, Submission
from kakurenbo.messages import language, render
from kakurenbo.rounds.publishing import PUBLISHED

LATEST, LAST_FEW, BEST, CHOSEN = "latest", "last_few", "best", "chosen"
NOT_CHOSEN, BELOW = "not_chosen", "below_threshold"
ON_TARGETS, BEST_ON_TARGETS = "latest_on_targets", "best_on_targets"
"""Reasons why an entry counts; :func:`which_counts` has the words."""

Counted = list[tuple[Submission, str]]


def history(entry: Entry, phase: Phase) -> QuerySet[Submission]:
    """What a team handed in, the latest first; what was never sent to the end is left out."""
    return _judged(Submission.objects.filter(entry=entry, phase=phase, number__isnull=False)).order_by("-number")


def counting(entry: Entry, phase: Phase) -> Counted:
    """The entries of a team that count as things are, in the order they were handed in, each with the reason.

    Of releases those that hold every threshold come first; where there is none, the latest counts as it is, and is out. Of
    guesses an entry counts for the targets it is about, each for itself.
    """
    in_order = _judged(Submission.objects.filter(entry=entry, phase=phase, state=State.SCORED)).order_by("number")
    scored = list(in_order)
    if phase.kind == ANONYMIZE:
        return _counting_releases(scored, phase)
    return _counting_guesses(scored, declared_phase(phase).counts)


def which_counts(reason: str, spoken: str = "") -> str:
    """The words of a reason, in a language or in that of the moment."""
    return render(f"counts.{reason}", {}, spoken or language()).message


def in_effect(submission: Submission) -> Judging | None:
    """The judging of a submission that holds."""
    return next((judging for judging in submission.judgings.all() if judging.in_effect), None)


def targets_of(submission: Submission) -> list[str]:
    """The targets of a submission's guesses that were found good, one for each file; before it is judged, as names tell."""
    judging = in_effect(submission)
    if submission.state == State.SCORED and judging is not None and "targets" in judging.result:
        return [one["target"] for one in judging.result["targets"]]
    return [file.target for file in submission.files.all() if file.target]


def _judged(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    judgings = Prefetch("judgings", Judging.objects.filter(in_effect=True))
    related = submissions.select_related("entry__team__contest", "phase__round__contest", "user")
    return related.prefetch_related("files__blob", judgings)


def _counting_releases(scored: Sequence[Submission], phase: Phase) -> Counted:
    declared = declared_phase(phase)
    valid = [submission for submission in scored if _record(submission).get("state") == PUBLISHED]
    if declared.counts is Counting.CHOSEN:
        chosen = _chosen(scored)
        if chosen is not None:
            return [(chosen, CHOSEN)]
    if not valid:
        return [(submission, BELOW) for submission in scored[-1:]]
    if declared.counts is Counting.LAST_FEW:
        return [(submission, LAST_FEW) for submission in valid[-declared.keep :]]
    if declared.counts is Counting.BEST:
        measure = rules_of(phase.round.contest).utility_score
        return [(max(valid, key=lambda submission: (_goodness(submission, measure), submission.number)), BEST)]
    return [(valid[-1], NOT_CHOSEN if declared.counts is Counting.CHOSEN else LATEST)]


def _counting_guesses(scored: Sequence[Submission], counts: Counting) -> Counted:
    if counts is Counting.BEST:
        return [(submission, BEST_ON_TARGETS) for submission in scored]
    chosen = _chosen(scored) if counts is Counting.CHOSEN else None
    if chosen is not None:
        return [(chosen, CHOSEN)]
    latest = {target: submission.pk for submission in scored for target in targets_of(submission)}
    return [(submission, ON_TARGETS) for submission in scored if submission.pk in set(latest.values())]


def _chosen(scored: Iterable[Submission]) -> Submission | None:
    """The one that the team chose last."""
    moments = {submission.chosen_at: submission for submission in scored if submission.chosen_at is not None}
    return moments[max(moments)] if moments else None


def _record(submission: Submission) -> dict[str, Any]:
    judging = in_effect(submission)
    record: dict[str, Any] = {} if judging is None else judging.result.get("record", {})
    return record


def _goodness(submission: Submission, measure: str) -> float:
    """The figure that is the rulebook's score of a release, turned so that more is better."""
    for measured in _record(submission).get("measurements", ()):
        if measured["name"] == measure:
            value = float(measured["value"])
            return value if measured["higher_is_better"] else -value
    return float("-inf")
