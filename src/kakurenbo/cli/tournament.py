"""A tournament in the terminal: releases, hits beside chance, standings."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from rich.markup import escape
from rich.table import Table

from kakurenbo import arena
from kakurenbo.cli import output
from kakurenbo.contracts import Chance, Standing

_WIDEST_MATRIX = 14


def print_tournament(held: arena.Tournament, workers: arena.Workers | None = None) -> None:
    """What ``run`` and ``demo`` show at the end."""
    results = held.results
    console = output.console()
    for round_ in results["rounds"]:
        console.print(_releases(results, round_))
        console.print()
        if len(round_["accuracy"]) <= _WIDEST_MATRIX:
            console.print(_matrix(results, round_))
    _print_standings(results)
    _print_failures(results)
    attacks = sum(len(row) for round_ in results["rounds"] for row in round_["accuracy"].values())
    played = f", played by {workers.name}" if workers else ""
    console.print(f"\n{len(results['players'])} teams, {attacks} attacks{played}", markup=False)


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
            table.add_row(player["team"], escape(player["name"]), escape(method), escape(_verdict(results, release)))
    return table


def _verdict(results: Mapping[str, Any], release: Mapping[str, Any]) -> str:
    if release["state"] != "done":
        return f"{release['state']}: {release['cause']}"
    utility = release["utility"]
    decisive = results["rulebook"]["utility_score"]
    if not utility["thresholds"]:
        return f"{decisive} = {float(utility['scores'][decisive]):.4g}" if decisive else "measured"
    if utility["passes"]:
        return "passes"
    failed = []
    for name, threshold in utility["thresholds"].items():
        value = float(utility["scores"][name])
        ((kind, limit),) = threshold.items()
        if value < limit if kind == "minimum" else value > limit:
            failed.append(f"{name} {value:.4g} (must be {'≥' if kind == 'minimum' else '≤'} {limit:g})")
    return "disqualified: " + ", ".join(failed)


def _matrix(results: Mapping[str, Any], round_: Mapping[str, Any]) -> Table:
    """Hits of every attacker on every release, with what blind guessing gets beside."""
    chance, of = round_["chance"], _common_of(round_)
    what = f"Hits of {of}" if of else "Right guesses in percent"
    scale = of or 100
    title = f"{what} (rows: attackers, columns: releases){_of_round(results, round_)}"
    if chance:
        title += " — " + output.chance_text(Chance(*(scale * chance[key] for key in ("mean", "low", "high"))))
    methods = {player["team"]: player.get("attack") or player.get("guesses", "") for player in results["players"]}
    targets = list(round_["accuracy"])
    table = _table(title, "attacker", "method", *targets, *(["chance"] if chance else []))
    for attacker in round_["repeats"][0]["attackers"]:
        cells = [_cell(round_["accuracy"][target].get(attacker), chance, scale) for target in targets]
        table.add_row(
            attacker, escape(methods.get(attacker, "")), *cells, *([f"{scale * chance['mean']:.3g}"] if chance else [])
        )
    return table


def _common_of(round_: Mapping[str, Any]) -> int | None:
    """How many answers a guess has, where that is the same for all."""
    found = {cell["of"] for row in round_["accuracy"].values() for cell in row.values()}
    return found.pop() if len(found) == 1 else None


def _cell(cell: Mapping[str, Any] | None, chance: Mapping[str, Any] | None, scale: int) -> str:
    if cell is None:
        return "–"
    shown = f"{scale * cell['mean']:.3g}"
    if "high" in cell:
        shown += f"±{scale * (cell['high'] - cell['mean']):.2g}"
    return f"[bold]{shown}[/]" if chance and cell["mean"] > chance["high"] else shown


def _print_standings(results: Mapping[str, Any]) -> None:
    names = {player["team"]: escape(player["name"]) for player in results["players"]}
    for title, key in (("Anonymization", "anonymization"), ("Attack", "attack"), ("Overall", "overall")):
        lines = [_standing(line) for line in results["standings"].get(key, ())]
        extra: dict[str, Mapping[str, str]] = {"name": names}
        if key == "attack":
            extra |= _beside(results, [line.team for line in lines])
        if lines:
            output.console().print()
            output.console().print(output.standings_table(title, lines, extra))


def _standing(line: Mapping[str, Any]) -> Standing:
    score = None if line["score"] is None else Fraction(line["score"]).limit_denominator(10_000)
    shown = line.get("shown", "")
    if "interval" in line:
        shown = f"{line['score']:.4g} ±{line['interval'][1] - line['score']:.2g}"
    return Standing(line["team"], score, line["rank"], escape(line.get("note", "")), shown)


def _beside(results: Mapping[str, Any], attackers: list[str]) -> dict[str, Mapping[str, str]]:
    """Columns for the attack ranking: mean accuracy on all releases, and the same for the sample attack and for chance."""
    cells = [row for round_ in results["rounds"] for row in round_["accuracy"].items()]

    samples = results["sample_attacks"]

    def mean(names: list[str], besides: str) -> str:
        """Of the best of these attackers on each release."""
        found = [
            max(row[name]["mean"] for name in names if name in row)
            for target, row in cells
            if target != besides and any(name in row for name in names)
        ]
        return f"{100 * sum(found) / len(found):.3g} %" if found else "–"

    chances = [round_["chance"]["mean"] for round_ in results["rounds"] if round_["chance"]]
    columns: dict[str, Mapping[str, str]] = {
        "mean accuracy": {attacker: mean([attacker], attacker) for attacker in attackers},
        "sample attack" if len(samples) == 1 else "best sample attack": {
            attacker: mean(samples, attacker) for attacker in attackers
        },
    }
    if chances:
        columns["chance"] = dict.fromkeys(attackers, f"{100 * sum(chances) / len(chances):.3g} %")
    return columns


def _print_failures(results: Mapping[str, Any]) -> None:
    failed = [failure for failure in results["failures"] if failure["state"] != "skipped"]
    if failed:
        table = _table("Jobs that did not succeed", "job", "what", "cause")
        for failure in failed:
            table.add_row(escape(failure["job"]), failure["state"], escape(failure["cause"]))
        output.console().print(table)


def _of_round(results: Mapping[str, Any], round_: Mapping[str, Any]) -> str:
    return f", round {round_['name']}" if len(results["rounds"]) > 1 else ""
