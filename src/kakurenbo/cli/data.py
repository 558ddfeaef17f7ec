"""``data import NAME FILE...``: real data sets into the local store."""

from __future__ import annotations

from pathlib import Path

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import PATH, json_option
from kakurenbo.core import collect_notices
from kakurenbo.core.messages import text
from kakurenbo.data.store import IMPORTERS, import_dataset


def _import(name: str, files: tuple[Path, ...], as_json: bool) -> int:
    with collect_notices() as notices:
        report = import_dataset(name, files)
    output.print_notices(notices)
    if as_json:
        output.print_json(report)
    else:
        for key, value in report.items():
            output.console().print(f"{key}: {value}", markup=False)
    return output.DONE


def _names(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in sorted(IMPORTERS) if name.startswith(incomplete)]


def data() -> click.Group:
    """The verb."""
    parameters: list[click.Parameter] = [
        click.Argument(["name"], shell_complete=_names),
        click.Argument(["files"], type=PATH, nargs=-1, required=True),
        json_option(),
    ]
    imported = click.Command(
        "import", params=parameters, callback=_import, help=text("help.import")
    )
    return click.Group("data", commands=[imported], help=text("help.data"), no_args_is_help=True)
