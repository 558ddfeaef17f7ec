"""The report as Markdown, for a repository or a mail: the same figures, without the charts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kakurenbo.contracts import Measurement, Unit
from kakurenbo.messages import escaped
from kakurenbo.reporting.document import (
    AttackEntry,
    Document,
    PlayerEntry,
    Ranking,
    ReleaseEntry,
    RoundEntry,
)
from kakurenbo.reporting.html import seconds_of_work
from kakurenbo.reporting.layout import score_texts
from kakurenbo.reporting.numbers import against, estimated, figure, share, shown_value
from kakurenbo.rounds.publishing import PUBLISHED

_LANGUAGE = "en"
_MARKUP = re.compile(r"([\\`*_\[\]#+|~])")  # without brackets parentheses make no link


def markdown_report(document: Document, times: Mapping[str, Any]) -> str:
    """Standings, awards, the matrix, every measure, failures and the manifest."""
    players = {player.team: player for player in document.players}
    lines = [f"# {safe(document.rulebook.name)}: {safe(document.rulebook.title)}", ""]
    for source in dict.fromkeys(entry.report["data"] for entry in document.rounds if entry.report.get("data")):
        lines += [f"Data: {safe(source)}.", ""]
    lines += [line for lesson in document.verdicts.get(_LANGUAGE, ()) for line in (spoken(lesson), "")]
    for name, ranking in document.rankings.items():
        if ranking.lines:
            lines += [f"## {name.capitalize()}", "", *_ranking(document, name, ranking, players), ""]
    if any(document.awards.values()):
        awards = ((name, ", ".join(teams)) for name, teams in document.awards.items())
        lines += ["## Awards", "", *table(("award", "teams"), awards), ""]
        lines += [line for notice in document.award_notices.values() for line in (f"{safe(notice[_LANGUAGE])}.", "")]
    for entry in document.rounds:
        lines += _round(document, entry, players)
    lines += _failures(document)
    lines += _manifest(document, times)
    return "\n".join(lines).rstrip() + "\n"


def _ranking(document: Document, name: str, ranking: Ranking, players: Mapping[str, PlayerEntry]) -> list[str]:
    declared = document.figure(name)
    of = "" if declared.shown_of is None else f", out of {shown_value(declared.shown_of)}"
    told = [
        f"{'Lower' if ranking.lower_is_better else 'Higher'} is better{of}. {declared.definitions.get(_LANGUAGE, '')}".rstrip()
    ]
    points = declared.shown_times > 1 or any(line.shown for line in ranking.lines)
    headings = ("rank", "team", "name", "points" if points else "score", "tied within the interval with", "note")
    rows = [
        (
            line.rank or "–",
            line.team,
            _name(players, line.team),
            score,
            ", ".join(line.tied_with),
            line.note,
        )
        for line, score in zip(ranking.lines, score_texts(ranking.lines, declared, _LANGUAGE), strict=True)
    ]
    tied = any(line.tied_with for line in ranking.lines)
    shown = [place for place, heading in enumerate(headings) if tied or heading != "tied within the interval with"]
    return [
        *map(safe, told),
        "",
        *table([headings[place] for place in shown], ([row[place] for place in shown] for row in rows)),
    ]


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
        lines += [safe(f"Constant answer ({document.constant_answer(_LANGUAGE)}): {share(entry.constant)} on average."), ""]
    if document.sample_attacks:
        lines += [f"Organizers' own: {safe(', '.join(document.sample_attacks))}.{_only_shown(document)}", ""]
    rows = [[attacker, *(_cell(row.get(attacker)) for row in entry.attacks.values())] for attacker in entry.attackers]
    rows += _baselines(document, entry)
    lines += [*table(("attacker", *entry.attacks), rows), "", *_measures(document, entry), "### Releases", ""]
    for release in entry.releases.values():
        lines += _release(document, release, players.get(release.team, PlayerEntry(release.team)))
    return lines


def _only_shown(document: Document) -> str:
    """Which of the organizers' attacks stand in the table and count for nothing."""
    return f" Only shown, and counted for nothing: {safe(', '.join(document.only_shown))}." if document.only_shown else ""


def _cell(entry: AttackEntry | None) -> str:
    return "–" if entry is None else estimated(entry.accuracy, Unit.SHARE, _LANGUAGE)


def _baselines(document: Document, entry: RoundEntry) -> list[list[str]]:
    """A row for blind guessing and one for the constant answer, where there are any."""
    own = [entry.releases[target] for target in entry.attacks if target in entry.releases]
    columns = {"chance": [one.chance for one in own], document.constant_answer(_LANGUAGE): [one.constant for one in own]}
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
    method = f"Method: {code(player.anonymizer)}. " if player.anonymizer else ""
    lines = [f"#### {release.target} {safe(player.name)}".rstrip(), "", f"{method}State: {safe(_state(release))}.", ""]
    lines += [spoken(release.verdicts[_LANGUAGE]), ""] if release.verdicts else []
    lines += [f"- {safe(notice)}" for notice in release.notices] + [""] * bool(release.notices)
    if not release.measurements:
        return lines
    rows = (_measure(document, release, measured) for measured in release.measurements)
    limits = "what limits it" if release.of_repeats == 1 else f"what limits it in repeat {release.told_repeat + 1}"
    return [*lines, *table(("measure", "value", "threshold", "verdict", limits), rows), ""]


def _state(release: ReleaseEntry) -> str:
    several = release.in_repeats < release.of_repeats and release.state != PUBLISHED
    return f"{release.state} in {release.in_repeats} of {release.of_repeats} repeats" if several else release.state


def _measure(document: Document, release: ReleaseEntry, measured: Measurement) -> tuple[str, ...]:
    estimate, unit = release.estimates.get(measured.name), document.figure(measured.name).unit
    value, needed = figure(measured.value, unit), ""
    if measured.threshold is not None:
        value, needed = against(measured.value, measured.threshold, unit)
    if estimate and estimate.half is not None:
        value = estimated(estimate, unit, _LANGUAGE)
    verdict = {None: "", True: "passes", False: "disqualified"}[measured.passes]
    return measured.name, value, needed, verdict, shown_value(measured.limit, _LANGUAGE)


def _failures(document: Document) -> list[str]:
    if not document.failures:
        return []
    rows = ((failure.what, failure.file, failure.state, failure.cause) for failure in document.failures)
    return ["## What did not succeed", "", *table(("what", "file", "state", "cause"), rows), ""]


def _manifest(document: Document, times: Mapping[str, Any]) -> list[str]:
    manifest = document.manifest
    plan = manifest.get("plan", {})
    rows: list[tuple[str, object]] = [("seed", plan["seed"])] if "seed" in plan else []
    rows += [(f"version of {name}", text) for name, text in manifest.get("versions", {}).items()]
    rows += [
        (f"code of {name}", f"{code['package']}, sha256 {code['sha256']}") for name, code in manifest.get("code", {}).items()
    ]
    seconds = seconds_of_work(times)
    rows += [] if seconds is None else [("seconds of work", seconds)]
    rows += [(f"setting {name}", shown_value(value)) for name, value in document.settings.items() if not plan]
    return ["## Manifest", "", *table(("what", "value"), rows), ""] if rows else []


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A Markdown table whose cells are text, whatever they hold."""
    lines = [f"| {' | '.join(safe(heading) for heading in headings)} |", "|" + " --- |" * len(headings)]
    return lines + [f"| {' | '.join(safe(cell) for cell in row)} |" for row in rows]


def safe(text: object) -> str:
    """Text without effect as Markdown or HTML, and without signs that nobody sees.

    Examples
    --------
    >>> print(safe("<b>|x|"), safe("a\\u202eb"))
    &lt;b&gt;\\|x\\| a\\\\u202eb
    """
    return _MARKUP.sub(r"\\\1", html.escape(_line(str(text)), quote=False))


def _line(text: str) -> str:
    """A text in one line whose every sign can be seen."""
    return escaped(" ".join(text.split()))


def spoken(text: str) -> str:
    """A sentence in which `methods` stand out, and nothing else has an effect.

    Examples
    --------
    >>> print(spoken("found by 02 with `rr:p=0.9` (*)"))
    found by 02 with `rr:p=0.9` (\\*)
    """
    return "".join(
        code(part) if at % 2 else _MARKUP.sub(r"\\\1", html.escape(part, quote=False))
        for at, part in enumerate(_line(text).split("`"))
    )


def code(text: str) -> str:
    """A method as it is typed; a backtick of its own would end it and is left out.

    Examples
    --------
    >>> print(code("rr:p=0.9"))
    `rr:p=0.9`
    """
    plain = _line(text.replace("`", ""))
    return f"`{plain}`" if plain else ""
