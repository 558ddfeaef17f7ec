"""Rich in the terminal: tables, and progress live on a terminal, else as plain lines."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console, Group
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
)
from rich.table import Table
from rich.text import Text

from kakurenbo.core.messages import escaped, text, translated

if TYPE_CHECKING:  # an audit needs no tournament to be loaded
    from kakurenbo.arena import Job, Result, Tally

_SECONDS_BETWEEN_LINES = 5.0
_NARROW_BAR = 16  # leaves room for what runs
_COSTS = {
    "inference": 8.0,
    "pseudonyms": 4.0,
    "columns": 3.0,
    "run": 3.0,
    "membership": 2.0,
    "linkability": 2.0,
}
"""Approximate costs of the steps of an audit, relative to each other."""
_MIN_SHARE_DONE = 0.25  # of the costs ahead, to estimate the time left

# -- tables ----------------------------------------------------------------------------------------


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


def plain_table(*headings: str, right: Sequence[str] = ()) -> Table:
    """Return a table of the kind all commands show; columns ``right`` are aligned there.

    Columns fold, where Rich would put an ellipsis for what does not fit.
    """
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        justify: Any = "right" if heading in right else "left"
        table.add_column(heading, justify=justify, overflow="fold")
    return table


def titled(title: str, table: Table) -> Group:
    """Put a title above a table, with the whole width of the terminal."""
    return Group(Text(title, "bold"), table)


# -- progress --------------------------------------------------------------------------------------


class LiveProgress:
    """A progress bar on stderr where that is a terminal; prints nothing where ``quiet``."""

    def __init__(self, *columns: ProgressColumn, quiet: bool) -> None:
        self.is_quiet, self.is_live = quiet, not quiet and sys.stderr.isatty()
        self.console = console(stderr=True)
        self.bar = Progress(
            *columns, console=self.console, transient=True, disable=not self.is_live
        )

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()


class TournamentProgress(LiveProgress):
    """The contest, its jobs done, running and failed, and the time left."""

    def __init__(self, contest: str, *, quiet: bool) -> None:
        super().__init__(
            TextColumn(escape(contest)),
            TextColumn("{task.description:12.12}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("[dim]{task.fields[state]}"),
            quiet=quiet,
        )
        self._contest, self._last_line = contest, time.monotonic()
        self._task = self.bar.add_task("", total=None, state="")

    def tell(self, tally: Tally, job: Job | None, result: Result | None) -> None:
        """Show a change."""
        if self.is_quiet:
            return
        if job is not None and result is not None and result.state == "failed":
            cause = escape(translated(result.reason))
            self.console.print(
                f"[bold red]{text('cli.failed')}[/] {escape(translated(job.text))}: {cause}"
            )
        done, state = tally.finished, state_text(tally)
        stage = text(f"word.{job.kind}", job.kind) if job is not None else ""
        shown = {"completed": done, "total": tally.total, "description": stage}
        self.bar.update(self._task, **shown, state=state)  # type: ignore[arg-type]
        now = time.monotonic()
        is_due = done == tally.total or now - self._last_line >= _SECONDS_BETWEEN_LINES
        if not self.is_live and is_due:
            counts = {"contest": self._contest, "done": done, "all": tally.total}
            print(text("cli.jobs", **counts, state=state), file=sys.stderr, flush=True)
            self._last_line = now


def state_text(tally: Tally) -> str:
    """Return the counts of jobs in words."""
    counts = {
        "cli.jobs_stored": tally.stored,
        "cli.jobs_failed": tally.failed,
        "cli.jobs_refused": tally.refused,
    }
    parts = [text("cli.jobs_running", count=tally.running)]
    parts += [text(code, count=count) for code, count in counts.items() if count]
    if tally.seconds_left is not None and tally.finished < tally.total:
        minutes, seconds = divmod(round(tally.seconds_left), 60)
        parts.append(text("cli.time_left", time=f"{minutes}:{seconds:02d}"))
    return text("list.separator").join(parts)


class AuditProgress(LiveProgress):
    """Steps of an audit: the time of those that are done, and what runs now.

    Steps run in threads, so each line is written whole.

    Parameters
    ----------
    steps : sequence of str
        Those that are known to come; others may follow.
    """

    def __init__(self, steps: Sequence[str], *, quiet: bool) -> None:
        columns = SpinnerColumn(), BarColumn(_NARROW_BAR), MofNCompleteColumn()
        super().__init__(*columns, TextColumn("{task.description}"), quiet=quiet)
        self._part, self._done, self._cost = "", 0, 0.0
        self._ahead, self._running = list(steps), dict[str, float]()
        self._lock, self._start = threading.Lock(), time.monotonic()
        self._task = self.bar.add_task("")

    def of(self, part: str) -> None:
        """Name the release, one of several, that the steps that follow are about."""
        self._part = part

    def __call__(self, name: str) -> None:
        """Show that a step begins."""
        with self._lock:
            self._running[name] = time.monotonic()
            if name in self._ahead:
                self._ahead.remove(name)
            self._draw()

    def ended(self, name: str) -> None:
        """Show that a step is done."""
        with self._lock:
            seconds = time.monotonic() - self._running.pop(name)
            self._done, self._cost = self._done + 1, self._cost + _COSTS.get(name, 0.5)
            line = text("cli.step_done", step=_step_text(name), time=duration_text(seconds))
            line = text("cli.part_of", part=self._part, told=line) if self._part else line
            if self.is_live:
                self.console.print(line, style="dim", markup=False)
            elif not self.is_quiet:
                print(line, file=sys.stderr, flush=True)
            self._draw()

    def _draw(self) -> None:
        shown = [_step_text(name) for name in self._running]
        open_steps = [*self._running, *self._ahead]
        ahead = sum(_COSTS.get(name, 0.5) for name in open_steps)
        if ahead and self._cost > _MIN_SHARE_DONE * ahead:
            left = (time.monotonic() - self._start) / self._cost * ahead
            shown.append(text("cli.time_left", time=duration_text(left)))
        total, line = self._done + len(open_steps), escape(text("list.separator").join(shown))
        self.bar.update(self._task, completed=self._done, total=total, description=line)


def _step_text(name: str) -> str:
    return text(f"audit.step.{name}")


def duration_text(seconds: float) -> str:
    """Return a time as people say it.

    Examples
    --------
    >>> duration_text(0.31), duration_text(12.4), duration_text(125)
    ('0.3 s', '12 s', '2 min 5 s')
    """
    if seconds < 10:
        return text("cli.seconds", seconds=f"{seconds:.1f}")
    minutes, rest = divmod(round(seconds), 60)
    if minutes:
        return text("cli.minutes", minutes=minutes, seconds=rest)
    return text("cli.seconds", seconds=rest)
