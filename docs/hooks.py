"""Fills in the parts of the site that the software knows best: its verbs with their options, and its methods."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from kakurenbo import registry
from kakurenbo.cli import VERBS, cli
from kakurenbo.cli.common import first_sentence
from kakurenbo.contracts import rulebooks_for
from kakurenbo.parameters import parameters_of


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by MkDocs for every page."""
    for marker, make in (("<!-- commands -->", _commands), ("<!-- methods -->", _methods)):
        if marker in markdown:
            markdown = markdown.replace(marker, make())
    return markdown


def _commands() -> str:
    context = click.Context(cli, info_name="kakurenbo")
    return "\n\n".join(_command(name, context) for name in VERBS)


def _command(name: str, context: click.Context) -> str:
    command = cli.get_command(context, name)
    assert command is not None
    inner = click.Context(command, parent=context, info_name=name)
    lines = [f"## {name}", "", VERBS[name].capitalize() + ".", "", "```text", _help(command, inner), "```"]
    if isinstance(command, click.Group):
        rulebooks = [sub for sub in command.list_commands(inner) if sub in registry.names("rulebooks")]
        first = command.get_command(inner, rulebooks[0]) if rulebooks else None
        if first is not None and not isinstance(first, click.Group):
            lines += [
                "",
                f"For example with `{rulebooks[0]}`:",
                "",
                "```text",
                _help(first, click.Context(first, parent=inner, info_name=rulebooks[0])),
                "```",
            ]
    return "\n".join(lines)


def _help(command: click.Command, context: click.Context) -> str:
    context.max_content_width = context.terminal_width = 110
    return command.get_help(context).strip()


def _methods() -> str:
    parts = []
    for group in ("rulebooks", "anonymizers", "attacks"):
        parts.append(f"## {group.capitalize()}\n")
        parts += [_method(group, name, registry.load(group, name)) for name in registry.names(group)]
    return "\n".join(parts)


def _method(group: str, name: str, method: Any) -> str:
    plays = "" if group == "rulebooks" else f" Plays {', '.join(rulebooks_for(method)) or 'no installed rulebook'}."
    lines = [f"### {name}", "", _safe(first_sentence(method)) + plays, ""]
    described = parameters_of(method)
    if described:
        lines += ["| parameter | meaning | expects | default |", "| --- | --- | --- | --- |"]
        for parameter in described:
            default = "required" if parameter.default is dataclasses.MISSING else f"`{parameter.default}`"
            lines.append(
                f"| `{parameter.name}` | {_safe(parameter.meaning)} | {_safe(parameter.expectation)} | {_safe(default)} |"
            )
    return "\n".join([*lines, ""])


def _safe(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
