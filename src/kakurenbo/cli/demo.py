"""``demo``: a whole small contest on embedded data, with standings in the terminal."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import click
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from kakurenbo import registry
from kakurenbo.arena import Played, Player, play
from kakurenbo.cli import output
from kakurenbo.cli.common import json_option

FIELDS: dict[str, tuple[dict[str, Any], tuple[Player, ...]]] = {
    "amic2020": (
        {"data": "embedded", "round": "main"},
        (
            Player("01", "rr:p=0.97", "nearest"),
            Player("02", "rrp:p=0.95", "nearest"),
            Player("03", "rrp:p=0.8,columns=workclass,education,occupation", "nearest:metric=onehot"),
            Player("04", "kanony:k=3,columns=age,education", "nearest"),
            Player("05", "synthetic", "nearest"),
            Player("06", "synthetic:generator=omth17", "nearest"),
        ),
    ),
    "darc2019": (
        {"data": "embedded", "scale": "small"},
        (
            Player("01", "monthly_pseudonyms", "tfidf"),
            Player("02", "pipeline:steps=swap_items:share=0.5|dates|values", "fellegi_sunter"),
            Player("03", "swap_baskets:k=10", "rhythm"),
            Player("04", "share_baskets", "profile"),
            Player("05", "crowds", "fellegi_sunter"),
        ),
    ),
    "pwscup2024": (
        {"scale": "small"},
        (
            Player("01", "pseudo_olh:epsilon=3", "sample"),
            Player("02", "pipeline:steps=group_shuffle|swap_cells", "euclidean:reconstruction=collaborative_filtering"),
            Player("03", "pipeline:steps=pseudo_olh:epsilon=2|crosstab_repair_fast:utility=80", "all_pairs"),
            Player("04", "just_enough:utility=70", "posterior"),
        ),
    ),
}


def _demo(seed: int, jobs: int, as_json: bool) -> int:
    report = {}
    for name, (settings, players) in FIELDS.items():
        begun = time.perf_counter()
        rulebook = dataclasses.replace(registry.load("rulebooks", name)(), **settings)
        with _shown_progress(quiet=as_json) as told:
            played = play(rulebook, players, seed, jobs=jobs, progress=told)
        seconds = time.perf_counter() - begun
        report[name] = {
            "standings": played.standings.as_json(),
            "results": played.results.as_json(),
            "seconds": round(seconds, 1),
        }
        if not as_json:
            _print_contest(rulebook, players, played, seconds)
    if as_json:
        output.print_json(report)
    return output.DONE


class _shown_progress:  # noqa: N801 - used as a function
    """A progress bar on stderr where somebody looks; plain lines where nobody does."""

    def __init__(self, *, quiet: bool) -> None:
        columns = (TextColumn("{task.description:28}"), BarColumn(), MofNCompleteColumn())
        self._bar = Progress(
            *columns, console=output.console(stderr=True), transient=True, disable=quiet or not sys.stderr.isatty()
        )
        self._plain = not quiet and not sys.stderr.isatty()
        self._task: Any = None

    def __enter__(self) -> Callable[[str, int], None]:
        self._bar.start()
        return self._tell

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def _tell(self, what: str, count: int) -> None:
        if what:
            self._task = self._bar.add_task(what, total=count)
            if self._plain:
                print(f"{what} ({count})", file=sys.stderr)
        elif self._task is not None:
            self._bar.advance(self._task, count)


def _print_contest(rulebook: Any, players: tuple[Player, ...], played: Played, seconds: float) -> None:
    console = output.console()
    console.print(f"\n[bold]{rulebook.name}[/]: {rulebook.title}")
    console.print(f"data: {escape(str(played.report['data']))}\n")
    console.print(_releases(players, played))
    console.print()
    console.print(_matrix(players, played))
    output.print_standings(played.standings, _chance_in_points(played))
    console.print(f"\n{len(players)} teams, {sum(map(len, played.results.credits.values()))} attacks, {seconds:.1f} s")


def _releases(players: tuple[Player, ...], played: Played) -> Table:
    table = Table(title="Releases", title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
    for heading in ("team", "method", "utility"):
        table.add_column(heading)
    for player in players:
        utility = played.utilities.get(player.team)
        if utility is None:
            verdict = f"refused: {played.refused[player.team][0].sentence}"
        elif "U" in utility.scores and not utility.thresholds:
            verdict = f"U = {utility.scores['U'].value:.3f}"
        elif utility.passes:
            verdict = "passes"
        else:
            verdict = "disqualified: " + ", ".join(
                f"{name} {utility.scores[name].value:.4g} (must be {utility.thresholds[name]})" for name in utility.failed
            )
        table.add_row(player.team, escape(player.anonymizer), escape(verdict))
    return table


def _matrix(players: tuple[Player, ...], played: Played) -> Table:
    """Hits of every attacker on every release, with the chance level beside."""
    credits = played.results.credits
    chance = next(credit.chance for row in credits.values() for credit in row.values())
    title = "Hits (rows: attackers, columns: releases)" + (f" — {output.chance_text(chance)}" if chance else "")
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
    table.add_column("attacker")
    table.add_column("method")
    for target in credits:
        table.add_column(target, justify="right")
    table.add_column("chance", justify="right")
    methods = {player.team: player.attack for player in players}
    for attacker in played.results.attackers:
        cells = [_hits(credits[target].get(attacker), chance) for target in credits]
        table.add_row(
            attacker, methods.get(attacker, ""), *cells, f"{chance.mean:g} ({chance.low:g}–{chance.high:g})" if chance else ""
        )
    return table


def _chance_in_points(played: Played) -> str:
    """Blind guessing on the scale of the attack scores: thousandths of the answers that could be right."""
    credit = next(credit for row in played.results.credits.values() for credit in row.values())
    if credit.chance is None:
        return ""
    scale = 1000 if any(line.shown for line in played.standings.attack) else 1  # as the scores beside it are shown
    mean, low, high = (scale * value / credit.of for value in (credit.chance.mean, credit.chance.low, credit.chance.high))
    return f"{mean:g} (one release: {low:g}–{high:g})"


def _hits(credit: Any, chance: Any) -> str:
    if credit is None:
        return "–"
    return f"[bold]{credit.hits:g}[/]" if chance and credit.hits > chance.high else f"{credit.hits:g}"


demo = click.Command(
    "demo",
    params=[
        click.Option(["--seed"], type=click.IntRange(0), default=2020, show_default=True, help="Fixes all randomness."),
        click.Option(
            ["--jobs"], type=click.IntRange(1), default=os.cpu_count() or 1, help="Processes; the result is the same."
        ),
        json_option,
    ],
    callback=_demo,
    help="Play a whole small contest on embedded data.",
)
