"""Output of commands: one JSON object on stdout with ``--json``, else tables; problems on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from kakurenbo.cli.main import DONE, FAILS_RULES, UNUSABLE, can_show
from kakurenbo.core.files import STANDARD_OUTPUT
from kakurenbo.core.messages import escaped, text, translated
from kakurenbo.core.problems import Problem, Problems, group_notices

if TYPE_CHECKING:
    from kakurenbo.contest import Chance, Unit

__all__ = ["DONE", "FAILS_RULES", "UNUSABLE"]
_ANYTHING = "かくれんぼ–🙈"


class SafeConsole(Console):
    """Escapes characters that act on a terminal, within tables line ends too.

    Into a file or a pipe no line ends with blanks.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as usual; a text that is printed by itself keeps its line ends."""
        markup = options.get("markup")
        shown = [self._lines(one, markup) if isinstance(one, str) else one for one in objects]
        if self.is_terminal:
            super().print(*shown, **options)
            return
        with self.capture() as captured:
            super().print(*shown, **options)
        # Rich fills columns up to their width, which only a terminal needs.
        self.file.write("\n".join(line.rstrip(" ") for line in captured.get().split("\n")))

    def render_str(self, text: str, **options: Any) -> Text:
        """Render a cell, a title, or another text within something."""
        return super().render_str(escaped(text), **options)

    def _lines(self, text: str, markup: bool | None) -> Text:
        return super().render_str("\n".join(map(escaped, text.split("\n"))), markup=markup)


def console(*, stderr: bool = False) -> Console:
    """Return a console on a standard stream; in a pipe wide lines stay whole."""
    stream = sys.stderr if stderr else sys.stdout
    is_terminal = stream.isatty()
    width = None if is_terminal else 160
    return SafeConsole(
        file=stream, highlight=False, emoji=False, soft_wrap=not is_terminal, width=width
    )


def console_beside(out: Path) -> Console:
    """Return the console for remarks on an output: stderr if the output itself goes to stdout."""
    return console(stderr=out == STANDARD_OUTPUT)


def print_line(line: str, out: Path | None = None) -> None:
    """Print a line as it is, beside an output if there is one."""
    (console() if out is None else console_beside(out)).print(line, markup=False)


def print_file(out: Path, what: object) -> None:
    """Print a line on a file that was written."""
    print_line(text("cli.file", file=str(out), what=what), out)


def print_json(content: Mapping[str, Any]) -> None:
    """Print the one JSON object of a call; escape what acts on a terminal or what it lacks."""
    is_ascii = not can_show(sys.stdout.encoding, _ANYTHING)
    dumped = json.dumps(content, ensure_ascii=is_ascii, allow_nan=False)
    print("".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in dumped))


def refuse(problems: Problems, as_json: bool) -> int:
    """Print every problem; return 1 if the input is well-formed but against the rules, else 2."""
    if as_json:
        listed = [problem.as_json() for problem in problems]
        count = {"problem_count": problems.total, "problems": listed}
        print_json({"valid": False, "passes": False, **count})
    print_problems(problems, problems.total)
    return UNUSABLE if problems.malformed else FAILS_RULES


def print_problems(problems: Sequence[Problem], total: int | None = None) -> None:
    """Print every listed problem on stderr, and how many more there are."""
    for problem in problems:
        print(problem, file=sys.stderr)
    listed = sum(problem.count for problem in problems)
    if total is not None and total > listed:
        print(text("cli.more_problems", count=total - listed), file=sys.stderr)


def print_notices(notices: Iterable[Problem | str]) -> None:
    """Print on stderr what was assumed or corrected."""
    for notice in group_notices(notices):
        said = notice.as_message() if isinstance(notice, Problem) else notice
        print(text("cli.notice", notice=said), file=sys.stderr)


def plain_table(*headings: str) -> Table:
    """Return a table of the kind all commands show."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        add_column(table, heading)
    return table


def add_column(table: Table, heading: str, *, right: bool = False) -> None:
    """Add a column that folds, where Rich would put an ellipsis for what does not fit."""
    table.add_column(heading, justify="right" if right else "left", overflow="fold")


def titled(title: str, table: Table) -> Group:
    """Put a title above a table, with the whole width of the terminal."""
    return Group(Text(title, "bold"), table)


def label(name: str) -> str:
    """Return the name of a figure, as people read it."""
    return text(f"word.{name}", name.replace("_", " "))


def short(value: object) -> str:
    """Return a setting or a claim in words."""
    if value is None:
        return text("word.none")
    if isinstance(value, str):
        return translated(value)
    from kakurenbo.reports.numbers import shown_value  # loads tables, which listings do without

    return shown_value(value)


def chance_text(chance: Chance, unit: Unit) -> str:
    """Return blind guessing in words, in hits of the contest's unit."""
    from kakurenbo.reports.numbers import figure

    low, mean, high = (figure(value, unit) for value in (chance.low, chance.mean, chance.high))
    return text("chance.hits", mean=mean, low=low, high=high)
