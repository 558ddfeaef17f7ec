"""A tournament in the terminal: releases, hits beside baselines, standings, verdicts. It lays the document out, no more."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console, Group
from rich.markup import escape

from kakurenbo.cli import output
from kakurenbo.cli.scores import COUNTED, Columns, print_rankings
from kakurenbo.contest import Unit
from kakurenbo.core.messages import language, retold, text
from kakurenbo.reports import AttackEntry, Document, PlayerEntry, ReleaseEntry, RoundEntry
from kakurenbo.reports.numbers import counted, estimated, figure, share

_WIDEST_MATRIX = 14


def print_tournament(document: Document, played_by: str = "") -> None:
    """What ``run`` and ``demo`` show at the end."""
    console = output.console()
    players = {player.team: player for player in document.players}
    for source in dict.fromkeys(
        str(entry.report["data"]) for entry in document.rounds if entry.report.get("data")
    ):
        console.print(text("cli.data", source=retold(source)) + "\n", markup=False)
    for entry in document.rounds:
        title = text("tournament.of_round", round=entry.name) if len(document.rounds) > 1 else ""
        console.print(_releases(document, entry, players, title))
        console.print()
        if len(entry.attacks) <= _WIDEST_MATRIX:
            print_matrix(console, document, entry, title)
    names = {text("table.name"): {team: retold(player.name) for team, player in players.items()}}
    beside: dict[str, Columns] = {
        "anonymization": names,
        "attack": {**names, **_beside(document)},
        "overall": names,
    }
    print_rankings(
        document.rankings,
        document.awards,
        document.award_notices,
        beside,
        figures=document.figures,
        below_threshold=document.teams_below_threshold,
    )
    _print_failures(document)
    _print_verdicts(document)
    counts = text(
        "tournament.counts",
        teams=counted(len(document.players), "team", language()),
        attacks=counted(document.attack_count, "attack", language()),
    )
    console.print(
        f"\n{counts}{text('tournament.played_by', workers=retold(played_by)) if played_by else ''}",
        markup=False,
    )


def _releases(
    document: Document, entry: RoundEntry, players: Mapping[str, PlayerEntry], title: str
) -> Group:
    headings = (text(f"table.{name}") for name in ("team", "name", "method", "utility"))
    table = output.plain_table(*headings)
    for release in entry.releases.values():
        player = players.get(release.team, PlayerEntry(release.team))
        table.add_row(
            release.target,
            escape(retold(player.name)),
            escape(retold(player.anonymizer)),
            escape(_utility(document, release)),
        )
    return output.titled(text("tournament.releases") + title, table)


def _utility(document: Document, release: ReleaseEntry) -> str:
    """The number that goes into the score where there is one, and what became of the release; its verdict says why."""
    name = document.rulebook.utility_score
    found, declared = release.estimates.get(name), document.figure(name)
    figures = [f"{name} {estimated(found, declared.unit)}"] if found else []
    return ", ".join([*figures, *([_state(release)] if release.verdict else [])]) or text(
        "state.measured"
    )


def _state(release: ReleaseEntry) -> str:
    """Whether a release passes or why not; where there are repeats, in how many of them it does not."""
    state = text(f"state.{release.standing}")
    if release.in_repeats == release.of_repeats or release.verdict == "passes":
        return state
    return text(
        "state.in_repeats", state=state, count=release.in_repeats, repeats=release.of_repeats
    )


def print_matrix(console: Console, document: Document, entry: RoundEntry, title: str = "") -> None:
    """What every attacker found in every release; below the attackers what blind guessing and a constant answer earn."""
    players = {player.team: player for player in document.players}
    single = entry.of is not None and len(entry.repeats) == 1
    unit = document.figures["hits"].unit if "hits" in document.figures else COUNTED.unit
    what = text("matrix.hits", of=figure(entry.of or 0, unit)) if single else text("matrix.shares")
    methods = {
        attacker: retold(players[attacker].attack)
        for attacker in entry.attackers
        if attacker in players
    }
    described = any(methods.values())
    table = output.plain_table(
        text("table.attacker"), *([text("table.method")] if described else [])
    )
    for target in entry.attacks:
        output.add_column(table, target, right=True)
    for attacker in entry.attackers:
        cells = [
            _cell(row.get(attacker), unit if single else None) for row in entry.attacks.values()
        ]
        table.add_row(
            escape(attacker), *([escape(methods.get(attacker, ""))] if described else []), *cells
        )
    for name, label in (
        ("chance", text("baseline.chance")),
        ("constant", document.constant_answer(language())),
    ):
        cells = [
            _baseline(entry, target, name, unit if single else None) for target in entry.attacks
        ]
        if any(cells):
            dim = [f"[dim]{cell or '–'}[/]" for cell in cells]
            table.add_row(f"[dim]{escape(label)}[/]", *([""] if described else []), *dim)
    console.print(output.titled(f"{what}{title}", table))
    if len(entry.repeats) > 1:
        console.print(f"[dim]{text('matrix.repeats', count=len(entry.repeats))}[/]")
    _print_chance(console, entry, unit if single else None)
    meaning = document.figure("hits").definitions.get(language(), "")
    if meaning:
        console.print(f"[dim]{text('table.hits')}: {escape(meaning)}[/]")


def _baseline(entry: RoundEntry, target: str, name: str, unit: Unit | None) -> str:
    """What blind guessing or the constant answer earns on a target: in hits of a unit, or as a share where there is none."""
    if unit is None:
        found = getattr(entry.releases.get(target), name, None)
        return "" if found is None else share(found)
    credit = next(iter(entry.repeats[0].credits[target].values()))
    earned = (
        credit.constant if name == "constant" else credit.chance.mean if credit.chance else None
    )
    return "" if earned is None else figure(earned, unit)


def _print_chance(console: Console, entry: RoundEntry, unit: Unit | None) -> None:
    """Blind guessing with its band, which tells what is more than chance explains."""
    if unit is not None and entry.chance_hits is not None:
        told = output.chance_text(entry.chance_hits, unit)
    elif entry.chance is not None:
        shares = {name: share(getattr(entry.chance, name)) for name in ("mean", "low", "high")}
        told = text("chance.shares", **shares)
    else:
        return
    bold = f"; {text('matrix.bold')}" if console.is_terminal else ""
    console.print(f"[dim]{escape(told + bold)}[/]")


def _cell(entry: AttackEntry | None, unit: Unit | None) -> str:
    if entry is None:
        return "–"
    shown = estimated(entry.accuracy, Unit.SHARE) if unit is None else figure(entry.hits, unit)
    return f"[bold]{shown}[/]" if entry.beyond_chance else shown


def _beside(document: Document) -> Columns:
    """Columns for the attack ranking: mean accuracy on all releases, and the same for the baselines."""
    sample = (
        text("table.sample") if len(document.counting_samples) == 1 else text("table.best_sample")
    )
    columns = {
        text("table.accuracy"): "accuracy",
        sample: "sample_accuracy",
        text("baseline.chance"): "chance",
        document.constant_answer(language()): "constant",
    }
    shown = {
        heading: {attacker: getattr(entry, field) for attacker, entry in document.attackers.items()}
        for heading, field in columns.items()
    }
    return {
        heading: {attacker: share(value) for attacker, value in column.items()}
        for heading, column in shown.items()
        if any(value is not None for value in column.values())
    }


def _print_failures(document: Document) -> None:
    shown = [failure for failure in document.failures if failure.state != "skipped"]
    if shown:
        table = output.plain_table(text("table.what"), "", text("table.cause"))
        for failure in shown:
            cells = (retold(failure.what), text(f"state.{failure.state}"), retold(failure.cause))
            table.add_row(*map(escape, cells))
        output.console().print(output.titled(text("tournament.failures"), table))


def _print_verdicts(document: Document) -> None:
    """A sentence on every release where there are few, and what the tournament taught."""
    console = output.console()
    for entry in document.rounds:
        if 0 < len(entry.releases) <= _WIDEST_MATRIX:
            of_round = (
                text("tournament.of_round", round=entry.name) if len(document.rounds) > 1 else ""
            )
            console.print(f"\n[bold]{text('tournament.verdicts')}{escape(of_round)}[/]")
            for release in entry.releases.values():
                console.print(f"{release.target}  {escape(release.verdicts.get(language(), ''))}")
    lessons = document.verdicts.get(language(), ())
    if lessons:
        console.print(
            f"\n[bold]{text('tournament.taught')}[/] {escape(text('sentences.join').join(lessons))}"
        )
