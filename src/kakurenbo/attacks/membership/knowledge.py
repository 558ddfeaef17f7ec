"""What a membership attacker is given, and what it says: B and D_i of amic2020 in, row numbers of B out (E_ij)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kakurenbo.contest import Anonymizer, Mechanism, whole_numbers
from kakurenbo.core import Table
from kakurenbo.core.errors import ParameterError


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


def most_confident(
    doubt: NDArray[np.generic], rows: NDArray[np.int64], guesses: int
) -> NDArray[np.int64]:
    """The ``guesses`` rows of the least doubt, ties by row number; fewer where fewer are given."""
    return rows[np.lexsort((rows, doubt))[:guesses]]
