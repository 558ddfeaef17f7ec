"""How far a tournament is: a live display where there is a terminal, plain lines where there is none."""

from __future__ import annotations

import sys
import time
from typing import Any

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from kakurenbo.arena import Job, Result, Tally
from kakurenbo.cli import output
from kakurenbo.messages import retold, text

_LINE_EVERY = 5.0  # seconds between plain lines
_FAILED = "failed"


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
        self._bar = Progress(*columns, console=self._console, transient=True, disable=not self._live)
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
            self._console.print(f"[bold red]{text('cli.failed')}[/] {escape(str(job))}: {escape(retold(result.cause))}")
        if self._live:
            if self._task is None:
                self._task = self._bar.add_task("", total=tally.total, state="")
            stage = retold(job.kind) if job is not None else ""
            self._bar.update(self._task, completed=tally.finished, description=stage, state=state_text(tally))
        elif time.monotonic() - self._last_line >= _LINE_EVERY or tally.finished == tally.total:
            told = text("cli.jobs", contest=self._contest, done=tally.finished, all=tally.total, state=state_text(tally))
            print(told, file=sys.stderr, flush=True)
            self._last_line = time.monotonic()


class StageProgress:
    """How far a stage of a search is, on stderr; says nothing where ``quiet``."""

    def __init__(self, what: str, *, quiet: bool) -> None:
        self._what, self._quiet = what, quiet
        columns = (TextColumn(escape(what)), BarColumn(), MofNCompleteColumn())
        live = not quiet and sys.stderr.isatty()
        self._bar = Progress(*columns, console=output.console(stderr=True), transient=True, disable=not live)
        self._task = self._bar.add_task("", total=None)
        self._live, self._last_line = live, time.monotonic()

    def __enter__(self) -> StageProgress:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def tell(self, done: int, total: int) -> None:
        """Called after every job of a stage."""
        if self._live:
            self._bar.update(self._task, completed=done, total=total)
        elif not self._quiet and time.monotonic() - self._last_line >= _LINE_EVERY:
            print(text("cli.stage", what=self._what, done=done, all=total), file=sys.stderr, flush=True)
            self._last_line = time.monotonic()


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
