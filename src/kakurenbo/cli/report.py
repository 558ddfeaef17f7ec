"""``report DIR``: the report of a run again."""

from __future__ import annotations

from pathlib import Path

import click

from kakurenbo.arena import Tournament
from kakurenbo.cli import output
from kakurenbo.cli.common import OUT_FILE, PATH, json_option
from kakurenbo.messages import escaped


def _report(folder: Path, format_: str, out: Path | None, as_json: bool) -> int:
    written = Tournament.read(folder).write_report(format_, out)
    if as_json:
        output.print_json({"report": str(written)})
    else:
        output.console_beside(written).print(escaped(str(written)), markup=False)
    return output.DONE


report = click.Command(
    "report",
    params=[
        click.Argument(["folder"], type=PATH, metavar="DIR"),
        click.Option(["--format", "format_"], type=click.Choice(["html", "md"]), default="html", show_default=True),
        click.Option(["-o", "--out"], type=OUT_FILE, help="Where to write (- is standard output); in DIR by default."),
        json_option,
    ],
    callback=_report,
    help="Make the report of a run again, as one HTML file that opens offline, or as Markdown.",
)
