"""A tournament in the terminal: releases, hits beside chance, standings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.markup import escape
from rich.table import Table

from kakurenbo import arena
from kakurenbo.cli import output

_WIDEST_MATRIX = 14


def print_tournament(held: arena.Tournament, workers: arena.Workers | None = None) -> None:
    """What ``run`` and ``demo`` show at the end."""
    results = held.results
    names = {player["team"]: player["name"] for player in results["players"]}
    console = output.console()
    for round_ in results["rounds"]:
        console.print(_releases(results, round_))
        if len(round_["accuracy"]) <= _WIDEST_MATRIX:
            console.print(_matrix(results, round_))
    for title, key in (("Anonymization", "anonymization"), ("Attack", "attack"), ("Overall", "overall")):
        if results["standings"].get(key):
            console.print(_ranking(title, results["standings"][key], names))
    _print_failures(results)
    attacks = sum(len(row) for round_ in results["rounds"] for row in round_["accuracy"].values())
    played = f", played by {workers.name}" if workers else ""
    console.print(f"{len(results['players'])} teams, {attacks} attacks{played}", markup=False)


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        table.add_column(heading)
    return table


def _releases(results: Mapping[str, Any], round_: Mapping[str, Any]) -> Table:
    table = _table("Releases" + _of_round(results, round_), "team", "name", "method", "utility")
    for player in results["players"]:
        release = round_["releases"].get(player["team"])
        if release is not None:
            method = player.get("anonymizer") or player.get("release", "")
            table.add_row(player["team"], escape(player["name"]), escape(method), escape(_verdict(release)))
    return table


def _verdict(release: Mapping[str, Any]) -> str:
    if release["state"] != "done":
        return f"{release['state']}: {release['cause']}"
    utility = release["utility"]
    if utility["passes"]:
        return "passes" if utility["thresholds"] else "measured"
    failed = []
    for name, threshold in utility["thresholds"].items():
        value = float(utility["scores"][name])
        ((kind, limit),) = threshold.items()
        if value < limit if kind == "minimum" else value > limit:
            failed.append(f"{name} {value:.4g} (must be {'≥' if kind == 'minimum' else '≤'} {limit:g})")
    return "disqualified: " + ", ".join(failed)


def _matrix(results: Mapping[str, Any], round_: Mapping[str, Any]) -> Table:
    """Share of right guesses of every attacker on every release, with the chance level beside."""
    chance = round_["chance"]
    title = "Right guesses in percent (rows: attackers, columns: releases)" + _of_round(results, round_)
    methods = {player["team"]: player.get("attack") or player.get("guesses", "") for player in results["players"]}
    targets = list(round_["accuracy"])
    table = _table(title, "attacker", "method", *targets, *(["chance"] if chance else []))
    for attacker in round_["repeats"][0]["attackers"]:
        cells = [_percent(round_["accuracy"][target].get(attacker), chance) for target in targets]
        level = [f"{100 * chance['mean']:.3g} ({100 * chance['low']:.3g}–{100 * chance['high']:.3g})"] if chance else []
        table.add_row(attacker, escape(methods.get(attacker, "")), *cells, *level)
    return table


def _percent(cell: Mapping[str, Any] | None, chance: Mapping[str, Any] | None) -> str:
    if cell is None:
        return "–"
    shown = f"{100 * cell['mean']:.3g}"
    if "high" in cell:
        shown += f"±{100 * (cell['high'] - cell['mean']):.2g}"
    return f"[bold]{shown}[/]" if chance and cell["mean"] > chance["high"] else shown


def _ranking(title: str, lines: list[dict[str, Any]], names: Mapping[str, str]) -> Table:
    table = _table(title, "rank", "team", "name", "score", "note")
    for line in lines:
        score = "–" if line["score"] is None else line.get("shown") or f"{line['score']:.4g}"
        if "interval" in line:
            score += f" ±{line['interval'][1] - line['score']:.2g}"
        name = names.get(line["team"], "")
        table.add_row(str(line["rank"] or "–"), escape(line["team"]), escape(name), score, escape(line.get("note", "")))
    return table


def _print_failures(results: Mapping[str, Any]) -> None:
    failed = [failure for failure in results["failures"] if failure["state"] != "skipped"]
    if failed:
        table = _table("Jobs that did not succeed", "job", "what", "cause")
        for failure in failed:
            table.add_row(escape(failure["job"]), failure["state"], escape(failure["cause"]))
        output.console().print(table)


def _of_round(results: Mapping[str, Any], round_: Mapping[str, Any]) -> str:
    return f", round {round_['name']}" if len(results["rounds"]) > 1 else ""
