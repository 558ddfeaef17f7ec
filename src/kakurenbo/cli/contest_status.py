"""``status FOLDER``: the facts of a contest folder."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.cli import output
from kakurenbo.contest import CONTEST_FILE, AnyRulebook, ContestFacts, read_facts
from kakurenbo.contest.readme import judges_text, submission_texts, threshold_texts
from kakurenbo.contest.schedule import ScheduledPhase, moment
from kakurenbo.core.messages import language, render, text
from kakurenbo.methods import registry


def facts_folder(path: Path) -> Path | None:
    """Return the folder with the ``contest.json`` of a contest folder; None where ``path`` is no contest folder."""
    return next(
        (folder for folder in (path, path / "public") if (folder / CONTEST_FILE).is_file()), None
    )


def show_facts(folder: Path, as_json: bool) -> int:
    """Print the facts of the contest whose ``contest.json`` lies in a folder."""
    facts = read_facts(folder)
    assert facts is not None  # facts_folder has seen the file
    rules = registry.load("rulebooks", facts.rulebook)().under(facts)
    now = datetime.now(UTC)
    if as_json:
        output.print_json(_as_json(rules, facts, now))
    else:
        _print(rules, facts, now)
    return output.DONE


def _as_json(rules: AnyRulebook, facts: ContestFacts, now: datetime) -> dict[str, Any]:
    content: dict[str, Any] = msgspec.to_builtins(facts)
    for entry, phase in zip(content["schedule"]["phases"], facts.schedule.phases, strict=True):
        entry["state"] = phase.state(now)
    return {
        **{key: value for key, value in content.items() if key != "data"},
        "thresholds": {
            name: value for name, value in rules.threshold_values().items() if value is not None
        },
        "prohibited": [render(code, {}, "en").message for code in rules.prohibited],
    }


def _print(rules: AnyRulebook, facts: ContestFacts, now: datetime) -> None:
    console = output.console()
    lines = {
        "rulebook": facts.rulebook,
        "round": facts.round,
        "teams": ", ".join(facts.teams),
        "unranked": ", ".join(facts.unranked),
        "judges": ", ".join(facts.judges),
        "settings": ", ".join(
            f"{name} {output.short(value)}" for name, value in facts.settings.items()
        ),
    }
    for name, value in lines.items():
        if value:
            console.print(f"{text(f'facts.{name}')}: {value}", markup=False)
    if facts.judges:
        console.print(judges_text(facts.rulebook, facts.judges, language()), markup=False)
    limits = [
        f"{text(f'readme.submissions.{phase.name}')} {' '.join(submission_texts(phase, language()))}"
        for phase in rules.phases
    ]
    sections = {
        "readme.rules": [*threshold_texts(rules, language()), *limits],
        "readme.schedule": [
            f"{dates}  {title}" for dates, title in facts.schedule.rows(language())
        ],
        "facts.now": [_state(phase, now) for phase in facts.schedule.phases],
        "readme.prohibited": [text(code) for code in rules.prohibited],
    }
    for title, items in sections.items():
        if items:
            console.print(f"\n{text(title)}", markup=False)
        for item in items:
            console.print(f"- {item}", markup=False)


def _state(phase: ScheduledPhase, now: datetime) -> str:
    """Return the state of a phase with its times in the time zone of this computer."""
    opens, closes = (moment(when.astimezone()) for when in (phase.opens, phase.closes))
    return text(
        f"facts.{phase.state(now)}", phase=phase.title(language()), opens=opens, closes=closes
    )
