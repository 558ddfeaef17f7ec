"""Methods that go wrong in every way a method can."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from hide_and_seek import Knowledge, LinkBlindly

from kakurenbo.contracts import Anonymizer, Attack, Release
from kakurenbo.parameters import parameter
from kakurenbo.tables import Table


@dataclass(frozen=True)
class LeaveOut(Anonymizer):
    """Forgets the last record, which the rules forbid."""

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        return Release.of(table.take(np.arange(len(table) - 1)))


@dataclass(frozen=True)
class _Slowly(Attack[Any, Any]):
    knowledge: ClassVar[type] = Knowledge

    def __call__(self, knowledge: Any, rng: np.random.Generator) -> Any:
        self.misbehave()
        return LinkBlindly()(knowledge, rng)

    def misbehave(self) -> None:
        """What goes wrong."""


@dataclass(frozen=True)
class Broken(_Slowly):
    """Raises."""

    def misbehave(self) -> None:
        raise IndexError("list <index> out of range")


@dataclass(frozen=True)
class Sleepy(_Slowly):
    """Takes its time, and can be woken."""

    seconds: float = parameter(30.0, "how long", low=0)

    def misbehave(self) -> None:
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            time.sleep(0.005)


@dataclass(frozen=True)
class Deaf(_Slowly):
    """Takes its time in compiled code, where nothing can be raised."""

    def misbehave(self) -> None:
        ctypes.CDLL(None).sleep(60)


@dataclass(frozen=True)
class Deadly(_Slowly):
    """Kills its process, every time."""

    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Unlucky(_Slowly):
    """Loses its process the first time."""

    marker: str = parameter("", "file that says that it has happened")

    def misbehave(self) -> None:
        marker = Path(self.marker)
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
