"""The report as Markdown, for a repository or a mail: the same figures, without the charts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kakurenbo.contracts import Measurement
from kakurenbo.reporting.document import AttackEntry, Document, PlayerEntry, Ranking, RankingLine, ReleaseEntry, RoundEntry
from kakurenbo.reporting.html import seconds_of_work
from kakurenbo.reporting.numbers import percent, plus_minus, shown_value

_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!|~])")


def markdown_report(document: Document, times: Mapping[str, Any]) -> str:
    """Standings, awards, the matrix, every measure, failures and the manifest."""
    players = {player.team: player for player in document.players}
    lines = [f"# {safe(document.rulebook.name)}: {safe(document.rulebook.title)}", ""]
    for name, ranking in document.rankings.items():
        if ranking.lines:
            lines += [f"## {name.capitalize()}", "", *_ranking(ranking, players), ""]
    if any(document.awards.values()):
        awards = ((name, ", ".join(teams)) for name, teams in document.awards.items())
        lines += ["## Awards", "", *table(("award", "teams"), awards), ""]
    for entry in document.rounds:
        lines += _round(document, entry, players)
    lines += _failures(document)
    lines += _manifest(document, times)
    return "\n".join(lines).rstrip() + "\n"


def _ranking(ranking: Ranking, players: Mapping[str, PlayerEntry]) -> list[str]:
    return table(
        ("rank", "team", "name", "score", "note"),
        (
            (line.rank or "–", line.team, _name(players, line.team), "–" if line.score is None else _score(line), line.note)
            for line in ranking.lines
        ),
    )


def _score(line: RankingLine) -> str:
    interval = "" if line.low is None else f" ({shown_value(line.low, 4)} to {shown_value(line.high, 4)})"
    return (line.shown or shown_value(line.score, 4)) + interval


def _name(players: Mapping[str, PlayerEntry], team: str) -> str:
    return players[team].name if team in players else ""


def _round(document: Document, entry: RoundEntry, players: Mapping[str, PlayerEntry]) -> list[str]:
    lines = [f"## Round {safe(entry.name)}", "", "### Right guesses in percent", ""]
    if entry.chance:
        band = f"95 % band {percent(entry.chance.low)} to {percent(entry.chance.high)}"
        samples = safe(", ".join(document.sample_attacks))
        lines += [f"Blind guessing gets {percent(entry.chance.mean)} % ({band}). Organizers' own: {samples}.", ""]
    if entry.constant is not None:
        lines += [f"The best constant answer gets {percent(entry.constant)} %.", ""]
    rows = ((attacker, *(_cell(row.get(attacker)) for row in entry.attacks.values())) for attacker in entry.attackers)
    lines += [*table(("attacker", *entry.attacks), rows), "", "### Releases", ""]
    for release in entry.releases.values():
        lines += _release(release, players.get(release.team, PlayerEntry(release.team)))
    return lines


def _cell(entry: AttackEntry | None) -> str:
    return "–" if entry is None else percent(entry.accuracy.mean) + plus_minus(entry.accuracy.half, 100)


def _release(release: ReleaseEntry, player: PlayerEntry) -> list[str]:
    method = f"Method: {safe(player.anonymizer)}. " if player.anonymizer else ""
    lines = [f"#### {release.target} {safe(player.name)}".rstrip(), "", f"{method}State: {safe(release.state)}.", ""]
    if release.cause:
        lines += [safe(release.cause), ""]
    lines += [f"- {safe(notice)}" for notice in release.notices] + [""] * bool(release.notices)
    if not release.measurements:
        return lines
    rows = (_measure(release, measured) for measured in release.measurements)
    return [*lines, *table(("measure", "value", "threshold", "verdict", "what limits it"), rows), ""]


def _measure(release: ReleaseEntry, measured: Measurement) -> tuple[str, ...]:
    estimate = release.estimates.get(measured.name)
    value = shown_value(estimate.mean) + plus_minus(estimate.half) if estimate else shown_value(measured.value)
    verdict = {None: "", True: "passes", False: "disqualified"}[measured.passes]
    return measured.name, value, str(measured.threshold or ""), verdict, shown_value(measured.limit)


def _failures(document: Document) -> list[str]:
    if not document.failures:
        return []
    rows = ((failure.what, failure.file, failure.state, failure.cause) for failure in document.failures)
    return ["## What did not succeed", "", *table(("what", "file", "state", "cause"), rows), ""]


def _manifest(document: Document, times: Mapping[str, Any]) -> list[str]:
    manifest = document.manifest
    rows: list[tuple[str, object]] = [("seed", manifest.get("plan", {}).get("seed", "–"))]
    rows += [(f"version of {name}", text) for name, text in manifest.get("versions", {}).items()]
    rows += [
        (f"code of {name}", f"{code['package']}, sha256 {code['sha256']}") for name, code in manifest.get("code", {}).items()
    ]
    rows.append(("seconds of work", seconds_of_work(times)))
    return ["## Manifest", "", *table(("what", "value"), rows), ""]


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A Markdown table whose cells are text, whatever they hold."""
    lines = [f"| {' | '.join(safe(heading) for heading in headings)} |", "|" + " --- |" * len(headings)]
    return lines + [f"| {' | '.join(safe(cell) for cell in row)} |" for row in rows]


def safe(text: object) -> str:
    """Text without effect as Markdown or HTML.

    Examples
    --------
    >>> print(safe("<b>|x|"))
    &lt;b&gt;\\|x\\|
    """
    return _MARKUP.sub(r"\\\1", html.escape(" ".join(str(text).split()), quote=False))
