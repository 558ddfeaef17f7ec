"""``data import NAME FILE...``: real data sets into the local store."""

from __future__ import annotations

from pathlib import Path

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import PATH, json_option
from kakurenbo.datasets.store import import_dataset
from kakurenbo.tables import Problems


@click.group(help="Real data sets in the local store ($KAKURENBO_HOME, else the platform's data folder).", no_args_is_help=True)
def data() -> None:
    pass


def _import(name: str, files: tuple[Path, ...], as_json: bool) -> int:
    report = import_dataset(name, files)
    if isinstance(report, Problems):
        return output.refuse(report, as_json)
    output.print_notices(report.notices)
    if as_json:
        output.print_json(report.value)
    else:
        for key, value in report.value.items():
            output.console().print(f"{key}: {value}")
    return output.DONE


data.add_command(
    click.Command(
        "import",
        params=[
            click.Argument(["name"]),
            click.Argument(["files"], type=PATH, nargs=-1, required=True),
            json_option,
        ],
        callback=_import,
        help="Import a data set from its original files, plain or .gz.",
    )
)
