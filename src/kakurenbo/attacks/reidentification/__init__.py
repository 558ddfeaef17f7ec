"""Re-identification of monthly pseudonyms (darc2019): what attackers know, and the guess matrix they hand in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contracts import Attack
from kakurenbo.datasets.transactions import MONTHS
from kakurenbo.tables import Table

GUESSES = 3  # per cell, worth 1, 2/3 and 1/3 by position
NOBODY = -1


@dataclass(frozen=True, eq=False)
class ReidentificationKnowledge:
    """T and S: the original transactions with customers, and the published ones with pseudonyms, shuffled."""

    original: Table
    released: Table

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
    cells : array of int32, shape (n, 13, 3)
        Codes of pseudonyms; -1 for no guess.
    """

    customers: tuple[str, ...]
    pseudonyms: tuple[str, ...]
    cells: NDArray[np.int32]

    @classmethod
    def blank(cls, knowledge: ReidentificationKnowledge) -> ReidentificationGuess:
        """A matrix without any guess, to be filled."""
        shape = (len(knowledge.customers), MONTHS, GUESSES)
        return cls(knowledge.customers, knowledge.pseudonyms, np.full(shape, NOBODY, dtype=np.int32))


ReidentificationAttack = Attack[ReidentificationKnowledge, ReidentificationGuess]
