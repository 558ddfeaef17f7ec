"""What the command line says: one JSON object on stdout with ``--json``, else tables for people; problems on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from kakurenbo.cli.console import SafeConsole
from kakurenbo.cli.streams import can_show
from kakurenbo.contest import AnyRulebook, Chance, Credit, Figure, Unit, Utility
from kakurenbo.core import STANDARD_OUTPUT, Problem, Problems, summed_up
from kakurenbo.core.messages import language, retold, text
from kakurenbo.reports.document import constant_answer
from kakurenbo.reports.numbers import against, count, figure, share, shown_value

COUNTED = Figure(Unit.COUNT)
"""What hits are where a contest does not say: things that are counted."""

_ANYTHING = "かくれんぼ–🙈"
DONE, FAILS_RULES, UNUSABLE = 0, 1, 2


def console(*, stderr: bool = False) -> Console:
    """A console that writes to wherever the stream points now; wide lines stay whole when nobody looks."""
    stream = sys.stderr if stderr else sys.stdout
    return SafeConsole(
        file=stream,
        highlight=False,
        emoji=False,
        soft_wrap=not stream.isatty(),
        width=None if stream.isatty() else 160,
    )


def console_beside(out: Path) -> Console:
    """The console for what is said of an output: standard output, unless the output itself goes there."""
    return console(stderr=out == STANDARD_OUTPUT)


def print_json(content: Mapping[str, Any]) -> None:
    """The one JSON object of a call; characters that act on a terminal, or that it does not have, are escaped."""
    dumped = json.dumps(content, ensure_ascii=not can_show(sys.stdout, _ANYTHING), allow_nan=False)
    print("".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in dumped))


def fail(message: str, usage: str, given: Sequence[str]) -> int:
    """Say what is wrong with the call itself; exit code 2."""
    if "--json" in given:
        print_json({"error": message})
    if usage:
        print(usage, file=sys.stderr)
    print(text("cli.error", message=message), file=sys.stderr)
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
    listed = sum(problem.count for problem in problems)
    if total is not None and total > listed:
        print(text("cli.more_problems", count=total - listed), file=sys.stderr)


def plain_table(*headings: str) -> RichTable:
    """A table of the kind all verbs show."""
    table = RichTable(box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        add_column(table, heading)
    return table


def add_column(table: RichTable, heading: str, *, right: bool = False) -> None:
    """A column that loses nothing where it is too narrow: Rich's own way would put an ellipsis for what does not fit."""
    table.add_column(heading, justify="right" if right else "left", overflow="fold")


def titled(title: str, table: RichTable) -> Group:
    """A table below its title, which has the whole width of the terminal, however narrow the table is."""
    return Group(Text(title, "bold"), table)


def print_credit(rulebook: AnyRulebook, credit: Credit) -> None:
    """Hits of a guess beside chance and the constant answer, further figures, and what they mean."""
    out, unit = console(), rulebook.figures.get("hits", COUNTED).unit
    earned = text("credit.hits", hits=figure(credit.hits, unit), of=figure(credit.of, unit))
    out.print(f"{earned} ({share(credit.accuracy)})", markup=False)
    if credit.chance is not None:
        out.print(chance_text(credit.chance, unit), markup=False)
    if credit.constant is not None:
        answer = constant_answer(rulebook.figures.get("constant", Figure()).definitions, language())
        out.print(
            text("constant.hits", answer=answer, constant=figure(credit.constant, unit)),
            markup=False,
        )
    for name, value in credit.details.items():
        declared = rulebook.figures.get(name, Figure())
        of = "" if declared.of is None else text("figure.of", of=count(declared.of))
        out.print(f"{name}: {figure(value, declared.unit)}{of}", markup=False)
    print_definitions(rulebook, ["hits", *credit.details])


def print_definitions(rulebook: AnyRulebook, names: Iterable[str]) -> None:
    """Footnotes: what each of these figures means, where the rulebook says it; one line for figures that share a meaning."""
    print_footnotes(
        {
            name: rulebook.figures[name].definitions.get(language(), "")
            for name in names
            if name in rulebook.figures
        }
    )


def print_footnotes(meanings: Mapping[str, str]) -> None:
    """What figures mean, a line each; those of one meaning together."""
    together: dict[str, list[str]] = {}
    for name, meaning in meanings.items():
        if meaning:
            together.setdefault(meaning, []).append(name)
    if together:
        out = console()
        out.print()
        for meaning, names in together.items():
            out.print(f"[dim]{escape(', '.join(names))}: {escape(meaning)}[/]")


def print_notices(notices: Iterable[Problem | str]) -> None:
    """What was assumed or put right, on stderr."""
    for notice in summed_up(notices):
        print(text("cli.notice", notice=notice), file=sys.stderr)


def print_utility(rulebook: AnyRulebook, utility: Utility) -> None:
    """Scores with their directions beside their thresholds, what limits them, and what they mean."""
    table = RichTable(box=None, pad_edge=False, header_style="bold")
    for heading in ("score", "value", "better", "threshold", "", "limit"):
        words = text(f"measure.{heading}") if heading else ""
        add_column(table, words, right=heading == "value")
    for name, score in utility.scores.items():
        declared, threshold = rulebook.figures.get(name, Figure()), utility.thresholds.get(name)
        value, needed = figure(score.value, declared.unit), ""
        if threshold is not None:
            value, bound = against(score.value, threshold, declared.unit)
            needed = text(
                "measure.at_least" if threshold.minimum else "measure.at_most",
                bound=bound.partition(" ")[2],
            )
        of = "" if declared.of is None else text("figure.of", of=count(declared.of))
        mark = "" if threshold is None else _mark(threshold.met_by(score.value))
        limit = escape(
            ", ".join(
                f"{label(key)} {retold(shown_value(value))}" for key, value in score.limit.items()
            )
        )
        direction = text("figure.higher" if score.higher_is_better else "figure.lower")
        shown_name = f"{name} {declared.label}" if declared.label else name
        table.add_row(shown_name, value + of, direction, needed, mark, limit)
    out = console()
    out.print(table)
    print_definitions(rulebook, utility.scores)
    if utility.thresholds:
        out.print()
        verdict = (
            text("measure.passes")
            if utility.passes
            else text("measure.fails", failed=utility.failed)
        )
        out.print(
            f"[bold]{escape(verdict)}[/]" if utility.passes else f"[bold red]{escape(verdict)}[/]"
        )


def _mark(met: bool) -> str:
    return text("cli.meets") if met else f"[bold red]{text('cli.fails')}[/]"


def chance_text(chance: Chance, unit: Unit) -> str:
    """Blind guessing in words, in hits, which are what the contest says they are."""
    low, mean, high = (figure(value, unit) for value in (chance.low, chance.mean, chance.high))
    return text("chance.hits", mean=mean, low=low, high=high)


def label(name: str) -> str:
    """The name of a figure, as people read it."""
    return retold(name.replace("_", " "))


def short(value: object) -> str:
    """A setting or a claim in words."""
    return "none" if value is None else shown_value(value)
