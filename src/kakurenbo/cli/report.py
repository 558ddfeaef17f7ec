"""``report DIR``: the report of a run again, and its charts as pictures."""

from __future__ import annotations

from pathlib import Path

import click

from kakurenbo.arena import Tournament
from kakurenbo.cli import output
from kakurenbo.cli.common import OUT_FILE, PATH, json_option
from kakurenbo.messages import escaped
from kakurenbo.reporting import figures
from kakurenbo.tables import write_file


def _report(folder: Path, format_: str, out: Path | None, figures_out: Path | None, as_json: bool) -> int:
    tournament = Tournament.read(folder)
    written = tournament.write_report(format_, out)
    pictures = [] if figures_out is None else _write_figures(tournament, figures_out)
    if as_json:
        output.print_json({"report": str(written), "figures": list(map(str, pictures))})
    else:
        for path in (written, *pictures):
            output.console_beside(written).print(escaped(str(path)), markup=False)
    return output.DONE


def _write_figures(tournament: Tournament, folder: Path) -> list[Path]:
    """Write every chart of the report as a picture; gives their paths."""
    drawn = figures(tournament.document)
    for name, text in drawn.items():
        write_file(folder / name, text.encode())
    return [folder / name for name in drawn]


report = click.Command(
    "report",
    params=[
        click.Argument(["folder"], type=PATH, metavar="DIR"),
        click.Option(["--format", "format_"], type=click.Choice(["html", "md"]), default="html", show_default=True),
        click.Option(["-o", "--out"], type=OUT_FILE, help="Where to write (- is standard output); in DIR by default."),
        click.Option(
            ["--figures", "figures_out"],
            type=click.Path(path_type=Path, file_okay=False),
            metavar="FOLDER",
            help="Write every chart into this folder, too, as an SVG picture.",
        ),
        json_option,
    ],
    callback=_report,
    help="Make the report of a run again, as one HTML file that opens offline, or as Markdown; its charts as pictures.",
)
