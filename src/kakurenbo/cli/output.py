"""What the command line says: one JSON object on stdout with ``--json``, else tables for people; problems on stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from kakurenbo.contracts import Chance, Credit, Standing, Utility
from kakurenbo.reporting import Document, RankingLine
from kakurenbo.tables import Problem, Problems

DONE, FAILS_RULES, UNUSABLE, INTERRUPTED = 0, 1, 2, 130


def console(*, stderr: bool = False) -> Console:
    """A console that writes to wherever the stream points now; wide lines stay whole when nobody looks."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, highlight=False, soft_wrap=not stream.isatty(), width=None if stream.isatty() else 160)


def print_json(content: Mapping[str, Any]) -> None:
    """The one JSON object of a call."""
    print(json.dumps(content, ensure_ascii=False, allow_nan=False))


def fail(message: str, usage: str, given: Sequence[str]) -> int:
    """Say what is wrong with the call itself; exit code 2."""
    if "--json" in given:
        print_json({"error": message})
    if usage:
        print(usage, file=sys.stderr)
    print(f"error: {message}", file=sys.stderr)
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
        print(f"notice: {notice}", file=sys.stderr)


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


def print_standings(document: Document) -> None:
    """The rankings, one below the other, and the awards."""
    out = console()
    for name, ranking in document.rankings.items():
        if ranking.lines:
            out.print()
            out.print(standings_table(name.capitalize(), ranking.lines))
    if tables := document.details.get("tables"):
        out.print()
        out.print(_figures("Tables", tables))
    for name, winners in document.awards.items():
        out.print(f"award for {name}: {', '.join(winners) or 'nobody'}", markup=False)


def _figures(title: str, lines: Mapping[str, Mapping[str, float]]) -> RichTable:
    """What scores are made of: a line per release, a column per figure."""
    table = RichTable(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
    table.add_column("table")
    for heading in dict.fromkeys(heading for figures in lines.values() for heading in figures):
        table.add_column(heading, justify="right")
    for name, figures in lines.items():
        table.add_row(escape(name), *(short(figure) for figure in figures.values()))
    return table


def standings_table(
    title: str, lines: Sequence[Standing | RankingLine], extra: Mapping[str, Mapping[str, str]] | None = None
) -> RichTable:
    """One ranking; ``extra`` adds columns by heading and team."""
    table = RichTable(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
    table.add_column("rank", justify="right")
    table.add_column("team")
    table.add_column("points" if any(line.shown for line in lines) else "score", justify="right")
    noted = any(line.note for line in lines)
    for heading in [*(["note"] if noted else []), *(extra or {})]:
        table.add_column(heading)
    for line in lines:
        score = line.shown or ("–" if line.score is None else short(float(line.score)))
        cells = [str(line.rank or "–"), escape(line.team), score, *([line.note] if noted else [])]
        table.add_row(*cells, *(column.get(line.team, "") for column in (extra or {}).values()))
    return table


def chance_text(chance: Chance) -> str:
    """Blind guessing in words."""
    return f"chance {chance.mean:g}, 95% band {chance.low:g}–{chance.high:g}"


def short(value: object) -> str:
    """A value as people want to read it: few digits, lists and mappings in words."""
    if isinstance(value, float):
        return "inf" if math.isinf(value) else f"{value:.6g}"
    if isinstance(value, list):
        return " × ".join(map(short, value))
    if isinstance(value, tuple):
        return ",".join(map(short, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {short(item)}" for key, item in value.items())
    return "none" if value is None else str(value)
