"""Reading submissions: the history of a team, and which of its entries count, with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, QuerySet

from kakurenbo.contest import Feedback, phases
from kakurenbo.core.messages import language, render
from kakurenbo.judge.contests.models import Entry, Phase
from kakurenbo.judge.contests.rulebooks import declared_phase, rules_of
from kakurenbo.judge.scoring.models import Judging
from kakurenbo.judge.submissions.models import State, Submission

ANY_TARGET = "NN"
"""Stands for the number of a release in the names of files about one."""
_PUBLISHED_BELOW = "published_below"
Counted = list[tuple[Submission, str]]


def history(entry: Entry, phase: Phase) -> QuerySet[Submission]:
    """What a team handed in, the latest first; what was never sent to the end is left out."""
    handed_in = Submission.objects.filter(
        entry=entry, phase=phase, number__isnull=False
    ).select_related("user")
    return _judged(handed_in).order_by("-number")


def counting(entry: Entry, phase: Phase) -> Counted:
    """The entries of a team that count as things are, in the order they were handed in, each with the reason."""
    scored = Submission.objects.filter(entry=entry, phase=phase, state=State.SCORED)
    in_order = _judged(scored).order_by("received_at", "number")
    measure = rules_of(phase.round.contest).utility_score
    return phases.scored_submissions(
        declared_phase(phase), [_scored(one) for one in in_order], measure
    )


def which_counts(reason: str, keep: int, spoken: str = "") -> str:
    """The words of a reason, in a language or in that of the moment; ``keep``: how many entries of a team count at most."""
    return render(
        f"counts.{reason}",
        {"keep": keep} if reason == phases.LAST_FEW else {},
        spoken or language(),
    ).message


def why_it_counts(submission: Submission, counting: Mapping[UUID, str]) -> str:
    """In words why a submission counts, of those that do; empty where it does not.

    Before the end also where that would tell which is the best, and the rulebook's feedback tells no scores.
    """
    if submission.pk not in counting:
        return ""
    declared = declared_phase(submission.phase)
    tells_scores = (
        declared.feedback is Feedback.SCORES or submission.entry.team.contest.ended_at is not None
    )
    reason = counting[submission.pk]
    if reason == phases.BELOW and submission.targets.filter(published=True).exists():
        reason = _PUBLISHED_BELOW  # it was judged again since: attackers have it
    return which_counts(reason, declared.keep) if tells_scores or reason != phases.BEST else ""


def name_fields(entry: Entry) -> dict[str, str]:
    """What stands in the names of a team's own files; only the release under attack, of which there are many, stays open."""
    number = entry.team.number
    return {
        "round": entry.round.name,
        "team": number,
        "attacker": number,
        "target": ANY_TARGET,
        "number": "1",
    }


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
    related = submissions.select_related("entry__team__contest", "phase__round__contest")
    return related.prefetch_related("files__blob", judgings)


def _scored(submission: Submission) -> phases.JudgedSubmission[Submission]:
    number, targets = submission.number or 0, tuple(targets_of(submission))
    return phases.JudgedSubmission(
        submission, number, submission.chosen_at, record_of(submission), targets
    )


def record_of(submission: Submission) -> dict[str, Any]:
    """Return what became of a release, by the judging in effect."""
    judging = in_effect(submission)
    record: dict[str, Any] = {} if judging is None else judging.result.get("record", {})
    return record
