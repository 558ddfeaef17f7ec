"""What a judge holds of a round: the data that a rulebook draws, its folders, and the published targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
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
    from kakurenbo.contest.rulebook import AnyRulebook, Rulebook

H = TypeVar("H")
K = TypeVar("K")
F = TypeVar("F")
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
        """Return all folders as one tree."""
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
        """Return a file of the team's secrets, of the round's, or of what all attackers get; parsed once per round."""
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
        self.teams = facts.teams
        self.tables = Memory(_TABLES)
        self.handout = cache(self._read_handout)
        self._parsed: dict[tuple[str, str], Any] = {}

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

    def _read_handout(self, team: str) -> H:
        """Read the handout of a team."""
        with self._reading(Message("error.handout_damaged", {"team": team})):
            return self.rules.read_handout(self.folder.folder(f"teams/{team}"))

    @contextmanager
    def _reading(self, place: Message) -> Iterator[None]:
        """Read what this software wrote: where it is refused, the organizer's folder was damaged."""
        try:
            with collect_notices(), remembering_tables(self.tables):
                yield
        except InputError as error:
            raise KakurenboError(error.message, at=place) from error

    def secrets(self, target: str) -> Secrets[H]:
        """Return what is needed to grade and publish a release that goes by this name."""
        team = team_of(target)
        if team not in self.teams:
            raise UsageError("error.no_team_in_round", name=repr(team), teams=list(self.teams))
        return Secrets(team, target, self.handout(team), self)

    def read(self, name: str, reader: Callable[[Source], V], team: str = "") -> V:
        """Return a secret file of the team or the round, or one that all attackers get; parsed once."""
        for place in (*([f"secret/{team}"] if team else []), "secret", "attackers"):
            if (place, name) not in self._parsed:
                folder = self.attackers if place == "attackers" else self.folder.folder(place)
                source = folder.source(name) if folder.file is None else None
                if source is None:
                    continue
                with self._reading(Message("error.preparation_damaged")):
                    self._parsed[place, name] = reader(source)
            value: V = self._parsed[place, name]
            return value
        raise KakurenboError("error.preparation_lacks", name=name)


@dataclass(frozen=True, eq=False)
class Target(Generic[K, F]):
    """One release under attack, as attackers see it.

    Attributes
    ----------
    name : str
        ``07`` or ``07-2``; empty where single files were given that do not tell.
    knowledge : K
        All that an attack is given.
    form : F
        What a guess at it must look like: all that checking one needs.
    """

    name: str
    knowledge: K
    form: F


class PublishedTargets(Mapping[str, Target[Any, Any]]):
    """The published targets of a round by name, with their answers where the judge asks.

    Each is read when it is first needed, once; tables that several share, such as the population, are read and parsed once.

    Parameters
    ----------
    rulebook : Rulebook
    targets : mapping of name to ContestFolder
        The folders ``targets/NN``.
    others : sequence of ContestFolder
        What the attacker has beside them: ``attackers``, a dealt part, its own handout.
    answers : mapping of name to ContestFolder
    attacker : str or None
        Whose dealt part is read; see ``Rulebook.read_target``.
    facts : ContestFacts or None
        By default those of the first target.
    tables : Memory or None
        Tables that were parsed before.
    """

    def __init__(
        self,
        rulebook: AnyRulebook,
        targets: Mapping[str, ContestFolder],
        others: Sequence[ContestFolder] = (),
        answers: Mapping[str, ContestFolder] = {},
        *,
        attacker: str | None = "",
        facts: ContestFacts | None = None,
        tables: Memory | None = None,
    ) -> None:
        if facts is None and targets:
            facts = next(iter(targets.values())).facts(rulebook.name)
            if facts is None:
                raise KakurenboError("error.lacks_contest")
        self.facts, self.rules = facts, rulebook.under(facts)
        self._folders, self._attacker = targets, attacker
        self._others = [folder.loaded() for folder in others]
        self._tables = tables or Memory(_TABLES)
        self._read = cache(self._read_target)
        self.answer = cache(
            lambda name: self._part(f"answers/{name}", self.rules.read_answer, answers[name])
        )

    @classmethod
    def in_phase(
        cls,
        rulebook: AnyRulebook,
        phase: Path,
        names: Iterable[str],
        handout: Path | None = None,
        *,
        attacker: str | None = "",
        facts: ContestFacts | None = None,
    ) -> PublishedTargets:
        """Open targets of the folder that ``publish`` wrote; ``handout`` is the attacker's own."""
        targets = {name: ContestFolder(phase / "targets" / name) for name in names}
        answers = {name: ContestFolder(phase / "answers" / name) for name in targets}
        paths = [path for path in (phase / "attackers", handout) if path and path.is_dir()]
        others = list(map(ContestFolder, paths))
        return cls(rulebook, targets, others, answers, attacker=attacker, facts=facts)

    def _read_target(self, name: str) -> Target[Any, Any]:
        read = partial(self.rules.read_target, attacker=self._attacker)
        with remembering_tables(self._tables):
            return self._part(f"targets/{name}", read, self._folders[name], *self._others)

    def _part(self, part: str, read: Callable[..., V], *folders: ContestFolder) -> V:
        """Read what ``publish`` wrote: where it is refused, it was damaged."""
        try:
            return read(*folders)
        except InputError as error:
            raise KakurenboError("error.part_broken", part=part, reason=error) from error

    def __getitem__(self, name: str) -> Target[Any, Any]:
        return self._read(name)

    def __contains__(self, name: object) -> bool:
        return name in self._folders

    def __iter__(self) -> Iterator[str]:
        return iter(self._folders)

    def __len__(self) -> int:
        return len(self._folders)
