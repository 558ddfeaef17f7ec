"""What attackers of pwscup2021 are given, and what they answer: records in, rows of the release out, or "it was deleted"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kakurenbo.contest import whole_numbers
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


def category_names(schema: Schema) -> tuple[str, ...]:
    """The columns of words."""
    return tuple(column.name for column in schema if isinstance(column, Category))


def number_names(schema: Schema) -> tuple[str, ...]:
    """The columns of numbers."""
    return tuple(column.name for column in schema if not isinstance(column, Category))
