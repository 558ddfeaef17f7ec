"""``demo``: a whole small contest on embedded data, with standings in the terminal and an HTML report."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from kakurenbo import arena
from kakurenbo.cli import output
from kakurenbo.cli.common import OUT_FOLDER, described, json_option, option
from kakurenbo.cli.examples import prepare_example
from kakurenbo.cli.progress import TournamentProgress
from kakurenbo.cli.tournament import print_tournament
from kakurenbo.contest import AnyRulebook
from kakurenbo.core import write_file
from kakurenbo.core.messages import text
from kakurenbo.methods import registry
from kakurenbo.reports import results_json

TEAMS = 6  # of the default field, so that it is over soon


def _demo(seed: int, jobs: int, out: Path, as_json: bool) -> int:
    shown: dict[str, Any] = {}
    for name in registry.names("rulebooks"):
        cls = registry.load("rulebooks", name)
        if cls.demo_settings is None:
            continue
        rulebook = cls(**cls.demo_settings)
        begun = time.perf_counter()
        played = _play(rulebook, seed, jobs, quiet=as_json)
        document, report = played.document, out / f"{name}.html"
        played.write_report(report)
        write_file(out / f"{name}.json", document.as_bytes())
        seconds = time.perf_counter() - begun
        (only,) = document.rounds
        shown[name] = {
            "standings": document.standings(),
            "results": results_json(only.repeats[0]),
            "report": str(report),
            "seconds": round(seconds, 1),
        }
        if not as_json:
            console = output.console()
            console.print(f"\n[bold]{name}[/]: {escape(described('rulebooks', name, cls))}")
            print_tournament(document)
            console.print(
                text("cli.report_after", path=str(report), seconds=f"{seconds:.1f}"), markup=False
            )
    if as_json:
        output.print_json(shown)
    elif shown:
        reports = text("cli.or").join(str(one["report"]) for one in shown.values())
        told = text(
            "cli.demo_next", reports=reports, command=_as_called(prepare_example(next(iter(shown))))
        )
        output.console().print(f"\n{told}", markup=False)
    return output.DONE


def _as_called(command: str) -> str:
    """A command to type that finds kakurenbo as this call did, be it on the path, in an environment, or as a module."""
    called = Path(sys.argv[0])
    if shutil.which("kakurenbo"):
        return command
    return command.replace(
        "kakurenbo", str(called) if called.name == "kakurenbo" else "python -m kakurenbo", 1
    )


def _play(rulebook: AnyRulebook, seed: int, jobs: int, *, quiet: bool) -> arena.Tournament:
    """In a folder of its own that goes away: a demo is always played, never remembered."""
    plan = arena.make_plan(rulebook, arena.default_teams(rulebook).entrants[:TEAMS], seed)
    with (
        tempfile.TemporaryDirectory(prefix="kakurenbo-demo-") as folder,
        TournamentProgress(rulebook.name, quiet=quiet) as progress,
    ):
        return arena.play_tournament(
            plan, Path(folder), arena.processes(jobs), arena.Settings(), progress.tell
        )


def demo() -> click.Command:
    """The verb."""
    parameters: list[click.Parameter] = [
        option(
            "--seed",
            code="option.demo_seed",
            type=click.IntRange(0),
            default=2020,
            show_default=True,
        ),
        option(
            "--jobs", code="option.jobs", type=click.IntRange(1, 1000), default=os.cpu_count() or 1
        ),
        option(
            "-o",
            "--out",
            code="option.demo_out",
            type=OUT_FOLDER,
            default=Path("out", "demo"),
            show_default=True,
        ),
        json_option(),
    ]
    return click.Command("demo", params=parameters, callback=_demo, help=text("help.demo"))
