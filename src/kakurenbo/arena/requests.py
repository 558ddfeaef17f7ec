"""What is sent to workers: one job, small enough to send anywhere.

There are two kinds of requests. A player's holds no contest seed, no path into the judge's store and no answer: it could not
tell what it must not know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.store import DONE, Damaged, verified
from kakurenbo.contest import Files
from kakurenbo.contest.commitments import digest
from kakurenbo.contest.submissions import RefusedFile, list_submission
from kakurenbo.core import InputError, Source
from kakurenbo.core.errors import KakurenboError

PREPARE, ANONYMIZE, JUDGE, ATTACK, CREDIT, NOTHING = (
    "prepare",
    "anonymize",
    "judge",
    "attack",
    "credit",
    "nothing",
)

OWN = "own"
"""The role of an attacker's own handout among the inputs of its attacks."""


@dataclass(frozen=True)
class Tree:
    """A folder of files by path and digest."""

    path: str
    digest: str

    def checked(self) -> Path:
        """The folder, after checking that it holds the bytes it should."""
        return verified(Path(self.path), self.digest)


@dataclass(frozen=True)
class HandedIn:
    """Files that a team handed in, by path and digest; whatever else lies in their folder is not looked at.

    Attributes
    ----------
    path : str
    digests : tuple of (name, SHA-256)
    """

    path: str
    digests: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, path: Path) -> tuple[HandedIn, list[RefusedFile]]:
        """What can be judged of a folder, and what is refused before."""
        sources, refused = list_submission(path)
        digests = []
        for source in sources:
            try:
                digests.append((source.name, digest(source.read_packed())))
            except InputError as error:
                refused.append((source.name, error.problems))
        return cls(str(path), tuple(digests)), refused

    @property
    def names(self) -> list[Source]:
        """The files by name, to see whose they are and what they are about."""
        return [Source(name, Path(self.path, name)) for name, _ in self.digests]

    def sources(self) -> list[Source]:
        """The files, after checking that they hold the bytes they should."""
        found = []
        for source, (name, expected) in zip(self.names, self.digests, strict=True):
            try:
                data = source.read_packed()
                changed = digest(data) != expected
            except InputError:
                changed = True
            if changed:
                raise Damaged("error.changed_meanwhile", name=name)
            found.append(Source(name, data))
        return found


@dataclass(frozen=True)
class PlayerRequest:
    """A job that runs a player's method.

    Attributes
    ----------
    store, key : str
        Where the result goes.
    kind : str
    rulebook : MethodCall
    seed : str
        The job's own seed, in decimal: derived from the contest's, which does not follow from it.
    method : MethodCall or None
        None for an organizers' own attack.
    target, attacker : str
    inputs : mapping of role to Tree
    limit : float or None
        Seconds; None for no limit, as for the organizers' own attacks.
    """

    store: str
    key: str
    kind: str
    rulebook: MethodCall
    seed: str = ""
    method: MethodCall | None = None
    target: str = ""
    attacker: str = ""
    inputs: Mapping[str, Tree] = field(default_factory=dict)
    limit: float | None = None


@dataclass(frozen=True)
class JudgeRequest:
    """A job of the judge, who knows everything.

    Attributes
    ----------
    out : str
        The folder of the run, with all its stores.
    store, key : str
        Where the result goes.
    kind : str
    rulebook : MethodCall
    seed : str
        The contest seed of this repeat, in decimal.
    team : str
        Whose release is judged, or the target whose guesses are credited.
    attacker : str
        Whose files are credited, where they were handed in.
    teams, unranked : tuple of str
        All who anonymize, and who of them takes part without rank, where the whole preparation is made.
    inputs, guesses, targets, answers : mapping of name to Tree
        Guesses by attacker; targets and answers by target.
    submitted : HandedIn or None
        A release or guesses that were handed in.
    """

    out: str
    store: str
    key: str
    kind: str
    rulebook: MethodCall
    seed: str = ""
    team: str = ""
    attacker: str = ""
    teams: tuple[str, ...] = ()
    unranked: tuple[str, ...] = ()
    inputs: Mapping[str, Tree] = field(default_factory=dict)
    guesses: Mapping[str, Tree] = field(default_factory=dict)
    targets: Mapping[str, Tree] = field(default_factory=dict)
    answers: Mapping[str, Tree] = field(default_factory=dict)
    submitted: HandedIn | None = None

    @property
    def limit(self) -> None:
        """The judge takes the time that judging takes."""
        return


Request = PlayerRequest | JudgeRequest


@dataclass(frozen=True)
class Outcome:
    """What a job gives to be stored: see ``Result``."""

    value: Mapping[str, Any] = field(default_factory=dict)
    trees: Mapping[str, Files] = field(default_factory=dict)
    handed_out: Mapping[str, Files] = field(default_factory=dict)
    state: str = DONE
    cause: str = ""


T = TypeVar("T")
P = ParamSpec("P")


def accepted(read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Read what cannot have problems, because this software wrote the files."""
    try:
        return read(*args, **kwargs)
    except InputError as error:
        raise KakurenboError("error.does_not_read", reason=error) from error
