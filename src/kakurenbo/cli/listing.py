"""``rulebooks``, ``anonymizers``, ``attacks``: what is installed, one line each, with parameters and defaults."""

from __future__ import annotations

import dataclasses
from typing import Any

import click
from rich.markup import escape
from rich.table import Table

from kakurenbo import registry
from kakurenbo.cli import output
from kakurenbo.cli.common import first_sentence, json_option
from kakurenbo.contracts import rulebooks_for
from kakurenbo.parameters import parameters_of


def _list(group: str, as_json: bool) -> None:
    found = {name: registry.load(group, name) for name in registry.names(group)}
    if as_json:
        output.print_json({group: [_entry(group, name, cls) for name, cls in found.items()]})
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "does", "parameters"):
        table.add_column(heading)
    for name, cls in found.items():
        entry = _entry(group, name, cls)
        shown = ", ".join(f"{item['name']}={output.short(item['default'])}" for item in entry["parameters"])
        table.add_row(name, escape(entry["does"]), escape(shown))
    output.console().print(table)


def _entry(group: str, name: str, cls: Any) -> dict[str, Any]:
    parameters = [
        {
            "name": described.name,
            "meaning": described.meaning,
            "expects": described.expectation,
            "default": None if described.default is dataclasses.MISSING else described.default,
        }
        for described in parameters_of(cls)
    ]
    entry: dict[str, Any] = {"name": name, "does": getattr(cls, "title", None) or first_sentence(cls), "parameters": parameters}
    if group != "rulebooks":
        entry["rulebooks"] = list(rulebooks_for(cls))
    return entry


def _command(group: str) -> click.Command:
    return click.Command(
        group,
        params=[json_option],
        callback=lambda as_json: _list(group, as_json),
        help=f"List the {group} that are installed.",
    )


rulebooks = _command("rulebooks")
anonymizers = _command("anonymizers")
attacks = _command("attacks")
