"""``run R [--teams FILE] -o DIR``: a tournament, every anonymizer against every attack, resumable."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from kakurenbo import arena
from kakurenbo.arena.calls import MethodCall
from kakurenbo.cli import output
from kakurenbo.cli.common import (
    PATH,
    chosen_seed,
    json_option,
    names,
    option,
    out_folder_option,
    rulebook_verb,
    seed_option,
)
from kakurenbo.cli.progress import TournamentProgress
from kakurenbo.cli.tournament import print_tournament
from kakurenbo.contest import AnyRulebook
from kakurenbo.contest.results import FAILED, MISSING, REFUSED
from kakurenbo.core.messages import text
from kakurenbo.reports import Document


def _run(
    rulebook: AnyRulebook,
    teams: Path | None,
    out: Path,
    seed: int | None,
    repeat: int | None,
    jobs: int,
    cluster: str | None,
    time_limit: float | None,
    retry_failed: bool,
    replace_results: bool,
    as_json: bool,
    rounds: str = "",
) -> int:
    asked = arena.default_teams(rulebook) if teams is None else arena.read_teams_file(teams)
    plan = arena.make_plan(
        _with_options(rulebook, asked.options),
        asked.entrants,
        _seed(seed if seed is not None else asked.seed, arena.stored_plan(out)),
        rounds=names(rounds) or asked.rounds,
        repeats=repeat or asked.repeat or 1,
        preparation=asked.preparation,
        phase=asked.phase,
    )
    workers = arena.processes(jobs) if cluster is None else arena.cluster(cluster, judges=jobs)
    settings = arena.Settings(time_limit, retry_failed, replace_results)
    with TournamentProgress(rulebook.name, quiet=as_json) as progress:
        played = arena.play_tournament(plan, out, workers, settings, progress.tell)
    document, report = played.document, played.path / "report.html"
    lacking = {state: _listed(document, state) for state in (REFUSED, MISSING, FAILED)}
    if as_json:
        output.print_json({"standings": document.standings(), "report": str(report), **lacking})
    else:
        print_tournament(document, workers.name)
        output.console().print(text("cli.report", path=str(report)), markup=False)
    return output.FAILS_RULES if any(lacking.values()) else output.DONE


def _listed(document: Document, state: str) -> list[dict[str, Any]]:
    """What was refused, missing or failed, as verbs over many teams list it."""
    return [
        {
            "team": one.team,
            "what": one.what,
            "file": one.file,
            "round": one.round,
            "repeat": one.repeat,
            "problem": one.cause,
        }
        for one in document.failed(state)
    ]


def _with_options(rulebook: AnyRulebook, options: tuple[tuple[str, str], ...]) -> AnyRulebook:
    """The file's options, unless the command line says otherwise."""
    asked = MethodCall.of("rulebooks", rulebook.name, rulebook)
    made: AnyRulebook = MethodCall.given(
        "rulebooks", rulebook.name, dict(options) | dict(asked.parameters)
    ).make()
    return made


def _seed(given: int | None, before: Mapping[str, Any]) -> int:
    """The seed asked for; else the one this folder was begun with; else a fresh one."""
    if given is not None:
        return given
    try:
        return int(before["seed"])
    except (KeyError, ValueError, TypeError):
        return chosen_seed(None)


def _parameters() -> list[click.Parameter]:
    return [
        out_folder_option(),
        option("--teams", code="option.teams_file", type=PATH),
        option("--repeat", code="option.repeat", type=click.IntRange(1, 1000)),
        option(
            "--jobs", code="option.jobs", type=click.IntRange(1, 1000), default=os.cpu_count() or 1
        ),
        option("--cluster", code="option.cluster", metavar="ADDRESS"),
        option(
            "--time-limit",
            code="option.time_limit",
            type=click.FloatRange(0, min_open=True),
            metavar="SECONDS",
        ),
        option("--retry-failed", code="option.retry_failed", is_flag=True),
        option("--replace-results", code="option.replace_results", is_flag=True),
        seed_option(),
        json_option(),
    ]


def _rounds(cls: type[AnyRulebook]) -> list[click.Parameter]:
    """Which rounds to play, where a contest has several."""
    return (
        [option("--rounds", code="option.rounds", default="", metavar="NAME,NAME")]
        if len(cls.rounds) > 1
        else []
    )


def run() -> click.Group:
    """The verb."""
    return rulebook_verb("run", _run, _parameters, text("help.run"), own=_rounds)
