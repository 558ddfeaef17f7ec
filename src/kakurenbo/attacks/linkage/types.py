"""What attackers of pwscup2021 know and answer: records in, rows of the release out, or "it was
deleted".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kakurenbo.contest import Attack, whole_numbers
from kakurenbo.core import Category, Schema, Table
from kakurenbo.core.errors import ParameterError

DELETED = -1
CHOICES = 3


@dataclass(frozen=True, eq=False)
class LinkageKnowledge:
    """Exactly what the rules give an attacker about one release.

    Attributes
    ----------
    people : Table
        CT: records as they were before anonymization, at least one; some of them are in the
        release, some were deleted.
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
        numbers = whole_numbers("rows", rows)
        if numbers.ndim != 2 or numbers.shape[1] != CHOICES:
            shape = f"an array of the shape {numbers.shape}"
            raise ParameterError("rows", f"{CHOICES} row numbers for each person", shape)
        if (numbers < DELETED).any():
            raise ParameterError("rows", f"row numbers from 0, or {DELETED}", int(numbers.min()))
        numbers.setflags(write=False)
        object.__setattr__(self, "rows", numbers)


LinkageAttack = Attack[LinkageKnowledge, LinkageGuess]


def category_names(schema: Schema) -> tuple[str, ...]:
    """Return the columns of words."""
    return tuple(column.name for column in schema if isinstance(column, Category))


def number_names(schema: Schema) -> tuple[str, ...]:
    """Return the columns of numbers."""
    return tuple(column.name for column in schema if not isinstance(column, Category))
