"""Rankings and awards in the terminal."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rich.console import Group
from rich.markup import escape

from kakurenbo.cli import output
from kakurenbo.contest.results import NO_AWARDS
from kakurenbo.core.messages import language, text, text_or
from kakurenbo.reports import FigureEntry, Ranking
from kakurenbo.reports.numbers import apart, count, score_texts
from kakurenbo.reports.verdicts import note_text

Columns = Mapping[str, Mapping[str, str]]
"""Further columns of a ranking: heading to team to text."""
_PLAIN = FigureEntry()


def print_rankings(
    rankings: Mapping[str, Ranking],
    awards: Mapping[str, tuple[str, ...]],
    notices: Mapping[str, Mapping[str, str]],
    extra: Mapping[str, Columns] | None = None,
    tables: Mapping[str, Mapping[str, float]] | None = None,
    figures: Mapping[str, FigureEntry] | None = None,
    below_threshold: Collection[str] = (),
) -> None:
    """Print rankings, the figures of each of a team's tables, and awards with their notices.

    Teams ``below_threshold`` are out of play by a threshold alone, not disqualified by the organizers.
    """
    console = output.console()
    known = figures or {}
    for name, ranking in rankings.items():
        if ranking.lines and ranking.same_as:
            console.print()
            console.print(_same(name, ranking.same_as), markup=False)
        elif ranking.lines:
            console.print()
            console.print(
                _table(
                    name,
                    ranking,
                    (extra or {}).get(name, {}),
                    known.get(name, _PLAIN),
                    below_threshold,
                )
            )
            meaning = known.get(name, _PLAIN).definitions.get(language(), "")
            if meaning:
                console.print(f"[dim]{escape(meaning)}[/]")
    if tables:
        console.print()
        console.print(_figures(tables, known))
    if NO_AWARDS in notices:
        console.print()
        console.print(notices[NO_AWARDS][language()], markup=False)
    if awards:
        console.print()
    for name, teams in awards.items():
        console.print(
            text(
                "award",
                ranking=text_or(f"award.{name}", name),
                teams=", ".join(teams) or text("award.nobody"),
            ),
            markup=False,
        )
        if language() in notices.get(name, {}):
            console.print(f"  [dim]{escape(notices[name][language()])}[/]")


def _same(name: str, other: str) -> str:
    """A line in place of a table that stands there already."""
    return text(
        "ranking.same", ranking=text(f"ranking.{name}").capitalize(), other=text(f"ranking.{other}")
    )


def _figures(
    tables: Mapping[str, Mapping[str, float]], figures: Mapping[str, FigureEntry]
) -> Group:
    """What scores are made of: a line per table, a column per figure."""
    shown = output.plain_table()
    output.add_column(shown, text("table.table"))
    headings = list(dict.fromkeys(heading for found in tables.values() for heading in found))
    columns = {}
    for heading in headings:
        output.add_column(shown, text_or(f"table.of.{heading}", heading), right=True)
        unit = figures.get(heading, _PLAIN).unit
        columns[heading] = dict(
            zip(tables, apart([found.get(heading) for found in tables.values()], unit), strict=True)
        )
    for name in tables:
        shown.add_row(escape(name), *(columns[heading][name] for heading in headings))
    return output.titled(text("ranking.tables"), shown)


def _table(
    name: str,
    ranking: Ranking,
    extra: Columns,
    declared: FigureEntry,
    below_threshold: Collection[str],
) -> Group:
    direction = text("figure.lower" if ranking.lower_is_better else "figure.higher")
    of = declared.shown_of
    told = direction if of is None else text("ranking.score_of", direction=direction, of=count(of))
    table = output.plain_table()
    points = declared.shown_times > 1 or any(line.shown for line in ranking.lines)
    output.add_column(table, text("table.rank"), right=True)
    output.add_column(table, text("table.team"))
    output.add_column(table, text("table.points" if points else "table.score"), right=True)
    tied, noted = (
        any(line.tied_with for line in ranking.lines),
        any(line.note for line in ranking.lines),
    )
    for heading in [*(["tied_with"] if tied else []), *(["note"] if noted else [])]:
        output.add_column(table, text(f"table.{heading}"))
    for heading in extra:
        output.add_column(table, heading)
    for line, score in zip(ranking.lines, score_texts(ranking.lines, declared), strict=True):
        cells = [str(line.rank or "–"), escape(line.team), score]
        cells += [escape(", ".join(line.tied_with))] if tied else []
        cells += [escape(note_text(line, below_threshold, language()))] if noted else []
        table.add_row(*cells, *(escape(column.get(line.team, "")) for column in extra.values()))
    return output.titled(f"{text(f'ranking.{name}').capitalize()} — {told}", table)
