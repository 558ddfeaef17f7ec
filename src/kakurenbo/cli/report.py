"""``report DIR``: the report of a run again."""

from __future__ import annotations

from pathlib import Path

import click

from kakurenbo.arena import Tournament
from kakurenbo.cli import output
from kakurenbo.cli.common import OUT_FILE, PATH, json_option, option
from kakurenbo.messages import escaped, text


def _report(folder: Path, format_: str, out: Path | None, as_json: bool) -> int:
    written = Tournament.read(folder).write_report(format_, out)
    if as_json:
        output.print_json({"report": str(written)})
    else:
        output.console_beside(written).print(escaped(str(written)), markup=False)
    return output.DONE


def report() -> click.Command:
    """The verb."""
    formats = click.Choice(["html", "md"])
    parameters: list[click.Parameter] = [
        click.Argument(["folder"], type=PATH, metavar="DIR"),
        option("--format", "format_", code="option.format", type=formats, default="html", show_default=True),
        option("-o", "--out", code="option.report_out", type=OUT_FILE),
        json_option(),
    ]
    return click.Command("report", params=parameters, callback=_report, help=text("help.report"))
