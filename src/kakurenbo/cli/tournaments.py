"""Tournaments: ``run`` plays one, ``report`` renders it again, ``demo`` plays a small one of each contest."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kakurenbo.cli import output
from kakurenbo.cli.examples import example
from kakurenbo.cli.options import (
    ANY_PATH,
    DISQUALIFIED,
    JOBS,
    JSON,
    OUT_FILE,
    OUT_FOLDER,
    OUT_FOLDER_OPTION,
    POSITIVE,
    InputPath,
    Option,
    argument,
    command,
    integer,
    names,
)
from kakurenbo.cli.plugins import description, rulebook_command
from kakurenbo.core import write_file
from kakurenbo.core.messages import text
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import make

if TYPE_CHECKING:
    from kakurenbo import arena
    from kakurenbo.contest import AnyRulebook
    from kakurenbo.reports import Document

TEAMS = 6  # of the default field, in a demo
_RESULTS = "results.json"  # what a report reads of a folder
_STATES = ("refused", "missing", "failed")
"""What keeps a tournament from being complete."""

# -- run -------------------------------------------------------------------------------------------


def _rounds_option(cls: type[AnyRulebook]) -> list[click.Parameter]:
    """Return the choice of rounds, if a contest has several."""
    return [Option("--rounds", default="", metavar="NAME,NAME")] if len(cls.rounds) > 1 else []


@rulebook_command(
    "run",
    OUT_FOLDER_OPTION,
    Option("--teams", code="option.teams_file", type=ANY_PATH),
    Option("--repeat", type=integer(1, 1000)),
    JOBS,
    Option("--cluster", metavar="ADDRESS"),
    Option("--time-limit", type=POSITIVE, metavar="SECONDS"),
    Option("--retry-failed", is_flag=True),
    Option("--replace-results", is_flag=True),
    Option("--seed", type=integer(0)),
    JSON,
    extra=_rounds_option,
)
def run(
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
    from kakurenbo import arena
    from kakurenbo.cli.terminal import TournamentProgress

    file = arena.default_teams(rulebook) if teams is None else arena.read_teams_file(teams)
    seed = file.seed if seed is None else seed
    plan = arena.make_plan(
        _with_options(rulebook, file.options),
        file.entrants,
        _stored_seed(arena.stored_plan(out)) if seed is None else seed,
        rounds=names(rounds) or file.rounds,
        repeats=repeat or file.repeat or 1,
        preparation=file.preparation,
        phase=file.phase,
    )
    workers = arena.processes(jobs) if cluster is None else arena.cluster(cluster, judges=jobs)
    settings = arena.Settings(time_limit, retry_failed, replace_results)
    with TournamentProgress(rulebook.name, quiet=as_json) as progress:
        played = arena.play_tournament(plan, out, workers, settings, progress.tell)
    document, page = played.document, played.path / "report.html"
    incomplete = {state: _list_failures(document, state) for state in _STATES}
    if as_json:
        output.print_json({"standings": document.standings(), "report": str(page), **incomplete})
    else:
        from kakurenbo.cli.tournament_tables import print_tournament

        print_tournament(document, workers.name)
        output.print_line(text("cli.report", path=str(page)))
    return output.FAILS_RULES if any(incomplete.values()) else output.DONE


def _list_failures(document: Document, state: str) -> list[dict[str, Any]]:
    """Return what was refused, missing or failed, as commands over many teams list it."""
    return [
        {
            "team": failure.team,
            "what": failure.what,
            "file": failure.file,
            "round": failure.round,
            "repeat": failure.repeat,
            "problem": failure.cause,
        }
        for failure in document.failed(state)
    ]


def _with_options(rulebook: AnyRulebook, options: tuple[tuple[str, str], ...]) -> AnyRulebook:
    """Return a rulebook with the options of a file, unless the command line says otherwise."""
    from kakurenbo.arena.calls import MethodCall

    typed = MethodCall.of("rulebooks", rulebook.name, rulebook)
    return make(type(rulebook), dict(options) | dict(typed.parameters))


def _stored_seed(plan: Mapping[str, Any]) -> int:
    """Return the seed with which a folder was begun, else a fresh one."""
    from kakurenbo.core.rng import fresh_seed

    try:
        return int(plan["seed"])
    except (KeyError, ValueError, TypeError):
        return fresh_seed()


# -- report ----------------------------------------------------------------------------------------


@command(
    "report",
    argument("results", type=InputPath(must_exist=False, files=_RESULTS), nargs=-1, required=True),
    Option("-o", "--out", code="option.report_out", type=OUT_FILE),
    Option(
        "--figures",
        "figures_out",
        code="option.figures",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="FOLDER",
    ),
    DISQUALIFIED,
    JSON,
)
def report(
    results: tuple[Path, ...],
    out: Path | None,
    figures_out: Path | None,
    disqualified: str,
    as_json: bool,
) -> None:
    from kakurenbo import arena
    from kakurenbo.reports import document_without, figures, joined

    read = [arena.Tournament.read(path) for path in results]
    tournament = read[0]
    if len(read) > 1 or disqualified:  # else the rules of the contest need not be installed
        rulebook = registry.load("rulebooks", tournament.document.rulebook.name)()
    if len(read) > 1:
        documents = [(str(path), one.document) for path, one in zip(results, read, strict=True)]
        tournament = arena.Tournament(tournament.path, joined(rulebook, documents), {})
    if disqualified:
        document = document_without(rulebook, tournament.document, names(disqualified))
        tournament = arena.Tournament(tournament.path, document, tournament.times)
    written = [tournament.write_report(out)]
    if figures_out is not None:
        for name, picture in figures(tournament.document).items():
            written.append(figures_out / name)
            write_file(written[-1], picture.encode())
    page, *pictures = map(str, written)
    if as_json:
        output.print_json({"report": page, "figures": pictures})
        return
    for path in (page, *pictures):
        output.print_line(path, written[0])


# -- demo ------------------------------------------------------------------------------------------


@command(
    "demo",
    Option("--seed", code="option.demo_seed", type=integer(0), default=2020, show_default=True),
    JOBS,
    Option(
        "-o",
        "--out",
        code="option.demo_out",
        type=OUT_FOLDER,
        default=Path("out", "demo"),
        show_default=True,
    ),
    JSON,
)
def demo(seed: int, jobs: int, out: Path, as_json: bool) -> None:
    from kakurenbo.cli.tournament_tables import print_tournament
    from kakurenbo.reports import results_json

    shown: dict[str, Any] = {}
    for name in registry.names("rulebooks"):
        cls = registry.load("rulebooks", name)
        if cls.demo_settings is None:
            continue
        start = time.perf_counter()
        played = _play_demo(cls(**cls.demo_settings), seed, jobs, quiet=as_json)
        document, page = played.document, out / f"{name}.html"
        played.write_report(page)
        write_file(out / f"{name}.json", document.as_bytes())
        seconds = time.perf_counter() - start
        shown[name] = {
            "standings": document.standings(),
            "results": results_json(document.rounds[0].repeats[0]),
            "report": str(page),
            "seconds": round(seconds, 1),
        }
        if not as_json:
            title = click.style(name, bold=True)
            click.echo(f"\n{title}: {description('rulebooks', name)}")
            print_tournament(document)
            where = {"path": str(page), "seconds": f"{seconds:.1f}"}
            output.print_line(text("cli.report_after", **where))
    if as_json:
        output.print_json(shown)
    elif shown:
        reports = text("cli.or").join(entry["report"] for entry in shown.values())
        following = _as_called(example("prepare", next(iter(shown))))
        output.print_line(f"\n{text('cli.demo_next', reports=reports, command=following)}")


def _as_called(command: str) -> str:
    """Return a command that finds kakurenbo as this call did: on the path, in an environment, or as a module."""
    if shutil.which("kakurenbo"):
        return command
    program = Path(sys.argv[0])
    called = str(program) if program.name == "kakurenbo" else "python -m kakurenbo"
    return command.replace("kakurenbo", called, 1)


def _play_demo(rulebook: AnyRulebook, seed: int, jobs: int, *, quiet: bool) -> arena.Tournament:
    """Play in a folder that is removed: a demo is always played, never resumed."""
    from kakurenbo import arena
    from kakurenbo.cli.terminal import TournamentProgress

    plan = arena.make_plan(rulebook, arena.default_teams(rulebook).entrants[:TEAMS], seed)
    with (
        tempfile.TemporaryDirectory(prefix="kakurenbo-demo-") as folder,
        TournamentProgress(rulebook.name, quiet=quiet) as progress,
    ):
        return arena.play_tournament(
            plan, Path(folder), arena.processes(jobs), arena.Settings(), progress.tell
        )
