"""Write the reference pages again from what the software knows best: its verbs, methods, problem codes and exported names.

``make reference`` fills what stands between a pair of markers, ``<!-- commands -->`` and ``<!-- end of commands -->``, on every
page of ``docs``, and blocks of code after ``<!-- code: PATH:SECTION -->``. With ``--check`` nothing is written, and stale pages
are named. The pages are kept in the repository, so that a clone can be read as it is.
"""

from __future__ import annotations

import os

os.environ["KAKURENBO_LANG"] = "en"  # the pages are English, whatever the locale of who makes them

import argparse
import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from scripts import package_diagram

import kakurenbo
from kakurenbo.audit.api import audit
from kakurenbo.audit.result import AuditResult
from kakurenbo.cli import VERBS, command_line
from kakurenbo.cli.listing import INDEX, make_index
from kakurenbo.cli.plugins import default_text, description, meaning
from kakurenbo.contest import ContestFacts, rulebooks_for
from kakurenbo.core import json_bytes, messages
from kakurenbo.core.messages.po import parse_po
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import parameters_of

REPOSITORY = Path(__file__).resolve().parent.parent
DIAGRAM = REPOSITORY / "docs" / "images" / "packages.svg"
_CODE = re.compile(
    r"(?P<head><!-- code: (?P<path>[^\s:]+)(?::(?P<section>\w+))? -->\n(?:<!--[^\n]*-->\n)*(?P<fence>```+)\w+\n)"
    r".*?(?P<tail>^(?P=fence)$)",
    re.M | re.S,
)
_PAIR = re.compile(r"<!-- (?P<name>[\w.]+) -->\n.*?<!-- end of (?P=name) -->", re.S)
_NO_PROBLEMS = frozenset(
    [
        "anonymizers",
        "attacks",
        "anonymize",
        "api",
        "argument",
        "attack",
        "audit",
        "chart",
        "claim",
        "cli",
        "count",
        "errno",
        "error",
        "expects",
        "fetch",
        "help",
        "judge_api",
        "judge_client",
        "judge_phase",
        "judge_serve",
        "knowledge",
        "list",
        "option",
        "page",
        "player",
        "probabilities",
        "rulebooks",
        "schema",
        "status",
        "submission",
        "submit",
        "usage",
        "verb",
        "verification",
        "word",
    ]
)
"""First words of codes that are no problems of inputs."""
_ROOMS = ("contest", "core")
"""Packages with a page of their own; what else the top-level package exports stands on its page."""
_CALLED = "audit"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 where a page is stale"
    )
    check: bool = parser.parse_args().check
    stale = []
    for page in sorted((REPOSITORY / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        with messages.speaking("ja" if (REPOSITORY / "docs" / "ja") in page.parents else "en"):
            filled = _CODE.sub(_quoted, _PAIR.sub(_filled, text))
        if filled != text:
            stale.append(str(page.relative_to(REPOSITORY)))
            if not check:
                page.write_text(filled, encoding="utf-8")
    diagram = package_diagram.draw()
    if not DIAGRAM.is_file() or DIAGRAM.read_text(encoding="utf-8") != diagram:
        stale.append(str(DIAGRAM.relative_to(REPOSITORY)))
        if not check:
            DIAGRAM.write_text(diagram, encoding="utf-8")
    index = json_bytes(make_index())
    if INDEX.read_bytes() != index:
        stale.append(str(INDEX.relative_to(REPOSITORY)))
        if not check:
            INDEX.write_bytes(index)
    print("\n".join(stale) or "every reference page is fresh")
    sys.exit(check and bool(stale))


def _filled(pair: re.Match[str]) -> str:
    name = pair["name"]
    if name.startswith("kakurenbo."):
        text = _names(name)
    elif name in _FILLED_IN:
        text = _FILLED_IN[name]()
    else:  # made by another script
        return pair[0]
    return f"<!-- {name} -->\n\n{text.strip()}\n\n<!-- end of {name} -->"


def _quoted(block: re.Match[str]) -> str:
    """A block of code as its file, or a section of it, has it."""
    text = (REPOSITORY / block["path"]).read_text(encoding="utf-8")
    if name := block["section"]:
        text = text.partition(f"# [start:{name}]\n")[2].partition(f"# [end:{name}]")[0]
    code = text.rstrip().strip("\n")
    if not code:
        sys.exit(f"{block['path']} has no section {name}")
    return f"{block['head']}{code}\n{block['tail']}"


# -- commands ----------------------------------------------------------------------------------------------------------


def _commands() -> str:
    context = click.Context(command_line(), info_name="kakurenbo")
    return "\n\n".join(_command(name, context) for name in VERBS)


def _command(name: str, context: click.Context) -> str:
    assert isinstance(context.command, click.Group)
    command = context.command.get_command(context, name)
    assert command is not None
    inner = click.Context(command, parent=context, info_name=name)
    does = messages.text(VERBS[name])
    sentence = f"{does}。" if messages.language() == "ja" else f"{does.capitalize()}."
    # An anchor of its own, because docstrings refer to the type.
    anchor = " { #list-installed }" if name == "list" else ""
    lines = [f"## {name}{anchor}", "", sentence, "", "```text", _help(command, inner), "```"]
    if isinstance(command, click.Group):
        for title, text in _below(command, inner):
            lines += [
                "",
                f'<details markdown="1"><summary>{title}</summary>',
                "",
                "```text",
                text,
                "```",
                "",
                "</details>",
            ]
    return "\n".join(lines)


def _below(group: click.Group, context: click.Context) -> Iterator[tuple[str, str]]:
    """Every subcommand with its help; of the methods of a rulebook, which are many, the first."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, parent=context, info_name=name)
        yield inner.command_path.removeprefix("kakurenbo "), _help(command, inner)
        if isinstance(command, click.Group):
            method = next(iter(command.list_commands(inner)), None)
            below = command.get_command(inner, method) if method else None
            if below is not None:
                innermost = click.Context(below, parent=inner, info_name=method)
                yield innermost.command_path.removeprefix("kakurenbo "), _help(below, innermost)


def _help(command: click.Command, context: click.Context) -> str:
    context.max_content_width = context.terminal_width = 110
    return "\n".join(line.rstrip() for line in command.get_help(context).strip().splitlines())


# -- methods -----------------------------------------------------------------------------------------------------------


def _methods() -> str:
    parts = []
    japanese = {"rulebooks": "ルールブック", "anonymizers": "匿名加工手法", "attacks": "攻撃"}
    for group in japanese:
        parts.append(
            f"## {japanese[group] if messages.language() == 'ja' else group.capitalize()}\n"
        )
        parts += [
            _method(group, name, registry.load(group, name)) for name in registry.names(group)
        ]
    return "\n".join(parts)


def _method(group: str, name: str, method: Any) -> str:
    lines = [f"### {name}", "", _safe(description(group, name)) + _plays(group, method), ""]
    parameters = parameters_of(method)
    if parameters:
        japanese = messages.language() == "ja"
        heads = (
            ("パラメータ", "意味", "値", "既定値")
            if japanese
            else ("parameter", "meaning", "expects", "default")
        )
        lines += [f"| {' | '.join(heads)} |", "| --- | --- | --- | --- |"]
        for parameter in parameters:
            told = (
                _safe(meaning(group, name, parameter)),
                _safe(parameter.expectation.text()),
                _default(parameter.default),
            )
            lines.append(f"| `{parameter.name}` | {' | '.join(told)} |")
    return "\n".join([*lines, ""])


def _default(value: object) -> str:
    """A default as it would be typed."""
    if value is dataclasses.MISSING:
        return "必須" if messages.language() == "ja" else "required"
    typed = default_text(value).replace("|", "\\|")
    return f"`{typed}`" if typed else '`""`'


def _plays(group: str, method: Any) -> str:
    """For which contests a method is, as a further sentence."""
    if group == "rulebooks":
        return ""
    rulebooks = rulebooks_for(method)
    if messages.language() == "ja":
        return f" 使えるコンテスト: {'、'.join(rulebooks) or 'なし'}。"
    return f" Plays {', '.join(rulebooks) or 'no installed rulebook'}."


# -- problems ----------------------------------------------------------------------------------------------------------


def _problems() -> str:
    """Every code of a problem with its message and fix, by the first word of the code."""
    english, japanese = (_catalogue(language) for language in ("en", "ja"))
    parts = []
    group = ""
    for code in english:
        first = code.partition(".")[0]
        if first in _NO_PROBLEMS or code.endswith(".fix"):
            continue
        if first != group:
            group = first
            parts += ["", f"## {first}", "", "| code | English | 日本語 |", "| --- | --- | --- |"]
        parts.append(f"| `{code}` | {_shown(english, code)} | {_shown(japanese, code)} |")
    return "\n".join([*parts[1:], ""])


def _catalogue(language: str) -> dict[str, str]:
    path = Path(messages.__file__).with_name(f"{language}.po")
    return {entry.id: entry.forms[-1] for entry in parse_po(path.read_text(encoding="utf-8"))[1:]}


def _shown(catalogue: dict[str, str], code: str) -> str:
    fix = catalogue.get(f"{code}.fix")
    return _safe(f"{catalogue[code]}<br>→ {fix}" if fix else catalogue[code], breaks=True)


# -- the library -------------------------------------------------------------------------------------------------------


def _exports() -> str:
    """The names that ``import kakurenbo`` offers, each linked to where it is described."""
    lines = ["| name | is |", "| --- | --- |"]
    for name in kakurenbo.__all__:
        value = getattr(kakurenbo, name)
        if name == _CALLED:  # a package that can be called stands for its function
            lines.append(f"| [`{name}`]({name}.md) | {_safe(_told(audit))} |")
            continue
        room = next(
            (room for room in _ROOMS if name in import_module(f"kakurenbo.{room}").__all__), ""
        )
        described = room and not isinstance(value, str)  # a constant has no entry of its own
        shown = f"[`{name}`]({room}.md#kakurenbo.{room}.{name})" if described else f"`{name}`"
        lines.append(f"| {shown} | {_safe(_told(value))} |")
    return "\n".join(lines)


def _audit_call() -> str:
    """The signature of ``kakurenbo.audit`` and what its result can do, each with its docstring, for readers of a clone."""
    return "\n\n".join(
        f"```text\n{name}{_signature(function)}\n\n{inspect.cleandoc(function.__doc__ or '')}\n```"
        for name, function in (
            ("kakurenbo.audit", audit),
            ("AuditResult.write_report", AuditResult.write_report),
        )
    )


def _signature(function: Any) -> str:
    """Parameters and result, one in a line."""
    signature = inspect.signature(function)
    lines: list[str] = []
    for one in signature.parameters.values():
        lines += ["    *,"] if one.kind is one.KEYWORD_ONLY and "    *," not in lines else []
        default = "" if one.default is one.empty else f" = {one.default!r}"
        lines += [f"    {one.name}: {one.annotation}{default},"] if one.name != "self" else []
    return "\n".join(["(", *lines, f") -> {signature.return_annotation}"])


def _names(package: str) -> str:
    """The names of one package, those with an entry further down the page linked to it."""
    module = import_module(package)
    here = [
        name
        for name, value in vars(module).items()
        if _documented(value) and value.__module__ == package and name[0] != "_"
    ]
    lines = ["| name | is |", "| --- | --- |"]
    for name in getattr(module, "__all__", here):
        value = getattr(module, name)
        # A module of the same name hides it, and a second name of a class has no entry of its own.
        hidden = f"{package}.{name}" in sys.modules or getattr(value, "__name__", name) != name
        shown = (
            f"[`{name}`](#{package}.{name})" if _documented(value) and not hidden else f"`{name}`"
        )
        lines.append(f"| {shown} | {_safe(_told(value))} |")
    return "\n".join(lines)


def _documented(value: Any) -> bool:
    return inspect.isclass(value) or inspect.isfunction(value)


def _told(value: Any) -> str:
    """The first sentence of what documents itself; the value of a constant."""
    if _documented(value):
        text = inspect.cleandoc(value.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        return text.replace("``", "`")
    return f"`{value!r}`" if isinstance(value, str) else "a type"


def _facts() -> str:
    """The keys of contest.json, in their order, with the words of the class."""
    told: dict[str, str] = {}
    names: list[str] = []
    attributes = inspect.cleandoc(ContestFacts.__doc__ or "").partition("----------\n")[2]
    for line in attributes.splitlines():
        if not line.startswith(" "):
            names = line.partition(" : ")[0].split(", ")
            told |= dict.fromkeys(names, "")
        else:
            told |= {name: f"{told[name]} {line.strip()}".strip() for name in names}
    rows = [
        f"| `{field.name}` | {_safe(told[field.name]).replace('``', '`')} |"
        for field in dataclasses.fields(ContestFacts)
    ]
    return "\n".join(["| key | holds |", "| --- | --- |", *rows])


def _safe(text: str, *, breaks: bool = False) -> str:
    safe = text.replace("|", "\\|").replace("<", "&lt;")
    return safe.replace("&lt;br>", "<br>") if breaks else safe


def _benchmarks() -> str:
    """What ``make bench`` wrote, without its heading."""
    return (REPOSITORY / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8").partition("\n")[2]


_FILLED_IN = {
    "commands": _commands,
    "methods": _methods,
    "problems": _problems,
    "exports": _exports,
    "audit_call": _audit_call,
    "contest.json": _facts,
    "benchmarks": _benchmarks,
    "packages": package_diagram.table,
}

if __name__ == "__main__":
    main()
