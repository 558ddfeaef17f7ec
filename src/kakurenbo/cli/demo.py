"""``demo``: a whole small contest on embedded data, with standings in the terminal and an HTML report."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from kakurenbo import arena, registry
from kakurenbo.cli import output
from kakurenbo.cli.common import OUT_FOLDER, json_option
from kakurenbo.cli.progress import TournamentProgress
from kakurenbo.cli.tournament import print_tournament
from kakurenbo.contracts import AnyRulebook
from kakurenbo.reporting import results_json
from kakurenbo.tables import write_file

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
        played.write_report("html", report)
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
            console.print(f"\n[bold]{name}[/]: {escape(rulebook.title)}")
            console.print(f"data: {escape(str(only.report.get('data', '')))}\n")
            print_tournament(document)
            console.print(f"report: {report}  ({seconds:.1f} s)", markup=False)
    if as_json:
        output.print_json(shown)
    return output.DONE


def _play(rulebook: AnyRulebook, seed: int, jobs: int, *, quiet: bool) -> arena.Tournament:
    """In a folder of its own that goes away: a demo is always played, never remembered."""
    plan = arena.make_plan(rulebook, arena.default_teams(rulebook).entrants[:TEAMS], seed)
    with tempfile.TemporaryDirectory(prefix="kakurenbo-demo-") as folder, TournamentProgress(quiet=quiet) as progress:
        return arena.play_tournament(plan, Path(folder), arena.processes(jobs), arena.Settings(), progress.tell)


demo = click.Command(
    "demo",
    params=[
        click.Option(["--seed"], type=click.IntRange(0), default=2020, show_default=True, help="Fixes all randomness."),
        click.Option(
            ["--jobs"], type=click.IntRange(1), default=os.cpu_count() or 1, help="Jobs at a time; the result is the same."
        ),
        click.Option(
            ["-o", "--out"],
            type=OUT_FOLDER,
            default=Path("out", "demo"),
            show_default=True,
            help="Folder for the reports.",
        ),
        json_option,
    ],
    callback=_demo,
    help="Play a whole small contest on embedded data.",
)
