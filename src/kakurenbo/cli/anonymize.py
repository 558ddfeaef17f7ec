"""``anonymize``: run an anonymizer on a handout, or with ``table`` on any table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from kakurenbo.audit.anonymizing import (
    PROBE,
    anonymized,
    csv_bytes,
    stacked,
    unchanged_columns,
)
from kakurenbo.audit.frames import read_frame
from kakurenbo.audit.methods import check_fit, load_table_method, table_methods
from kakurenbo.audit.schema import infer_schema, read_schema
from kakurenbo.audit.schema_checks import check_cells
from kakurenbo.cli import output
from kakurenbo.cli.examples import TABLE, anonymize_example
from kakurenbo.cli.options import (
    ANY_PATH,
    JSON,
    OUT_FIGURE,
    OUT_PLACE,
    OUT_TABLE,
    PATH,
    SEED,
    Command,
    Option,
    PluginGroup,
    argument,
    check_exists,
    check_order,
    description,
    localized,
    method_command,
    parameter_options,
    take_parameters,
)
from kakurenbo.cli.play import read_release, was_handed_out
from kakurenbo.contest import Anonymizer, AnyRulebook, Mechanism, Release, engine, fits, json_number
from kakurenbo.core import (
    Problem,
    Severity,
    Source,
    archive_bytes,
    collect_notices,
    gather,
    write_file,
    write_folder,
)
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text, text_or
from kakurenbo.core.rng import stream
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import parameters_of
from kakurenbo.reports.charts import trace_csv, utility_chart

_MAX_LISTED = 6  # names of columns in a line
_TRAITS = {"release": "takes_release", "trace": "iterates", "figure": "iterates"}
"""Options that only methods with a trait have a use for."""


@dataclass(frozen=True)
class Extras:
    """What a repair reads and what an iterating method writes beside its release."""

    release: Path | None = None
    trace: Path | None = None
    figure: Path | None = None

    def check(
        self, method: type[Anonymizer], playable: Callable[[], Sequence[str]], out: Path
    ) -> None:
        """Raise UsageError for an option that the method has no use for, with those that have.

        ``playable`` lists the methods that could be called instead; loading them takes seconds.
        """
        for name, trait in _TRAITS.items():
            if getattr(self, name) is None or getattr(method, trait):
                continue
            classes = {other: registry.load("anonymizers", other) for other in playable()}
            methods = [other for other, cls in classes.items() if getattr(cls, trait)]
            code = f"usage.{trait}" if methods else f"usage.{trait}_nobody"
            shown = {"option": f"--{name}", "method": _method_name(), "methods": methods}
            raise UsageError(text(code, **shown))
        if self.release is not None:
            check_exists(self.release)
        written = [path for path in (out, self.trace, self.figure) if path is not None]
        for path in written:
            if written.count(path) > 1:
                raise UsageError(text("usage.same_file", path=str(path)))

    def write(self, release: Release) -> None:
        """Write the course of the iterations."""
        if self.trace is not None:
            write_file(self.trace, trace_csv(release.trace))
        if self.figure is not None:
            title = text("chart.utility", method=_method_name())
            write_file(self.figure, utility_chart(release.trace, title).encode())


def _method_name() -> str:
    return click.get_current_context().info_name or ""


def _release_options(method: type[Anonymizer]) -> list[click.Parameter]:
    # Options without use for a method are hidden but taken, so that an error can name the
    # methods that have one.
    repairs, iterates = method.takes_release, method.iterates
    return [
        Option("--release", code="option.release_to_repair", type=ANY_PATH, hidden=not repairs),
        Option("--trace", type=OUT_TABLE, hidden=not iterates),
        Option("--figure", type=OUT_FIGURE, hidden=not iterates),
        SEED,
        Option("--verbose", code="option.explain_claims", is_flag=True),
        JSON,
    ]


def _options(method: type[Anonymizer]) -> list[click.Parameter]:
    out = argument("out", metavar="OUT", type=OUT_PLACE, is_eager=True)
    return [argument("given", metavar="IN", type=ANY_PATH), out, *_release_options(method)]


def _example(rulebook: str, method: str) -> str:
    if not rulebook:
        return ""
    return f"\n\n\b\n{text('help.example', command=anonymize_example(rulebook, method))}"


# -- any table -------------------------------------------------------------------------------------


class TableMethods(PluginGroup):
    """The anonymizers that take numbers and words."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        is_file = registry.is_file(cmd_name)
        cls = registry.find("anonymizers", cmd_name) if is_file else load_table_method(cmd_name)
        return _table_command(cmd_name, cls)


def _table_command(name: str, cls: type[Anonymizer]) -> click.Command:
    parameters = parameters_of(cls)

    def callback(own_table: Path, own_release: Path, **values: Any) -> None:
        method = cls(**take_parameters(values, parameters))
        _anonymize_table(method, own_table, own_release, **values)

    params = [
        argument("own_table", metavar="IN"),
        argument("own_release", metavar="OUT", type=OUT_TABLE, is_eager=True),
        Option("--schema", type=PATH),
        *_release_options(cls),
        *parameter_options("anonymizers", name, parameters),
    ]
    about = description("anonymizers", name) + _example(TABLE, name)
    return localized(Command(name, params, callback, about=about))


def _anonymize_table(
    method: Anonymizer,
    table: Path,
    out: Path,
    *,
    schema: Path | None,
    seed: int,
    verbose: bool,
    as_json: bool,
    **paths: Path | None,
) -> None:
    extras = Extras(**paths)
    extras.check(type(method), table_methods, out)
    with collect_notices() as notices, gather() as problems:
        frame = problems.of(read_frame, table)
        release_frame = problems.of(read_frame, extras.release) if extras.release else None
    columns = infer_schema(frame)
    if release_frame is not None and set(frame.columns) <= set(release_frame.columns):
        columns = infer_schema(stacked([frame, release_frame], frame.columns))
    if schema is not None:
        columns = read_schema(Source.of(schema))
        check_cells(columns, frame, Severity.VIOLATION)
    if not set(columns.names) - set(frame.columns):
        check_fit(frame, columns, method)
    cells, release = anonymized(frame, columns, method, stream(seed, "anonymize"), release_frame)
    write_file(out, csv_bytes(cells))
    extras.write(release)
    if left_out := [name for name in frame.columns if name not in columns.names]:
        notices.append(_notice("anonymize.left_out", columns=left_out))
    if same := unchanged_columns(frame, columns, cells):
        is_same = len(same) == cells.width
        code = "release.unchanged" if is_same else "anonymize.unchanged_columns"
        notices.append(_notice(code, columns=same))
    report = _Report(out, [cells.height], release, notices, seed)
    report.print(verbose=verbose, as_json=as_json)


def _notice(code: str, **parameters: Any) -> Problem:
    return Problem(code, parameters, severity=Severity.NOTICE)


_TABLE = TableMethods(
    TABLE,
    "anonymizers",
    lambda name, cls: _table_command(name, cls),
    code="help.anonymize_table",
    offered=lambda cls: bool(cls.accepts(PROBE)),
)

# -- contests --------------------------------------------------------------------------------------


@method_command("anonymize", "anonymizers", _options, _example, others=[_TABLE])
def anonymize(
    rulebook: AnyRulebook,
    method: Anonymizer,
    given: Path,
    out: Path,
    seed: int,
    verbose: bool,
    as_json: bool,
    **paths: Path | None,
) -> None:
    check_order(
        ("IN", given), ("OUT", out), lambda path: path.is_dir() and was_handed_out(rulebook, path)
    )
    extras = Extras(**paths)
    extras.check(type(method), lambda: _playable(rulebook), out)
    rng = stream(seed, "anonymize")
    if extras.release is not None:
        checked = read_release(rulebook, given, extras.release)
        rules, notices = checked.rules, list(checked.notices)
        released = rules.released(checked.handout, checked.submission)
        if released is None:
            shown = {"option": "--release", "method": _method_name()}
            raise UsageError(text("usage.takes_release_nobody", **shown))
        handout, repaired = released
    else:
        rules, repaired = rulebook.in_folder(given), None
        with collect_notices() as notices:
            handout = rules.read_handout(given)
    release, files = engine.anonymize(rules, handout, method, rng, repaired)
    if rules.is_unchanged(handout, release):
        notices.append(_notice("release.unchanged"))
    if len(files) == 1:
        write_file(out, next(iter(files.values())))
    elif out.suffix.lower() == ".zip":
        write_file(out, archive_bytes(rules.packed_files(handout, files)))
    else:
        write_folder(out, files)
    extras.write(release)
    report = _Report(out, [len(table) for table in release.tables], release, notices, seed)
    report.print(verbose=verbose, as_json=as_json)


def _playable(rulebook: AnyRulebook) -> list[str]:
    names = registry.names("anonymizers")
    return [name for name in names if fits(type(rulebook), registry.load("anonymizers", name))]


@dataclass(frozen=True)
class _Report:
    """What is said of a release that was written."""

    out: Path
    rows: list[int]
    release: Release
    notices: Sequence[Problem]
    seed: int

    def print(self, *, verbose: bool, as_json: bool) -> None:
        output.print_notices(self.notices)
        release = self.release
        claims = {name: json_number(value) for name, value in release.claims.items()}
        if as_json:
            rows = self.rows[0] if len(self.rows) == 1 else self.rows
            content = {
                "out": str(self.out),
                "rows": rows,
                "claims": {**claims, **_probabilities(release)},
                "notices": [notice.as_json() for notice in self.notices],
                "seed": self.seed,
            }
            output.print_json(content)
            return
        shown = (f"{name} {output.short(value)}" for name, value in claims.items())
        output.print_file(self.out, [self._count(), *shown])
        console = output.console_beside(self.out)
        for name, mechanism in release.steps or (("", release.mechanism),):
            _print_probabilities(console, name, mechanism)
        explained = [text_or(f"claim.{name}", "") for name in claims if verbose]
        for line in filter(None, explained):
            console.print(f"[dim]{escape(line)}[/]")

    def _count(self) -> str:
        rows = self.rows
        if len(rows) == 1:
            return text("cli.records", count=rows[0])
        if len(set(rows)) == 1:
            return text("cli.files_of_records", files=len(rows), count=rows[0])
        return text("cli.files_with_records", files=len(rows), count=sum(rows))


def _probabilities(release: Release) -> dict[str, Any]:
    """Return P(keep) and P(change) of a value by column, of a pipeline by step."""

    def by_column(mechanism: Mechanism | None) -> dict[str, dict[str, float]]:
        cells = mechanism.cell_probabilities() if mechanism else {}
        keep, change = ({name: pair[place] for name, pair in cells.items()} for place in (0, 1))
        return {"keep": keep, "change": change} if cells else {}

    steps = [{"method": name, **by_column(mechanism)} for name, mechanism in release.steps]
    return {"steps": steps} if steps else by_column(release.mechanism)


def _print_probabilities(console: Console, step: str, mechanism: Mechanism | None) -> None:
    """Print a line for all columns of the same number of values and the same probabilities."""
    columns: dict[tuple[int, float, float], list[str]] = {}
    cells = mechanism.cell_probabilities() if mechanism else {}
    for name, (keep, change) in cells.items():
        assert mechanism is not None
        columns.setdefault((len(mechanism.transitions[name]), keep, change), []).append(name)
    if not columns:
        return
    headings = (text(f"probabilities.{heading}") for heading in ("values", "keep", "change"))
    table = output.plain_table(step, *headings)
    for (size, keep, change), names in columns.items():
        listed = ", ".join(names)
        if len(names) > _MAX_LISTED:
            listed = ", ".join([*names[:_MAX_LISTED], "…"]) + f" ({len(names)})"
        table.add_row(escape(listed), str(size), f"{keep:.4f}", f"{change:.4f}")
    console.print(table)
