"""A call of ``audit``: its arguments are checked, its tables read, and the result printed."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.markup import escape

from kakurenbo.audit.baselines import read_baseline
from kakurenbo.audit.candidates import frontier
from kakurenbo.audit.clustering import cluster
from kakurenbo.audit.comma_numbers import notices_that_hold
from kakurenbo.audit.commands import Anonymizing
from kakurenbo.audit.frames import Frame, read_frame
from kakurenbo.audit.limits import DEFAULTS, read_limits
from kakurenbo.audit.meant import suggesting_columns
from kakurenbo.audit.options import Options
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
from kakurenbo.audit.writing import write_report
from kakurenbo.cli import output
from kakurenbo.cli.options import check_exists, typed
from kakurenbo.cli.terminal import AuditProgress, console, plain_table, titled
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


@dataclass(frozen=True)
class AuditCall:
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
        """Refuse options without effect, outputs that are inputs, and other inputs beside a run."""
        for needed, names in _NEEDED_BY.items():
            idle = [f"--{name.replace('_', '-')}" for name in names if typed(name)]
            if idle and not getattr(self, needed):
                shown = {"option": idle[0], "needed": f"--{needed}"}
                raise UsageError("usage.audit_without_effect", **shown)
        if self.cluster is not None and typed("jobs"):
            raise UsageError("usage.audit_jobs_and_cluster")
        if self.run is not None:
            inputs = {
                "RELEASE": self.release,
                "--holdout": self.holdout,
                "--person": self.person,
                "--method": self.method,
            }
            if others := [name for name, value in inputs.items() if value]:
                raise UsageError("usage.audit_run_beside", name=others[0])
        elif not self.release:
            raise UsageError("usage.audit_release")
        elif self.holdout is None:
            # A table of this name is no candidate: membership could not be assessed without it.
            for path in self.release[1:]:
                if path.stem.casefold().startswith("holdout"):
                    raise UsageError("usage.audit_holdout_meant", path=str(path))

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

        existing = [path for path in paths if path is not None]
        for path in existing:
            check_exists(path)
        with collect_notices() as notices:
            frames = [problems.of(read, path) for path in existing]
        return frames, notices

    def options(self, keys: Sequence[Frame], earlier: Sequence[Frame], **settings: Any) -> Options:
        key = keys[0] if keys else None
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


def run(**values: Any) -> int:
    """Audit releases, or the releases of a command; print the result and return the exit code."""
    # scikit-learn warns of rare classes without saying what to do
    warnings.filterwarnings("ignore", module="sklearn")
    call = AuditCall(**values)
    call.check()
    baseline = {} if call.baseline is None else read_baseline(call.baseline)
    anonymizing = None
    if call.run is not None:
        log = None if call.out is None else call.out.with_suffix(".run.log")
        anonymizing = Anonymizing.parsed(call.run, call.time_limit, log, shown=call.show_records)
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
    original, holdout = originals[0], holdouts[0] if holdouts else None
    if schema is not None:
        check_cells(schema, original)
    inputs = [*other_notices, *of_original, *of_holdout, *of_key]
    notices = tuple(notices_that_hold(inputs, [*of_releases, *of_earlier]))
    output.print_notices(notices)
    options = call.options(keys, earlier, baseline=baseline, limits=limits, schema=schema)
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
            raise UsageError("usage.audit_column_as_file", name=str(path))


def _audit_releases(
    call: AuditCall,
    original: Frame,
    releases: Sequence[Frame],
    holdout: Frame | None,
    options: Options,
) -> AuditResult:
    for release in releases:
        columns = set(release.columns)
        if holdout is not None and set(original.columns) < columns == set(holdout.columns):
            shown = {"original": str(call.original), "holdout": str(call.holdout)}
            raise UsageError("usage.audit_swapped", **shown)
    if call.method and len(releases) > 1:
        raise UsageError("usage.audit_method_of_one", count=len(releases))
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


def _report(call: AuditCall, result: AuditResult) -> int:
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
    out = console()
    if result.candidates:
        out.print(said("title", file=result.candidates[0].name), markup=False)
    out.print(verdict_sentence(result), markup=False, style="bold")
    if worse := regression_sentence(result):
        out.print(worse, markup=False, style="bold")
    for caveat in caveat_sentences(result):
        out.print(caveat, markup=False, style="yellow")
    headings = ("risk", "figure", "standing", "attack")
    table = plain_table(*(text(f"audit.report.heading.{name}") for name in headings))
    for risk in result.risks.values():
        standing = text(f"audit.report.standing.{risk.standing}")
        attack = [named("attack", risk.attack)] if risk.assessed else []
        details = " · ".join([*attack, *beside(risk, result)])
        table.add_row(named("risk", risk.name), limited(risk), standing, details)
    out.print(table)
    if result.candidates:
        table = plain_table(*(said(f"heading.{name}") for name in CANDIDATE_HEADINGS))
        for row in candidate_rows(result):
            table.add_row(*map(escape, row))
        out.print()
        out.print(titled(said("frontier"), table))
