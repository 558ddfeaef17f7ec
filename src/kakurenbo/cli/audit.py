"""``audit ORIGINAL RELEASE...``: leaks of a planned release; ``schema FILE``: inferred columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kakurenbo.audit.defaults import MOST_TARGETS, PERIODS
from kakurenbo.cli import output
from kakurenbo.cli.options import (
    ANY_PATH,
    JOBS,
    JSON,
    OUT_FILE,
    POSITIVE,
    SEED,
    Command,
    Option,
    OutputPath,
    argument,
    command,
    integer,
    names,
)
from kakurenbo.core import STANDARD_OUTPUT, collect_notices, write_file
from kakurenbo.core.messages import text


def _option(name: str, *declarations: str, **settings: Any) -> Option:
    flags = declarations or (f"--{name.replace('_', '-')}",)
    return Option(*flags, code=f"option.audit_{name}", **settings)


def _columns(name: str, *declarations: str) -> Option:
    return _option(name, *declarations, type=names, default="", metavar="COLUMN,...")


def _check_report(_context: Any, _parameter: Any, out: Path | None) -> Path | None:
    if out is not None:
        from kakurenbo.audit.writing import check_report_name

        check_report_name(out)
    return out


def _audit(**values: Any) -> int:
    from kakurenbo.cli.audit_call import run  # loads the audit's engine

    return run(**values)


audit = Command(
    "audit",
    [
        argument("original", type=ANY_PATH),
        argument("release", type=ANY_PATH, nargs=-1),
        _option("holdout", type=ANY_PATH),
        _option("run", metavar="COMMAND"),
        _option("runs", type=integer(1, 100), default=3, show_default=True),
        _option("time_limit", type=POSITIVE, default=600.0, show_default=True, metavar="SECONDS"),
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
        _option("out", "-o", "--out", type=OUT_FILE, is_eager=True, callback=_check_report),
        _option("targets", type=integer(40, 1_000_000), default=MOST_TARGETS, show_default=True),
        JOBS,
        _option("cluster", metavar="ADDRESS"),
        SEED,
        JSON,
    ],
    _audit,
)


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
    from kakurenbo.audit.frames import read_frame
    from kakurenbo.audit.schema import infer_schema

    with collect_notices() as notices:
        frame = read_frame(file)
    output.print_notices(notices)
    inferred = infer_schema(frame)
    # With --json the whole answer goes to standard output, so only a named file is written.
    if out is not None or not as_json:
        write_file(out or STANDARD_OUTPUT, inferred.as_toml().encode())
    if as_json:
        columns = {column.name: column.kind for column in inferred}
        place = None if out is None else str(out)
        output.print_json({"out": place, "rows": len(frame), "columns": columns})
    elif out not in (None, STANDARD_OUTPUT):
        kinds = [f"{column.name} {text(f'schema.{column.kind}')}" for column in inferred]
        output.print_line(text("cli.file", file=str(out), what=kinds))
