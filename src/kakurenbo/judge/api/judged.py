"""What an asker may know of a judging, with its problems in the asker's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from kakurenbo.core.messages import LANGUAGES, translated
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.scoring import queries
from kakurenbo.judge.scoring.texts import problem_words
from kakurenbo.judge.submissions.models import Submission


def judging_of(submission: Submission, user: User) -> dict[str, Any]:
    """The judging in effect, as far as this asker may know it; empty before there is one.

    ``problems`` holds those of a release, or of every guess file that was refused, and ``problem_count`` counts also those
    that are not listed.
    """
    found = queries.scores(submission, user, timezone.now())
    if not found:
        return {}
    refused = found.pop("refused", [])
    total = found.pop("total", 0) + sum(one["total"] for one in refused)
    problems = [
        *found.pop("problems", []),
        *(problem for one in refused for problem in one["problems"]),
    ]
    if "cause" in found:
        found["cause"] = translated(found["cause"])
    if "notices" in found:
        found["notices"] = [_notice(one) for one in found["notices"]]
    return {
        **found,
        "refused": [one["file"] for one in refused],
        "problems": [_in_one_language(problem) for problem in problems],
        "problem_count": total,
    }


def _notice(said: str | Mapping[str, Any]) -> str:
    """Something that was put right, as a line: of a release a sentence already, of guesses a problem with its words."""
    if isinstance(said, str):
        return translated(said)
    words = problem_words(said).message
    return f"{said['file']}: {words}" if said["file"] else words


def _in_one_language(problem: Mapping[str, Any]) -> dict[str, Any]:
    place = {name: value for name, value in problem.items() if name not in (*LANGUAGES, "params")}
    return {**place, **problem_words(problem)._asdict()}
