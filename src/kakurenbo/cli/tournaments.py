"""Tournaments: ``run`` plays one, ``report`` lays it out again, ``demo`` shows a small one of each contest."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rich.console import Console, Group
from rich.markup import escape

from kakurenbo import arena
from kakurenbo.arena.calls import MethodCall
from kakurenbo.cli import output
from kakurenbo.cli.examples import prepare_example
from kakurenbo.cli.options import (
    ANY_PATH,
    DISQUALIFIED,
    JSON,
    OUT_FILE,
    OUT_FOLDER,
    OUT_FOLDER_OPTION,
    InputPath,
    Option,
    argument,
    command,
    description,
    integer,
    names,
    rulebook_command,
)
from kakurenbo.cli.progress import TournamentProgress
from kakurenbo.cli.scores import COUNTED, Columns, print_rankings
from kakurenbo.contest import AnyRulebook, Unit
from kakurenbo.contest.results import FAILED, MISSING, REFUSED
from kakurenbo.core import write_file
from kakurenbo.core.messages import escaped, language, retold, text
from kakurenbo.core.rng import fresh_seed
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import make
from kakurenbo.reports import (
    AttackEntry,
    Document,
    PlayerEntry,
    ReleaseEntry,
    RoundEntry,
    document_without,
    figures,
    joined,
    results_json,
)
from kakurenbo.reports.numbers import counted, estimated, figure, share
from kakurenbo.reports.reading import RESULTS_FILE

TEAMS = 6  # of the default field, in a demo
_WIDEST_MATRIX = 14


# -- run ---------------------------------------------------------------------------------------------------------------


JOBS = Option("--jobs", type=integer(1, 1000), default=os.cpu_count() or 1)


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
    Option("--time-limit", type=click.FloatRange(0, min_open=True), metavar="SECONDS"),
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
    asked = arena.default_teams(rulebook) if teams is None else arena.read_teams_file(teams)
    plan = arena.make_plan(
        _with_options(rulebook, asked.options),
        asked.entrants,
        _stored_seed(seed if seed is not None else asked.seed, arena.stored_plan(out)),
        rounds=names(rounds) or asked.rounds,
        repeats=repeat or asked.repeat or 1,
        preparation=asked.preparation,
        phase=asked.phase,
    )
    workers = arena.processes(jobs) if cluster is None else arena.cluster(cluster, judges=jobs)
    settings = arena.Settings(time_limit, retry_failed, replace_results)
    with TournamentProgress(rulebook.name, quiet=as_json) as progress:
        played = arena.play_tournament(plan, out, workers, settings, progress.tell)
    document, page = played.document, played.path / "report.html"
    lacking = {state: _listed(document, state) for state in (REFUSED, MISSING, FAILED)}
    if as_json:
        output.print_json({"standings": document.standings(), "report": str(page), **lacking})
    else:
        print_tournament(document, workers.name)
        output.console().print(text("cli.report", path=str(page)), markup=False)
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
    return make(type(rulebook), dict(options) | dict(asked.parameters))


def _stored_seed(given: int | None, before: Mapping[str, Any]) -> int:
    """The seed asked for; else the one this folder was begun with; else a fresh one."""
    if given is not None:
        return given
    try:
        return int(before["seed"])
    except (KeyError, ValueError, TypeError):
        return fresh_seed()


# -- report ------------------------------------------------------------------------------------------------------------


@command(
    "report",
    argument(
        "results",
        type=InputPath(must_exist=False, files=RESULTS_FILE),
        nargs=-1,
        required=True,
    ),
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
) -> int:
    tournament = _together(results)
    if disqualified:
        rulebook = registry.load("rulebooks", tournament.document.rulebook.name)()
        document = document_without(rulebook, tournament.document, names(disqualified))
        tournament = arena.Tournament(tournament.path, document, tournament.times)
    written = tournament.write_report(out)
    pictures = [] if figures_out is None else _write_figures(tournament, figures_out)
    if as_json:
        output.print_json({"report": str(written), "figures": list(map(str, pictures))})
    else:
        for path in (written, *pictures):
            output.console_beside(written).print(escaped(str(path)), markup=False)
    return output.DONE


def _together(paths: tuple[Path, ...]) -> arena.Tournament:
    """What one path holds; of several, all their rounds in the place of the first."""
    read = [arena.Tournament.read(path) for path in paths]
    if len(read) == 1:
        return read[0]
    rulebook = registry.load("rulebooks", read[0].document.rulebook.name)()
    documents = [(str(path), one.document) for path, one in zip(paths, read, strict=True)]
    return arena.Tournament(read[0].path, joined(rulebook, documents), {})


def _write_figures(tournament: arena.Tournament, folder: Path) -> list[Path]:
    """Write every chart of the report as a picture; gives their paths."""
    drawn = figures(tournament.document)
    for name, picture in drawn.items():
        write_file(folder / name, picture.encode())
    return [folder / name for name in drawn]


# -- demo --------------------------------------------------------------------------------------------------------------


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
def demo(seed: int, jobs: int, out: Path, as_json: bool) -> int:
    shown: dict[str, Any] = {}
    for name in registry.names("rulebooks"):
        cls = registry.load("rulebooks", name)
        if cls.demo_settings is None:
            continue
        rulebook = cls(**cls.demo_settings)
        begun = time.perf_counter()
        played = _play_demo(rulebook, seed, jobs, quiet=as_json)
        document, page = played.document, out / f"{name}.html"
        played.write_report(page)
        write_file(out / f"{name}.json", document.as_bytes())
        seconds = time.perf_counter() - begun
        (only,) = document.rounds
        shown[name] = {
            "standings": document.standings(),
            "results": results_json(only.repeats[0]),
            "report": str(page),
            "seconds": round(seconds, 1),
        }
        if not as_json:
            console = output.console()
            console.print(f"\n[bold]{name}[/]: {escape(description('rulebooks', name))}")
            print_tournament(document)
            console.print(
                text("cli.report_after", path=str(page), seconds=f"{seconds:.1f}"), markup=False
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


def _play_demo(rulebook: AnyRulebook, seed: int, jobs: int, *, quiet: bool) -> arena.Tournament:
    """In a folder of its own that goes away: a demo is always played, never remembered."""
    plan = arena.make_plan(rulebook, arena.default_teams(rulebook).entrants[:TEAMS], seed)
    with (
        tempfile.TemporaryDirectory(prefix="kakurenbo-demo-") as folder,
        TournamentProgress(rulebook.name, quiet=quiet) as progress,
    ):
        return arena.play_tournament(
            plan, Path(folder), arena.processes(jobs), arena.Settings(), progress.tell
        )


# -- a tournament in the terminal --------------------------------------------------------------------------------------


def print_tournament(document: Document, played_by: str = "") -> None:
    """What ``run`` and ``demo`` show at the end."""
    console = output.console()
    players = {player.team: player for player in document.players}
    for source in dict.fromkeys(
        str(entry.report["data"]) for entry in document.rounds if entry.report.get("data")
    ):
        console.print(text("cli.data", source=retold(source)) + "\n", markup=False)
    for entry in document.rounds:
        title = text("tournament.of_round", round=entry.name) if len(document.rounds) > 1 else ""
        console.print(_releases(document, entry, players, title))
        console.print()
        if len(entry.attacks) <= _WIDEST_MATRIX:
            print_matrix(console, document, entry, title)
    names = {text("table.name"): {team: retold(player.name) for team, player in players.items()}}
    beside: dict[str, Columns] = {
        "anonymization": names,
        "attack": {**names, **_extra_columns(document)},
        "overall": names,
    }
    print_rankings(
        document.rankings,
        document.awards,
        document.award_notices,
        beside,
        figures=document.figures,
        below_threshold=document.teams_below_threshold,
    )
    _print_failures(document)
    _print_verdicts(document)
    counts = text(
        "tournament.counts",
        teams=counted(len(document.players), "team", language()),
        attacks=counted(document.attack_count, "attack", language()),
    )
    console.print(
        f"\n{counts}{text('tournament.played_by', workers=retold(played_by)) if played_by else ''}",
        markup=False,
    )


def _releases(
    document: Document, entry: RoundEntry, players: Mapping[str, PlayerEntry], title: str
) -> Group:
    headings = (text(f"table.{name}") for name in ("team", "name", "method", "utility"))
    table = output.plain_table(*headings)
    for release in entry.releases.values():
        player = players.get(release.team, PlayerEntry(release.team))
        table.add_row(
            release.target,
            escape(retold(player.name)),
            escape(retold(player.anonymizer)),
            escape(_utility(document, release)),
        )
    return output.titled(text("tournament.releases") + title, table)


def _utility(document: Document, release: ReleaseEntry) -> str:
    """The number that goes into the score where there is one, and what became of the release; its verdict says why."""
    name = document.rulebook.utility_score
    found, declared = release.estimates.get(name), document.figure(name)
    figures = [f"{name} {estimated(found, declared.unit)}"] if found else []
    return ", ".join([*figures, *([_state(release)] if release.verdict else [])]) or text(
        "state.measured"
    )


def _state(release: ReleaseEntry) -> str:
    """Whether a release passes or why not; where there are repeats, in how many of them it does not."""
    state = text(f"state.{release.standing}")
    if release.in_repeats == release.of_repeats or release.verdict == "passes":
        return state
    return text(
        "state.in_repeats", state=state, count=release.in_repeats, repeats=release.of_repeats
    )


def print_matrix(console: Console, document: Document, entry: RoundEntry, title: str = "") -> None:
    """What every attacker found in every release; below the attackers what blind guessing and a constant answer earn."""
    players = {player.team: player for player in document.players}
    single = entry.of is not None and len(entry.repeats) == 1
    unit = document.figures["hits"].unit if "hits" in document.figures else COUNTED.unit
    what = text("matrix.hits", of=figure(entry.of or 0, unit)) if single else text("matrix.shares")
    methods = {
        attacker: retold(players[attacker].attack)
        for attacker in entry.attackers
        if attacker in players
    }
    described = any(methods.values())
    table = output.plain_table(
        text("table.attacker"), *([text("table.method")] if described else [])
    )
    for target in entry.attacks:
        output.add_column(table, target, right=True)
    for attacker in entry.attackers:
        cells = [
            _cell(row.get(attacker), unit if single else None) for row in entry.attacks.values()
        ]
        table.add_row(
            escape(attacker), *([escape(methods.get(attacker, ""))] if described else []), *cells
        )
    for name, label in (
        ("chance", text("baseline.chance")),
        ("constant", document.constant_answer(language())),
    ):
        cells = [
            _baseline(entry, target, name, unit if single else None) for target in entry.attacks
        ]
        if any(cells):
            dim = [f"[dim]{cell or '–'}[/]" for cell in cells]
            table.add_row(f"[dim]{escape(label)}[/]", *([""] if described else []), *dim)
    console.print(output.titled(f"{what}{title}", table))
    if len(entry.repeats) > 1:
        console.print(f"[dim]{text('matrix.repeats', count=len(entry.repeats))}[/]")
    _print_chance(console, entry, unit if single else None)
    meaning = document.figure("hits").definitions.get(language(), "")
    if meaning:
        console.print(f"[dim]{text('table.hits')}: {escape(meaning)}[/]")


def _baseline(entry: RoundEntry, target: str, name: str, unit: Unit | None) -> str:
    """What blind guessing or the constant answer earns on a target: in hits of a unit, or as a share where there is none."""
    if unit is None:
        found = getattr(entry.releases.get(target), name, None)
        return "" if found is None else share(found)
    credit = next(iter(entry.repeats[0].credits[target].values()))
    earned = (
        credit.constant if name == "constant" else credit.chance.mean if credit.chance else None
    )
    return "" if earned is None else figure(earned, unit)


def _print_chance(console: Console, entry: RoundEntry, unit: Unit | None) -> None:
    """Blind guessing with its band, which tells what is more than chance explains."""
    if unit is not None and entry.chance_hits is not None:
        told = output.chance_text(entry.chance_hits, unit)
    elif entry.chance is not None:
        shares = {name: share(getattr(entry.chance, name)) for name in ("mean", "low", "high")}
        told = text("chance.shares", **shares)
    else:
        return
    bold = f"; {text('matrix.bold')}" if console.is_terminal else ""
    console.print(f"[dim]{escape(told + bold)}[/]")


def _cell(entry: AttackEntry | None, unit: Unit | None) -> str:
    if entry is None:
        return "–"
    shown = estimated(entry.accuracy, Unit.SHARE) if unit is None else figure(entry.hits, unit)
    return f"[bold]{shown}[/]" if entry.beyond_chance else shown


def _extra_columns(document: Document) -> Columns:
    """Columns for the attack ranking: mean accuracy on all releases, and the same for the baselines."""
    sample = (
        text("table.sample") if len(document.counting_samples) == 1 else text("table.best_sample")
    )
    columns = {
        text("table.accuracy"): "accuracy",
        sample: "sample_accuracy",
        text("baseline.chance"): "chance",
        document.constant_answer(language()): "constant",
    }
    shown = {
        heading: {attacker: getattr(entry, field) for attacker, entry in document.attackers.items()}
        for heading, field in columns.items()
    }
    return {
        heading: {attacker: share(value) for attacker, value in column.items()}
        for heading, column in shown.items()
        if any(value is not None for value in column.values())
    }


def _print_failures(document: Document) -> None:
    shown = [failure for failure in document.failures if failure.state != "skipped"]
    if shown:
        table = output.plain_table(text("table.what"), "", text("table.cause"))
        for failure in shown:
            cells = (retold(failure.what), text(f"state.{failure.state}"), retold(failure.cause))
            table.add_row(*map(escape, cells))
        output.console().print(output.titled(text("tournament.failures"), table))


def _print_verdicts(document: Document) -> None:
    """A sentence on every release where there are few, and what the tournament taught."""
    console = output.console()
    for entry in document.rounds:
        if 0 < len(entry.releases) <= _WIDEST_MATRIX:
            of_round = (
                text("tournament.of_round", round=entry.name) if len(document.rounds) > 1 else ""
            )
            console.print(f"\n[bold]{text('tournament.verdicts')}{escape(of_round)}[/]")
            for release in entry.releases.values():
                console.print(f"{release.target}  {escape(release.verdicts.get(language(), ''))}")
    lessons = document.verdicts.get(language(), ())
    if lessons:
        console.print(
            f"\n[bold]{text('tournament.taught')}[/] {escape(text('sentences.join').join(lessons))}"
        )
