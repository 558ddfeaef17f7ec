"""``run R [--teams FILE] -o DIR``: a tournament, every anonymizer against every attack, resumable."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from kakurenbo import arena
from kakurenbo.arena.calls import Call
from kakurenbo.cli import output
from kakurenbo.cli.common import PATH, AnyRulebook, chosen_seed, json_option, out_option, rulebook_verb, seed_option
from kakurenbo.cli.progress import TournamentProgress
from kakurenbo.cli.tournament import print_tournament


def _run(
    rulebook: AnyRulebook,
    teams: Path | None,
    out: Path,
    seed: int | None,
    repeat: int | None,
    rounds: str,
    jobs: int,
    cluster: str | None,
    time_limit: float | None,
    retry_failed: bool,
    as_json: bool,
) -> int:
    field = arena.default_field(rulebook) if teams is None else arena.read_field(teams)
    rulebook = _with_options(rulebook, field.options)
    plan = arena.make_plan(
        rulebook,
        field.entrants,
        _seed(seed if seed is not None else field.seed, arena.stored_plan(out)),
        rounds=[name.strip() for name in rounds.split(",") if name.strip()] or field.rounds,
        repeats=repeat or field.repeat or 1,
        preparation=field.preparation,
    )
    workers = _workers(jobs, cluster)
    with TournamentProgress(quiet=as_json) as progress:
        held = arena.hold(plan, out, workers, arena.Settings(time_limit, retry_failed), progress.tell)
    report = held.path / "report.html"
    if as_json:
        output.print_json({"standings": held.results["standings"], "report": str(report)})
    else:
        print_tournament(held, workers)
        output.console().print(f"report: {report}", markup=False)
    return output.DONE


def _with_options(rulebook: AnyRulebook, options: tuple[tuple[str, str], ...]) -> AnyRulebook:
    """The file's options, unless the command line says otherwise."""
    asked = Call.of("rulebooks", rulebook.name, rulebook)
    made: AnyRulebook = Call.given("rulebooks", rulebook.name, dict(options) | dict(asked.parameters)).make()
    return made


def _seed(given: int | None, before: Mapping[str, Any]) -> int:
    """The seed asked for; else the one this folder was begun with; else a fresh one."""
    if given is not None:
        return given
    try:
        return int(before["seed"])
    except (KeyError, ValueError, TypeError):
        return chosen_seed(None)


def _workers(jobs: int, cluster: str | None) -> arena.Workers:
    if cluster is not None:
        return arena.cluster(cluster)
    return arena.serial() if jobs == 1 else arena.processes(jobs)


def _parameters() -> list[click.Parameter]:
    return [
        out_option,
        click.Option(["--teams"], type=PATH, help="TOML file of players and rounds; without it a default field plays."),
        click.Option(["--repeat"], type=click.IntRange(1, 1000), help="Play with so many seeds: means and 95% intervals."),
        click.Option(["--rounds"], default="", metavar="NAME,NAME", help="Rounds to play, such as pre,main."),
        click.Option(
            ["--jobs"], type=click.IntRange(1), default=os.cpu_count() or 1, help="Processes; the result is the same."
        ),
        click.Option(["--cluster"], metavar="ADDRESS", help="Play on the Dask cluster whose scheduler is at ADDRESS."),
        click.Option(
            ["--time-limit"], type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Longest time of one job."
        ),
        click.Option(["--retry-failed"], is_flag=True, help="Play jobs again that failed in an earlier start."),
        seed_option,
        json_option,
    ]


run = rulebook_verb("run", _run, _parameters, "Play a tournament: every anonymizer against every attack.")
