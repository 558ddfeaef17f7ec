"""One round of a document in one language: names, words and the order in which charts and pages show them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from kakurenbo.reports.assets import asset
from kakurenbo.reports.document import (
    Document,
    MeasureEntry,
    PlayerEntry,
    ReleaseEntry,
    RoundEntry,
)
from kakurenbo.reports.numbers import share
from kakurenbo.reports.rounds import KINDS

_FIELDS = 12  # a point is about as large as the twelfth part of an axis


@cache
def report_texts() -> dict[str, Any]:
    """Return the texts of the report in every language."""
    texts: dict[str, Any] = json.loads(asset("texts.json"))
    return texts


@dataclass(frozen=True)
class View:
    """One round of a document in one language."""

    document: Document
    entry: RoundEntry
    language: str

    def text(self, key: str, **values: object) -> str:
        """Return a text of the report."""
        text: str = report_texts()[self.language][key]
        return text.format_map(values)

    def word(self, text: str) -> str:
        """Translate a word of the document, or a list of words, where the report knows it."""
        texts = report_texts()[self.language]
        known: dict[str, str] = {**texts, **texts["words"]}
        if text in known:
            return known[text]
        return ", ".join(known.get(part, part) for part in text.split(", "))

    @cached_property
    def players(self) -> dict[str, PlayerEntry]:
        return {player.team: player for player in self.document.players}

    def player(self, name: str) -> PlayerEntry:
        """Return who an attacker is, or whose a release is."""
        release = self.entry.releases.get(name)
        team = release.team if release else name
        return self.players.get(team, PlayerEntry(team))

    def name(self, name: str) -> str:
        """Return the name that a team gave itself, else its number."""
        own = self.text("sample") if name == "sample attack" else name
        return self.player(name).name or own

    def label(self, name: str) -> str:
        """Return number and name."""
        return " ".join(filter(None, (name, self.player(name).name))) or self.name(name)

    @cached_property
    def releases(self) -> list[ReleaseEntry]:
        """The releases in the order of the plan."""
        order = dict.fromkeys(
            target for results in self.entry.repeats for target in results.targets
        )
        return [self.entry.releases[target] for target in order if target in self.entry.releases]

    @cached_property
    def targets(self) -> list[str]:
        """The releases that somebody attacked, in the order of the plan."""
        return list(self.entry.attacks)

    @cached_property
    def axes(self) -> tuple[MeasureEntry, str] | None:
        """The measure and the kind of privacy of the scatter plot; none without measures."""
        return axes_of(self.document).get(self.entry.name)

    @cached_property
    def scale_top(self) -> float:
        """The accuracy at the bright end of the heat map, at least three times chance."""
        attacks = [attack for row in self.entry.attacks.values() for attack in row.values()]
        chance = self.entry.chance.mean if self.entry.chance else 0
        return min(1.0, max(3 * chance, 0.01, *(attack.accuracy.mean for attack in attacks)))

    @property
    def suffix(self) -> str:
        """The name of the round, to be added to a title where there are several."""
        return f" · {self.word(self.entry.name)}" if len(self.document.rounds) > 1 else ""

    @property
    def heat_note(self) -> str:
        """What dark and bright mean, beside what blind guessing gets."""
        chance = self.entry.chance
        blind = self.text("heat_blind", chance=share(chance.mean)) if chance else ""
        return f"{self.text('heat_ramp')} {blind}".strip()


def axes_of(document: Document) -> dict[str, tuple[MeasureEntry, str]]:
    """Choose the axes of the rounds with measures: a measure each, and one kind of privacy for all.

    The measure that is a number in the score is always taken; else one of those that decide by a threshold, else any: of
    these the pair that sets most releases apart.
    """
    best: dict[str, dict[str, tuple[int, MeasureEntry]]] = {kind: {} for kind in KINDS}
    for entry in document.rounds:
        decisive = [measure for measure in entry.measures if measure.threshold is not None]
        scored = [each for each in entry.measures if each.name == document.rulebook.utility_score]
        for kind in KINDS if entry.measures else ():
            spreads = [
                (_spread(entry, measure, kind), measure)
                for measure in scored or decisive or entry.measures
            ]
            best[kind][entry.name] = max(spreads, key=lambda pair: pair[0])

    def value(kind: str) -> tuple[int, int]:
        # A kind that leaves a round empty is none for all.
        spreads = [spread for spread, _ in best[kind].values()]
        return sum(map(bool, spreads)), sum(spreads)

    kind = max(KINDS, key=value)
    return {name: (measure, kind) for name, (_, measure) in best[kind].items()}


def _spread(entry: RoundEntry, measure: MeasureEntry, kind: str) -> int:
    """Count the fields of a coarse grid over the plot that hold a release."""
    points = [
        (release.estimates[measure.name].mean, release.privacy[kind].mean)
        for release in entry.releases.values()
        if measure.name in release.estimates and kind in release.privacy
    ]
    fields = []
    marks = (measure.threshold, entry.chance_privacy)
    for values, mark in zip(zip(*points, strict=True), marks, strict=False):
        drawn = values if mark is None else (*values, mark)
        size = (max(drawn) - min(drawn)) / _FIELDS or 1.0
        fields.append([int((value - min(drawn)) / size) for value in values])
    return len(set(zip(*fields, strict=True)))
