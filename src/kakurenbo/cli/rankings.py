"""Rankings and awards in the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.markup import escape
from rich.table import Table

from kakurenbo.cli import output
from kakurenbo.reporting import Ranking, RankingLine
from kakurenbo.reporting.numbers import number, plus_minus

Columns = Mapping[str, Mapping[str, str]]
"""Further columns of a ranking: heading to team to text."""


def print_rankings(
    rankings: Mapping[str, Ranking],
    awards: Mapping[str, tuple[str, ...]],
    extra: Mapping[str, Columns] | None = None,
    tables: Mapping[str, Mapping[str, float]] | None = None,
) -> None:
    """Every ranking that has lines, one below the other, the figures of each of a team's tables, and who wins a prize."""
    console = output.console()
    for name, ranking in rankings.items():
        if ranking.lines:
            console.print()
            console.print(_table(name.capitalize(), ranking, (extra or {}).get(name, {})))
    if tables:
        console.print()
        console.print(_figures(tables))
    for name, teams in awards.items():
        console.print(f"award for {name}: {', '.join(teams) or 'nobody'}", markup=False)


def _figures(tables: Mapping[str, Mapping[str, float]]) -> Table:
    """What scores are made of: a line per table, a column per figure."""
    shown = Table(title="Tables", title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
    shown.add_column("table")
    headings = list(dict.fromkeys(heading for figures in tables.values() for heading in figures))
    for heading in headings:
        shown.add_column(heading, justify="right")
    for name, figures in tables.items():
        shown.add_row(escape(name), *(number(figures[heading]) if heading in figures else "–" for heading in headings))
    return shown


def _table(title: str, ranking: Ranking, extra: Columns) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
    table.add_column("rank", justify="right")
    table.add_column("team")
    table.add_column("points" if any(line.shown for line in ranking.lines) else "score", justify="right")
    noted = any(line.note for line in ranking.lines)
    for heading in [*(["note"] if noted else []), *extra]:
        table.add_column(heading)
    for line in ranking.lines:
        cells = [str(line.rank or "–"), escape(line.team), _score(line), *([escape(line.note)] if noted else [])]
        table.add_row(*cells, *(escape(column.get(line.team, "")) for column in extra.values()))
    return table


def _score(line: RankingLine) -> str:
    if line.score is None:
        return "–"
    return line.shown or number(line.score) if line.half is None else number(line.score, 4) + plus_minus(line.half)
