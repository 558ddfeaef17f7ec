"""Methods that go wrong in every way a method can, and contests that tell what is done to them."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import pickle
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import numpy as np
from hide_and_seek import HideAndSeek

import kakurenbo as kb
from kakurenbo.attacks.membership import MembershipGuess, MembershipKnowledge
from kakurenbo.attacks.membership.blind import Blind
from kakurenbo.core.errors import KakurenboError

_kept: list[kb.Table] = []


@dataclass(frozen=True)
class LeaveOut(kb.Anonymizer):
    """Forgets the last record, which the rules forbid."""

    def __call__(self, table: kb.Table, rng: np.random.Generator) -> kb.Release:
        return kb.Release.of(table.take(np.arange(len(table) - 1)))


@dataclass(frozen=True)
class KeepAll(kb.Anonymizer):
    """Changes nothing, and keeps every table it was given where its accomplices among the attacks might find it."""

    def __call__(self, table: kb.Table, rng: np.random.Generator) -> kb.Release:
        _kept.append(table)
        return kb.Release.of(table)


@dataclass(frozen=True)
class _Misbehaving(kb.Attack[Any, Any]):
    knowledge: ClassVar[type] = MembershipKnowledge

    def __call__(self, knowledge: Any, rng: np.random.Generator) -> Any:
        self.misbehave()
        return Blind()(knowledge, rng)

    def misbehave(self) -> None:
        """What goes wrong."""


@dataclass(frozen=True)
class Broken(_Misbehaving):
    """Raises."""

    def misbehave(self) -> None:
        raise IndexError("list <index> out of range")


class _Unspeakable(BaseException):
    """An error that ends the process of whoever wants to know what it says."""

    def __str__(self) -> str:
        sys.exit(0)


_EXITS = {
    "exit 0": lambda: SystemExit(0),
    "exit 7": lambda: SystemExit(7),
    "interrupt": KeyboardInterrupt,
    "generator": GeneratorExit,
    "unspeakable": _Unspeakable,
    "damage": lambda: KakurenboError("error.stored_changed"),
}


def _leave(way: str) -> NoReturn:
    raise _EXITS[way]()


@dataclass(frozen=True)
class Leave(_Misbehaving):
    """Tries to end the whole run with an exit code of its own, or to have it begin again."""

    way: str = kb.parameter("exit 0", "what it raises")

    def misbehave(self) -> None:
        _leave(self.way)


@dataclass(frozen=True)
class LeaveEarly(kb.Anonymizer):
    """The same for an anonymizer."""

    way: str = kb.parameter("exit 0", "what it raises")

    def __call__(self, table: kb.Table, rng: np.random.Generator) -> kb.Release:
        _leave(self.way)


@dataclass(frozen=True)
class Sleepy(_Misbehaving):
    """Takes its time, and can be woken."""

    seconds: float = kb.parameter(30.0, "how long", low=0)

    def misbehave(self) -> None:
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            time.sleep(0.005)


@dataclass(frozen=True)
class Deaf(_Misbehaving):
    """Takes its time in compiled code, where nothing can be raised."""

    def misbehave(self) -> None:
        ctypes.CDLL(None).sleep(60)


@dataclass(frozen=True)
class Deadly(_Misbehaving):
    """Kills its process, every time."""

    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Unlucky(_Misbehaving):
    """Loses its process the first time."""

    marker: str = kb.parameter("", "file that says that it has happened")

    def misbehave(self) -> None:
        marker = Path(self.marker)
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Babble(_Misbehaving):
    """Names too few rows, which the rules forbid."""

    def __call__(self, knowledge: MembershipKnowledge, rng: np.random.Generator) -> MembershipGuess:
        return MembershipGuess(np.arange(knowledge.guesses - 1))


@dataclass(frozen=True)
class Mumble(_Misbehaving):
    """Returns something that is no guess, or one that holds no numbers."""

    what: str = kb.parameter("text", "what it returns", choices=("text", "nothing", "nan"))

    def __call__(self, knowledge: MembershipKnowledge, rng: np.random.Generator) -> Any:
        if self.what == "nan":
            return MembershipGuess(np.full(knowledge.guesses * 100, np.nan))
        return "1, 2, 3" if self.what == "text" else None


@dataclass(frozen=True)
class Snoop(_Misbehaving):
    """Looks for answers: in all that is in memory, in the open files, and in every folder it can learn of from there."""

    loot: str = kb.parameter("", "folder for what it found")

    def misbehave(self) -> None:
        found = pickle.dumps(_everything())
        (Path(self.loot) / f"{os.getpid()}-{time.monotonic_ns()}.pickle").write_bytes(found)


def _everything() -> set[object]:
    """Every number, text, run of bytes and array of integers in memory, and the content of every file that it leads to."""
    found: set[object] = {*sys.argv, *os.environ.values()}
    for thing in gc.get_objects():
        for part in (thing, *gc.get_referents(thing)):
            if isinstance(part, np.ndarray) and part.size < 10_000 and part.dtype.kind in "iu":
                found.add(tuple(sorted(part.ravel().tolist())))
            elif type(part) in (str, bytes, int):
                found.add(part)
    return found | set(_files(found))


def _files(found: set[object]) -> Iterator[bytes]:
    """What is in open files, and below every folder of a run that a text in memory names."""
    paths = list(Path("/proc/self/fd").iterdir())
    for text in found:
        if (
            isinstance(text, str)
            and text.startswith("/")
            and len(text) < 4000
            and "/run/" in text
            and "\0" not in text
        ):
            with contextlib.suppress(OSError):  # another test's folder, which is being removed
                paths += [Path(text), *Path(text).rglob("*")]
    for path in paths:
        with contextlib.suppress(OSError):
            if path.is_file():
                yield path.read_bytes()


@dataclass(frozen=True)
class Counted(HideAndSeek):
    """Hide and seek that notes every check, measure, publication and credit in the file that COUNTED names."""

    name: ClassVar[str] = "counted"

    def _note(self, what: str) -> None:
        with Path(os.environ["COUNTED"]).open("a") as file:
            file.write(f"{what} {os.getpid()}\n")

    def read_release(self, handout: Any, sources: Sequence[kb.Source]) -> kb.Table:
        self._note("check")
        return super().read_release(handout, sources)

    def measure(self, handout: Any, submission: kb.Table) -> kb.Utility:
        self._note("measure")
        return super().measure(handout, submission)

    def publish(self, secrets: kb.Secrets[Any], submission: kb.Table) -> kb.Publication:
        self._note("publish")
        return super().publish(secrets, submission)

    def guess_bytes(self, guess: MembershipGuess) -> bytes:
        self._note("guess")
        return super().guess_bytes(guess)

    def anonymize(
        self, handout: Any, anonymizer: kb.Anonymizer, rng: np.random.Generator
    ) -> kb.Release:
        self._note("anonymize")
        return super().anonymize(handout, anonymizer, rng)


@dataclass(frozen=True)
class TablesAndTries(HideAndSeek):
    """Hide and seek in which the last two tables of a team count, and the best of three guesses at each."""

    name: ClassVar[str] = "tables-and-tries"
    phases: ClassVar[tuple[kb.Phase, ...]] = (
        kb.Phase(
            kb.ANONYMIZE,
            (kb.FilePattern("release_{team}{-try}.csv"),),
            counts=kb.Counting.LAST_FEW,
            keep=2,
        ),
        kb.Phase(
            kb.ATTACK,
            (kb.FilePattern("guess_{target}_{attacker}{-try}.csv"),),
            tries=kb.Tries(per_target=3),
            counts=kb.Counting.BEST,
        ),
    )
