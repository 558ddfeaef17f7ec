"""``anonymize R METHOD IN OUT --param value``: run an anonymizer on a handout, or with ``table`` for R on any table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import polars as pl
from rich.markup import escape

from kakurenbo import registry
from kakurenbo.audit.anonymizing import PROBE, anonymized, csv_bytes
from kakurenbo.audit.frames import read_frame
from kakurenbo.audit.methods import check_fit, load_table_method
from kakurenbo.audit.schema import infer_schema, read_schema
from kakurenbo.audit.schema_checks import cells_outside
from kakurenbo.cli import output
from kakurenbo.cli.common import (
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
from kakurenbo.contracts import Anonymizer, AnyRulebook, Release, json_number
from kakurenbo.errors import UsageError
from kakurenbo.messages import text, text_or
from kakurenbo.parameters import make, parameters_of
from kakurenbo.rng import stream
from kakurenbo.tables import Problems, Source, archive_bytes, write_file, write_folder
from kakurenbo.tables.problems import Severity


def _anonymize(
    rulebook: AnyRulebook, method: Anonymizer, given: Path, out: Path, seed: int | None, verbose: bool, as_json: bool
) -> int:
    check_order(("IN", given), ("OUT", out), lambda path: path.is_dir() and was_handed_out(rulebook, path))
    rules = rulebook.in_folder(given)
    handout = rules.read_handout(given)
    if isinstance(handout, Problems):
        return output.refuse(handout, as_json)
    output.print_notices(handout.notices)
    seed = chosen_seed(seed)
    release = rules.anonymize(handout.value, method, stream(seed, "anonymize"))
    files = rules.release_files(handout.value, release)
    if len(files) == 1:
        write_file(out, next(iter(files.values())))
    elif out.suffix.lower() == ".zip":
        write_file(out, archive_bytes(files))
    else:
        write_folder(out, files)
    _tell(out, [len(table) for table in release.tables], release, seed, verbose, as_json)
    return output.DONE


def _tell(out: Path, rows: list[int], release: Release, seed: int, verbose: bool, as_json: bool) -> None:
    claims = {name: json_number(value) for name, value in release.claims.items()}
    report = {"out": str(out), "rows": rows[0] if len(rows) == 1 else rows, "claims": claims, "seed": seed}
    if as_json:
        output.print_json(report)
    else:
        shown = [_made(rows), *(f"{name} {output.short(value)}" for name, value in claims.items())]
        console = output.console_beside(out)
        console.print(text("cli.file", file=str(out), what=shown), markup=False)
        for explained in filter(None, (text_or(f"claim.{name}", "") for name in claims if verbose)):
            console.print(f"[dim]{escape(explained)}[/]")


def _made(rows: list[int]) -> str:
    """How much was made, in words."""
    if len(rows) == 1:
        return text("cli.records", count=rows[0])
    if len(set(rows)) == 1:
        return text("cli.files_of_records", files=len(rows), count=rows[0])
    return text("cli.files_with_records", files=len(rows), count=sum(rows))


def _anonymize_table(
    method: Anonymizer, own_table: Path, own_release: Path, schema: Path | None, seed: int | None, verbose: bool, as_json: bool
) -> int:
    check_there(own_table, *([schema] if schema else []))
    if own_release.exists() and own_release.samefile(own_table):
        raise UsageError(text("usage.own_input", path=str(own_release)))
    read = read_frame(own_table)
    if isinstance(read, Problems):
        return output.refuse(read, as_json)
    output.print_notices(read.notices)
    frame, columns = read.value, infer_schema(read.value)
    if schema is not None:
        own = read_schema(Source.of(schema))
        if isinstance(own, Problems):
            return output.refuse(own, as_json)
        columns = own.value
        if problems := cells_outside(columns, frame, Severity.VIOLATION):
            return output.refuse(problems, as_json)
    if not set(columns.names) - set(frame.columns):
        check_fit(frame, columns, method)
    left_out = [name for name in frame.columns if name not in columns.names]
    seed = chosen_seed(seed)
    made = anonymized(frame, columns, method, stream(seed, "anonymize"))
    if isinstance(made, Problems):
        return output.refuse(made, as_json)
    cells, release = made.value
    write_file(own_release, csv_bytes(cells))
    if left_out:
        output.print_notices([text("anonymize.left_out", columns=left_out)])
    if same := _same_columns(frame.cells, cells):
        told = "anonymize.unchanged" if len(same) == cells.width else "anonymize.unchanged_columns"
        output.print_notices([text(told, columns=same)])
    _tell(own_release, [cells.height], release, seed, verbose, as_json)
    return output.DONE


def _same_columns(before: pl.DataFrame, after: pl.DataFrame) -> list[str]:
    """Columns of several values that a method left as they were, row by row."""
    if before.height != after.height:
        return []
    return [name for name in after.columns if before[name].n_unique() > 1 and before[name].equals(after[name])]


class _TableMethods(PluginGroup):
    """The anonymizers that take numbers and words; of another name these are told."""

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        load_table_method(name)
        return super().get_command(context, name)


def _table() -> click.Group:
    """``anonymize table METHOD IN OUT``."""
    return _TableMethods(TABLE, "anonymizers", _table_command, text("help.anonymize_table"), lambda cls: cls.accepts(PROBE))


def _table_command(name: str) -> click.Command:
    cls = registry.load("anonymizers", name)
    wanted = parameters_of(cls)

    def callback(**values: Any) -> int:
        one_on_stdout(values)
        return _anonymize_table(make(cls, take_given(values, wanted)), **values)

    options = [parameter_option("anonymizers", name, one) for one in wanted]
    about = f"{described('anonymizers', name, cls)}{_example(TABLE, name)}"
    return click.Command(name, params=[*_table_parameters(), *options], callback=callback, help=about)


def _parameters() -> list[click.Parameter]:
    given = click.Argument(["given"], metavar="IN", type=PATH)
    out = click.Argument(["out"], metavar="OUT", type=OUT_PLACE)
    return [given, out, *_options()]


def _table_parameters() -> list[click.Parameter]:
    # Names of their own, because whoever forgets one is told what it is.
    given = click.Argument(["own_table"], metavar="IN", type=PATH)
    out = click.Argument(["own_release"], metavar="OUT", type=OUT_TABLE)
    return [given, out, option("--schema", code="option.schema", type=PATH), *_options()]


def _options() -> list[click.Parameter]:
    return [seed_option(), option("--verbose", code="option.explain_claims", is_flag=True), json_option()]


def _example(rulebook: str, method: str) -> str:
    return f"\n\n\b\n{text('help.example', command=anonymize_example(rulebook, method))}" if rulebook else ""


def anonymize() -> click.Group:
    """The verb."""
    beside = {TABLE: _table}
    return method_verb("anonymize", "anonymizers", _anonymize, _parameters, text("help.anonymize"), _example, beside)
