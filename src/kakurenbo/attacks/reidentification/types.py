"""What attackers of darc2019 know and answer: T and S in, pseudonyms of each customer and month
out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contest import Anonymizer, Attack, whole_numbers
from kakurenbo.core import Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.data.transactions import CONTEST, Calendar

GUESSES = (
    3  # per cell in mode aicrowd, worth 1, 2/3 and 1/3 by position; the rules take the first alone
)
NOBODY = -1


@dataclass(frozen=True, eq=False)
class ReidentificationKnowledge:
    """T and S: the original transactions with customers, and the published ones with pseudonyms,
    shuffled.

    Attributes
    ----------
    original, released : Table
    declared : Anonymizer or None
        The method that is said to have made the release: the attacker can run it on T.
    """

    original: Table
    released: Table
    declared: Anonymizer | None = None

    def __post_init__(self) -> None:
        if Calendar.of(self.original) != Calendar.of(self.released):
            raise ParameterError(
                "released", "a table of the original's months", Calendar.of(self.released).names
            )

    @property
    def calendar(self) -> Calendar:
        return Calendar.of(self.original)

    @property
    def customers(self) -> tuple[str, ...]:
        return self.original.vocabularies["id_user"]

    @property
    def pseudonyms(self) -> tuple[str, ...]:
        return self.released.vocabularies["id_user"]


@dataclass(frozen=True, eq=False)
class ReidentificationGuess:
    """F^: for each customer and month up to three pseudonyms, best first.

    Attributes
    ----------
    customers, pseudonyms : tuple of str
        Sorted; what the rows stand for and what the codes point to.
    cells : array of int32, shape (n, months, 3)
        Codes of pseudonyms; -1 for no guess.
    calendar : Calendar
        The months of T.
    """

    customers: tuple[str, ...]
    pseudonyms: tuple[str, ...]
    cells: NDArray[np.int32]
    calendar: Calendar = CONTEST

    def __post_init__(self) -> None:
        if np.asarray(self.cells).dtype.kind not in "iu":  # whole numbers stay the same array
            object.__setattr__(self, "cells", whole_numbers("cells", self.cells).astype(np.int32))

    @classmethod
    def blank(cls, knowledge: ReidentificationKnowledge) -> ReidentificationGuess:
        """Return a matrix without any guess, to be filled."""
        shape = (len(knowledge.customers), knowledge.calendar.months, GUESSES)
        cells = np.full(shape, NOBODY, dtype=np.int32)
        return cls(knowledge.customers, knowledge.pseudonyms, cells, knowledge.calendar)


ReidentificationAttack = Attack[ReidentificationKnowledge, ReidentificationGuess]
