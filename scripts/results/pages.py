"""Laying finished cells out: a Markdown table for people, and the same means and intervals as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.results.cells import Cells, cell_key, release_key
from scripts.results.playing import TEAM
from scripts.results.tables import Column, ResultsTable

from kakurenbo.contest import AnyRulebook, Chance, Credit, RoundResults
from kakurenbo.reports.estimates import Estimate, estimate

DOCS = Path(__file__).resolve().parent.parent.parent / "docs" / "results"


@dataclass(frozen=True, eq=False)
class Line:
    """All that is known of one anonymizer under one variant of the rules, draw by draw."""

    anonymizer: str
    rules: AnyRulebook
    passes: Mapping[int, bool]
    scores: Mapping[int, Mapping[str, float]]
    seconds: Mapping[int, float]
    credits: Mapping[Column, Mapping[int, Credit]]

    def best(self) -> list[float]:
        """The most that any attack finds, in each draw that all of them played."""
        return [
            max(self.shown(one[draw]) for one in self.credits.values() if one)
            for draw in self.whole
        ]

    @property
    def whole(self) -> list[int]:
        """The draws that every attack played which played at all."""
        played = [set(one) for one in self.credits.values() if one]
        return sorted(set.intersection(*played)) if played else []

    def points(self) -> list[float]:
        """What the contest's own ranking makes of the release against all these attacks, draw by draw."""
        found = []
        for draw in self.whole:
            credits = {
                f"{number:02d}": one[draw]
                for number, one in enumerate(self.credits.values(), start=2)
                if one
            }
            utility = self.scores[draw].get(self.rules.utility_score)
            rates = {name: self.scores[draw].get(name) for name in self.rules.sample_attacks}
            samples = {name: Credit(rate, 1) for name, rate in rates.items() if rate is not None}
            results = RoundResults(
                {TEAM: {**credits, **samples}},
                (TEAM,),
                (*credits, *samples),
                {} if utility is None else {TEAM: utility},
                unranked=frozenset(samples),
            )
            standings = self.rules.standings({self.rules.round_name: results})
            ranking = standings.anonymization or standings.overall
            score = next(line.score for line in ranking if line.team == TEAM)
            found.append(float(score or 0))
        return found

    @staticmethod
    def shown(credit: Credit) -> float:
        """Hits where few things are counted, else the share of them."""
        return credit.hits if credit.of <= 100 else credit.accuracy


def lines_of(table: ResultsTable, cells: Cells, variant: int) -> list[Line]:
    """What is finished of a table under one variant."""
    found = []
    for anonymizer, draws in table.anonymizers.items():
        releases = {
            draw: one
            for draw in range(draws)
            if (one := cells.get(release_key(table, anonymizer, draw))) is not None
        }
        credits: dict[Column, dict[int, Credit]] = {column: {} for column in table.columns}
        for column in table.columns:
            for draw in (number for number in releases if column.plays(anonymizer, number)):
                one = cells.get(cell_key(table, anonymizer, column, draw))
                if one is not None:
                    credits[column][draw] = _credit(one["credits"][variant])
        found.append(
            Line(
                anonymizer,
                table.rules(variant),
                {draw: one["passes"][variant] for draw, one in releases.items()},
                {draw: one["scores"][variant] for draw, one in releases.items()},
                {draw: one["seconds"] for draw, one in releases.items()},
                credits,
            )
        )
    return [line for line in found if line.passes]


def _credit(told: Mapping[str, Any]) -> Credit:
    chance = told.get("chance")
    details = {
        name: value for name, value in told.items() if name in ("identification", "reconstruction")
    }
    return Credit(
        told["hits"],
        told["of"],
        None if chance is None else Chance(chance["hits"], *chance["band95"]),
        told.get("constant"),
        details,
        least=told.get("least", 0),
    )


# -- Markdown ----------------------------------------------------------------------------------------------------------


def section(table: ResultsTable, cells: Cells, seconds: Mapping[Column, Sequence[float]]) -> str:
    """The tables of all variants, with what is to be known of their figures."""
    parts = []
    for variant in range(len(table.variants)):
        lines = lines_of(table, cells, variant)
        if not lines:
            return f"Nothing is played yet: `python -m scripts.results {table.name}`.\n"
        changed = {
            name: value
            for name, value in table.variants[variant].items()
            if table.variants[0].get(name) != value
        }
        told = ", ".join(f"{name} `{value}`" for name, value in changed.items())
        if len(table.variants) > 1:
            parts.append(f"With {told}:" if told else "With the options above:")
        parts.append(_markdown(table, lines, seconds))
    return f"{table.about}\n\n{_legend(table)}\n\n" + "\n\n".join(parts) + "\n"


def _legend(table: ResultsTable) -> str:
    rules = table.rules()
    points = "overall score" if rules.utility_score else "score of its ranking"
    return (
        "Means ± half of the 95 % interval (Student's t over draws); `n` is the number of draws of a row, and a figure of fewer"
        " says of how many; `(5×)` says that all five agreed. *told*: the attack knows the method and its parameters. *best* is"
        f" the most that any attack found, draw by draw, and *points* what the contest makes of that ({points}). Times are CPU"
        " seconds of one draw on one core."
    )


def _markdown(
    table: ResultsTable, lines: Sequence[Line], seconds: Mapping[Column, Sequence[float]]
) -> str:
    columns = [column for column in table.columns if any(line.credits[column] for line in lines)]
    own = _own_figures(table, lines)
    head = [
        "anonymizer",
        "n",
        *own,
        *(f"`{_short(column.title)}`" for column in columns),
        "best",
        "points",
        "seconds",
    ]
    rows = [head, ["---", *["---:"] * (len(head) - 1)]]
    for line in lines:
        n = len(line.passes)
        cells = [_cell(line, column, n) for column in columns]
        ends = [
            _mean(line.best(), n),
            _mean(line.points(), n),
            f"{_average(line.seconds.values()):.1f}",
        ]
        rows.append(
            [
                f"`{_short(line.anonymizer)}`",
                str(n),
                *(figure(line, n) for figure in own.values()),
                *cells,
                *ends,
            ]
        )
    before = ["", *[""] * len(own)]
    rows += [
        [title, *before, *[shown] * len(columns), shown, "", ""]
        for title, shown in _references(lines)
    ]
    times = [
        f"{_average(seconds[column]):.1f}" if seconds.get(column) else "" for column in columns
    ]
    rows.append(["*seconds of an attack*", *before, *times, "", "", ""])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _own_figures(
    table: ResultsTable, lines: Sequence[Line]
) -> dict[str, Callable[[Line, int], str]]:
    """What is shown of a release before the attacks, by title: utility or passing, what the table asks for, baselines."""
    utility = lines[0].rules.utility_score

    def figure(name: str) -> Callable[[Line, int], str]:
        return lambda line, n: _mean([scores[name] for scores in line.scores.values()], n)

    shown = (
        {utility: figure(utility)}
        if utility
        else {"passes": lambda line, n: f"{sum(line.passes.values())} of {n}"}
    )
    shown |= {name: figure(name) for name in table.beside}
    if all(baselines(line) for line in lines):
        shown["baselines"] = lambda line, n: _mean(baselines(line), n)
    return shown


def baselines(line: Line) -> list[float]:
    """The highest rate of the contest's own attacks that count, in each draw; empty where `measure` does not tell them."""
    names = [name for name in line.rules.sample_attacks if name not in line.rules.only_shown]
    told = all(set(names) <= scores.keys() for scores in line.scores.values())
    return (
        [max(scores[name] for name in names) for scores in line.scores.values()]
        if names and told
        else []
    )


def _cell(line: Line, column: Column, n: int) -> str:
    credits = list(line.credits[column].values())
    if not credits:
        return "–"
    told = _mean([line.shown(credit) for credit in credits], n, _decimals(credits[0]))
    if {"identification", "reconstruction"} <= credits[0].details.keys():
        parts = [
            _average([credit.details[kind] for credit in credits])
            for kind in ("identification", "reconstruction")
        ]
        told += f" ({parts[0]:.1f} + {parts[1]:.1f})"
    return told


def _references(lines: Sequence[Line]) -> list[tuple[str, str]]:
    """What blind guessing earns, and the answer that looks at nothing where the contest has one, on the same draws."""
    credits = [credit for line in lines for one in line.credits.values() for credit in one.values()]
    found = []
    for title, value in (("chance", _chance), ("always 0", _constant)):
        told = [value(credit) for credit in credits]
        if told and None not in told:
            found.append(
                (
                    f"*{title}*",
                    f"{_average([one for one in told if one is not None]):.{_decimals(credits[0])}f}",
                )
            )
    return found


def _chance(credit: Credit) -> float | None:
    return (
        None
        if credit.chance is None
        else credit.chance.mean
        if credit.of <= 100
        else credit.share(credit.chance.mean)
    )


def _constant(credit: Credit) -> float | None:
    return credit.constant


def _decimals(credit: Credit) -> int:
    return 1 if credit.of <= 100 else 3


def _mean(values: Sequence[float], n: int, decimals: int | None = None) -> str:
    """Mean ± half of its interval, and of how many draws where that is not ``n``; decimals by its size unless given."""
    if not values:
        return "–"
    found = estimate(values)
    decimals = (1 if found.mean > 1.5 else 3) if decimals is None else decimals
    told = f"{found.mean:.{decimals}f}"
    if found.half == 0:
        return f"{told} ({found.n}×)"  # that all draws agree is no proof that all would
    half = "" if found.half is None else f" ± {found.half:.{decimals}f}"
    return told + half + ("" if found.n == n else f" (n = {found.n})")


def _average(values: Any) -> float:
    told = list(values)
    return sum(told) / len(told)


def _short(text: str) -> str:
    """A method as people read it in a narrow column."""
    return (
        text.removeprefix("pipeline:steps=")
        .replace("|", " + ")
        .replace("collaborative_filtering", "cf")
    )


# -- files -------------------------------------------------------------------------------------------------------------


def write_page(table: ResultsTable, cells: Cells, docs: Path = DOCS) -> None:
    """Put the tables between their marks on the page, which people wrote, and the figures beside it."""
    seconds = _seconds(table, cells)
    page = docs / f"{table.page}.md"
    text = page.read_text(encoding="utf-8")
    begin, end = f"<!-- results: {table.name} -->\n", "<!-- end of results -->"
    if begin not in text:
        raise SystemExit(f"{page}: there is no line {begin.strip()}")
    pattern = re.escape(begin) + ".*?" + re.escape(end)
    made: Callable[[re.Match[str]], str] = lambda _: begin + section(table, cells, seconds) + end  # noqa: E731
    page.write_text(re.sub(pattern, made, text, flags=re.S), encoding="utf-8")
    figures = json.dumps(_figures(table, cells), indent=1, sort_keys=True) + "\n"
    (docs / f"{table.name}.json").write_text(figures, encoding="utf-8")


def _seconds(table: ResultsTable, cells: Cells) -> dict[Column, list[float]]:
    found: dict[Column, list[float]] = {}
    for column in table.columns:
        for anonymizer, draws in table.anonymizers.items():
            keys = (
                cell_key(table, anonymizer, column, draw)
                for draw in range(min(draws, column.draws))
            )
            found.setdefault(column, []).extend(
                one["seconds"] for key in keys if (one := cells.get(key)) is not None
            )
    return found


def _figures(table: ResultsTable, cells: Cells) -> list[dict[str, Any]]:
    """For each variant the means and intervals of every row, in hits or shares as on the page."""
    return [
        {
            line.anonymizer: {
                "draws": len(line.passes),
                "passes": sum(line.passes.values()),
                "scores": {
                    name: _estimated([one[name] for one in line.scores.values()])
                    for name in next(iter(line.scores.values()))
                },
                "attacks": {
                    column.title: _estimated([line.shown(credit) for credit in credits.values()])
                    for column, credits in line.credits.items()
                    if credits
                },
                "best": _estimated(line.best()),
                "points": _estimated(line.points()),
            }
            for line in lines_of(table, cells, variant)
        }
        for variant in range(len(table.variants))
    ]


def _estimated(values: Sequence[float]) -> dict[str, float | int | None]:
    found: Estimate | None = estimate(values) if values else None
    if found is None or abs(found.mean) == float("inf"):
        return {"n": len(values)}
    return {
        "mean": round(found.mean, 4),
        "half": None if found.half is None else round(found.half, 4),
        "n": found.n,
    }
