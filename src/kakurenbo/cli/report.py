"""``report RESULTS...``: the report of a run, or of what score wrote for each round, and its charts as pictures."""

from __future__ import annotations

from pathlib import Path

import click

from kakurenbo.arena import Tournament
from kakurenbo.cli import output
from kakurenbo.cli.common import OUT_FILE, PATH, disqualified_option, json_option, names, option
from kakurenbo.core import write_file
from kakurenbo.core.messages import escaped, text
from kakurenbo.methods import registry
from kakurenbo.reports import document_without, figures, joined


def _report(
    results: tuple[Path, ...],
    out: Path | None,
    figures_out: Path | None,
    disqualified: str,
    as_json: bool,
) -> int:
    tournament = _together(results)
    if disqualified:
        rulebook = registry.load("rulebooks", tournament.document.rulebook.name)()
        document = document_without(rulebook, tournament.document, names(disqualified))
        tournament = Tournament(tournament.path, document, tournament.times)
    written = tournament.write_report(out)
    pictures = [] if figures_out is None else _write_figures(tournament, figures_out)
    if as_json:
        output.print_json({"report": str(written), "figures": list(map(str, pictures))})
    else:
        for path in (written, *pictures):
            output.console_beside(written).print(escaped(str(path)), markup=False)
    return output.DONE


def _together(paths: tuple[Path, ...]) -> Tournament:
    """What one path holds; of several, all their rounds in the place of the first."""
    read = [Tournament.read(path) for path in paths]
    if len(read) == 1:
        return read[0]
    rulebook = registry.load("rulebooks", read[0].document.rulebook.name)()
    documents = [(str(path), one.document) for path, one in zip(paths, read, strict=True)]
    return Tournament(read[0].path, joined(rulebook, documents), {})


def _write_figures(tournament: Tournament, folder: Path) -> list[Path]:
    """Write every chart of the report as a picture; gives their paths."""
    drawn = figures(tournament.document)
    for name, picture in drawn.items():
        write_file(folder / name, picture.encode())
    return [folder / name for name in drawn]


def report() -> click.Command:
    """The verb."""
    folder = click.Path(path_type=Path, file_okay=False)
    parameters: list[click.Parameter] = [
        click.Argument(["results"], type=PATH, nargs=-1, required=True),
        option("-o", "--out", code="option.report_out", type=OUT_FILE),
        option("--figures", "figures_out", code="option.figures", type=folder, metavar="FOLDER"),
        disqualified_option(),
        json_option(),
    ]
    return click.Command("report", params=parameters, callback=_report, help=text("help.report"))
