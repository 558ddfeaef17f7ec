"""A tournament in the terminal: releases, hits beside chance, standings. It lays the results document out, no more."""

from __future__ import annotations

from collections.abc import Mapping

from rich.markup import escape
from rich.table import Table

from kakurenbo.cli import output
from kakurenbo.cli.rankings import Columns, print_rankings
from kakurenbo.reporting import AttackEntry, Document, PlayerEntry, ReleaseEntry, RoundEntry
from kakurenbo.reporting.numbers import number, percent, plus_minus, shown_value

_WIDEST_MATRIX = 14


def print_tournament(document: Document, played_by: str = "") -> None:
    """What ``run`` and ``demo`` show at the end."""
    console = output.console()
    players = {player.team: player for player in document.players}
    for entry in document.rounds:
        title = f", round {entry.name}" if len(document.rounds) > 1 else ""
        console.print(_releases(document, entry, players, title))
        console.print()
        if len(entry.attacks) <= _WIDEST_MATRIX:
            console.print(_matrix(entry, players, title))
    names = {"name": {team: player.name for team, player in players.items()}}
    beside: dict[str, Columns] = {"anonymization": names, "attack": {**names, **_beside(document)}, "overall": names}
    print_rankings(document.rankings, document.awards, beside)
    _print_failures(document)
    counts = f"{number(len(document.players))} teams, {number(document.attack_count)} attacks"
    console.print(f"\n{counts}{f', played by {played_by}' if played_by else ''}", markup=False)


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
    for heading in headings:
        table.add_column(heading)
    return table


def _releases(document: Document, entry: RoundEntry, players: Mapping[str, PlayerEntry], title: str) -> Table:
    table = _table("Releases" + title, "team", "name", "method", "utility")
    for release in entry.releases.values():
        player = players.get(release.team, PlayerEntry(release.team))
        verdict = _verdict(release, document.rulebook.utility_score)
        table.add_row(release.target, escape(player.name), escape(player.anonymizer), escape(verdict))
    return table


def _verdict(release: ReleaseEntry, decisive: str) -> str:
    """The number that goes into the score where there is one, else whether the release passes and why not."""
    if release.cause:
        return f"{release.state}: {release.cause}"
    figures = [f"{name} = {shown_value(found.mean, 4)}" for name, found in release.estimates.items() if name == decisive]
    return ", ".join([*figures, *([release.verdict] if release.verdict else [])]) or "measured"


def _matrix(entry: RoundEntry, players: Mapping[str, PlayerEntry], title: str) -> Table:
    """What every attacker found in every release, with what blind guessing gets beside."""
    single = entry.of is not None and len(entry.repeats) == 1
    what = f"Hits of {number(entry.of or 0)}" if single else "Right guesses in percent"
    heading = f"{what} (rows: attackers, columns: releases){title}"
    chance = ""
    if single and entry.chance_hits is not None:
        heading += " — " + output.chance_text(entry.chance_hits)
        chance = number(entry.chance_hits.mean, 3)
    elif entry.chance is not None:
        band = f"95% band {percent(entry.chance.low)}–{percent(entry.chance.high)}"
        heading += f" — chance {percent(entry.chance.mean)}, {band}"
        chance = percent(entry.chance.mean)
    table = _table(heading, "attacker", "method", *entry.attacks, *(["chance"] if chance else []))
    for attacker in entry.attackers:
        method = players[attacker].attack if attacker in players else ""
        cells = [_cell(row.get(attacker), single=single) for row in entry.attacks.values()]
        table.add_row(escape(attacker), escape(method), *cells, *([chance] if chance else []))
    return table


def _cell(entry: AttackEntry | None, *, single: bool) -> str:
    if entry is None:
        return "–"
    shown = number(entry.hits, 4) if single else percent(entry.accuracy.mean) + plus_minus(entry.accuracy.half, 100)
    return f"[bold]{shown}[/]" if entry.beyond_chance else shown


def _beside(document: Document) -> Columns:
    """Columns for the attack ranking: mean accuracy on all releases, and the same for the sample attack and for chance."""
    sample = "sample attack" if len(document.sample_attacks) == 1 else "best sample attack"
    columns = {"mean accuracy": "accuracy", sample: "sample_accuracy", "chance": "chance"}
    shown = {
        heading: {attacker: getattr(entry, field) for attacker, entry in document.attackers.items()}
        for heading, field in columns.items()
    }
    return {
        heading: {attacker: "–" if value is None else f"{percent(value)} %" for attacker, value in column.items()}
        for heading, column in shown.items()
        if any(value is not None for value in column.values())
    }


def _print_failures(document: Document) -> None:
    shown = [failure for failure in document.failures if failure.state != "skipped"]
    if shown:
        table = _table("What did not succeed", "what", "", "cause")
        for failure in shown:
            table.add_row(escape(failure.what), failure.state, escape(failure.cause))
        output.console().print(table)
