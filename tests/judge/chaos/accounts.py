"""The account at the end: what was acknowledged against what the judge has, what it logged, and what it left behind."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.calling import call
from tests.judge.chaos.contest import Chaotic
from tests.judge.chaos.judge import LOOK_SECONDS, Judge
from tests.judge.test_serve import _members_of
from tests.judge.waiting import PATIENCE

_DONE = {"good": "scored", "bad": "invalid"}


def wait_for_rest(judge: Judge) -> float:
    """Wait until nothing waits and nothing runs; says how long it took."""
    began = time.monotonic()
    while judge.open_jobs() and time.monotonic() - began < PATIENCE:
        time.sleep(LOOK_SECONDS)
    return round(time.monotonic() - began, 1)


def account(judge: Judge, contests: list[Chaotic], folder: Path) -> dict[str, Any]:
    """Counts of everything that must not be; all of them are to be zero, or empty."""
    stuck = [
        *judge.open_jobs(),
        *judge.rows("select id, kind, cause from scoring_job where state = 'parked'"),
    ]
    found: Counter[str] = Counter()
    for contest in contests:
        found.update(_of_contest(judge, contest, folder))
    faults = [fault for contest in contests for team in contest.teams for fault in team.faults]
    orphans = sorted(set(_members_of(judge.home)) - set(judge.members()))
    return {
        **found,
        "stuck": stuck,
        "faults": faults,
        "half files": judge.half_files(),
        "orphans": orphans,
    }


def _of_contest(judge: Judge, contest: Chaotic, folder: Path) -> dict[str, int]:
    logged = Counter(
        (kind, submission)
        for kind, submission in judge.rows(
            "select log.kind, log.body ->> 'submission' from trust_logentry log join contests_contest contest on"
            " contest.id = log.contest_id where contest.slug = %s and log.kind in ('submission.received', 'submission.judged')",
            contest.rulebook,
        )
    )
    judgings = Counter(
        str(one) for (one,) in judge.rows("select submission_id from scoring_judging")
    )
    acknowledged = contest.acknowledged()
    return {
        "acknowledged": len(acknowledged),
        "lost": sum(logged["submission.received", one] != 1 for one in acknowledged),
        "scored twice": sum(
            logged["submission.judged", one] > 1 or judgings[one] > 1 for one in acknowledged
        ),
        "not scored": sum(
            logged["submission.judged", one] < 1 or judgings[one] < 1 for one in acknowledged
        ),
        "never acknowledged": sum(
            one not in acknowledged for kind, one in logged if kind == "submission.received"
        ),
        "wrong state or scores": sum(_is_wrong(one, contest) for one in _as_told(contest)),
        "quota wrong": _wrong_quotas(contest),
        "receipts that do not hold": sum(not _holds(one, contest, folder) for one in acknowledged),
    }


def _as_told(contest: Chaotic) -> list[dict[str, Any]]:
    """What the judge says of every acknowledged submission now, with what its team knows of it."""
    return [
        {**one, **team.get(f"submissions/{one['id']}")}
        for team in contest.teams
        for one in team.acknowledged
    ]


def _is_wrong(told: dict[str, Any], contest: Chaotic) -> bool:
    if told["state"] != _DONE[told["kind"]]:
        return True
    measured = {one["name"]: one["value"] for one in told["judging"].get("measurements", [])}
    team = next(team for team in contest.teams if team.number == told["team"])
    return bool(told["kind"] == "good" and measured != team.measured[told["content"]])


def _wrong_quotas(contest: Chaotic) -> int:
    """Teams whose tries left are not those that their acknowledged releases leave, or who had more than they have."""
    left = {
        team.number: team.get(f"contests/{contest.rulebook}/status")["phases"][0]["left"]["count"]
        for team in contest.teams
    }
    return sum(left[team.number] != contest.tries - team.good for team in contest.teams)


def _holds(submission: str, contest: Chaotic, folder: Path) -> bool:
    team = next(
        team for team in contest.teams if any(one["id"] == submission for one in team.acknowledged)
    )
    place = folder / f"receipt-{submission}.json"
    place.write_text(json.dumps(team.get(f"submissions/{submission}/receipt")), encoding="utf-8")
    return call("verify", place).code == 0
