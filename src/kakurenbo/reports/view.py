"""One round of a document in one language: names, words and the order in which charts and pages show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from kakurenbo.core.messages import is_known, render
from kakurenbo.reports.document import (
    Document,
    MeasureEntry,
    PlayerEntry,
    ReleaseEntry,
    RoundEntry,
)
from kakurenbo.reports.numbers import share, word
from kakurenbo.reports.rounds import KINDS

_FIELDS = 12  # a point is about as large as the twelfth part of an axis


@dataclass(frozen=True)
class View:
    """One round of a document in one language."""

    document: Document
    entry: RoundEntry
    language: str

    def say(self, code: str, **values: object) -> str:
        """Return a message."""
        return render(code, values, self.language).message

    def text(self, key: str, **values: object) -> str:
        """Return a text of the report."""
        return self.say(f"report.{key}", **values)

    def word(self, text: str) -> str:
        """Translate a word or a sentence of the document where the catalogue has it."""
        return word(text, self.language)

    def say_or(self, code: str, otherwise: str) -> str:
        """Return a message, or another text where the catalogue has none."""
        return self.say(code) if is_known(code, self.language) else otherwise

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
        number = self.text("sample") if name == "sample attack" else name
        return self.player(name).name or number

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
    entries = [entry for entry in document.rounds if entry.measures]
    chosen: dict[str, tuple[tuple[int, int], dict[str, MeasureEntry]]] = {}
    for kind in KINDS:
        measures, spreads = {}, []
        for entry in entries:
            candidates = _candidates(entry, document.rulebook.utility_score)
            spread = {measure: _spread(entry, measure, kind) for measure in candidates}
            measures[entry.name] = max(spread, key=lambda measure: spread[measure])
            spreads.append(max(spread.values()))
        # A kind that leaves a round empty is none for all.
        chosen[kind] = (sum(map(bool, spreads)), sum(spreads)), measures
    kind = max(KINDS, key=lambda kind: chosen[kind][0])
    return {name: (measure, kind) for name, measure in chosen[kind][1].items()}


def _candidates(entry: RoundEntry, utility_score: str) -> Sequence[MeasureEntry]:
    scored = [measure for measure in entry.measures if measure.name == utility_score]
    decisive = [measure for measure in entry.measures if measure.threshold is not None]
    return scored or decisive or entry.measures


def _spread(entry: RoundEntry, measure: MeasureEntry, kind: str) -> int:
    """Count the fields of a coarse grid over the plot that hold a release."""
    points = entry.points(measure.name, kind).values()
    columns = []
    for axis, mark in enumerate((measure.threshold, entry.chance_privacy)):
        values = [point[axis].mean for point in points]
        ends = values if mark is None else [*values, mark]
        size = (max(ends, default=0.0) - min(ends, default=0.0)) / _FIELDS or 1.0
        columns.append([int((value - min(ends)) / size) for value in values])
    return len(set(zip(*columns, strict=True)))
