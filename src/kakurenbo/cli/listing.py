"""``rulebooks``, ``anonymizers``, ``attacks``: what is installed, and how to call it; methods by contest."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import click
from rich.markup import escape
from rich.table import Table

from kakurenbo.cli import output
from kakurenbo.cli.common import described, json_option
from kakurenbo.cli.examples import (
    anonymize_example,
    attack_example,
    prepare_example,
    publish_example,
)
from kakurenbo.contest import rulebooks_for
from kakurenbo.core.messages import text, text_or
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import parameters_of

_EMPTY = '""'


def _list(group: str, as_json: bool, rulebook: str | None = None) -> None:
    found = {
        name: _entry(group, name, registry.load(group, name)) for name in registry.names(group)
    }
    if rulebook is not None:
        registry.load("rulebooks", rulebook)  # tells of a name that is not there
        found = {name: entry for name, entry in found.items() if rulebook in entry["rulebooks"]}
    if as_json:
        output.print_json({group: list(found.values())})
    elif group == "rulebooks":
        output.console().print(_table(found))
    else:
        _print_by_contest(
            group, found, registry.names("rulebooks") if rulebook is None else (rulebook,)
        )


def _print_by_contest(
    group: str, found: Mapping[str, Mapping[str, Any]], rulebooks: Iterable[str]
) -> None:
    """The methods of each contest and how to call one; below them those that play no contest that is installed."""
    console = output.console()
    for rulebook in rulebooks:
        playing = {name: entry for name, entry in found.items() if rulebook in entry["rulebooks"]}
        title = described("rulebooks", rulebook, registry.load("rulebooks", rulebook))
        console.print(f"[bold]{escape(rulebook)}[/]: {escape(title)}")
        if playing:
            console.print(_table(playing))
            console.print(_example(group, rulebook), markup=False)
        console.print()
    if idle := {name: entry for name, entry in found.items() if not entry["rulebooks"]}:
        console.print(text("cli.plays_nothing"))
        console.print(_table(idle))


def _example(group: str, rulebook: str) -> str:
    if group == "anonymizers":
        return text(
            "cli.example_after",
            command=anonymize_example(rulebook),
            before=prepare_example(rulebook),
        )
    return text(
        "cli.example_after", command=attack_example(rulebook), before=publish_example(rulebook)
    )


def _table(found: Mapping[str, Mapping[str, Any]]) -> Table:
    table = output.plain_table(text("cli.name"), text("cli.does"), text("cli.parameters"))
    for name, entry in found.items():
        shown = ", ".join(map(_with_default, entry["parameters"]))
        table.add_row(name, escape(entry["does"]), escape(shown))
    return table


def _with_default(parameter: Mapping[str, Any]) -> str:
    """A parameter with its default, and what that means where it is none or empty: ``columns=none (all columns)``."""
    default, none = parameter["default"], parameter["none"]
    nothing = default in (None, "", ())
    if nothing and default is not None and not none:
        return str(parameter["name"])
    meaning = f" ({none})" if nothing and none else ""
    return f"{parameter['name']}={output.short(default) or _EMPTY}{meaning}"


def _entry(group: str, name: str, cls: Any) -> dict[str, Any]:
    parameters = [
        {
            "name": parameter.name,
            "meaning": parameter.meaning,
            "expects": parameter.expectation.text(),
            "default": None if parameter.default is dataclasses.MISSING else parameter.default,
            "none": text_or(parameter.none, parameter.none),
        }
        for parameter in parameters_of(cls)
    ]
    entry: dict[str, Any] = {
        "name": name,
        "does": described(group, name, cls),
        "parameters": parameters,
    }
    if group != "rulebooks":
        entry["rulebooks"] = list(rulebooks_for(cls))
    return entry


def _command(group: str, about: str) -> click.Command:
    parameters: list[click.Parameter] = [] if group == "rulebooks" else [_rulebook_argument()]
    return click.Command(
        group,
        params=[*parameters, json_option()],
        callback=lambda **values: _list(group, **values),
        help=about,
    )


def _rulebook_argument() -> click.Argument:
    def completing(
        _context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[str]:
        return [name for name in registry.names("rulebooks") if name.startswith(incomplete)]

    return click.Argument(["rulebook"], required=False, shell_complete=completing)


def rulebooks() -> click.Command:
    """The verb."""
    return _command("rulebooks", text("help.rulebooks"))


def anonymizers() -> click.Command:
    """The verb."""
    return _command("anonymizers", text("help.anonymizers"))


def attacks() -> click.Command:
    """The verb."""
    return _command("attacks", text("help.attacks"))
