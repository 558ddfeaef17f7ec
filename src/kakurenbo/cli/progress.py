"""How far a tournament or an audit is: a live display where there is a terminal, plain lines where there is none."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from kakurenbo.cli import output
from kakurenbo.core.messages import retold, text

if TYPE_CHECKING:  # an audit needs no tournament to be loaded
    from kakurenbo.arena import Job, Result, Tally

_LINE_EVERY = 5.0  # seconds between plain lines
_FAILED = "failed"
_NARROW_BAR = 16  # leaves room for what runs
_COSTS = {
    "inference": 8.0,
    "pseudonyms": 4.0,
    "columns": 3.0,
    "run": 3.0,
    "membership": 2.0,
    "linkability": 2.0,
}
"""About how long steps of an audit take beside each other."""
_ENOUGH_DONE = 0.25  # of what is ahead, to say how long that takes


class TournamentProgress:
    """The contest, its jobs done, running and failed, and the time left, on stderr; says nothing where ``quiet``."""

    def __init__(self, contest: str, *, quiet: bool) -> None:
        self._contest, self._quiet = contest, quiet
        self._live = not quiet and sys.stderr.isatty()
        self._console = output.console(stderr=True)
        columns = (
            TextColumn(escape(contest)),
            TextColumn("{task.description:12.12}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("[dim]{task.fields[state]}"),
        )
        self._bar = Progress(
            *columns, console=self._console, transient=True, disable=not self._live
        )
        self._task: Any = None
        self._last_line = time.monotonic()

    def __enter__(self) -> TournamentProgress:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def tell(self, tally: Tally, job: Job | None, result: Result | None) -> None:
        """Called after every change."""
        if self._quiet:
            return
        if job is not None and result is not None and result.state == _FAILED:
            self._console.print(
                f"[bold red]{text('cli.failed')}[/] {escape(str(job))}: {escape(retold(result.cause))}"
            )
        if self._live:
            if self._task is None:
                self._task = self._bar.add_task("", total=tally.total, state="")
            stage = retold(job.kind) if job is not None else ""
            self._bar.update(
                self._task, completed=tally.finished, description=stage, state=state_text(tally)
            )
        elif time.monotonic() - self._last_line >= _LINE_EVERY or tally.finished == tally.total:
            told = text(
                "cli.jobs",
                contest=self._contest,
                done=tally.finished,
                all=tally.total,
                state=state_text(tally),
            )
            print(told, file=sys.stderr, flush=True)
            self._last_line = time.monotonic()


class AuditProgress:
    """The steps of an audit on stderr: how long each took that is done, and what runs now; says nothing where ``quiet``.

    Parameters
    ----------
    steps : sequence of str
        Those that are known to come; others may follow.

    Notes
    -----
    Steps run in threads: each line is written whole.
    """

    def __init__(self, steps: Sequence[str], *, quiet: bool) -> None:
        self._quiet, self._part = quiet, ""
        self._to_come, self._done = list(steps), 0
        self._lock, self._begun, self._cost = threading.Lock(), time.monotonic(), 0.0
        self._running: dict[str, float] = {}
        self._live = not quiet and sys.stderr.isatty()
        self._console = output.console(stderr=True)
        columns = (
            SpinnerColumn(),
            BarColumn(_NARROW_BAR),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
        )
        self._bar = Progress(
            *columns, console=self._console, transient=True, disable=not self._live
        )
        self._task = self._bar.add_task("", total=len(steps))

    def __enter__(self) -> AuditProgress:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def of(self, part: str) -> None:
        """The steps that follow are of one of several releases."""
        self._part = part

    def __call__(self, name: str) -> None:
        """A step begins."""
        with self._lock:
            self._running[name] = time.monotonic()
            if name in self._to_come:
                self._to_come.remove(name)
            self._draw()

    def ended(self, name: str) -> None:
        """A step is done."""
        with self._lock:
            seconds = time.monotonic() - self._running.pop(name)
            self._done, self._cost = self._done + 1, self._cost + _cost(name)
            told = text("cli.step_done", step=text(f"audit.step.{name}"), time=spent_text(seconds))
            line = text("cli.part_of", part=self._part, told=told) if self._part else told
            if self._live:
                self._console.print(line, style="dim", markup=False)
            elif not self._quiet:
                print(line, file=sys.stderr, flush=True)
            self._draw()

    def _draw(self) -> None:
        steps = [text(f"audit.step.{name}") for name in self._running]
        ahead = sum(map(_cost, [*self._running, *self._to_come]))
        if ahead and self._cost > _ENOUGH_DONE * ahead:
            left = (time.monotonic() - self._begun) / self._cost * ahead
            steps.append(text("cli.time_left", time=spent_text(left)))
        total = self._done + len(self._running) + len(self._to_come)
        told = escape(text("list.separator").join(steps))
        self._bar.update(self._task, completed=self._done, total=total, description=told)


def _cost(step: str) -> float:
    return _COSTS.get(step, 0.5)


def spent_text(seconds: float) -> str:
    """A time as people say it.

    Examples
    --------
    >>> spent_text(0.31), spent_text(12.4), spent_text(125)
    ('0.3 s', '12 s', '2 min 5 s')
    """
    if seconds < 10:
        return text("cli.seconds", seconds=f"{seconds:.1f}")
    minutes, rest = divmod(round(seconds), 60)
    return (
        text("cli.minutes", minutes=minutes, seconds=rest)
        if minutes
        else text("cli.seconds", seconds=rest)
    )


def state_text(tally: Tally) -> str:
    """The tally in words."""
    parts = [text("cli.jobs_running", count=tally.running)]
    if tally.stored:
        parts.append(text("cli.jobs_stored", count=tally.stored))
    if tally.failed:
        parts.append(text("cli.jobs_failed", count=tally.failed))
    if tally.refused:
        parts.append(text("cli.jobs_refused", count=tally.refused))
    if tally.seconds_left is not None and tally.finished < tally.total:
        minutes, seconds = divmod(round(tally.seconds_left), 60)
        parts.append(text("cli.time_left", time=f"{minutes}:{seconds:02d}"))
    return text("list.separator").join(parts)
