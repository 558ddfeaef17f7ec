"""Standings as pages lay them out: rankings, what was found beside chance and sample attack, and the report's charts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
from django.utils.safestring import SafeString, mark_safe

from kakurenbo.contest import Credit, Figure, RoundResults, Unit
from kakurenbo.contest.results import DISQUALIFIED, team_of
from kakurenbo.core.messages import language, text, translated, with_message
from kakurenbo.judge.contests.models import Contest, Team
from kakurenbo.judge.contests.rulebooks import rules_of
from kakurenbo.judge.pages.shown import RANKINGS, ranking_title
from kakurenbo.judge.scoring.models import StandingSnapshot
from kakurenbo.reports import Document, figures
from kakurenbo.reports.numbers import apart, figure, share, word

_OWN_STYLE = re.compile(r"<\?xml.*?\?>\s*|<style>.*?</style>", re.DOTALL)


@dataclass(frozen=True)
class Line:
    """A line of a ranking."""

    rank: int | None
    team: str
    name: str
    score: str
    value: float | None
    note: str
    own: bool


@dataclass(frozen=True)
class Board:
    """A ranking, best first."""

    name: str
    title: str
    meaning: str
    lines: list[Line]


@dataclass(frozen=True)
class Found:
    """How much was found in a release, beside what it can be compared with."""

    target: str
    name: str
    best: str
    attacker: str
    sample: str
    chance: str
    own: bool


@dataclass(frozen=True)
class Beside:
    """What a figure is compared with: blind guessing or an organizers' attack, over all releases in play."""

    title: str
    value: str


@dataclass(frozen=True)
class Chart:
    """A picture of the report."""

    title: str
    svg: SafeString


@dataclass(frozen=True)
class Parts:
    """What the scores of releases are made of: a heading for each figure, and a row for each release."""

    headings: list[str]
    rows: list[tuple[str, str, list[str]]]


def boards(contest: Contest, snapshot: StandingSnapshot, own: Team | None) -> list[Board]:
    """The rankings of a snapshot."""
    names = _names(contest)
    declared = rules_of(contest).figures
    found = []
    causes = _causes(snapshot)
    messages = snapshot.standings.get("messages", {})
    for name in RANKINGS:
        what = declared.get(name, Figure())
        lines = [
            _line(line, what, names, own, causes, messages)
            for line in snapshot.standings.get(name, [])
        ]
        found.append(Board(name, ranking_title(name), what.definitions.get(language(), ""), lines))
    return found


def beside(contest: Contest, snapshot: StandingSnapshot) -> list[Beside]:
    """Chance and sample attacks, by round where there are several; of those that count for nothing it is said."""
    only_shown = rules_of(contest).only_shown
    known: Mapping[str, Any] = snapshot.standings.get("beside", {})
    found = []
    for round_name, one in known.items():
        where = f" · {round_name}" if len(known) > 1 else ""
        found.append(Beside(text("page.chance") + where, share(one["chance"])))
        for name, value in one["samples"].items():
            apart = f" · {text('page.only_shown')}" if name in only_shown else ""
            found.append(Beside(sample_name(name) + where + apart, share(value)))
    return found


def sample_name(name: str) -> str:
    """An organizers' attack as it is shown."""
    own = text("page.sample_attack")
    return own if name == "sample attack" else f"{own} ({name})"


def found_rows(contest: Contest, snapshot: StandingSnapshot, own: Team | None) -> list[Found]:
    """One row for each release in play; empty for the whole contest, whose rounds have their own."""
    if not snapshot.results:
        return []
    results = msgspec.convert(snapshot.results, RoundResults)
    names, only_shown = _names(contest), rules_of(contest).only_shown
    counting = results.unranked - only_shown
    return [
        _found(results, target, names, own, counting)
        for target in results.in_play
        if results.credits.get(target)
    ]


def parts(contest: Contest, snapshot: StandingSnapshot) -> Parts | None:
    """What the rulebook tells of every release beside its rankings, as the verb ``standings`` prints it; None for nothing.

    It tells what was found in single releases: standings have it only for those who may know that.
    """
    tables: Mapping[str, Mapping[str, float]] = snapshot.standings.get("tables", {})
    if not tables:
        return None
    declared, names = rules_of(contest).figures, _names(contest)
    figures_ = list(dict.fromkeys(name for found in tables.values() for name in found))
    columns = [
        apart([found.get(name) for found in tables.values()], declared.get(name, Figure()).unit)
        for name in figures_
    ]
    cells = zip(*columns, strict=True)
    return Parts(
        [text(f"table.of.{name}", name) for name in figures_],
        [
            (target, names.get(team_of(target), ""), list(row))
            for target, row in zip(tables, cells, strict=True)
        ],
    )


def charts(snapshot: StandingSnapshot) -> list[Chart]:
    """The report's pictures, in the page's own colours."""
    return _drawn(snapshot.pk, language()) if snapshot.document else []


@lru_cache(maxsize=32)
def _drawn(pk: int, spoken: str) -> list[Chart]:  # noqa: ARG001 - pictures have words: one entry for each language
    found = StandingSnapshot.objects.filter(pk=pk).first()
    if found is None:  # standings were made anew since the page read them: it will read those
        return []
    try:
        document = msgspec.convert(found.document, Document).with_messages()
    except (
        msgspec.ValidationError
    ):  # an earlier version made it; the next standings have pictures again
        return []
    return [
        Chart(_chart_title(name), _inline(picture)) for name, picture in figures(document).items()
    ]


def _chart_title(name: str) -> str:
    """What a picture shows, and of which round where there are several.

    Examples
    --------
    >>> _chart_title("heatmap.svg"), _chart_title("heatmap-main.svg")
    ('Who found whom', 'Who found whom · main')
    """
    kind, _, round_name = name.removesuffix(".svg").partition("-")
    return text(f"page.chart.{kind}") + (f" · {round_name}" if round_name else "")


def _inline(picture: str) -> SafeString:
    """A picture without the style it has for standing alone: the page's sheet has the same rules, and its theme's colours."""
    return mark_safe(_OWN_STYLE.sub("", picture).replace("<svg ", '<svg role="img" ', 1))


def _causes(snapshot: StandingSnapshot) -> dict[str, str]:
    """Why a team's release is out of play, as far as the viewer may know: thresholds that it misses, an organizer's reason."""
    rounds = snapshot.document.get("rounds", ())
    releases = [
        release
        for one in rounds
        for release in one["releases"].values()
        if release["state"] == DISQUALIFIED
    ]
    messages = snapshot.document.get("messages", {})
    return {
        release["team"]: translated(with_message(release["cause"], messages))
        for release in releases
        if release["cause"]
    }


def _line(
    line: Mapping[str, Any],
    what: Figure,
    names: Mapping[str, str],
    own: Team | None,
    causes: Mapping[str, str],
    messages: Mapping[str, Any],
) -> Line:
    score = line.get("shown") or (
        "–" if line["score"] is None else figure(line["score"], what.unit)
    )
    team, note = line["team"], line.get("note", "")
    said = word(with_message(note, messages))
    cause = causes.get(team, "") if DISQUALIFIED in note else ""
    return Line(
        line["rank"],
        team if team in names else "",
        names.get(team) or sample_name(team),
        score,
        line["score"],
        f"{said}: {cause}" if cause else said,
        own is not None and team == own.number,
    )


def _found(
    results: RoundResults,
    target: str,
    names: Mapping[str, str],
    own: Team | None,
    counting: frozenset[str],
) -> Found:
    """How much was found in a release, beside the best of the organizers' attacks that are ``counting`` by the rules."""
    credits = results.credits[target]
    team = team_of(target)
    others = {
        name: credit
        for name, credit in credits.items()
        if name not in results.unranked and name != team
    }
    samples = [credit for name, credit in credits.items() if name in counting]
    best = max(others, key=lambda name: others[name].accuracy, default=None)
    known = next((credit for credit in credits.values() if credit.chance is not None), None)
    return Found(
        target=target,
        name=names.get(team, ""),
        best="–" if best is None else _earned(others[best]),
        attacker="–" if best is None else f"{best} {names.get(best, '')}",
        sample=_earned(max(samples, key=lambda credit: credit.accuracy)) if samples else "–",
        chance="–"
        if known is None or known.chance is None
        else share(known.share(known.chance.mean)),
        own=own is not None and team == own.number,
    )


def _earned(credit: Credit) -> str:
    return f"{share(credit.accuracy)} ({figure(credit.hits, Unit.COUNT)} / {figure(credit.of, Unit.COUNT)})"


def _names(contest: Contest) -> dict[str, str]:
    return {team.number: team.name for team in contest.teams.all()}
