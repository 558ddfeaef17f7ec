"""A tournament in the terminal: releases, the matrix of attacks, rankings, failures and verdicts."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group
from rich.markup import escape

from kakurenbo.cli.scores import COUNTED, Columns, chance_text, print_rankings
from kakurenbo.cli.terminal import console, plain_table, titled
from kakurenbo.contest import Unit
from kakurenbo.core.messages import Message, language, text, translated
from kakurenbo.reports import AttackEntry, Document, PlayerEntry, ReleaseEntry, RoundEntry
from kakurenbo.reports.numbers import counted, estimated, figure, share

_WIDEST_MATRIX = 14


def print_tournament(document: Document, played_by: Message | None = None) -> None:
    """Print what ``run`` and ``demo`` show at the end."""
    out = console()
    players = {player.team: player for player in document.players}
    sources = [
        translated(entry.report["data"]) for entry in document.rounds if entry.report.get("data")
    ]
    for source in dict.fromkeys(sources):
        out.print(text("cli.data", source=source) + "\n", markup=False)
    for entry in document.rounds:
        title = _of_round(document, entry)
        out.print(_releases(document, entry, players, title))
        out.print()
        if len(entry.attacks) <= _WIDEST_MATRIX:
            print_matrix(document, entry, title)
    names = {text("table.name"): {team: player_name(player) for team, player in players.items()}}
    extra: dict[str, Columns] = {
        "anonymization": names,
        "attack": {**names, **_attack_columns(document)},
        "overall": names,
    }
    print_rankings(
        document.rankings,
        document.awards,
        document.award_notices,
        extra,
        figures=document.figures,
        below_threshold=document.teams_below_threshold,
    )
    _print_failures(document)
    _print_verdicts(document)
    teams = counted(len(document.players), "team", language())
    attacks = counted(document.attack_count, "attack", language())
    counts = text("tournament.counts", teams=teams, attacks=attacks)
    workers = text("tournament.played_by", workers=played_by) if played_by else ""
    out.print(f"\n{counts}{workers}", markup=False)


def player_name(player: PlayerEntry) -> str:
    """Return a player's name; those of the rulebooks' own players are translated."""
    return text(f"player.{player.name.replace(' ', '_')}", player.name)


def _of_round(document: Document, entry: RoundEntry) -> str:
    """Return the end of a title that names the round, where there are several."""
    return text("tournament.of_round", round=entry.name) if len(document.rounds) > 1 else ""


def _releases(
    document: Document, entry: RoundEntry, players: Mapping[str, PlayerEntry], title: str
) -> Group:
    headings = (text(f"table.{name}") for name in ("team", "name", "method", "utility"))
    table = plain_table(*headings)
    for release in entry.releases.values():
        player = players.get(release.team, PlayerEntry(release.team))
        texts = player_name(player), translated(player.anonymizer), _utility(document, release)
        table.add_row(release.target, *map(escape, texts))
    return titled(text("tournament.releases") + title, table)


def _utility(document: Document, release: ReleaseEntry) -> str:
    """Return the number that goes into the score, if there is one, and the state of the release."""
    name = document.rulebook.utility_score
    estimate = release.estimates.get(name)
    parts = []
    if estimate:
        parts.append(f"{name} {estimated(estimate, document.figure(name).unit)}")
    if release.verdict:
        parts.append(_state(release))
    return ", ".join(parts) or text("state.measured")


def _state(release: ReleaseEntry) -> str:
    """Say whether a release passes or why not; of repeats, in how many of them it does not."""
    state = text(f"state.{release.standing}")
    if release.in_repeats == release.of_repeats or release.verdict == "passes":
        return state
    counts = {"count": release.in_repeats, "repeats": release.of_repeats}
    return text("state.in_repeats", state=state, **counts)


def print_matrix(
    document: Document, entry: RoundEntry, title: str = "", *, stderr: bool = False
) -> None:
    """Print the score of every attacker on every release; below, chance and a constant answer."""
    out = console(stderr=stderr)
    unit = None  # of several repeats, shares are shown
    heading = text("matrix.shares")
    if entry.of is not None and len(entry.repeats) == 1:
        unit = document.figures["hits"].unit if "hits" in document.figures else COUNTED.unit
        heading = text("matrix.hits", of=figure(entry.of, unit))
    attacks = {player.team: translated(player.attack) for player in document.players}
    targets = list(entry.attacks)
    rows = []
    for attacker in entry.attackers:
        cells = [_cell(row.get(attacker), unit) for row in entry.attacks.values()]
        rows.append([escape(attacker), escape(attacks.get(attacker, "")), *cells])
    has_methods = any(method for _, method, *_ in rows)
    baselines = {
        "chance": text("baseline.chance"),
        "constant": document.constant_answer(language()),
    }
    for name, label in baselines.items():
        cells = [_baseline(entry, target, name, unit) for target in targets]
        if any(cells):
            dim = [f"[dim]{cell or '–'}[/]" for cell in cells]
            rows.append([f"[dim]{escape(label)}[/]", "", *dim])
    headings = [text("table.attacker"), text("table.method"), *targets]
    for row in (headings, *rows):
        if not has_methods:
            del row[1]
    table = plain_table(*headings, right=targets)
    for row in rows:
        table.add_row(*row)
    out.print(titled(f"{heading}{title}", table))
    if len(entry.repeats) > 1:
        out.print(f"[dim]{text('matrix.repeats', count=len(entry.repeats))}[/]")
    if chance := _chance(entry, unit):
        bold = f"; {text('matrix.bold')}" if out.is_terminal else ""
        out.print(f"[dim]{escape(chance + bold)}[/]")
    if meaning := document.figure("hits").definitions.get(language(), ""):
        out.print(f"[dim]{text('table.hits')}: {escape(meaning)}[/]")


def _cell(entry: AttackEntry | None, unit: Unit | None) -> str:
    if entry is None:
        return "–"
    shown = estimated(entry.accuracy, Unit.SHARE) if unit is None else figure(entry.hits, unit)
    return f"[bold]{shown}[/]" if entry.beyond_chance else shown


def _baseline(entry: RoundEntry, target: str, name: str, unit: Unit | None) -> str:
    """Return what chance or the constant answer earns on a target: in hits, or as a share."""
    if unit is None:
        accuracy = getattr(entry.releases.get(target), name, None)
        return "" if accuracy is None else share(accuracy)
    credit = next(iter(entry.repeats[0].credits[target].values()))
    hits = credit.constant
    if name == "chance":
        hits = credit.chance.mean if credit.chance else None
    return "" if hits is None else figure(hits, unit)


def _chance(entry: RoundEntry, unit: Unit | None) -> str:
    """Return blind guessing with its band, above which hits are more than chance explains."""
    if unit is not None and entry.chance_hits is not None:
        return chance_text(entry.chance_hits, unit)
    if entry.chance is None:
        return ""
    shares = {name: share(getattr(entry.chance, name)) for name in ("mean", "low", "high")}
    return text("chance.shares", **shares)


def _attack_columns(document: Document) -> Columns:
    """Return columns of the attack ranking: mean accuracy on all releases, and of the baselines."""
    is_single = len(document.counting_samples) == 1
    fields = {
        text("table.accuracy"): "accuracy",
        text("table.sample" if is_single else "table.best_sample"): "sample_accuracy",
        text("baseline.chance"): "chance",
        document.constant_answer(language()): "constant",
    }
    columns = {}
    for heading, field in fields.items():
        values = {name: getattr(entry, field) for name, entry in document.attackers.items()}
        if any(value is not None for value in values.values()):
            columns[heading] = {attacker: share(value) for attacker, value in values.items()}
    return columns


def _print_failures(document: Document) -> None:
    failures = [failure for failure in document.failures if failure.state != "skipped"]
    if not failures:
        return
    table = plain_table(text("table.what"), "", text("table.cause"))
    for failure in failures:
        what, cause = translated(failure.what), translated(failure.cause)
        cells = (what, text(f"state.{failure.state}"), cause)
        table.add_row(*map(escape, cells))
    console().print(titled(text("tournament.failures"), table))


def _print_verdicts(document: Document) -> None:
    """Print a sentence on every release where there are few, and what the tournament taught."""
    out = console()
    for entry in document.rounds:
        if 0 < len(entry.releases) <= _WIDEST_MATRIX:
            title = text("tournament.verdicts") + escape(_of_round(document, entry))
            out.print(f"\n[bold]{title}[/]")
            for release in entry.releases.values():
                out.print(f"{release.target}  {escape(release.verdicts.get(language(), ''))}")
    if lessons := document.verdicts.get(language(), ()):
        taught = escape(text("sentences.join").join(lessons))
        out.print(f"\n[bold]{text('tournament.taught')}[/] {taught}")
