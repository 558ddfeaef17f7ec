"""``audit ORIGINAL RELEASE...``: what a planned release gives away."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from kakurenbo.audit.baselines import read_baseline
from kakurenbo.audit.candidates import frontier
from kakurenbo.audit.clock import PERIODS
from kakurenbo.audit.clustering import cluster
from kakurenbo.audit.comma_numbers import notices_that_hold
from kakurenbo.audit.commands import Anonymizing
from kakurenbo.audit.frames import Frame, read_frame
from kakurenbo.audit.limits import DEFAULTS, read_limits
from kakurenbo.audit.meant import suggesting_columns
from kakurenbo.audit.options import MOST_TARGETS, Options
from kakurenbo.audit.persons import persons_of
from kakurenbo.audit.report.words import (
    CANDIDATE_HEADINGS,
    beside,
    candidate_rows,
    caveat_sentences,
    limited,
    named,
    regression_sentence,
    said,
    verdict_sentence,
)
from kakurenbo.audit.rerunning import audit_command
from kakurenbo.audit.result import AuditResult
from kakurenbo.audit.running import STEPS, run_audit, with_rival
from kakurenbo.audit.schema import read_schema
from kakurenbo.audit.schema_checks import check_cells
from kakurenbo.audit.tasks import Crew, threads
from kakurenbo.audit.transactions import read_transactions
from kakurenbo.audit.writing import check_report_name, write_report
from kakurenbo.cli import output
from kakurenbo.cli.common import (
    OUT_FILE,
    PATH,
    check_there,
    chosen_seed,
    json_option,
    names,
    option,
    path_argument,
    seed_option,
)
from kakurenbo.cli.given import given_options
from kakurenbo.cli.progress import AuditProgress
from kakurenbo.core import InputError, Problem, Source, collect_notices, gather, json_bytes
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text
from kakurenbo.core.problems import Gathering

_NEEDED_BY = {
    "person": ("time", "period", "key"),
    "time": ("period",),
    "run": ("runs", "time_limit"),
}
"""Options that say something only where another one is given."""


def _audit(
    original: Path, release: tuple[Path, ...], holdout: Path | None, out: Path | None, **given: Any
) -> int:
    as_json = bool(given["as_json"])
    warnings.filterwarnings(
        "ignore", module="sklearn"
    )  # of rare classes it warns in words that tell nobody what to do
    _check_effect(given)
    command = _command(release, holdout, out, given)
    if out is not None:
        check_report_name(out)
    if out is not None and out.exists():
        inputs = [
            original,
            *release,
            holdout,
            *(given[name] for name in ("key", "schema", "limits", "baseline")),
        ]
        if any(path is not None and path.exists() and out.samefile(path) for path in inputs):
            raise UsageError(text("usage.audit_own_input", path=str(out)))
    baseline = {} if given["baseline"] is None else read_baseline(given["baseline"])
    keys = [] if given["key"] is None else [given["key"]]
    check_there(*keys, *given["earlier"])
    limits, schema = dict(DEFAULTS), None
    with gather() as problems, collect_notices() as told:
        if given["limits"] is not None:
            limits = problems.of(read_limits, Source.of(given["limits"]))
        if given["schema"] is not None:
            schema = problems.of(read_schema, Source.of(given["schema"]))
        own, of_own = _frames(problems, [original], given)
        _check_no_columns(release, own[0])
        released, of_released = _frames(problems, release, given, several=True)
        held_out, of_holdout = _frames(problems, [] if holdout is None else [holdout], given)
        key, of_key = _frames(problems, keys, given)
        earlier, of_earlier = _frames(problems, given["earlier"], given, several=True)
    tables = [*own, *released, *held_out]
    if schema is not None:
        check_cells(schema, tables[0])
    notices = notices_that_hold([*told, *of_own, *of_holdout, *of_key], [*of_released, *of_earlier])
    output.print_notices(notices)
    options = replace(
        _options(given),
        baseline=baseline,
        limits=limits,
        schema=schema,
        persons=persons_of(
            given["person"], given["time"], given["period"], key[0] if key else None
        ),
        earlier=tuple(earlier),
    )
    if command is not None:
        progress = AuditProgress(("run", *STEPS) * given["runs"], quiet=as_json)
        with _hiding_cells(given), suggesting_columns(tables[0]), progress:
            made = audit_command(tables[0], command, options, given["runs"], progress, _crew(given))
        return _told(replace(made, notices=tuple(notices)), out, given)
    held = tables.pop() if holdout is not None else None
    if held is not None and any(_are_swapped(tables[0], one, held) for one in tables[1:]):
        raise UsageError(text("usage.audit_swapped", original=str(original), holdout=str(holdout)))
    if given["method"] and len(tables) > 2:
        raise UsageError(text("usage.audit_method_of_one", count=len(tables) - 1))
    with suggesting_columns(tables[0], [*tables[1:], *options.earlier]):
        if given["method"]:
            options = with_rival(options, given["method"], (tables[0], tables[1], held))
        with _hiding_cells(given):
            _check_people(tables, held, options)
        result = _audited(tables, held, options, notices, _crew(given), quiet=as_json)
    return _told(result, out, given)


def _check_no_columns(release: Sequence[Path], original: Frame | None) -> None:
    """Refuse a column in the place of a release: ``--know age sex`` takes the second word for a file."""
    columns = () if original is None else original.columns
    if meant := [path for path in release if str(path) in columns and not path.exists()]:
        raise UsageError(text("usage.audit_column_as_file", name=str(meant[0])))


@contextmanager
def _hiding_cells(given: dict[str, Any]) -> Iterator[None]:
    """Take the cells of tables out of problems, unless they are asked for."""
    try:
        yield
    except InputError as error:
        if given["show_records"]:
            raise
        raise InputError(error.problems.without_values()) from error


def _are_swapped(original: Frame, release: Frame, holdout: Frame) -> bool:
    """Whether the holdout has the columns of the release, and the original lacks some of them."""
    return set(original.columns) < set(release.columns) == set(holdout.columns)


def _check_effect(given: dict[str, Any]) -> None:
    """Refuse options that would change nothing: whoever gives one believes that it does."""
    for needed, idle_ones in _NEEDED_BY.items():
        if not given[needed] and (idle := given_options(idle_ones)):
            raise UsageError(
                text("usage.audit_without_effect", option=idle[0], needed=f"--{needed}")
            )
    if given["cluster"] is not None and given_options(["jobs"]):
        raise UsageError(text("usage.audit_jobs_and_cluster"))


def _told(result: AuditResult, out: Path | None, given: dict[str, Any]) -> int:
    as_json = bool(given["as_json"])
    result = result if given["show_records"] else result.without_cells()
    if out is not None:
        write_report(result, out)
    _show(result, as_json)
    if out is not None and not as_json:
        output.console_beside(out).print(
            text("cli.file", file=str(out), what=text("cli.report_written")), markup=False
        )
    return result.verdict.exit_code


def _crew(given: dict[str, Any]) -> Crew:
    return threads(given["jobs"]) if given["cluster"] is None else cluster(given["cluster"])


def _command(
    release: Sequence[Path], holdout: Path | None, out: Path | None, given: dict[str, Any]
) -> Anonymizing | None:
    """The command of ``--run``, which makes releases and holdouts itself."""
    if given["run"] is None:
        if not release:
            raise UsageError(text("usage.audit_release"))
        # Whoever names a table so means no candidate, and would read that membership could not be assessed.
        if holdout is None and (
            meant := [path for path in release[1:] if path.stem.casefold().startswith("holdout")]
        ):
            raise UsageError(text("usage.audit_holdout_meant", path=str(meant[0])))
        return None
    taken = {
        "RELEASE": release,
        "--holdout": holdout,
        "--person": given["person"],
        "--method": given["method"],
    }
    if beside := [name for name, value in taken.items() if value]:
        raise UsageError(text("usage.audit_run_beside", name=beside[0]))
    log = None if out is None else out.with_suffix(".run.log")
    return Anonymizing.parsed(given["run"], given["time_limit"], log, shown=given["show_records"])


def _frames(
    problems: Gathering, paths: Sequence[Path], given: dict[str, Any], *, several: bool = False
) -> tuple[list[Frame], list[Problem]]:
    """Read tables, with the notices of all of them."""

    def read(path: Path) -> Frame:
        with _hiding_cells(given):
            return read_frame(path, several=several)

    check_there(*paths)
    with collect_notices() as notices:
        frames = [problems.of(read, path) for path in paths]
    return frames, notices


def _check_people(tables: Sequence[Frame], held: Frame | None, options: Options) -> None:
    """Refuse what is wrong with the rows of tables of several per person, every place of it."""
    if options.persons is not None:
        with gather() as problems:
            for release in tables[1:]:
                problems.of(read_transactions, options.persons, tables[0], release, held)


def _options(given: dict[str, Any]) -> Options:
    return Options(
        tuple(names(given["know"])),
        tuple(names(given["secret"])),
        tuple(names(given["identifiers"])),
        seed=chosen_seed(given["seed"]),
        show_records=given["show_records"],
        strict=given["strict"],
        targets=given["targets"],
        ignored=tuple(names(given["ignored"])),
    )


def _audited(
    tables: Sequence[Frame],
    held: Frame | None,
    options: Options,
    notices: Sequence[Problem],
    crew: Crew,
    *,
    quiet: bool,
) -> AuditResult:
    steps, results = STEPS if options.persons is None else ("pseudonyms", *STEPS), []
    with AuditProgress(steps * len(tables[1:]), quiet=quiet) as progress:
        for release in tables[1:]:
            progress.of(release.name if len(tables) > 2 else "")
            results.append(run_audit(tables[0], release, held, options, progress, crew))
    result = replace(results[0], notices=tuple(notices))
    return replace(result, candidates=frontier(results)) if len(results) > 1 else result


def _show(result: AuditResult, as_json: bool) -> None:
    if as_json:
        output.print_json(json.loads(json_bytes(result.as_json())))
        return
    console = output.console()
    if result.candidates:
        console.print(said("title", file=result.candidates[0].name), markup=False)
    console.print(verdict_sentence(result), markup=False, style="bold")
    if worse := regression_sentence(result):
        console.print(worse, markup=False, style="bold")
    for caveat in caveat_sentences(result):
        console.print(caveat, markup=False, style="yellow")
    table = output.plain_table(
        *(text(f"audit.report.heading.{one}") for one in ("risk", "figure", "standing", "attack"))
    )
    for risk in result.risks.values():
        standing = text(f"audit.report.standing.{risk.standing}")
        told = [*([named("attack", risk.attack)] if risk.assessed else []), *beside(risk, result)]
        table.add_row(named("risk", risk.name), limited(risk), standing, " · ".join(told))
    console.print(table)
    if result.candidates:
        _show_candidates(result)


def _show_candidates(result: AuditResult) -> None:
    table = output.plain_table(*(said(f"heading.{one}") for one in CANDIDATE_HEADINGS))
    for row in candidate_rows(result):
        table.add_row(*map(escape, row))
    console = output.console()
    console.print()
    console.print(output.titled(said("frontier"), table))


def audit() -> click.Command:
    """The verb."""
    parameters: list[click.Parameter] = [
        path_argument("original"),
        click.Argument(["release"], type=PATH, nargs=-1),
        option("--holdout", code="option.audit_holdout", type=PATH),
        option("--run", code="option.audit_run", metavar="COMMAND"),
        option(
            "--runs",
            code="option.audit_runs",
            type=click.IntRange(1, 100),
            default=3,
            show_default=True,
        ),
        option(
            "--time-limit",
            code="option.audit_time_limit",
            type=click.FloatRange(0, min_open=True),
            default=600.0,
            show_default=True,
            metavar="SECONDS",
        ),
        option("--method", code="option.audit_method", default="", metavar="NAME:param=value,..."),
        option("--know", code="option.audit_know", default="", metavar="COLUMN,..."),
        option("--secret", code="option.audit_secret", default="", metavar="COLUMN,..."),
        option("--id", "identifiers", code="option.audit_id", default="", metavar="COLUMN,..."),
        option("--ignore", "ignored", code="option.audit_ignore", default="", metavar="COLUMN,..."),
        option("--person", code="option.audit_person", default="", metavar="COLUMN"),
        option("--time", code="option.audit_time", default="", metavar="COLUMN"),
        option(
            "--period",
            code="option.audit_period",
            default="month",
            type=click.Choice(PERIODS),
            show_default=True,
        ),
        option("--key", code="option.audit_key", type=PATH),
        option("--earlier", code="option.audit_earlier", type=PATH, multiple=True),
        option("--schema", code="option.schema", type=PATH),
        option("--limits", code="option.audit_limits", type=PATH),
        option("--baseline", code="option.audit_baseline", type=PATH),
        option("--strict", code="option.audit_strict", is_flag=True),
        option("--show-records", code="option.audit_show_records", is_flag=True),
        option("-o", "--out", code="option.audit_out", type=OUT_FILE),
        option(
            "--targets",
            code="option.audit_targets",
            type=click.IntRange(40, 1_000_000),
            default=MOST_TARGETS,
            show_default=True,
        ),
        option(
            "--jobs", code="option.jobs", type=click.IntRange(1, 1000), default=os.cpu_count() or 1
        ),
        option("--cluster", code="option.audit_cluster", metavar="ADDRESS"),
        seed_option(),
        json_option(),
    ]
    return click.Command("audit", params=parameters, callback=_audit, help=text("help.audit"))
