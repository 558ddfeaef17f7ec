"""``anonymize R METHOD IN OUT --param value``: run an anonymizer on a handout, or with ``table`` for R on any table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import polars as pl
from rich.console import Console
from rich.markup import escape

from kakurenbo.audit.anonymizing import PROBE, anonymized, csv_bytes, stacked
from kakurenbo.audit.frames import read_frame
from kakurenbo.audit.methods import check_fit, load_table_method, table_methods
from kakurenbo.audit.schema import infer_schema, read_schema
from kakurenbo.audit.schema_checks import check_cells
from kakurenbo.cli import output
from kakurenbo.cli.check import read_release
from kakurenbo.cli.common import (
    OUT_FIGURE,
    OUT_PLACE,
    OUT_TABLE,
    PATH,
    PluginGroup,
    check_order,
    check_there,
    chosen_seed,
    described,
    json_option,
    method_verb,
    one_on_stdout,
    option,
    parameter_option,
    seed_option,
    take_given,
    was_handed_out,
)
from kakurenbo.cli.examples import TABLE, anonymize_example
from kakurenbo.contest import Anonymizer, AnyRulebook, Mechanism, Release, fits, json_number
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
from kakurenbo.methods.parameters import make, parameters_of
from kakurenbo.reports.charts import trace_csv, utility_chart

_MAX_LISTED = 6  # names of columns in a line


@dataclass(frozen=True)
class _Extras:
    """What a repair reads and what an iterating method writes beside its release."""

    release: Path | None
    trace: Path | None
    figure: Path | None

    @classmethod
    def take(
        cls,
        values: dict[str, Any],
        method: type[Anonymizer],
        others: Callable[[], Iterable[str]],
        out: Path,
    ) -> _Extras:
        """Remove these options from the values of a call; raise UsageError where a method has no use for one.

        ``others`` lists the methods that could have been called instead: loading them takes seconds.
        """
        extras = cls(*(values.pop(name) for name in ("release", "trace", "figure")))
        asked = {"--release": extras.release, "--trace": extras.trace, "--figure": extras.figure}
        for name, path in asked.items():
            trait = "takes_release" if name == "--release" else "iterates"
            if path is None or getattr(method, trait):
                continue
            methods = [
                other for other in others() if getattr(registry.load("anonymizers", other), trait)
            ]
            code = f"usage.{trait}" if methods else f"usage.{trait}_nobody"
            raise UsageError(text(code, option=name, method=_method_name(), methods=methods))
        written = [path for path in (out, extras.trace, extras.figure) if path is not None]
        for path in written:
            if written.count(path) > 1:
                raise UsageError(text("usage.same_file", path=str(path)))
        return extras

    def write(self, release: Release) -> None:
        """Write the course of the iterations."""
        if self.trace is not None:
            write_file(self.trace, trace_csv(release.trace))
        if self.figure is not None:
            title = text("chart.utility", method=_method_name())
            write_file(self.figure, utility_chart(release.trace, title).encode())


def _fitting_methods(rulebook: AnyRulebook) -> list[str]:
    names = registry.names("anonymizers")
    return [name for name in names if fits(type(rulebook), registry.load("anonymizers", name))]


def _method_name() -> str:
    return click.get_current_context().info_name or ""


def _anonymize(
    rulebook: AnyRulebook,
    method: Anonymizer,
    given: Path,
    out: Path,
    seed: int | None,
    verbose: bool,
    as_json: bool,
    **extra: Any,
) -> int:
    check_order(
        ("IN", given), ("OUT", out), lambda path: path.is_dir() and was_handed_out(rulebook, path)
    )
    extras = _Extras.take(extra, type(method), lambda: _fitting_methods(rulebook), out)
    seed = chosen_seed(seed)
    rng = stream(seed, "anonymize")
    if extras.release is not None:
        checked = read_release(rulebook, given, extras.release)
        rules, notices = checked.rules, list(checked.notices)
        released = rules.released(checked.handout, checked.submission)
        if released is None:
            raise UsageError(
                text("usage.takes_release_nobody", option="--release", method=_method_name())
            )
        handout = released[0]
        release = rules.repair(*released, method, rng)
    else:
        rules = rulebook.in_folder(given)
        with collect_notices() as notices:
            handout = rules.read_handout(given)
        release = rules.anonymize(handout, method, rng)
    if rules.is_unchanged(handout, release):
        notices.append(Problem("release.unchanged", severity=Severity.NOTICE))
    files = rules.release_files(handout, release)
    if len(files) == 1:
        write_file(out, next(iter(files.values())))
    elif out.suffix.lower() == ".zip":
        write_file(out, archive_bytes(rules.packed_files(handout, files)))
    else:
        write_folder(out, files)
    extras.write(release)
    _tell(out, [len(table) for table in release.tables], release, notices, seed, verbose, as_json)
    return output.DONE


def _tell(
    out: Path,
    rows: list[int],
    release: Release,
    notices: Sequence[Problem],
    seed: int,
    verbose: bool,
    as_json: bool,
) -> None:
    output.print_notices(notices)
    claims = {name: json_number(value) for name, value in release.claims.items()}
    if as_json:
        told = {
            "claims": {**claims, **_probabilities(release)},
            "notices": [notice.as_json() for notice in notices],
        }
        output.print_json(
            {"out": str(out), "rows": rows[0] if len(rows) == 1 else rows, **told, "seed": seed}
        )
        return
    shown = [_made(rows), *(f"{name} {output.short(value)}" for name, value in claims.items())]
    console = output.console_beside(out)
    console.print(text("cli.file", file=str(out), what=shown), markup=False)
    for name, mechanism in release.steps or (("", release.mechanism),):
        _print_probabilities(console, name, mechanism)
    for explained in filter(None, (text_or(f"claim.{name}", "") for name in claims if verbose)):
        console.print(f"[dim]{escape(explained)}[/]")


def _probabilities(release: Release) -> dict[str, Any]:
    """Return the probabilities of keeping and changing a value by column, of a pipeline by step."""

    def by_column(mechanism: Mechanism | None) -> dict[str, dict[str, float]]:
        cells = mechanism.cell_probabilities() if mechanism else {}
        keep, change = ({name: pair[place] for name, pair in cells.items()} for place in (0, 1))
        return {"keep": keep, "change": change} if cells else {}

    steps = [{"method": name, **by_column(mechanism)} for name, mechanism in release.steps]
    return {"steps": steps} if steps else by_column(release.mechanism)


def _print_probabilities(console: Console, step: str, mechanism: Mechanism | None) -> None:
    """Print one line for all columns that have the same number of values and the same probabilities."""
    if mechanism is None:
        return
    columns: dict[tuple[int, float, float], list[str]] = {}
    for name, (keep, change) in mechanism.cell_probabilities().items():
        columns.setdefault((len(mechanism.transitions[name]), keep, change), []).append(name)
    if not columns:
        return
    table = output.plain_table(
        step, *(text(f"probabilities.{heading}") for heading in ("values", "keep", "change"))
    )
    for (size, keep, change), names in columns.items():
        listed = names if len(names) <= _MAX_LISTED else [*names[:_MAX_LISTED], "…"]
        count = f" ({len(names)})" if len(names) > _MAX_LISTED else ""
        table.add_row(escape(", ".join(listed)) + count, str(size), f"{keep:.4f}", f"{change:.4f}")
    console.print(table)


def _made(rows: list[int]) -> str:
    """How much was made, in words."""
    if len(rows) == 1:
        return text("cli.records", count=rows[0])
    if len(set(rows)) == 1:
        return text("cli.files_of_records", files=len(rows), count=rows[0])
    return text("cli.files_with_records", files=len(rows), count=sum(rows))


def _anonymize_table(
    method: Anonymizer,
    own_table: Path,
    own_release: Path,
    schema: Path | None,
    seed: int | None,
    verbose: bool,
    as_json: bool,
    **extra: Any,
) -> int:
    extras = _Extras.take(extra, type(method), table_methods, own_release)
    check_there(*(path for path in (own_table, schema, extras.release) if path is not None))
    if own_release.exists() and own_release.samefile(own_table):
        raise UsageError(text("usage.own_input", path=str(own_release)))
    with collect_notices() as notices, gather() as problems:
        frame = problems.of(read_frame, own_table)
        release_frame = problems.of(read_frame, extras.release) if extras.release else None
    columns = infer_schema(frame)
    if release_frame is not None and set(frame.columns) <= set(release_frame.columns):
        columns = infer_schema(stacked([frame, release_frame], frame.columns))
    if schema is not None:
        columns = read_schema(Source.of(schema))
        check_cells(columns, frame, Severity.VIOLATION)
    if not set(columns.names) - set(frame.columns):
        check_fit(frame, columns, method)
    seed = chosen_seed(seed)
    cells, release = anonymized(frame, columns, method, stream(seed, "anonymize"), release_frame)
    write_file(own_release, csv_bytes(cells))
    extras.write(release)
    if left_out := [name for name in frame.columns if name not in columns.names]:
        notices.append(
            Problem("anonymize.left_out", {"columns": left_out}, severity=Severity.NOTICE)
        )
    if same := _same_columns(frame.cells, cells):
        code = "release.unchanged" if len(same) == cells.width else "anonymize.unchanged_columns"
        notices.append(Problem(code, {"columns": same}, severity=Severity.NOTICE))
    _tell(own_release, [cells.height], release, notices, seed, verbose, as_json)
    return output.DONE


def _same_columns(before: pl.DataFrame, after: pl.DataFrame) -> list[str]:
    """Columns of several values that a method left as they were, row by row."""
    if before.height != after.height:
        return []
    return [
        name
        for name in after.columns
        if before[name].n_unique() > 1 and before[name].equals(after[name])
    ]


class _TableMethods(PluginGroup):
    """The anonymizers that take numbers and words; of another name these are told."""

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        load_table_method(name)
        return super().get_command(context, name)


def _table() -> click.Group:
    """``anonymize table METHOD IN OUT``."""
    return _TableMethods(
        TABLE,
        "anonymizers",
        _table_command,
        text("help.anonymize_table"),
        lambda cls: cls.accepts(PROBE),
    )


def _table_command(name: str) -> click.Command:
    cls = registry.load("anonymizers", name)
    wanted = parameters_of(cls)

    def callback(**values: Any) -> int:
        one_on_stdout(values)
        return _anonymize_table(make(cls, take_given(values, wanted)), **values)

    options = [parameter_option("anonymizers", name, one) for one in wanted]
    about = f"{described('anonymizers', name, cls)}{_example(TABLE, name)}"
    return click.Command(
        name, params=[*_table_parameters(cls), *options], callback=callback, help=about
    )


def _parameters(method: type[Anonymizer]) -> list[click.Parameter]:
    given = click.Argument(["given"], metavar="IN", type=PATH)
    out = click.Argument(["out"], metavar="OUT", type=OUT_PLACE)
    return [given, out, *_options(method)]


def _table_parameters(method: type[Anonymizer]) -> list[click.Parameter]:
    # Names of their own, because whoever forgets one is told what it is.
    given = click.Argument(["own_table"], metavar="IN", type=PATH)
    out = click.Argument(["own_release"], metavar="OUT", type=OUT_TABLE)
    return [given, out, option("--schema", code="option.schema", type=PATH), *_options(method)]


def _options(method: type[Anonymizer]) -> list[click.Parameter]:
    # Options without use for a method are not shown, but taken, so that a sentence can name the methods that have one.
    repairs, iterates = method.takes_release, method.iterates
    return [
        option("--release", code="option.release_to_repair", type=PATH, hidden=not repairs),
        option("--trace", code="option.trace", type=OUT_TABLE, hidden=not iterates),
        option("--figure", code="option.figure", type=OUT_FIGURE, hidden=not iterates),
        seed_option(),
        option("--verbose", code="option.explain_claims", is_flag=True),
        json_option(),
    ]


def _example(rulebook: str, method: str) -> str:
    return (
        f"\n\n\b\n{text('help.example', command=anonymize_example(rulebook, method))}"
        if rulebook
        else ""
    )


def anonymize() -> click.Group:
    """The verb."""
    beside = {TABLE: _table}
    return method_verb(
        "anonymize",
        "anonymizers",
        _anonymize,
        _parameters,
        text("help.anonymize"),
        _example,
        beside,
    )
