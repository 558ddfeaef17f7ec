"""``list``: what is installed, and how to call it; the facts of a contest folder."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import click
from rich.markup import escape
from rich.table import Table

from kakurenbo.cli import output
from kakurenbo.cli.examples import (
    anonymize_example,
    attack_example,
    prepare_example,
    publish_example,
)
from kakurenbo.cli.options import JSON, Command, Group, description
from kakurenbo.core.messages import language, render, text
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import parameters_of

INDEX = Path(__file__).with_name("listing.json")
"""What this package has, written by ``make reference``: a listing need not load it."""
_SHOWN = ("name", "does", "parameters", "rulebooks")
Entries = Mapping[str, Mapping[str, Any]]


def _print_list(group: str, as_json: bool, rulebook: str | None = None) -> None:
    entries = _installed(group)
    if rulebook is not None:
        if rulebook not in registry.names("rulebooks"):
            registry.load("rulebooks", rulebook)  # names the nearest one
        entries = _playing(entries, rulebook)
    if as_json:
        listed = [_shown(entry) for entry in entries.values()]
        output.print_json({group: listed})
    elif group == "rulebooks":
        output.console().print(_table(entries))
    else:
        contests = registry.names("rulebooks") if rulebook is None else (rulebook,)
        _print_by_contest(group, entries, contests)


def _shown(entry: Mapping[str, Any]) -> dict[str, Any]:
    parameters = [
        {
            **{key: value for key, value in parameter.items() if key != "typed"},
            "none": text(parameter["none"], parameter["none"]),
        }
        for parameter in entry["parameters"]
    ]
    return {**{key: entry[key] for key in _SHOWN if key in entry}, "parameters": parameters}


def _playing(entries: Entries, rulebook: str) -> dict[str, Any]:
    return {name: entry for name, entry in entries.items() if rulebook in entry["rulebooks"]}


def _print_by_contest(group: str, entries: Entries, contests: Iterable[str]) -> None:
    """Print the methods of each contest with an example, then those that play none."""
    console, titles = output.console(), _installed("rulebooks")
    for contest in contests:
        title = text(f"rulebooks.{contest}", titles[contest]["does"])
        console.print(f"[bold]{escape(contest)}[/]: {escape(title)}")
        if playing := _playing(entries, contest):
            console.print(_table(playing))
            console.print(text("cli.example_after", **_examples(group, contest)), markup=False)
        console.print()
    if idle := {name: entry for name, entry in entries.items() if not entry["rulebooks"]}:
        console.print(text("cli.plays_nothing"))
        console.print(_table(idle))


def _table(entries: Entries) -> Table:
    table = output.plain_table(text("cli.name"), text("cli.does"), text("cli.parameters"))
    for name, entry in entries.items():
        parameters = ", ".join(map(_with_default, entry["parameters"]))
        does = text(f"{entry['group']}.{name}", entry["does"])
        table.add_row(name, escape(does), escape(parameters))
    return table


def _with_default(parameter: Mapping[str, Any]) -> str:
    """Show a parameter with its default, and what none means: ``columns=none (all columns)``."""
    name, default = parameter["name"], parameter["default"]
    none = text(parameter["none"], parameter["none"])
    if default not in (None, "", (), []):
        return f"{name}={parameter['typed']}"
    if default is not None and not none:
        return str(name)
    meaning = f" ({none})" if none else ""
    shown = "none" if default is None else '""'
    return f"{name}={shown}{meaning}"


def make_index() -> dict[str, Any]:
    """Return what the stored listing holds: everything of this package, in English."""
    index: dict[str, Any] = {
        group: {
            name: _entry(group, name)
            for name in registry.names(group)
            if registry.package(group, name).startswith("kakurenbo ")
        }
        for group in registry.GROUPS
    }
    index["examples"] = {
        group: {contest: _make_examples(group, contest) for contest in index["rulebooks"]}
        for group in ("anonymizers", "attacks")
    }
    return index


@cache
def _index() -> dict[str, Any]:
    index: dict[str, Any] = json.loads(INDEX.read_bytes())
    return index


def _has_other_contests() -> bool:
    return set(registry.names("rulebooks")) != set(_index()["rulebooks"])


def _installed(group: str) -> dict[str, Any]:
    """Return what is installed; of this package from the stored listing, without loading it."""
    stored = {} if _has_other_contests() else _index()[group]
    entries = {}
    for name in registry.names(group):
        entry = stored.get(name, {})
        is_same = entry.get("target") == registry.target(group, name)
        entries[name] = entry if is_same else _entry(group, name)
    return entries


def _examples(group: str, contest: str) -> dict[str, str]:
    if _has_other_contests():
        return _make_examples(group, contest)
    examples: dict[str, str] = _index()["examples"][group][contest]
    return examples


def _make_examples(group: str, contest: str) -> dict[str, str]:
    if group == "anonymizers":
        return {"command": anonymize_example(contest), "before": prepare_example(contest)}
    return {"command": attack_example(contest), "before": publish_example(contest)}


def _entry(group: str, name: str) -> dict[str, Any]:
    cls = registry.load(group, name)
    parameters = []
    for parameter in parameters_of(cls):
        is_required = parameter.default is dataclasses.MISSING
        default = None if is_required else parameter.default
        entry = {
            "name": parameter.name,
            "meaning": parameter.meaning,
            "expects": parameter.expectation.text(),
            "default": default,
            "none": parameter.none,
            "typed": output.short(default),
        }
        parameters.append(entry)
    about = {
        "name": name,
        "does": description(group, name),
        "parameters": parameters,
        "group": group,
        "target": registry.target(group, name),
    }
    if group != "rulebooks":
        from kakurenbo.contest import rulebooks_for

        about["rulebooks"] = list(rulebooks_for(cls))
    return about


def _contests(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    return [name for name in registry.names("rulebooks") if name.startswith(typed)]


def _command(name: str, group: str) -> Command:
    params: list[click.Parameter] = [JSON]
    if group != "rulebooks":
        params.insert(0, click.Argument(["rulebook"], required=False, shell_complete=_contests))
    return Command(
        name, params, lambda **values: _print_list(group, **values), code=f"help.{group}"
    )


list_ = Group(
    "list",
    [
        _command("contests", "rulebooks"),
        _command("anonymizers", "anonymizers"),
        _command("attacks", "attacks"),
    ],
)

# -- facts of a contest folder ---------------------------------------------------------------------


def facts_folder(path: Path) -> Path | None:
    """Return the folder with the ``contest.json`` of a contest folder, if it is one."""
    from kakurenbo.contest import CONTEST_FILE

    folders = (path, path / "public")
    return next((folder for folder in folders if (folder / CONTEST_FILE).is_file()), None)


def print_facts(folder: Path, as_json: bool) -> None:
    """Print the facts of the contest whose ``contest.json`` is in a folder."""
    import msgspec

    from kakurenbo.contest import read_facts

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


def _print_facts(rules: Any, facts: Any, now: datetime) -> None:
    from kakurenbo.contest.readme import judges_text, submission_texts, threshold_texts

    settings = (f"{name} {output.short(value)}" for name, value in facts.settings.items())
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
            output.print_line(f"\n{text(title)}")
        for item in items:
            output.print_line(f"- {item}")


def _state(phase: Any, now: datetime) -> str:
    """Return the state of a phase with its times in the time zone of this computer."""
    from kakurenbo.contest.schedule import moment

    opens, closes = (moment(when.astimezone()) for when in (phase.opens, phase.closes))
    title = phase.title(language())
    return text(f"facts.{phase.state(now)}", phase=title, opens=opens, closes=closes)
