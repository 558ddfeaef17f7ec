"""``audit ORIGINAL RELEASE...``: leaks of a planned release; ``schema FILE``: inferred columns."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
from kakurenbo.audit.schema import infer_schema, read_schema
from kakurenbo.audit.schema_checks import check_cells
from kakurenbo.audit.tasks import Crew, threads
from kakurenbo.audit.transactions import read_transactions
from kakurenbo.audit.writing import check_report_name, write_report
from kakurenbo.cli import output
from kakurenbo.cli.options import (
    ANY_PATH,
    JSON,
    NAMES,
    OUT_FILE,
    SEED,
    Command,
    Option,
    OutputPath,
    argument,
    check_exists,
    command,
    given_options,
    integer,
)
from kakurenbo.cli.progress import AuditProgress
from kakurenbo.core import (
    STANDARD_OUTPUT,
    InputError,
    Problem,
    Source,
    collect_notices,
    gather,
    json_bytes,
    write_file,
)
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text
from kakurenbo.core.problems import Gathering

_NEEDED_BY = {
    "person": ("time", "period", "key"),
    "time": ("period",),
    "run": ("runs", "time_limit"),
}
"""Options that say something only where another one is given."""


@dataclass(frozen=True)
class _Call:
    """The arguments and options of a call."""

    original: Path
    release: tuple[Path, ...]
    holdout: Path | None
    out: Path | None
    run: str | None
    runs: int
    time_limit: float
    method: str
    know: list[str]
    secret: list[str]
    identifiers: list[str]
    ignored: list[str]
    person: str
    time: str
    period: str
    key: Path | None
    earlier: tuple[Path, ...]
    schema: Path | None
    limits: Path | None
    baseline: Path | None
    strict: bool
    show_records: bool
    targets: int
    jobs: int
    cluster: str | None
    seed: int
    as_json: bool

    def check(self) -> None:
        """Refuse options that would change nothing."""
        for needed, names in _NEEDED_BY.items():
            idle = given_options(names)
            if idle and not getattr(self, needed):
                shown = {"option": idle[0], "needed": f"--{needed}"}
                raise UsageError(text("usage.audit_without_effect", **shown))
        if self.cluster is not None and given_options(["jobs"]):
            raise UsageError(text("usage.audit_jobs_and_cluster"))

    def anonymizing(self) -> Anonymizing | None:
        """Return the command of ``--run``, which makes releases and holdouts itself."""
        if self.run is not None:
            beside_run = {
                "RELEASE": self.release,
                "--holdout": self.holdout,
                "--person": self.person,
                "--method": self.method,
            }
            if names := [name for name, value in beside_run.items() if value]:
                raise UsageError(text("usage.audit_run_beside", name=names[0]))
            log = None if self.out is None else self.out.with_suffix(".run.log")
            return Anonymizing.parsed(self.run, self.time_limit, log, shown=self.show_records)
        if not self.release:
            raise UsageError(text("usage.audit_release"))
        # A table of this name is no candidate: membership could not be assessed without it.
        others = [path for path in self.release[1:] if path.stem.casefold().startswith("holdout")]
        if self.holdout is None and others:
            raise UsageError(text("usage.audit_holdout_meant", path=str(others[0])))
        return None

    def crew(self) -> Crew:
        return threads(self.jobs) if self.cluster is None else cluster(self.cluster)

    @contextmanager
    def hiding_cells(self) -> Iterator[None]:
        """Take the cells of tables out of problems, unless they are asked for."""
        try:
            yield
        except InputError as error:
            if self.show_records:
                raise
            raise InputError(error.problems.without_values()) from error

    def frames(
        self, problems: Gathering, paths: Sequence[Path | None], *, several: bool = False
    ) -> tuple[list[Frame], list[Problem]]:
        """Read tables, with the notices of all of them."""

        def read(path: Path) -> Frame:
            with self.hiding_cells():
                return read_frame(path, several=several)

        given = [path for path in paths if path is not None]
        for path in given:
            check_exists(path)
        with collect_notices() as notices:
            frames = [problems.of(read, path) for path in given]
        return frames, notices

    def options(self, key: Frame | None, earlier: Sequence[Frame], **settings: Any) -> Options:
        return Options(
            tuple(self.know),
            tuple(self.secret),
            tuple(self.identifiers),
            seed=self.seed,
            show_records=self.show_records,
            strict=self.strict,
            targets=self.targets,
            ignored=tuple(self.ignored),
            persons=persons_of(self.person, self.time, self.period, key),
            earlier=tuple(earlier),
            **settings,
        )


def _audit(**values: Any) -> int:
    # scikit-learn warns of rare classes without saying what to do
    warnings.filterwarnings("ignore", module="sklearn")
    call = _Call(**values)
    call.check()
    anonymizing = call.anonymizing()
    baseline = {} if call.baseline is None else read_baseline(call.baseline)
    limits, schema = dict(DEFAULTS), None
    with gather() as problems, collect_notices() as other_notices:
        if call.limits is not None:
            limits = problems.of(read_limits, Source.of(call.limits))
        if call.schema is not None:
            schema = problems.of(read_schema, Source.of(call.schema))
        originals, of_original = call.frames(problems, [call.original])
        _check_no_columns(call.release, originals[0])
        releases, of_releases = call.frames(problems, call.release, several=True)
        holdouts, of_holdout = call.frames(problems, [call.holdout])
        keys, of_key = call.frames(problems, [call.key])
        earlier, of_earlier = call.frames(problems, call.earlier, several=True)
    original, holdout = originals[0], next(iter(holdouts), None)
    if schema is not None:
        check_cells(schema, original)
    inputs = [*other_notices, *of_original, *of_holdout, *of_key]
    notices = tuple(notices_that_hold(inputs, [*of_releases, *of_earlier]))
    output.print_notices(notices)
    options = call.options(
        next(iter(keys), None), earlier, baseline=baseline, limits=limits, schema=schema
    )
    if anonymizing is not None:
        progress = AuditProgress(("run", *STEPS) * call.runs, quiet=call.as_json)
        with call.hiding_cells(), suggesting_columns(original), progress:
            result = audit_command(original, anonymizing, options, call.runs, progress, call.crew())
    else:
        result = _audit_releases(call, original, releases, holdout, options)
    return _report(call, replace(result, notices=notices))


def _check_no_columns(release: Sequence[Path], original: Frame | None) -> None:
    """Refuse a column as a release: ``--know age sex`` takes the second word for a file."""
    columns = () if original is None else original.columns
    for path in release:
        if str(path) in columns and not path.exists():
            raise UsageError(text("usage.audit_column_as_file", name=str(path)))


def _audit_releases(
    call: _Call,
    original: Frame,
    releases: Sequence[Frame],
    holdout: Frame | None,
    options: Options,
) -> AuditResult:
    if holdout is not None:
        for release in releases:
            columns = set(release.columns)
            if set(original.columns) < columns == set(holdout.columns):
                shown = {"original": str(call.original), "holdout": str(call.holdout)}
                raise UsageError(text("usage.audit_swapped", **shown))
    if call.method and len(releases) > 1:
        raise UsageError(text("usage.audit_method_of_one", count=len(releases)))
    steps = STEPS if options.persons is None else ("pseudonyms", *STEPS)
    results = []
    with suggesting_columns(original, [*releases, *options.earlier]):
        if call.method:
            options = with_rival(options, call.method, (original, releases[0], holdout))
        if options.persons is not None:
            with call.hiding_cells(), gather() as problems:
                for release in releases:
                    problems.of(read_transactions, options.persons, original, release, holdout)
        crew = call.crew()
        with AuditProgress(steps * len(releases), quiet=call.as_json) as progress:
            for release in releases:
                progress.of(release.name if len(releases) > 1 else "")
                results.append(run_audit(original, release, holdout, options, progress, crew))
    result = results[0]
    return replace(result, candidates=frontier(results)) if len(results) > 1 else result


def _report(call: _Call, result: AuditResult) -> int:
    result = result if call.show_records else result.without_cells()
    if call.out is not None:
        write_report(result, call.out)
    if call.as_json:
        output.print_json(json.loads(json_bytes(result.as_json())))
    else:
        _print_result(result)
        if call.out is not None:
            output.print_file(call.out, text("cli.report_written"))
    return result.verdict.exit_code


def _print_result(result: AuditResult) -> None:
    console = output.console()
    if result.candidates:
        console.print(said("title", file=result.candidates[0].name), markup=False)
    console.print(verdict_sentence(result), markup=False, style="bold")
    if worse := regression_sentence(result):
        console.print(worse, markup=False, style="bold")
    for caveat in caveat_sentences(result):
        console.print(caveat, markup=False, style="yellow")
    headings = ("risk", "figure", "standing", "attack")
    table = output.plain_table(*(text(f"audit.report.heading.{name}") for name in headings))
    for risk in result.risks.values():
        standing = text(f"audit.report.standing.{risk.standing}")
        attack = [named("attack", risk.attack)] if risk.assessed else []
        details = " · ".join([*attack, *beside(risk, result)])
        table.add_row(named("risk", risk.name), limited(risk), standing, details)
    console.print(table)
    if result.candidates:
        table = output.plain_table(*(said(f"heading.{name}") for name in CANDIDATE_HEADINGS))
        for row in candidate_rows(result):
            table.add_row(*map(escape, row))
        console.print()
        console.print(output.titled(said("frontier"), table))


def _option(name: str, *declarations: str, **settings: Any) -> Option:
    flags = declarations or (f"--{name.replace('_', '-')}",)
    return Option(*flags, code=f"option.audit_{name}", **settings)


def _columns(name: str, *declarations: str) -> Option:
    return _option(name, *declarations, type=NAMES, default="", metavar="COLUMN,...")


def _checked_report(_context: Any, _parameter: Any, out: Path | None) -> Path | None:
    if out is not None:
        check_report_name(out)
    return out


audit = Command(
    "audit",
    [
        argument("original", type=ANY_PATH),
        argument("release", type=ANY_PATH, nargs=-1),
        _option("holdout", type=ANY_PATH),
        _option("run", metavar="COMMAND"),
        _option("runs", type=integer(1, 100), default=3, show_default=True),
        _option(
            "time_limit",
            type=click.FloatRange(0, min_open=True),
            default=600.0,
            show_default=True,
            metavar="SECONDS",
        ),
        _option("method", default="", metavar="NAME:param=value,..."),
        _columns("know"),
        _columns("secret"),
        _columns("id", "--id", "identifiers"),
        _columns("ignore", "--ignore", "ignored"),
        _option("person", default="", metavar="COLUMN"),
        _option("time", default="", metavar="COLUMN"),
        _option("period", default="month", type=click.Choice(PERIODS), show_default=True),
        _option("key", type=ANY_PATH),
        _option("earlier", type=ANY_PATH, multiple=True),
        Option("--schema", type=ANY_PATH),
        _option("limits", type=ANY_PATH),
        _option("baseline", type=ANY_PATH),
        _option("strict", is_flag=True),
        _option("show_records", is_flag=True),
        _option("out", "-o", "--out", type=OUT_FILE, is_eager=True, callback=_checked_report),
        _option("targets", type=integer(40, 1_000_000), default=MOST_TARGETS, show_default=True),
        Option("--jobs", type=integer(1, 1000), default=os.cpu_count() or 1),
        _option("cluster", metavar="ADDRESS"),
        SEED,
        JSON,
    ],
    _audit,
)


# -- schema ----------------------------------------------------------------------------------------


@command(
    "schema",
    argument("file"),
    Option(
        "-o",
        "--out",
        code="option.schema_out",
        type=OutputPath(endings=(".toml",), code="usage.schema_ending"),
    ),
    JSON,
)
def schema(file: Path, out: Path | None, as_json: bool) -> None:
    with collect_notices() as notices:
        frame = read_frame(file)
    output.print_notices(notices)
    inferred = infer_schema(frame)
    # With --json the whole answer goes to standard output, so only a named file is written.
    if out is not None or not as_json:
        write_file(out or STANDARD_OUTPUT, inferred.as_toml().encode())
    if as_json:
        kinds: Mapping[str, str] = {column.name: column.kind for column in inferred}
        place = None if out is None else str(out)
        output.print_json({"out": place, "rows": len(frame), "columns": kinds})
    elif out not in (None, STANDARD_OUTPUT):
        columns = [f"{column.name} {text(f'schema.{column.kind}')}" for column in inferred]
        output.print_line(text("cli.file", file=str(out), what=columns))
