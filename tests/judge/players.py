"""Teams that play a contest: some on its pages, others by the command line. Both fetch, hand in, and are told by the judge."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from tests.judge.browsing import Person
from tests.judge.stage import Stage


class Player(Protocol):
    """A team, or one of its members."""

    number: str

    def fetch(self) -> Path:
        """A folder with everything of the round that the team may have."""

    def hand_in(self, *files: Path) -> dict[str, Any]:
        """What the API says of what was handed in, when it is judged."""


class ByCommand:
    """Plays by the command line."""

    def __init__(self, stage: Stage, number: str, token: str = "") -> None:
        self._stage, self.number = stage, number
        if token:
            stage.tokens[number] = token

    def fetch(self) -> Path:
        return self._stage.fetch(self.number)

    def hand_in(self, *files: Path) -> dict[str, Any]:
        return self._stage.submit(self.number, *files)


class ByPage:
    """Plays in a browser; whatever its pages say of a release is what the API says of it."""

    def __init__(self, stage: Stage, number: str, person: Person) -> None:
        self._stage, self.number, self.person = stage, number, person

    @classmethod
    def of(cls, stage: Stage, number: str, person: Person) -> ByPage:
        """Somebody who follows a team's link."""
        person.join(stage.invited(number), f"player{number}")
        return cls(stage, number, person)

    def go(self) -> None:
        """To the phase that is under way."""
        self.person.go(f"/contests/{self._stage.contest.slug}/play/")

    def fetch(self) -> Path:
        self.go()
        out = self._stage.folder / f"page-{self.number}-{self._stage.round}"
        for ending in ("handout.zip", "targets.zip"):
            if self.person.page.locator(f"main a[href$='{ending}']").count():
                self.person.unpack(ending).extractall(out)
        return out

    def hand_in(self, *files: Path) -> dict[str, Any]:
        self.go()
        return self.judged(self.person.hand_in(contents(*files)))

    def judged(self, submission: str) -> dict[str, Any]:
        """What comes of what was handed in: the page and the API say the same."""
        self._stage.go_on()
        self.person.page.reload()
        told: dict[str, Any] = self.person.ask(f"submissions/{submission}")
        measured = told["judging"].get("measurements", [])
        assert self.person.scores() == {one["name"]: str(one["value"]) for one in measured}
        return told


def contents(*files: Path) -> Mapping[str, bytes]:
    """Files, and all that folders hold, by name."""
    every = (
        file for place in files for file in (sorted(place.iterdir()) if place.is_dir() else [place])
    )
    return {file.name: file.read_bytes() for file in every}


def scores_of(judged: Mapping[str, Any]) -> dict[str, float]:
    """The scores of a release, as the API tells them."""
    return {measured["name"]: measured["value"] for measured in judged["judging"]["measurements"]}
