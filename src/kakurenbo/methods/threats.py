"""Threats that several contests share: what an attacker knows, and what an attacker guesses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kakurenbo.core import Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.methods.base import Anonymizer, Mechanism

DELETED = -1
"""In a linkage guess: the person is not in the release."""
CHOICES = 3
"""Rows of the release that a linkage guess names for each person."""
_WHOLE = "whole numbers"
_EXACT = 2.0**53  # below it every whole number is a float of its own


def whole_numbers(parameter: str, values: ArrayLike) -> NDArray[np.int64]:
    """Return a guess in numbers as an array of its own, or one short sentence on what it holds instead.

    Raises
    ------
    ParameterError
        Where there is anything but whole numbers.

    Examples
    --------
    >>> whole_numbers("rows", [3, 1.0])
    array([3, 1])
    """
    given = np.asarray(values)
    if given.dtype.kind in "iu":
        return np.array(given, dtype=np.int64)
    if given.dtype.kind != "f":
        raise ParameterError(
            parameter, _WHOLE, f"{given.ravel()[0]!s:.40}" if given.size else "none"
        )
    wrong = given[
        ~(np.abs(given) < _EXACT) | (given != np.floor(given))
    ]  # not a number is neither less nor more
    if len(wrong):
        raise ParameterError(parameter, _WHOLE, float(wrong[0]))
    return given.astype(np.int64)


@dataclass(frozen=True, eq=False)
class MembershipKnowledge:
    """Exactly what the rules give an attacker about one release.

    Attributes
    ----------
    population : Table
        B: the members, among others, at least ``guesses`` rows.
    release : Table
        D: made from the members, of the same schema; at least one row, in an order that means nothing.
    guesses : int
        How many rows of B the attacker names.
    mechanism : Mechanism or None
        How the cells were randomized, where the questionnaire tells it.
    declared : Anonymizer or None
        The method that is said to have made the release: the attacker can run it on samples of its own.
    """

    population: Table
    release: Table
    guesses: int = 100
    mechanism: Mechanism | None = None
    declared: Anonymizer | None = None

    def __post_init__(self) -> None:
        if self.release.schema != self.population.schema:
            raise ParameterError(
                "release", f"a table of the columns {self.population.schema}", self.release.schema
            )
        if not len(self.release):
            raise ParameterError("release", "a table of at least one row", "none")
        if not 1 <= self.guesses <= len(self.population):
            raise ParameterError(
                "guesses",
                f"from 1 to {len(self.population)}, the rows of the population",
                self.guesses,
            )


@dataclass(frozen=True, eq=False)
class MembershipGuess:
    """The rows of B that an attacker holds for members.

    Attributes
    ----------
    rows : array of int64, shape (guesses,)
        Distinct row numbers of B, from 0, the most confident first; read-only.
    """

    rows: NDArray[np.int64]

    def __init__(self, rows: ArrayLike) -> None:
        own = whole_numbers("rows", rows)
        if own.ndim != 1:
            raise ParameterError(
                "rows", "a list of row numbers", f"an array of {own.ndim} dimensions"
            )
        distinct, counts = np.unique(own, return_counts=True)
        wrong = distinct[(distinct < 0) | (counts > 1)]
        if len(wrong):
            raise ParameterError("rows", "distinct row numbers from 0", int(wrong[0]))
        own.setflags(write=False)
        object.__setattr__(self, "rows", own)


@dataclass(frozen=True, eq=False)
class LinkageKnowledge:
    """Exactly what the rules give an attacker about one release.

    Attributes
    ----------
    people : Table
        CT: records as they were before anonymization, at least one; some of them are in the release, some were deleted.
    release : Table
        D: of the same columns, at least one row.
    kept : int
        How many of the people are in the release.
    population : Table or None
        B, where everybody knows it: the release keeps the order of its rows.
    """

    people: Table
    release: Table
    kept: int
    population: Table | None = None

    def __post_init__(self) -> None:
        for name, table in (("people", self.people), ("release", self.release)):
            if not len(table):
                raise ParameterError(name, "a table of at least one row", "none")
        if self.people.schema.names != self.release.schema.names:
            raise ParameterError(
                "release", f"a table of the columns {self.people.schema}", self.release.schema
            )
        if not 0 <= self.kept <= len(self.people):
            raise ParameterError(
                "kept", f"from 0 to {len(self.people)}, the people there are", self.kept
            )


@dataclass(frozen=True, eq=False)
class LinkageGuess:
    """What an attacker says of each person.

    Attributes
    ----------
    rows : array of int64, shape (people, 3)
        Rows of the release from 0, the most confident first; -1 for "deleted". Read-only.
    """

    rows: NDArray[np.int64]

    def __init__(self, rows: ArrayLike) -> None:
        own = whole_numbers("rows", rows)
        if own.ndim != 2 or own.shape[1] != CHOICES:
            raise ParameterError(
                "rows",
                f"{CHOICES} row numbers for each person",
                f"an array of the shape {own.shape}",
            )
        if (own < DELETED).any():
            raise ParameterError("rows", f"row numbers from 0, or {DELETED}", int(own.min()))
        own.setflags(write=False)
        object.__setattr__(self, "rows", own)
