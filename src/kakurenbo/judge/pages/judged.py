"""A judging as a page lays it out: every problem with its place, every score with its threshold, every guess."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kakurenbo.contest import Figure, Threshold
from kakurenbo.core.messages import language, translated
from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.contests.rulebooks import rules_of
from kakurenbo.judge.pages.rejudged import changed_lines
from kakurenbo.judge.scoring.texts import problem_words
from kakurenbo.reports.numbers import against, figure, shown_value


@dataclass(frozen=True)
class ProblemRow:
    """What is wrong, and where."""

    file: str
    row: int | None
    column: str | None
    message: str
    fix: str


@dataclass(frozen=True)
class MeasureRow:
    """A score as ``kakurenbo measure`` prints it, ``value`` with all the digits of its JSON, and whether it is good enough."""

    name: str
    meaning: str
    value: str
    shown: str
    threshold: str
    passes: bool | None
    limit: str


@dataclass(frozen=True)
class GuessRow:
    """One guess file: at which release, whether it was accepted, and after the end what it earned."""

    target: str
    file: str
    refused: bool
    earned: str = ""


def judged_context(contest: Contest, judged: Mapping[str, Any]) -> dict[str, Any]:
    """What a page shows of a judging; nothing while there is none."""
    if not judged:
        return {}
    refused = judged.get("refused", [])
    problems = [
        *judged.get("problems", []),
        *(problem for one in refused for problem in one["problems"]),
    ]
    total = judged.get("total", 0) + sum(one["total"] for one in refused)
    return {
        "cause": translated(judged.get("cause", "")) if not problems else "",
        "problems": [_problem(one) for one in problems],
        "problem_total": total,
        "problems_left": total - sum(problem.get("count", 1) for problem in problems),
        "notices": [_notice(one) for one in judged.get("notices", [])],
        "measurements": _measurements(contest, judged.get("measurements", [])),
        "guesses": _guesses(judged),
        "rejudged": [
            {**one, "lines": list(changed_lines(one["changes"]))} for one in judged["rejudged"]
        ],
    }


def _notice(said: str | Mapping[str, Any]) -> str:
    """Something that was put right: a sentence of a release's record, or a problem with its words."""
    return translated(said) if isinstance(said, str) else _problem(said).message


def _problem(said: Mapping[str, Any]) -> ProblemRow:
    words = problem_words(said)
    return ProblemRow(said["file"], said["row"], said["column"], words.message, words.fix)


def _measurements(contest: Contest, measured: Sequence[Mapping[str, Any]]) -> list[MeasureRow]:
    declared = rules_of(contest).figures
    return [_measurement(one, declared.get(one["name"], Figure())) for one in measured]


def _measurement(measured: Mapping[str, Any], what: Figure) -> MeasureRow:
    value = measured["value"]
    limits = {
        kind: measured[kind] for kind in ("minimum", "maximum") if measured.get(kind) is not None
    }
    sides = [
        against(value, Threshold(limit, minimum=kind == "minimum"), what.unit)
        for kind, limit in limits.items()
    ]
    return MeasureRow(
        name=measured["name"],
        meaning=what.definitions.get(language(), ""),
        value=str(value),
        shown=max((shown for shown, _ in sides), key=len, default=figure(value, what.unit)),
        threshold=" ".join(threshold for _, threshold in sides),
        passes=measured.get("passes"),
        limit=shown_value(measured.get("limit") or {}),
    )


def _guesses(judged: Mapping[str, Any]) -> list[GuessRow]:
    earned = {(one["target"], one["file"]): one["credit"] for one in judged.get("earned", [])}
    accepted = [
        GuessRow(
            one["target"],
            one["file"],
            refused=False,
            earned=_earned(earned.get((one["target"], one["file"]))),
        )
        for one in judged.get("targets", [])
    ]
    return [
        *accepted,
        *(GuessRow("", one["file"], refused=True) for one in judged.get("refused", [])),
    ]


def _earned(credit: Mapping[str, Any] | None) -> str:
    return "" if credit is None else f"{shown_value(credit['hits'])} / {shown_value(credit['of'])}"
