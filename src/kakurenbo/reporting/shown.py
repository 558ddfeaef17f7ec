"""A round as pictures show it: its words in one language, names of teams, releases and attackers in their order."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kakurenbo.reporting.assets import asset
from kakurenbo.reporting.document import AttackEntry, Document, PlayerEntry, ReleaseEntry, RoundEntry
from kakurenbo.reporting.drawing import clipped, text_width


@dataclass(frozen=True)
class Shown:
    """One round of a document in one language."""

    document: Document
    entry: RoundEntry
    language: str

    def text(self, key: str, **values: str) -> str:
        """A text of the report."""
        found: str = self._texts[key]
        return found.format_map(values)

    def word(self, key: str) -> str:
        """A word of the results document in the language of the picture."""
        found: str = self._texts["words"][key]
        return found

    @cached_property
    def _texts(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(asset("texts.json"))[self.language]
        return found

    @cached_property
    def _players(self) -> dict[str, PlayerEntry]:
        return {player.team: player for player in self.document.players}

    def player(self, name: str) -> PlayerEntry | None:
        """Who an attacker is, or whose a release is."""
        release = self.entry.releases.get(name)
        return self._players.get(release.team if release else name)

    def name(self, name: str) -> str:
        """The name that a team gave itself; what is known where there is none."""
        player = self.player(name)
        if player is not None and player.name:
            return player.name
        return self.text("sample") if name == "sample attack" else name

    def label(self, name: str) -> str:
        """Number and name."""
        player = self.player(name)
        return f"{name} {player.name}" if player is not None and player.name else self.name(name)

    def fitted_name(self, name: str, room: float, size: float = 12) -> str:
        """The name of a team in the room there is: of a sweep what tells it from the others, else shortened."""
        text, player = self.name(name), self.player(name)
        if text_width(text, size) <= room:
            return text
        own = text.removeprefix(player.sweep).strip() if player is not None else text
        return clipped(own or text, room, size)

    def fitted_label(self, name: str, room: float, size: float = 12) -> str:
        """Number and name in the room there is."""
        label, player = self.label(name), self.player(name)
        if text_width(label, size) <= room or player is None or not player.name:
            return clipped(label, room, size)
        return f"{name} {self.fitted_name(name, room - text_width(f'{name} ', size), size)}"

    @property
    def repeats(self) -> int:
        """How often the round was played."""
        return len(self.entry.repeats)

    @cached_property
    def targets(self) -> list[str]:
        """The releases that somebody attacked, in the order of the plan."""
        every = dict.fromkeys(target for results in self.entry.repeats for target in results.targets)
        return [target for target in every if target in self.entry.attacks]

    @cached_property
    def attackers(self) -> list[str]:
        """The attackers in the order of the plan."""
        return list(dict.fromkeys(attacker for results in self.entry.repeats for attacker in results.attackers))

    @cached_property
    def releases(self) -> list[ReleaseEntry]:
        """What is known of each release, in the order of the plan."""
        every = dict.fromkeys(target for results in self.entry.repeats for target in results.targets)
        return [self.entry.releases[target] for target in every if target in self.entry.releases]

    def attack(self, target: str, attacker: str) -> AttackEntry | None:
        """What an attacker found in a release."""
        return self.entry.attacks.get(target, {}).get(attacker)
