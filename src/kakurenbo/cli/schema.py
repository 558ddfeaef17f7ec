"""``schema FILE``: what kakurenbo takes the columns of a table for, as a file to put right and give back."""

from __future__ import annotations

from pathlib import Path

import click

from kakurenbo.audit.frames import read_frame
from kakurenbo.audit.schema import infer_schema
from kakurenbo.cli import output
from kakurenbo.cli.common import (
    OUT_FILE,
    check_ending,
    check_there,
    json_option,
    option,
    path_argument,
)
from kakurenbo.core import STANDARD_OUTPUT, collect_notices, write_file
from kakurenbo.core.messages import text


def _schema(file: Path, out: Path, as_json: bool) -> int:
    # As JSON the whole answer goes to standard output, so that only a named file is written beside it.
    check_there(file)
    check_ending(out, (".toml",), "usage.schema_ending")
    with collect_notices() as notices:
        frame = read_frame(file)
    output.print_notices(notices)
    schema = infer_schema(frame)
    if not as_json or out != STANDARD_OUTPUT:
        write_file(out, schema.as_toml().encode())
    if as_json:
        kinds = {column.name: column.kind for column in schema}
        output.print_json(
            {
                "out": None if out == STANDARD_OUTPUT else str(out),
                "rows": len(frame),
                "columns": kinds,
            }
        )
    elif out != STANDARD_OUTPUT:
        told = [f"{column.name} {text(f'schema.{column.kind}')}" for column in schema]
        output.console().print(text("cli.file", file=str(out), what=told), markup=False)
    return output.DONE


def schema() -> click.Command:
    """The verb."""
    out = option("-o", "--out", code="option.schema_out", type=OUT_FILE, default="-")
    return click.Command(
        "schema",
        params=[path_argument("file"), out, json_option()],
        callback=_schema,
        help=text("help.schema"),
    )
