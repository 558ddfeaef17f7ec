"""``list``: what is installed, and how to call it."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import click

from kakurenbo.cli.examples import example
from kakurenbo.cli.options import JSON, Command, Group, completion
from kakurenbo.cli.plugins import default_text, description
from kakurenbo.core.messages import escaped, text
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import parameters_of

INDEX = Path(__file__).with_name("listing.json")
"""What this package has, written by ``make reference``: a listing need not load it."""
_KEYS = ("name", "does", "parameters", "rulebooks")
_EXAMPLES = {"anonymizers": ("anonymize", "prepare"), "attacks": ("attack", "publish")}
"""A command with a method of a group, and the command that writes the folder it takes."""
Entries = Mapping[str, Mapping[str, Any]]


def _print_list(group: str, as_json: bool, rulebook: str | None = None) -> None:
    entries = _installed(group)
    if rulebook is not None:
        if rulebook not in registry.names("rulebooks"):
            registry.load("rulebooks", rulebook)  # names the nearest one
        entries = _playing(entries, rulebook)
    if as_json:
        from kakurenbo.cli import output

        output.print_json({group: [_as_json(entry) for entry in entries.values()]})
    elif group == "rulebooks":
        _print_entries(entries)
    else:
        contests = registry.names("rulebooks") if rulebook is None else (rulebook,)
        _print_by_contest(group, entries, contests)


def _as_json(entry: Mapping[str, Any]) -> dict[str, Any]:
    parameters = [
        {**parameter, "none": text(parameter["none"], parameter["none"])}
        for parameter in entry["parameters"]
    ]
    return {**{key: entry[key] for key in _KEYS if key in entry}, "parameters": parameters}


def _playing(entries: Entries, rulebook: str) -> dict[str, Any]:
    return {name: entry for name, entry in entries.items() if rulebook in entry["rulebooks"]}


def _print_by_contest(group: str, entries: Entries, contests: Iterable[str]) -> None:
    """Print the methods of each contest with an example, then those that play none."""
    titles = _installed("rulebooks")
    for contest in contests:
        title = text(f"rulebooks.{contest}", titles[contest]["does"])
        click.echo(f"{click.style(contest, bold=True)}: {escaped(title)}")
        if playing := _playing(entries, contest):
            _print_entries(playing)
            click.echo(text("cli.example_after", **_examples(group, contest)))
        click.echo()
    if idle := {name: entry for name, entry in entries.items() if not entry["rulebooks"]}:
        click.echo(text("cli.plays_nothing"))
        _print_entries(idle)


def _print_entries(entries: Entries) -> None:
    """Print names with what they do, their parameters on the next line; unbroken into a pipe."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
    rows = []
    for name, entry in entries.items():
        rows.append((name, escaped(text(f"{entry['group']}.{name}", entry["does"]))))
        if entry["parameters"]:
            rows.append(("", escaped(", ".join(map(_with_default, entry["parameters"])))))
    formatter = click.HelpFormatter(width=width)
    formatter.write_dl(rows)
    lines = formatter.getvalue().splitlines()
    click.echo("\n".join(line.rstrip() for line in lines))


def _with_default(parameter: Mapping[str, Any]) -> str:
    """Show a parameter with its default, and what none means: ``columns=none (all columns)``."""
    name, default = parameter["name"], parameter["default"]
    none = text(parameter["none"], parameter["none"])
    if default not in (None, "", (), []):
        return f"{name}={default_text(default)}"
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
        for group in _EXAMPLES
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
    command, before = _EXAMPLES[group]
    return {"command": example(command, contest), "before": example(before, contest)}


def _entry(group: str, name: str) -> dict[str, Any]:
    cls = registry.load(group, name)
    parameters = []
    for parameter in parameters_of(cls):
        is_required = parameter.default is dataclasses.MISSING
        entry = {
            "name": parameter.name,
            "meaning": parameter.meaning,
            "expects": parameter.expectation.text(),
            "default": None if is_required else parameter.default,
            "none": parameter.none,
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


def _command(name: str, group: str) -> Command:
    params: list[click.Parameter] = [JSON]
    if group != "rulebooks":
        contests = completion(lambda: registry.names("rulebooks"))
        params.insert(0, click.Argument(["rulebook"], required=False, shell_complete=contests))
    return Command(name, params, lambda **values: _print_list(group, **values), f"help.{group}")


list_ = Group(
    "list",
    [
        _command("contests", "rulebooks"),
        _command("anonymizers", "anonymizers"),
        _command("attacks", "attacks"),
    ],
)
