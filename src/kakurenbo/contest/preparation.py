"""What an organizer holds of a round: the data a rulebook draws, its folders, and each team's secrets for the judge's steps."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from kakurenbo.contest.commitments import OPENING_FILE, revealed_seed
from kakurenbo.contest.facts import ContestFacts, read_facts
from kakurenbo.contest.results import team_of
from kakurenbo.core import InputError, Source, collect_notices, read_file, sources_of
from kakurenbo.core.errors import KakurenboError, UsageError
from kakurenbo.core.messages import Message
from kakurenbo.core.rng import stream

if TYPE_CHECKING:
    from kakurenbo.contest.rulebook import Rulebook

H = TypeVar("H")
V = TypeVar("V")

Files = Mapping[str, bytes]
"""Relative file name to content."""


@dataclass(frozen=True, eq=False)
class RoundData:
    """What a rulebook draws for a round; the base class makes folders, facts and commitments of it.

    Attributes
    ----------
    handouts : mapping of team to Files
        What each team is given.
    public, attackers : Files
        What everybody sees from the start, and what attackers get beside the targets.
    secrets : mapping of team to Files
        What the judge keeps of each team.
    secret : Files
        What the judge keeps of the whole round.
    data : mapping
        Where the data came from (``source``) and what is needed to make it again; goes into ``contest.json``.
    settings : mapping of option to value
        Options whose value was found on the way, such as ``data`` where it was ``auto``.
    report : mapping
        What the organizer should know, e.g. how close generated data is to its source.
    """

    handouts: Mapping[str, Files]
    public: Files = field(default_factory=dict)
    attackers: Files = field(default_factory=dict)
    secrets: Mapping[str, Files] = field(default_factory=dict)
    secret: Files = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    report: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Preparation:
    """A prepared round as folders that can each be handed over alone.

    Attributes
    ----------
    folders : mapping of folder name to Files
        ``public``, ``teams/NN``, ``attackers``, ``secret`` and ``secret/NN``.
    facts : ContestFacts
    report : mapping
    """

    folders: Mapping[str, Files]
    facts: ContestFacts
    report: Mapping[str, Any]

    def files(self) -> dict[str, bytes]:
        """All folders as one tree."""
        return {
            f"{folder}/{name}": data
            for folder, files in self.folders.items()
            for name, data in files.items()
        }


@dataclass(frozen=True, eq=False)
class Publication:
    """What became of one release: what attackers get of it, and the answer they do not get.

    Attributes
    ----------
    target, answer : Files
    parts : mapping of attacker to (Files, Files)
        What one attacker alone gets of it and the answer to that, where the contest deals a part to each.
    """

    target: Files
    answer: Files
    parts: Mapping[str, tuple[Files, Files]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Secrets(Generic[H]):
    """All that the judge knows of one team when its release is graded or published.

    Attributes
    ----------
    team, target : str
        Whose release it is, by the organizer's word, and what it will be called.
    handout : H
    round : PreparedRound
        The whole round, for contests in which an answer needs more than one team's secrets.
    """

    team: str
    target: str
    handout: H
    round: PreparedRound[H]

    def stream(self, *names: str) -> np.random.Generator:
        """Randomness of this publication: from the committed seed, rulebook, round and team, and what it is for."""
        return self.round.stream("team", self.team, *names)

    def read(self, name: str, reader: Callable[[Source], V]) -> V:
        """A file of the team's secrets, of the round's, or of what all attackers get; parsed once per round."""
        return self.round.read(name, reader, self.team)


class PreparedRound(Generic[H]):
    """An organizer's folder, opened by the judge; what is read stays in memory, since all teams share it.

    Parameters
    ----------
    rulebook : Rulebook
        Its options give way to what the folder says, where they were not given explicitly.
    path : Path
        The folder that ``prepare`` wrote.
    """

    def __init__(self, rulebook: Rulebook[H, Any, Any, Any, Any, Any], path: Path) -> None:
        facts = read_facts(path / "public", rulebook.name)
        if facts is None or not os.path.lexists(path / "secret" / OPENING_FILE):
            raise UsageError("error.no_preparation", at=path)
        self.path, self.facts = path, facts
        self.rules = rulebook.under(facts)
        self.seed = revealed_seed(read_file(path / "secret" / OPENING_FILE))
        self._handouts: dict[str, H] = {}
        self._parsed: dict[Path, Any] = {}

    @property
    def teams(self) -> tuple[str, ...]:
        return self.facts.teams

    def stream(self, *names: str) -> np.random.Generator:
        """Randomness of a purpose in this round."""
        return stream(self.seed, self.facts.rulebook, self.facts.round, *names)

    def handout(self, team: str) -> H:
        """The handout of a team."""
        if team not in self._handouts:
            try:
                with collect_notices():  # nothing that a team could do about
                    self._handouts[team] = self.rules.read_handout(self.path / "teams" / team)
            except InputError as error:
                place = Message("error.handout_damaged", {"team": team})
                raise KakurenboError(error.message, at=place) from error
        return self._handouts[team]

    def secrets(self, target: str) -> Secrets[H]:
        """What is needed to grade and publish a release that goes by this name."""
        team = team_of(target)
        if team not in self.teams:
            raise UsageError("error.no_team_in_round", name=repr(team), teams=list(self.teams))
        return Secrets(team, target, self.handout(team), self)

    def read(self, name: str, reader: Callable[[Source], V], team: str = "") -> V:
        """A secret file, parsed once."""
        places = [
            self.path / folder / name
            for folder in (f"secret/{team}" if team else "secret", "secret", "attackers")
        ]
        for place in places:
            if place.is_file():
                if place not in self._parsed:
                    try:
                        with collect_notices():
                            self._parsed[place] = reader(Source.of(place))
                    except InputError as error:
                        folder = Message("error.preparation_damaged")
                        raise KakurenboError(error.message, at=folder) from error
                value: V = self._parsed[place]
                return value
        raise KakurenboError("error.preparation_lacks", name=name)


def gathered(paths: Sequence[Path]) -> list[Source]:
    """The files of several paths: those in folders without what only tells about the folder, others as they are."""
    from kakurenbo.contest.facts import CONTEST_FILE

    return [source for path in paths for source in sources_of(path) if source.name != CONTEST_FILE]
