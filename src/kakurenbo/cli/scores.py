"""Scores of a release or a guess, rankings and awards in the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from rich.console import Group
from rich.markup import escape

from kakurenbo.cli import output
from kakurenbo.cli.output import add_column, console
from kakurenbo.contest import AnyRulebook, Credit, Figure, Unit, Utility
from kakurenbo.contest.results import NO_AWARDS
from kakurenbo.core.messages import language, text
from kakurenbo.reports import FigureEntry, Ranking
from kakurenbo.reports.document import constant_answer
from kakurenbo.reports.numbers import (
    against,
    apart,
    count,
    figure,
    score_texts,
    share,
    shown_value,
)
from kakurenbo.reports.verdicts import note_text

COUNTED = Figure(Unit.COUNT)
"""The unit of correct guesses where a contest declares none."""
Columns = Mapping[str, Mapping[str, str]]
"""Further columns of a ranking: heading to team to text."""
_PLAIN = FigureEntry()


def print_credit(rulebook: AnyRulebook, credit: Credit) -> None:
    """Print correct guesses beside chance and the constant answer, then further figures."""
    out, figures = console(), rulebook.figures
    unit = figures.get("hits", COUNTED).unit
    earned = text("credit.hits", hits=figure(credit.hits, unit), of=figure(credit.of, unit))
    out.print(f"{earned} ({share(credit.accuracy)})", markup=False)
    if credit.chance is not None:
        out.print(output.chance_text(credit.chance, unit), markup=False)
    if credit.constant is not None:
        answer = constant_answer(figures.get("constant", Figure()).definitions, language())
        line = text("constant.hits", answer=answer, constant=figure(credit.constant, unit))
        out.print(line, markup=False)
    for name, value in credit.details.items():
        declared = figures.get(name, Figure())
        out.print(f"{name}: {figure(value, declared.unit)}{_of(declared.of)}", markup=False)
    print_definitions(rulebook, ["hits", *credit.details])


def print_definitions(rulebook: AnyRulebook, names: Iterable[str]) -> None:
    """Print what figures mean, one line for those that share a meaning."""
    by_meaning: dict[str, list[str]] = {}
    for name in names:
        declared = rulebook.figures.get(name, Figure())
        if meaning := declared.definitions.get(language(), ""):
            by_meaning.setdefault(meaning, []).append(name)
    if by_meaning:
        out = console()
        out.print()
        for meaning, sharing in by_meaning.items():
            out.print(f"[dim]{escape(', '.join(sharing))}: {escape(meaning)}[/]")


def print_utility(rulebook: AnyRulebook, utility: Utility) -> None:
    """Print scores beside their directions and thresholds, what limits them, and the verdict."""
    table = output.plain_table()
    table.header_style = "bold"
    for heading in ("score", "value", "better", "threshold", "", "limit"):
        add_column(table, heading and text(f"measure.{heading}"), right=heading == "value")
    for name, score in utility.scores.items():
        declared, threshold = rulebook.figures.get(name, Figure()), utility.thresholds.get(name)
        value, needed, mark = figure(score.value, declared.unit), "", ""
        if threshold is not None:
            value, bound = against(score.value, threshold, declared.unit)
            code = "measure.at_least" if threshold.minimum else "measure.at_most"
            needed = text(code, bound=bound.partition(" ")[2])
            mark = passes_text(threshold.met_by(score.value))
        limits = (f"{output.label(key)} {shown_value(limit)}" for key, limit in score.limit.items())
        direction = text("figure.higher" if score.higher_is_better else "figure.lower")
        label = f"{name} {declared.label}" if declared.label else name
        limit = escape(", ".join(limits))
        table.add_row(label, value + _of(declared.of), direction, needed, mark, limit)
    out = console()
    out.print(table)
    print_definitions(rulebook, utility.scores)
    if utility.thresholds:
        out.print()
        if utility.passes:
            out.print(f"[bold]{escape(text('measure.passes'))}[/]")
        else:
            fails = text("measure.fails", failed=utility.failed)
            out.print(f"[bold red]{escape(fails)}[/]")


def passes_text(passes: bool) -> str:
    """Return the mark of a threshold."""
    return text("cli.meets") if passes else f"[bold red]{text('cli.fails')}[/]"


def _of(maximum: float | None) -> str:
    return "" if maximum is None else text("figure.of", of=count(maximum))


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

    Teams ``below_threshold`` fail a threshold; the organizers did not disqualify them.
    """
    out, figures = console(), figures or {}
    for name, ranking in rankings.items():
        if not ranking.lines:
            continue
        out.print()
        title, declared = text(f"ranking.{name}").capitalize(), figures.get(name, _PLAIN)
        if ranking.same_as:
            other = text(f"ranking.{ranking.same_as}")
            out.print(text("ranking.same", ranking=title, other=other), markup=False)
            continue
        columns = (extra or {}).get(name, {})
        out.print(_ranking_table(title, ranking, columns, declared, below_threshold))
        if meaning := declared.definitions.get(language(), ""):
            out.print(f"[dim]{escape(meaning)}[/]")
    if tables:
        out.print()
        out.print(_figures_table(tables, figures))
    if NO_AWARDS in notices:
        out.print()
        out.print(notices[NO_AWARDS][language()], markup=False)
    if awards:
        out.print()
    for name, teams in awards.items():
        winners = ", ".join(teams) or text("award.nobody")
        award = text("award", ranking=text(f"award.{name}", name), teams=winners)
        out.print(award, markup=False)
        if language() in notices.get(name, {}):
            out.print(f"  [dim]{escape(notices[name][language()])}[/]")


def _figures_table(
    tables: Mapping[str, Mapping[str, float]], figures: Mapping[str, FigureEntry]
) -> Group:
    """Lay out what scores are made of: a line per table, a column per figure."""
    shown = output.plain_table(text("table.table"))
    headings = dict.fromkeys(heading for values in tables.values() for heading in values)
    columns = []
    for heading in headings:
        add_column(shown, text(f"table.of.{heading}", heading), right=True)
        unit = figures.get(heading, _PLAIN).unit
        columns.append(apart([values.get(heading) for values in tables.values()], unit))
    for name, *cells in zip(tables, *columns, strict=True):
        shown.add_row(escape(name), *cells)
    return output.titled(text("ranking.tables"), shown)


def _ranking_table(
    title: str,
    ranking: Ranking,
    extra: Columns,
    declared: FigureEntry,
    below_threshold: Collection[str],
) -> Group:
    direction = text("figure.lower" if ranking.lower_is_better else "figure.higher")
    if declared.shown_of is not None:
        of = count(declared.shown_of)
        direction = text("ranking.score_of", direction=direction, of=of)
    table = output.plain_table()
    has_points = declared.shown_times > 1 or any(line.shown for line in ranking.lines)
    has_ties = any(line.tied_with for line in ranking.lines)
    has_notes = any(line.note for line in ranking.lines)
    add_column(table, text("table.rank"), right=True)
    add_column(table, text("table.team"))
    add_column(table, text("table.points" if has_points else "table.score"), right=True)
    if has_ties:
        add_column(table, text("table.tied_with"))
    if has_notes:
        add_column(table, text("table.note"))
    for heading in extra:
        add_column(table, heading)
    for line, score in zip(ranking.lines, score_texts(ranking.lines, declared), strict=True):
        cells = [str(line.rank or "–"), line.team, score]
        if has_ties:
            cells.append(", ".join(line.tied_with))
        if has_notes:
            cells.append(note_text(line, below_threshold, language()))
        cells += [column.get(line.team, "") for column in extra.values()]
        table.add_row(*map(escape, cells))
    return output.titled(f"{title} — {direction}", table)
