"""`Read`: what a reader gives back, the value with its notices. Where it refuses the input, it gives `Problems` instead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from kakurenbo.tables.problems import Problem, Problems

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")


@dataclass(frozen=True)
class Read(Generic[T_co]):
    """A value that was read.

    Attributes
    ----------
    value : T
    notices : tuple of Problem
        What was put right on the way.
    """

    value: T_co
    notices: tuple[Problem, ...] = ()

    def map(self, function: Callable[[T_co], U]) -> Read[U]:
        """What ``function`` makes of the value, with the same notices."""
        return Read(function(self.value), self.notices)


Reading = Read[T] | Problems
"""What every reader returns: ``isinstance(reading, Problems)`` tells which."""


def notices_of(*readings: object) -> tuple[Problem, ...]:
    """All notices of several readings."""
    return tuple(notice for reading in readings if isinstance(reading, Read) for notice in reading.notices)
