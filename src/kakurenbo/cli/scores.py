"""Scores of a release or a guess, rankings and awards in the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from rich.console import Group
from rich.markup import escape

from kakurenbo.cli.terminal import console, plain_table, titled
from kakurenbo.contest import AnyRulebook, Chance, Credit, Figure, Unit, Utility
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


def label(name: str) -> str:
    """Return the name of a figure, as people read it."""
    return text(f"word.{name}", name.replace("_", " "))


def chance_text(chance: Chance, unit: Unit) -> str:
    """Return blind guessing in words, in hits of the contest's unit."""
    low, mean, high = (figure(value, unit) for value in (chance.low, chance.mean, chance.high))
    return text("chance.hits", mean=mean, low=low, high=high)


def print_credit(rulebook: AnyRulebook, credit: Credit) -> None:
    """Print correct guesses beside chance and the constant answer, then further figures."""
    figures = rulebook.figures
    unit = figures.get("hits", COUNTED).unit
    earned = text("credit.hits", hits=figure(credit.hits, unit), of=figure(credit.of, unit))
    lines = [f"{earned} ({share(credit.accuracy)})"]
    if credit.chance is not None:
        lines.append(chance_text(credit.chance, unit))
    if credit.constant is not None:
        answer = constant_answer(figures.get("constant", Figure()).definitions, language())
        lines.append(text("constant.hits", answer=answer, constant=figure(credit.constant, unit)))
    for name, value in credit.details.items():
        declared = figures.get(name, Figure())
        lines.append(f"{name}: {figure(value, declared.unit)}{_of(declared.of)}")
    console().print("\n".join(lines), markup=False)
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
    headings = ("score", "value", "better", "threshold", "", "limit")
    texts = {heading: heading and text(f"measure.{heading}") for heading in headings}
    table = plain_table(*texts.values(), right=[texts["value"]])
    table.header_style = "bold"
    for name, score in utility.scores.items():
        declared, threshold = rulebook.figures.get(name, Figure()), utility.thresholds.get(name)
        value, needed, mark = figure(score.value, declared.unit), "", ""
        if threshold is not None:
            value, bound = against(score.value, threshold, declared.unit)
            code = "measure.at_least" if threshold.minimum else "measure.at_most"
            needed = text(code, bound=bound.partition(" ")[2])
            mark = passes_text(threshold.met_by(score.value))
        limits = [f"{label(key)} {shown_value(limit)}" for key, limit in score.limit.items()]
        direction = text("figure.higher" if score.higher_is_better else "figure.lower")
        name = f"{name} {declared.label}" if declared.label else name
        limit = escape(", ".join(limits))
        table.add_row(name, value + _of(declared.of), direction, needed, mark, limit)
    out = console()
    out.print(table)
    print_definitions(rulebook, utility.scores)
    if not utility.thresholds:
        return
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
    names = dict.fromkeys(name for values in tables.values() for name in values)
    headings = [text(f"table.of.{name}", name) for name in names]
    table = plain_table(text("table.table"), *headings, right=headings)
    columns = [
        apart([values.get(name) for values in tables.values()], figures.get(name, _PLAIN).unit)
        for name in names
    ]
    for row, *cells in zip(tables, *columns, strict=True):
        table.add_row(escape(row), *cells)
    return titled(text("ranking.tables"), table)


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
    lines = ranking.lines
    has_points = declared.shown_times > 1 or any(line.shown for line in lines)
    rank, score = text("table.rank"), text("table.points" if has_points else "table.score")
    columns = {
        rank: [str(line.rank or "–") for line in lines],
        text("table.team"): [line.team for line in lines],
        score: score_texts(lines, declared),
    }
    if any(line.tied_with for line in lines):
        columns[text("table.tied_with")] = [", ".join(line.tied_with) for line in lines]
    if any(line.note for line in lines):
        notes = [note_text(line, below_threshold, language()) for line in lines]
        columns[text("table.note")] = notes
    for heading, by_team in extra.items():
        columns[heading] = [by_team.get(line.team, "") for line in lines]
    table = plain_table(*columns, right=[rank, score])
    for cells in zip(*columns.values(), strict=True):
        table.add_row(*map(escape, cells))
    return titled(f"{title} — {direction}", table)
