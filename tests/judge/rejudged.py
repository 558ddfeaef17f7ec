"""A rejudging that waits for an organizer, with something of everything that it can change; nothing was judged for it."""

from __future__ import annotations

from typing import Any

from tests.judge.making import organizer

from kakurenbo.core.messages import LANGUAGES, Message, render
from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.scoring.models import Rejudging, RejudgingState

NOBODY = "00000000-0000-4000-8000-000000000000"


def _words(code: str) -> dict[str, Any]:
    return {language: render(code, {}, language)._asdict() for language in LANGUAGES}


def preview_of(round_name: str, submission: str = NOBODY) -> dict[str, Any]:
    """What would change, as ``comparing.changes`` tells it."""
    credit = {"hits": 3, "of": 10}
    about = {"submission": submission, "round": round_name, "team": "01", "number": 2}
    cause = Message("text.bom").stored()
    guesses = {
        "verdict": ["scored", "invalid"],
        "state": [],
        "figures": [],
        "files": [{"file": "guess_02_01.csv", "old": "accepted", "new": "refused"}],
        "why": [
            None,
            {"file": "guess_02_01.csv", "row": 3, "column": None, **_words("line.empty")},
        ],
        "scorers": ["e" * 64, "f" * 64],
        "credits": [{"target": "02", "file": "guess_02_01.csv", "old": credit, "new": None}],
    }
    release = {
        "verdict": [],
        "state": ["published", "disqualified"],
        "figures": [{"name": "moved", "old": 0.1234567890123, "new": 0.9876543210987}],
        "files": [],
        "why": [None, {"cause": str(cause), "messages": {str(cause): cause.message.as_json()}}],
        "scorers": ["e" * 64, "f" * 64],
        "credits": [],
    }
    return {
        "judged": 7,
        "fingerprints": ["f" * 64],
        "earlier": ["e" * 64],
        "entries": [
            {**about, "phase": "anonymize", **release},
            {**about, "phase": "attack", **guesses},
        ],
        "samples": [
            {
                "round": round_name,
                "target": "02",
                "attack": "sample attack",
                "old": credit,
                "new": {**credit, "hits": 4},
            }
        ],
        "published": [f"{round_name}/03"],
        "ranks": [
            {
                "round": "",
                "ranking": "attack",
                "team": "01",
                "rank": [1, 2],
                "score": [0.75, 0.5000000000000001],
            }
        ],
        "awards": [{"round": round_name, "award": "overall", "old": ["01"], "new": ["02", "03"]}],
    }


def ready_rejudging(contest: Contest) -> Rejudging:
    """One that an organizer is to decide on."""
    first = contest.rounds.first()
    assert first is not None
    return Rejudging.objects.create(
        contest=contest,
        reason="hits were counted twice",
        state=RejudgingState.READY,
        preview=preview_of(first.name),
        asked_by=organizer(),
    )
