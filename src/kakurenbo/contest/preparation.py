"""What an organizer holds of a round: the data a rulebook draws, its folders, and each team's secrets for the judge's steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from kakurenbo.contest.commitments import COMMITMENTS_FILE, OPENING_FILE, digest, revealed_seed
from kakurenbo.contest.folders import PUBLIC, ContestFacts, ContestFolder, Files
from kakurenbo.contest.results import team_of
from kakurenbo.core import README_FILES, InputError, Source, collect_notices
from kakurenbo.core.errors import KakurenboError, UsageError
from kakurenbo.core.messages import Message
from kakurenbo.core.remembering import Memory, remembering_tables
from kakurenbo.core.rng import stream

if TYPE_CHECKING:
    from kakurenbo.contest.rulebook import Rulebook

H = TypeVar("H")
V = TypeVar("V")

_TABLES = 4  # that a round remembers: the population, and the latest releases


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
    place : Path or Files
        The folder that ``prepare`` wrote, on disk or in memory.
    """

    def __init__(self, rulebook: Rulebook[H, Any, Any, Any, Any, Any], place: Path | Files) -> None:
        self.folder = ContestFolder(place)
        facts = self.folder.folder("public").facts(rulebook.name)
        secret = self.folder.folder("secret")
        if facts is None or not secret.has(OPENING_FILE):
            raise UsageError("error.no_preparation", at=self.folder)
        self.facts = facts
        self.rules = rulebook.under(facts)
        self.seed = revealed_seed(secret.read(OPENING_FILE))
        self.tables = Memory(_TABLES)
        self._handouts: dict[str, H] = {}
        self._parsed: dict[tuple[str, str], Any] = {}

    @property
    def path(self) -> Path:
        """Where the folder lies; only for folders on disk."""
        return self.folder.path

    @property
    def teams(self) -> tuple[str, ...]:
        return self.facts.teams

    @cached_property
    def phase_facts(self) -> ContestFacts:
        """The facts of a phase folder, bound to the preparation before it."""
        commitments = self.folder.folder("public").read(COMMITMENTS_FILE)
        return self.facts.of(PUBLIC, commitments=digest(commitments))

    @cached_property
    def attackers(self) -> ContestFolder:
        """What all attackers get beside the targets, in memory."""
        return ContestFolder(self.folder.folder("attackers").all_files(), "attackers")

    @cached_property
    def has_readmes(self) -> bool:
        """Whether folders of this round have READMEs; those of earlier versions have none."""
        return self.folder.folder("public").has(README_FILES[0])

    def stream(self, *names: str) -> np.random.Generator:
        """Randomness of a purpose in this round."""
        return stream(self.seed, self.facts.rulebook, self.facts.round, *names)

    def handout(self, team: str) -> H:
        """The handout of a team."""
        if team not in self._handouts:
            try:
                with collect_notices(), remembering_tables(self.tables):
                    folder = self.folder.folder(f"teams/{team}")
                    self._handouts[team] = self.rules.read_handout(folder)
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
        for place in (*([f"secret/{team}"] if team else []), "secret", "attackers"):
            if (place, name) in self._parsed:
                value: V = self._parsed[place, name]
                return value
            folder = self.attackers if place == "attackers" else self.folder.folder(place)
            source = folder.source(name) if folder.file is None else None
            if source is not None:
                try:
                    with collect_notices(), remembering_tables(self.tables):
                        value = reader(source)
                except InputError as error:
                    damaged = Message("error.preparation_damaged")
                    raise KakurenboError(error.message, at=damaged) from error
                self._parsed[place, name] = value
                return value
        raise KakurenboError("error.preparation_lacks", name=name)
