"""What the command line says: one JSON object on stdout with ``--json``, else tables for people; problems on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from kakurenbo.cli.streams import SafeConsole, can_show
from kakurenbo.contracts import Chance, Credit, Utility
from kakurenbo.messages import escaped
from kakurenbo.reporting.numbers import number
from kakurenbo.tables import STANDARD_OUTPUT, Problem, Problems

_ANYTHING = "かくれんぼ–🙈"
DONE, FAILS_RULES, UNUSABLE = 0, 1, 2


def console(*, stderr: bool = False) -> Console:
    """A console that writes to wherever the stream points now; wide lines stay whole when nobody looks."""
    stream = sys.stderr if stderr else sys.stdout
    return SafeConsole(
        file=stream, highlight=False, emoji=False, soft_wrap=not stream.isatty(), width=None if stream.isatty() else 160
    )


def console_beside(out: Path) -> Console:
    """The console for what is said of an output: standard output, unless the output itself goes there."""
    return console(stderr=out == STANDARD_OUTPUT)


def print_json(content: Mapping[str, Any]) -> None:
    """The one JSON object of a call; characters that act on a terminal, or that it does not have, are escaped."""
    text = json.dumps(content, ensure_ascii=not can_show(sys.stdout, _ANYTHING), allow_nan=False)
    print("".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text))


def fail(message: str, usage: str, given: Sequence[str]) -> int:
    """Say what is wrong with the call itself; exit code 2."""
    if "--json" in given:
        print_json({"error": message})
    if usage:
        print(usage, file=sys.stderr)
    print(f"error: {escaped(message)}", file=sys.stderr)
    return UNUSABLE


def refuse(problems: Problems, as_json: bool) -> int:
    """Print every problem; exit code 1 where the input is well-formed but against the rules, else 2."""
    if as_json:
        print_json(
            {
                "valid": False,
                "passes": False,
                "problem_count": problems.total,
                "problems": [problem.as_json() for problem in problems],
            }
        )
    print_problems(problems, problems.total)
    return UNUSABLE if problems.malformed else FAILS_RULES


def print_problems(problems: Sequence[Problem], total: int | None = None) -> None:
    """Every listed problem on stderr, and how many more there are."""
    for problem in problems:
        print(problem, file=sys.stderr)
    hidden = (len(problems) if total is None else total) - len(problems)
    if hidden > 0:
        print(f"… and {hidden:,} more", file=sys.stderr)


def plain_table(*headings: str) -> RichTable:
    """A table of the kind all verbs show."""
    table = RichTable(box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        table.add_column(heading)
    return table


def hits(credit: Credit) -> str:
    """A credit in a cell: whole numbers as counts."""
    return f"{credit.hits:,.0f}" if float(credit.hits).is_integer() else f"{credit.hits:,.2f}"


def print_credit(credit: Credit) -> None:
    """Hits of a guess beside chance and the best constant answer, and further figures."""
    beside = [chance_text(credit.chance)] if credit.chance else []
    if credit.constant is not None:
        beside.append(f"the best constant answer {short(credit.constant)}")
    of = Credit(credit.of, credit.of)
    compared = f" ({'; '.join(beside)})" if beside else ""
    console().print(f"{hits(credit)} of {hits(of)}{compared}", markup=False)
    for name, value in credit.details.items():
        console().print(f"{name}: {short(value)}", markup=False)


def print_notices(notices: Iterable[Problem | str]) -> None:
    """What was assumed or put right, on stderr."""
    for notice in notices:
        print(f"notice: {escaped(str(notice))}", file=sys.stderr)


def print_utility(utility: Utility) -> None:
    """Scores beside their thresholds and what limits them."""
    table = RichTable(box=None, pad_edge=False, header_style="bold")
    for heading in ("score", "value", "threshold", "", "what limits it"):
        table.add_column(heading, justify="right" if heading == "value" else "left", overflow="fold")
    for name, score in utility.scores.items():
        threshold = utility.thresholds.get(name)
        mark = "" if threshold is None else ("ok" if threshold.met_by(score.value) else "[bold red]FAILS[/]")
        limit = escape(", ".join(f"{key} {short(value)}" for key, value in score.limit.items()))
        table.add_row(name, short(score.value), str(threshold or ""), mark, limit)
    out = console()
    out.print(table)
    if utility.thresholds:
        failed = ", ".join(utility.failed)
        out.print("[bold]passes[/] every threshold" if utility.passes else f"[bold red]disqualified[/] by {failed}")


def chance_text(chance: Chance) -> str:
    """Blind guessing in words."""
    return f"chance {chance.mean:g}, 95% band {chance.low:g}–{chance.high:g}"


def short(value: object) -> str:
    """A value as people want to read it: few digits, lists and mappings in words."""
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list):
        return " × ".join(map(short, value))
    if isinstance(value, tuple):
        return ",".join(map(short, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {short(item)}" for key, item in value.items())
    return "none" if value is None else str(value)
