"""`Rulebook`: the steps of a contest. The arena, the judge and the command line call only these.

A rulebook is generic in five types of its own: H handout, S submission, K knowledge, A answer, G guess. Each knows the files
it stands in, so that any of them can be handed over as a folder and read back.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from kakurenbo.contracts.anonymizer import Anonymizer, Release
from kakurenbo.contracts.attack import Attack, Credit
from kakurenbo.contracts.measure import Utility
from kakurenbo.parameters import Method, parameters_of
from kakurenbo.tables import Problem, Problems, Schema, Source

H = TypeVar("H")
S = TypeVar("S")
K = TypeVar("K")
A = TypeVar("A")
G = TypeVar("G")

Files = Mapping[str, bytes]
"""Relative file name to content."""


@dataclass(frozen=True)
class Player:
    """Somebody who takes part: a name to show, and methods as texts that ``registry.build`` takes (empty for none)."""

    name: str
    anonymizer: str = ""
    attack: str = ""


@dataclass(frozen=True, eq=False)
class Preparation(Generic[H]):
    """What an organizer holds before a round.

    Attributes
    ----------
    handouts : mapping of team to H
    folders : mapping of folder name to Files
        Everything as files, in folders that can each be handed over alone: ``public`` (contest facts and commitments),
        ``teams/NN`` (one team's handout), ``attackers`` (opened with the attack phase), ``secret`` (opened at the end).
    report : mapping
        What the organizer should know: where the data came from, how close the generated data is to its source.
    state : object
        The rulebook's own, for :meth:`Rulebook.publish`.
    """

    handouts: Mapping[str, H]
    folders: Mapping[str, Files]
    report: Mapping[str, Any]
    state: Any = None

    def files(self) -> dict[str, bytes]:
        """All folders as one tree."""
        return {f"{folder}/{name}": data for folder, files in self.folders.items() for name, data in files.items()}


@dataclass(frozen=True, eq=False)
class Target(Generic[K, A]):
    """One release under attack: what attackers get, and the answer they do not get."""

    knowledge: K
    answer: A
    public_files: Files = field(default_factory=dict)
    secret_files: Files = field(default_factory=dict)


@dataclass(frozen=True)
class Standing:
    """One line of a ranking.

    Attributes
    ----------
    team : str
    score : Fraction or None
        Exact; None for a team that has no score (disqualified or missing).
    rank : int or None
        From 1; equal scores share a rank (1, 1, 3). None where shown but not ranked.
    note : str
        Why a line is special: ``disqualified``, ``missing``, ``not ranked``.
    shown : str
        The score as the contest shows it, e.g. multiplied and cut.
    """

    team: str
    score: Fraction | None
    rank: int | None
    note: str = ""
    shown: str = ""

    def as_json(self) -> dict[str, Any]:
        score = None if self.score is None else float(self.score)
        extra = {"shown": self.shown, "note": self.note}
        return {"team": self.team, "score": score, "rank": self.rank, **{key: text for key, text in extra.items() if text}}


@dataclass(frozen=True)
class Standings:
    """Rankings of a round or of a whole contest, each best first."""

    anonymization: tuple[Standing, ...]
    attack: tuple[Standing, ...]
    overall: tuple[Standing, ...]
    details: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The stable JSON object of ``standings``."""
        tables = {"anonymization": self.anonymization, "attack": self.attack, "overall": self.overall}
        return {name: [line.as_json() for line in lines] for name, lines in tables.items()} | dict(self.details)


def by_number(team: str) -> tuple[tuple[int, str], ...]:
    """Sorting key that puts team 2 before team 10.

    Examples
    --------
    >>> sorted(["10", "2", "attack.py"], key=by_number)
    ['2', '10', 'attack.py']
    """
    parts = re.findall(r"\d+|\D+", team)
    return tuple((int(part), "") if part.isdecimal() and len(part) < 19 else (2**63, part) for part in parts)


def rank(scores: Mapping[str, Fraction | None], notes: Mapping[str, str] | None = None) -> tuple[Standing, ...]:
    """Teams by score, highest first; equal scores share a rank; no score ranks behind all others.

    Examples
    --------
    >>> [(line.team, line.rank) for line in rank({"a": Fraction(1, 2), "b": Fraction(1), "c": Fraction(1, 2), "d": None})]
    [('b', 1), ('a', 2), ('c', 2), ('d', 4)]
    """
    order = sorted(scores, key=lambda team: (scores[team] is None, -(scores[team] or 0), by_number(team)))
    lines: list[Standing] = []
    for place, team in enumerate(order, start=1):
        tied = lines and lines[-1].score == scores[team]
        lines.append(Standing(team, scores[team], lines[-1].rank if tied else place, (notes or {}).get(team, "")))
    return tuple(lines)


@dataclass(frozen=True)
class RoundResults:
    """What a round of attacks gave: the input of every ranking.

    Attributes
    ----------
    credits : mapping of anonymizer to mapping of attacker to Credit
        A pair that is not there is a missing guess.
    anonymizers, attackers : tuple of str
        Everybody who takes part, with or without results.
    utility : mapping of anonymizer to float
        Where utility is a number in the score.
    out : mapping of anonymizer to str
        Anonymizers without a score, and why: ``disqualified`` or ``missing``.
    unranked : frozenset of str
        Attackers that are shown but not ranked, such as the organizers' sample attack.
    """

    credits: Mapping[str, Mapping[str, Credit]]
    anonymizers: tuple[str, ...]
    attackers: tuple[str, ...]
    utility: Mapping[str, float] = field(default_factory=dict)
    out: Mapping[str, str] = field(default_factory=dict)
    unranked: frozenset[str] = frozenset()

    @property
    def ranked_attackers(self) -> tuple[str, ...]:
        return tuple(attacker for attacker in self.attackers if attacker not in self.unranked)

    def as_json(self) -> dict[str, Any]:
        """Everything as one JSON object; :meth:`from_json` reads it back."""
        return {
            "anonymizers": list(self.anonymizers),
            "attackers": list(self.attackers),
            "credits": {
                target: {attacker: credit.as_json() for attacker, credit in row.items()} for target, row in self.credits.items()
            },
            "utility": dict(self.utility),
            "out": dict(self.out),
            "unranked": sorted(self.unranked),
        }

    @classmethod
    def from_json(cls, content: Any) -> RoundResults:
        """The results that :meth:`as_json` wrote; ValueError, KeyError, TypeError or AttributeError on anything else."""
        return cls(
            credits={
                str(target): {str(attacker): Credit.from_json(credit) for attacker, credit in row.items()}
                for target, row in content["credits"].items()
            },
            anonymizers=tuple(map(str, content["anonymizers"])),
            attackers=tuple(map(str, content["attackers"])),
            utility={str(team): float(value) for team, value in content.get("utility", {}).items()},
            out={str(team): str(why) for team, why in content.get("out", {}).items()},
            unranked=frozenset(map(str, content.get("unranked", ()))),
        )


class Rulebook(Method, ABC, Generic[H, S, K, A, G]):
    """The steps of one contest: a frozen dataclass whose parameters are the contest's own options.

    Steps that read files return what they read, or every problem they found.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    rounds: ClassVar[tuple[str, ...]]
    """Rounds that count, in the order they are played."""
    options: ClassVar[Mapping[str, tuple[str, ...]]]
    """For each verb of the command line the parameters of this rulebook that matter there."""

    knowledge: ClassVar[type]
    """What attackers are given (K): attacks that take this type play."""
    schema: ClassVar[Schema]
    """Columns of the table that anonymizers are given: those that accept it play."""
    default_players: ClassVar[tuple[Player, ...]] = ()
    """The field that plays where nobody is named; with none, every installed method that fits plays with its defaults."""
    demo_settings: ClassVar[Mapping[str, Any] | None] = None
    """Parameters for a small contest that ``demo`` plays in seconds; None where it does not."""
    utility_score: ClassVar[str] = ""
    """The measure that is a number in the score, where the rules have one; goes into ``RoundResults.utility``."""

    def settings(self) -> dict[str, Any]:
        """What ``prepare`` was asked for, as ``contest.json`` records it under ``settings``."""
        return {name: getattr(self, name) for name in self.options.get("prepare", ())}

    @classmethod
    def of_contest(cls, facts: Mapping[str, Any]) -> Self:
        """The rulebook that prepared the contest of these facts."""
        return cls(**facts["settings"])

    def team_of(self, file_name: str) -> str | None:
        """The team that a submitted file belongs to, where its name tells."""
        return None

    def for_round(self, name: str) -> Self:
        """These rules for one of the rounds: with the parameter ``round`` set, where the rulebook has one."""
        if any(described.name == "round" for described in parameters_of(type(self))):
            return replace(self, round=name)  # type: ignore[type-var]
        return self

    # -- the organizer prepares ------------------------------------------------------------------------------------

    @abstractmethod
    def prepare(self, seed: int, teams: Sequence[str]) -> Preparation[H]:
        """The organizer's data of a round: a handout per team, secrets, commitments."""

    @abstractmethod
    def read_preparation(self, path: Path) -> Preparation[H] | Problems:
        """A preparation back from the folder it was written to."""

    # -- a team anonymizes -----------------------------------------------------------------------------------------

    @abstractmethod
    def read_handout(self, path: Path) -> H | Problems:
        """A handout from what a team was given: its folder, or the data file in it."""

    @abstractmethod
    def anonymize(self, handout: H, anonymizer: Anonymizer, rng: np.random.Generator) -> Release:
        """Run a method on a handout the way this contest's data wants it."""

    @abstractmethod
    def release_files(self, handout: H, release: Release) -> Files:
        """The files a team would submit for this release."""

    @abstractmethod
    def check_release(self, handout: H, sources: Sequence[Source], notices: list[Problem] | None = None) -> S | Problems:
        """A submission from submitted files; what was put right on the way is appended to ``notices``."""

    @abstractmethod
    def measure(self, handout: H, submission: S) -> Utility:
        """Utility scores, thresholds, and what limits them."""

    # -- attackers guess -------------------------------------------------------------------------------------------

    @abstractmethod
    def publish(self, preparation: Preparation[H], submissions: Mapping[str, S], seed: int) -> Mapping[str, Target[K, A]]:
        """Per team what attackers get, and the answer; made here where the contest makes it after the release.

        What is published of a team does not depend on which other teams are published with it.
        """

    @abstractmethod
    def read_knowledge(self, paths: Sequence[Path], declared: Anonymizer | None = None) -> K | Problems:
        """What attackers know of one target, from its files; ``declared`` is the method the questionnaire names."""

    @abstractmethod
    def guess_bytes(self, guess: G) -> bytes:
        """One guess as the file that ``attack`` writes and ``credit`` reads."""

    @abstractmethod
    def guess_files(self, guesses: Mapping[str, G], attacker: str) -> Files:
        """The files an attacker would submit for these guesses, one per target or one for all."""

    @abstractmethod
    def check_guesses(
        self, targets: Mapping[str, Target[K, A]], sources: Sequence[Source], attacker: str
    ) -> dict[str, G] | Problems:
        """Guesses per target from submitted files."""

    # -- the judge counts ------------------------------------------------------------------------------------------

    @abstractmethod
    def read_answer(self, path: Path) -> A | Problems:
        """The secret answer of one target."""

    @abstractmethod
    def read_guess(self, answer: A, source: Source) -> G | Problems:
        """One guess, checked against the rules."""

    @abstractmethod
    def credit(self, answer: A, guess: G) -> Credit:
        """What one guess earns."""

    @abstractmethod
    def read_results(self, source: Source) -> RoundResults | Problems:
        """The results of a round from a published table or from our own JSON."""

    @abstractmethod
    def standings(self, rounds: Mapping[str, RoundResults]) -> Standings:
        """Ranks and awards. One round, under any name, is ranked alone; several are weighed as the rules say."""

    @property
    @abstractmethod
    def sample_attack(self) -> Attack[K, G]:
        """The organizers' own attack, shown beside every other."""

    @property
    def sample_attacks(self) -> Mapping[str, Attack[K, G]]:
        """The organizers' own attacks by the name they are shown under; several where the rules count several."""
        return {"sample attack": self.sample_attack}
