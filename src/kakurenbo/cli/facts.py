"""``status`` of a contest folder: its facts, rules and schedule."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.cli import output
from kakurenbo.contest import CONTEST_FILE, AnyRulebook, ContestFacts, read_facts
from kakurenbo.contest.readme import judges_text, submission_texts, threshold_texts
from kakurenbo.contest.schedule import moment
from kakurenbo.core.messages import language, render, text
from kakurenbo.methods import registry


def facts_folder(path: Path) -> Path | None:
    """Return the folder with the ``contest.json`` of a contest folder, if it is one."""
    folders = (path, path / "public")
    return next((folder for folder in folders if (folder / CONTEST_FILE).is_file()), None)


def print_facts(folder: Path, as_json: bool) -> None:
    """Print the facts of the contest whose ``contest.json`` is in a folder."""
    facts = read_facts(folder)
    assert facts is not None  # facts_folder has seen the file
    rules = registry.load("rulebooks", facts.rulebook)().under(facts)
    now = datetime.now(UTC)
    if not as_json:
        _print_facts(rules, facts, now)
        return
    content: dict[str, Any] = msgspec.to_builtins(facts)
    for entry, phase in zip(content["schedule"]["phases"], facts.schedule.phases, strict=True):
        entry["state"] = phase.state(now)
    del content["data"]
    thresholds = rules.threshold_values().items()
    content["thresholds"] = {name: value for name, value in thresholds if value is not None}
    content["prohibited"] = [render(code, {}, "en").message for code in rules.prohibited]
    output.print_json(content)


def _print_facts(rules: AnyRulebook, facts: ContestFacts, now: datetime) -> None:
    settings = [f"{name} {output.value_text(value)}" for name, value in facts.settings.items()]
    lines = {
        "rulebook": facts.rulebook,
        "round": facts.round,
        "teams": ", ".join(facts.teams),
        "unranked": ", ".join(facts.unranked),
        "judges": ", ".join(facts.judges),
        "settings": ", ".join(settings),
    }
    for name, value in lines.items():
        if value:
            output.print_line(f"{text(f'facts.{name}')}: {value}")
    if facts.judges:
        output.print_line(judges_text(facts.rulebook, facts.judges, language()))
    limits = [
        f"{text(f'readme.submissions.{phase.name}')} {' '.join(submission_texts(phase, language()))}"
        for phase in rules.phases
    ]
    rows = facts.schedule.rows(language())
    sections = {
        "readme.rules": [*threshold_texts(rules, language()), *limits],
        "readme.schedule": [f"{dates}  {title}" for dates, title in rows],
        "facts.now": [_state(phase, now) for phase in facts.schedule.phases],
        "readme.prohibited": [text(code) for code in rules.prohibited],
    }
    for title, items in sections.items():
        if items:
            output.print_line("\n".join([f"\n{text(title)}", *(f"- {item}" for item in items)]))


def _state(phase: Any, now: datetime) -> str:
    """Return the state of a phase with its times in the time zone of this computer."""
    opens, closes = (moment(when.astimezone()) for when in (phase.opens, phase.closes))
    title = phase.title(language())
    return text(f"facts.{phase.state(now)}", phase=title, opens=opens, closes=closes)
