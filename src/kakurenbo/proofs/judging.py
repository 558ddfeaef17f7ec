"""Submissions as the judge judges them: what is kept of a release, of guesses, and of what they earned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.contest import ANONYMIZE, AnyRulebook, Counting, PreparedRound
from kakurenbo.contest.engine import ReleaseOutcome, judge_guesses, judge_release
from kakurenbo.contest.preparation import PublishedTargets
from kakurenbo.contest.results import FAILED, PUBLISHED, REFUSED
from kakurenbo.contest.rounds import judge_team
from kakurenbo.contest.submissions import list_submission
from kakurenbo.core import Problem, Problems
from kakurenbo.core.messages import Message
from kakurenbo.proofs.fingerprint import call_of, fingerprint_of, own_software

SCORED, INVALID = "scored", "invalid"
_VERDICTS = {REFUSED: INVALID, FAILED: "failed"}
"""Of a release, by the state of its record; every other is scored."""
UNSTORABLE = (rb"\u0000", rb"\ufffd")
"""A database takes every sign but this one, which the words of an error may hold; and what stands for it."""
Request = Mapping[str, Any]
own_software()  # as loaded: a server that goes on while files change under it still computes with these


def judged_release(
    prepared: PreparedRound[Any], submitted: Path, team: str, number: int
) -> ReleaseOutcome:
    """What became of the release that a team handed in under a number."""
    target = _target_name(prepared.rules, team, number)
    sources, refused = list_submission(submitted)
    if not sources and refused:
        return judge_team(prepared, target, [], refused)[0]
    return judge_release(prepared, target, sources)


def release_result(judged: ReleaseOutcome) -> dict[str, Any]:
    """What is kept of a release that was judged."""
    verdict = _VERDICTS.get(judged.record.state, SCORED)
    return {
        "record": msgspec.to_builtins(judged.record),
        "verdict": verdict,
        **_said_of(judged.refusal),
    }


def settled(judged: Mapping[str, Any], sealed_as: str) -> dict[str, Any]:
    """What becomes of a sealed release that is judged again.

    What was published stays out there, whatever is found of it now. What was not, and is found good too late to be attacked,
    stays out of play, with its new figures.
    """
    if judged["state"] != PUBLISHED or sealed_as == PUBLISHED:
        return dict(judged)
    why = Message("scoring.found_good_too_late").stored()
    return {
        **judged,
        "state": sealed_as,
        "cause": str(why),
        "messages": {str(why): why.message.as_json()},
    }


def guesses_result(targets: PublishedTargets, submitted: Path, attacker: str) -> dict[str, Any]:
    """What is kept of guesses that were judged, and what each earned."""
    sources, unfit = list_submission(submitted)
    outcome = judge_guesses(targets, attacker, sources)
    refused = [
        *((refusal.file, refusal.problems, refusal.count) for refusal in outcome.refused),
        *((name, problems, problems.total) for name, problems in unfit),
    ]
    return {
        "verdict": SCORED if outcome.scores else INVALID,
        "earned": [
            {"target": guess.target, "file": guess.file, "credit": msgspec.to_builtins(guess.score)}
            for guess in outcome.scores
        ],
        "refused": [
            {"file": file, "problems": _said(problems), "total": total}
            for file, problems, total in refused
        ],
        "notices": _said(outcome.notices),
    }


def fingerprint(request: Request) -> str:
    """Of everything that a score depends on beside the files: rulebook, options, the code behind them, versions."""
    return fingerprint_of(request["rulebook"])


def rules_for(request: Request) -> AnyRulebook:
    """The rulebook that a request means, for its round and with its options."""
    rules: AnyRulebook = call_of(request["rulebook"]).make().for_round(request["rulebook"]["round"])
    return rules


def _target_name(rules: AnyRulebook, team: str, number: int) -> str:
    """What a release is called: by its team, and by its number where several of a team count."""
    return f"{team}-{number}" if rules.phase(ANONYMIZE).counts is Counting.LAST_FEW else team


def _said_of(refusal: Problems | None) -> dict[str, Any]:
    return {"problems": _said(refusal or ()), "total": refusal.total if refusal is not None else 0}


def _said(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    """Problems by code and parameters, with their English words for whoever reads the files of an archive."""
    return [
        {
            "code": problem.code,
            "file": problem.file,
            "row": problem.row,
            "record": problem.record,
            "column": problem.column,
            "value": problem.value,
            "severity": problem.severity.value,
            **({"rows": list(problem.rows), "count": problem.count} if problem.count > 1 else {}),
            "params": Message(problem.code, problem.params).as_json()["params"],
            "en": problem.wording("en")._asdict(),
        }
        for problem in problems
    ]
