"""The report as Markdown, for a repository or a mail: the same figures, without the charts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kakurenbo.contracts import Measurement
from kakurenbo.reporting.document import (
    AttackEntry,
    Document,
    FigureEntry,
    PlayerEntry,
    Ranking,
    RankingLine,
    ReleaseEntry,
    RoundEntry,
)
from kakurenbo.reporting.html import seconds_of_work
from kakurenbo.reporting.numbers import against, apart, figure, share, shown_value

_LANGUAGE = "en"
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!|~])")


def markdown_report(document: Document, times: Mapping[str, Any]) -> str:
    """Standings, awards, the matrix, every measure, failures and the manifest."""
    players = {player.team: player for player in document.players}
    lines = [f"# {safe(document.rulebook.name)}: {safe(document.rulebook.title)}", ""]
    lines += [line for lesson in document.verdicts.get(_LANGUAGE, ()) for line in (safe(lesson), "")]
    for name, ranking in document.rankings.items():
        if ranking.lines:
            lines += [f"## {name.capitalize()}", "", *_ranking(document, name, ranking, players), ""]
    if any(document.awards.values()):
        awards = ((name, ", ".join(teams)) for name, teams in document.awards.items())
        lines += ["## Awards", "", *table(("award", "teams"), awards), ""]
    for entry in document.rounds:
        lines += _round(document, entry, players)
    lines += _failures(document)
    lines += _manifest(document, times)
    return "\n".join(lines).rstrip() + "\n"


def _ranking(document: Document, name: str, ranking: Ranking, players: Mapping[str, PlayerEntry]) -> list[str]:
    declared = document.figure(name)
    of = "" if declared.of is None else f" of {shown_value(declared.of)}"
    told = [
        f"{'Lower' if ranking.lower_is_better else 'Higher'} is better{of}. {declared.definitions.get(_LANGUAGE, '')}".rstrip()
    ]
    headings = ("rank", "team", "name", "score", "tied within the interval with", "note")
    plain = apart([line.score for line in ranking.lines], declared.unit)
    rows = [
        (
            line.rank or "–",
            line.team,
            _name(players, line.team),
            _score(line, declared, text),
            ", ".join(line.tied_with),
            line.note,
        )
        for line, text in zip(ranking.lines, plain, strict=True)
    ]
    tied = any(line.tied_with for line in ranking.lines)
    shown = [place for place, heading in enumerate(headings) if tied or heading != "tied within the interval with"]
    return [
        *map(safe, told),
        "",
        *table([headings[place] for place in shown], ([row[place] for place in shown] for row in rows)),
    ]


def _score(line: RankingLine, declared: FigureEntry, plain: str) -> str:
    if line.score is None or line.half is None:
        return line.shown or plain
    return figure(line.score, declared.unit, line.half)


def _name(players: Mapping[str, PlayerEntry], team: str) -> str:
    return players[team].name if team in players else ""


def _round(document: Document, entry: RoundEntry, players: Mapping[str, PlayerEntry]) -> list[str]:
    several = len(document.rounds) > 1
    lines = [f"## Round {safe(entry.name)}" if several else "## Attacks and releases", "", "### Right guesses", ""]
    if document.figure("hits").definitions:
        lines += [safe(f"Hits: {document.figure('hits').definitions[_LANGUAGE]}"), ""]
    if entry.chance:
        band = f"95 % of blind guesses get {share(entry.chance.low)} to {share(entry.chance.high)}"
        lines += [f"Blind guessing gets {share(entry.chance.mean)} on average; {band}.", ""]
    if entry.constant is not None:
        lines += [f"The best constant answer gets {share(entry.constant)}.", ""]
    if document.sample_attacks:
        lines += [f"Organizers' own: {safe(', '.join(document.sample_attacks))}.", ""]
    rows = [[attacker, *(_cell(row.get(attacker)) for row in entry.attacks.values())] for attacker in entry.attackers]
    rows += _baselines(entry)
    lines += [*table(("attacker", *entry.attacks), rows), "", *_measures(document, entry), "### Releases", ""]
    for release in entry.releases.values():
        lines += _release(document, release, players.get(release.team, PlayerEntry(release.team)))
    return lines


def _cell(entry: AttackEntry | None) -> str:
    return "–" if entry is None else share(entry.accuracy.mean, entry.accuracy.half)


def _baselines(entry: RoundEntry) -> list[list[str]]:
    """A row for blind guessing and one for the best constant answer, where there are any."""
    own = [entry.releases[target] for target in entry.attacks if target in entry.releases]
    columns = {"chance": [one.chance for one in own], "best constant answer": [one.constant for one in own]}
    return [
        [name, *map(share, shares)]
        for name, shares in columns.items()
        if len(own) == len(entry.attacks) and any(value is not None for value in shares)
    ]


def _measures(document: Document, entry: RoundEntry) -> list[str]:
    """What each measure means, where the rulebook says it."""
    rows = [
        (
            measure.name,
            "higher" if measure.higher_is_better else "lower",
            shown_value(document.figure(measure.name).of),
            document.figure(measure.name).definitions.get(_LANGUAGE, ""),
        )
        for measure in entry.measures
    ]
    return ["### Measures", "", *table(("measure", "better", "of", "meaning"), rows), ""] if rows else []


def _release(document: Document, release: ReleaseEntry, player: PlayerEntry) -> list[str]:
    method = f"Method: {safe(player.anonymizer)}. " if player.anonymizer else ""
    lines = [f"#### {release.target} {safe(player.name)}".rstrip(), "", f"{method}State: {safe(release.state)}.", ""]
    lines += [safe(release.verdicts[_LANGUAGE]), ""] if release.verdicts else []
    lines += [f"- {safe(notice)}" for notice in release.notices] + [""] * bool(release.notices)
    if not release.measurements:
        return lines
    rows = (_measure(document, release, measured) for measured in release.measurements)
    return [*lines, *table(("measure", "value", "threshold", "verdict", "what limits it"), rows), ""]


def _measure(document: Document, release: ReleaseEntry, measured: Measurement) -> tuple[str, ...]:
    estimate, unit = release.estimates.get(measured.name), document.figure(measured.name).unit
    value, needed = figure(measured.value, unit), ""
    if measured.threshold is not None:
        value, needed = against(measured.value, measured.threshold, unit)
    if estimate and estimate.half is not None:
        value = figure(estimate.mean, unit, estimate.half)
    verdict = {None: "", True: "passes", False: "disqualified"}[measured.passes]
    return measured.name, value, needed, verdict, shown_value(measured.limit)


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
