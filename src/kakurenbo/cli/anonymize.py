"""``anonymize``: run an anonymizer on a handout, or with ``table`` on any table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from kakurenbo.api import Contest
from kakurenbo.cli import output
from kakurenbo.cli.examples import TABLE, example
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
    argument,
    check_exists,
    check_order,
)
from kakurenbo.cli.play import check_release_order, was_handed_out
from kakurenbo.cli.plugins import (
    PluginGroup,
    description,
    method_command,
    parameter_options,
    take_parameters,
)
from kakurenbo.contest import Anonymizer, AnyRulebook, Mechanism, Release, fits, json_number
from kakurenbo.core import (
    STANDARD_OUTPUT,
    Problem,
    Severity,
    Source,
    collect_notices,
    gather,
    write_file,
)
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text
from kakurenbo.core.rng import stream
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import parameters_of

_MAX_LISTED = 6  # names of columns in a line
_TRAITS = {"release": "takes_release", "trace": "iterates", "figure": "iterates"}
"""Options that only methods with a trait have a use for."""
Paths = Mapping[str, Path | None]
"""The values of these options."""


def _options(method: type[Anonymizer]) -> list[click.Parameter]:
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


def _check_paths(
    method: Anonymizer, out: Path, paths: Paths, playable: Callable[[], Iterable[str]]
) -> None:
    """Raise UsageError for an option that the method has no use for, with those that have.

    ``playable`` lists the methods that could be called instead; loading them takes seconds.
    """
    for name, trait in _TRAITS.items():
        if paths[name] is not None and not getattr(method, trait):
            classes = {other: registry.load("anonymizers", other) for other in playable()}
            methods = [other for other, cls in classes.items() if getattr(cls, trait)]
            code = f"usage.{trait}" if methods else f"usage.{trait}_nobody"
            shown = {"option": f"--{name}", "method": _method_name(), "methods": methods}
            raise UsageError(code, **shown)
    if paths["release"] is not None:
        check_exists(paths["release"])
    written = [path for path in (out, paths["trace"], paths["figure"]) if path is not None]
    for path in written:
        if written.count(path) > 1:
            raise UsageError("usage.same_file", path=str(path))


def _method_name() -> str:
    return click.get_current_context().info_name or ""


def _write_trace(release: Release, paths: Paths) -> None:
    """Write the course of the iterations, as a table and as a figure."""
    trace, figure = paths["trace"], paths["figure"]
    if trace is None and figure is None:
        return
    from kakurenbo.reports.charts import trace_csv, utility_chart

    if trace is not None:
        write_file(trace, trace_csv(release.trace))
    if figure is not None:
        title = text("chart.utility", method=_method_name())
        write_file(figure, utility_chart(release.trace, title).encode())


def _notice(code: str, **parameters: Any) -> Problem:
    return Problem(code, parameters, severity=Severity.NOTICE)


# -- any table -------------------------------------------------------------------------------------


def _find_table_method(name: str) -> Any:
    from kakurenbo.audit.methods import load_table_method

    return registry.find("anonymizers", name) if registry.is_file(name) else load_table_method(name)


def _takes_tables(cls: type[Anonymizer]) -> bool:
    from kakurenbo.audit.anonymizing import PROBE

    return bool(cls.accepts(PROBE))


def _table_command(name: str, cls: type[Anonymizer]) -> click.Command:
    parameters = parameters_of(cls)

    def callback(own_table: Path, own_release: Path, **values: Any) -> None:
        method = cls(**take_parameters(values, parameters))
        _anonymize_table(method, own_table, own_release, **values)

    params = [
        argument("own_table", metavar="IN"),
        argument("own_release", metavar="OUT", type=OUT_TABLE, is_eager=True),
        Option("--schema", type=PATH),
        *_options(cls),
        *parameter_options("anonymizers", name, parameters),
    ]
    return Command(name, params, callback, description("anonymizers", name) + _help(TABLE, name))


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
    from kakurenbo.audit.anonymizing import anonymized, csv_bytes, stacked, unchanged_columns
    from kakurenbo.audit.frames import read_frame
    from kakurenbo.audit.methods import check_fit, table_methods
    from kakurenbo.audit.schema import infer_schema, read_schema
    from kakurenbo.audit.schema_checks import check_cells

    _check_paths(method, out, paths, table_methods)
    with collect_notices() as notices, gather() as problems:
        frame = problems.of(read_frame, table)
        other = problems.of(read_frame, paths["release"]) if paths["release"] else None
    columns = infer_schema(frame)
    if other is not None and set(frame.columns) <= set(other.columns):
        columns = infer_schema(stacked([frame, other], frame.columns))
    if schema is not None:
        columns = read_schema(Source.of(schema))
        check_cells(columns, frame, Severity.VIOLATION)
    if not set(columns.names) - set(frame.columns):
        check_fit(frame, columns, method)
    cells, release = anonymized(frame, columns, method, stream(seed, "anonymize"), other)
    write_file(out, csv_bytes(cells))
    _write_trace(release, paths)
    if left_out := [name for name in frame.columns if name not in columns.names]:
        notices.append(_notice("anonymize.left_out", columns=left_out))
    if same := unchanged_columns(frame, columns, cells):
        is_same = len(same) == cells.width
        code = "release.unchanged" if is_same else "anonymize.unchanged_columns"
        notices.append(_notice(code, columns=same))
    output.print_notices(notices)
    if as_json:
        _print_json(out, [cells.height], release, notices, seed)
    else:
        _print_release(out, [cells.height], release, verbose)


_TABLE = PluginGroup(
    TABLE,
    "anonymizers",
    _table_command,
    about="help.anonymize_table",
    offered=_takes_tables,
    find=_find_table_method,
)

# -- contests --------------------------------------------------------------------------------------


def _params(method: type[Anonymizer]) -> list[click.Parameter]:
    out = argument("out", metavar="OUT", type=OUT_PLACE, is_eager=True)
    return [argument("given", metavar="IN", type=ANY_PATH), out, *_options(method)]


def _help(rulebook: str, method: str) -> str:
    if not rulebook:
        return ""
    return f"\n\n\b\n{text('help.example', command=example('anonymize', rulebook, method))}"


@method_command("anonymize", "anonymizers", _params, _help, table=_TABLE)
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
    methods = registry.names("anonymizers")
    _check_paths(
        method,
        out,
        paths,
        lambda: (
            name for name in methods if fits(type(rulebook), registry.load("anonymizers", name))
        ),
    )
    if paths["release"] is not None:
        check_release_order(rulebook, given, paths["release"])
    with collect_notices() as notices:
        contest = Contest(rulebook)
        release = contest.anonymize(given, method, out, release=paths["release"], seed=seed)
    _write_trace(release, paths)
    output.print_notices(notices)
    rows = [len(table) for table in release.tables]
    if as_json:
        _print_json(out, rows, release, notices, seed)
    else:
        _print_release(out, rows, release, verbose)


# -- what is printed of a release ------------------------------------------------------------------


def _print_json(
    out: Path, rows: Sequence[int], release: Release, notices: Sequence[Problem], seed: int
) -> None:

    steps = [{"method": name, **_by_column(mechanism)} for name, mechanism in release.steps]
    claims: dict[str, Any] = {name: json_number(value) for name, value in release.claims.items()}
    claims |= {"steps": steps} if steps else _by_column(release.mechanism)
    content = {
        "out": str(out),
        "rows": rows[0] if len(rows) == 1 else rows,
        "claims": claims,
        "notices": [notice.as_json() for notice in notices],
        "seed": seed,
    }
    output.print_json(content)


def _by_column(mechanism: Mechanism | None) -> dict[str, dict[str, float]]:
    """Return P(keep) and P(change) of a value by column."""
    cells = mechanism.cell_probabilities() if mechanism else {}
    keep = {name: probabilities[0] for name, probabilities in cells.items()}
    change = {name: probabilities[1] for name, probabilities in cells.items()}
    return {"keep": keep, "change": change} if cells else {}


def _print_release(out: Path, rows: Sequence[int], release: Release, verbose: bool) -> None:

    claims = [
        f"{name} {output.value_text(json_number(value))}" for name, value in release.claims.items()
    ]
    if len(rows) == 1:
        count = text("cli.records", count=rows[0])
    elif len(set(rows)) == 1:
        count = text("cli.files_of_records", files=len(rows), count=rows[0])
    else:
        count = text("cli.files_with_records", files=len(rows), count=sum(rows))
    output.print_file(out, [count, *claims])
    for name, mechanism in release.steps or (("", release.mechanism),):
        _print_probabilities(out, name, mechanism)
    for name in release.claims if verbose else ():
        if explanation := text(f"claim.{name}", ""):
            output.print_line(explanation, out)


def _print_probabilities(out: Path, step: str, mechanism: Mechanism | None) -> None:
    """Print a line for all columns of the same number of values and the same probabilities."""
    from rich.markup import escape

    from kakurenbo.cli.terminal import console, plain_table

    if mechanism is None or not (cells := mechanism.cell_probabilities()):
        return
    columns: dict[tuple[int, float, float], list[str]] = {}
    for name, (keep, change) in cells.items():
        columns.setdefault((len(mechanism.transitions[name]), keep, change), []).append(name)
    headings = (text(f"probabilities.{heading}") for heading in ("values", "keep", "change"))
    table = plain_table(step, *headings)
    for (size, keep, change), names in columns.items():
        listed = ", ".join(names)
        if len(names) > _MAX_LISTED:
            listed = ", ".join([*names[:_MAX_LISTED], "…"]) + f" ({len(names)})"
        table.add_row(escape(listed), str(size), f"{keep:.4f}", f"{change:.4f}")
    console(stderr=out == STANDARD_OUTPUT).print(table)
