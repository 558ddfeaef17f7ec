"""Output of commands: one JSON object on stdout with ``--json``, else lines; problems on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kakurenbo.cli.main import DONE, FAILS_RULES, UNUSABLE, can_show
from kakurenbo.core.files import STANDARD_OUTPUT
from kakurenbo.core.messages import escaped, text, translated
from kakurenbo.core.problems import Problem, Problems, group_notices

__all__ = ["DONE", "FAILS_RULES", "UNUSABLE"]
_ANYTHING = "かくれんぼ–🙈"


def print_json(content: Mapping[str, Any]) -> None:
    """Print the one JSON object of a call; escape what acts on a terminal or what it lacks."""
    is_ascii = not can_show(sys.stdout.encoding, _ANYTHING)
    dumped = json.dumps(content, ensure_ascii=is_ascii, allow_nan=False)
    print("".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in dumped))


def print_line(line: str, out: Path | None = None) -> None:
    """Print a line, on stderr if the output that it is about goes to stdout."""
    stream = sys.stderr if out == STANDARD_OUTPUT else sys.stdout
    print("\n".join(map(escaped, line.split("\n"))), file=stream)


def print_file(out: Path, what: object) -> None:
    """Print a line on a file that was written."""
    print_line(text("cli.file", file=str(out), what=what), out)


def refuse(problems: Problems, as_json: bool) -> int:
    """Print every problem; return 1 if the input is well-formed but against the rules, else 2."""
    if as_json:
        listed = [problem.as_json() for problem in problems]
        count = {"problem_count": problems.total, "problems": listed}
        print_json({"valid": False, "passes": False, **count})
    print_problems(problems, problems.total)
    return exit_code(problems)


def exit_code(problems: Problems | None) -> int:
    """Return the exit code of a call with these problems."""
    if not problems:
        return DONE
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


def value_text(value: object) -> str:
    """Return a setting or a claim in words."""
    if value is None:
        return text("word.none")
    if isinstance(value, str):
        return translated(value)
    from kakurenbo.reports.numbers import shown_value  # loads tables, which listings do without

    return shown_value(value)
