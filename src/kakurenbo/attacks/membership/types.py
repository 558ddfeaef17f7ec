"""What a membership attacker knows and answers: B and D_i of amic2020 in, row numbers of B out
(E_ij).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kakurenbo.contest import Anonymizer, Attack, Mechanism, whole_numbers
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
        D: made from the members, of the same schema; at least one row, in an order that means
        nothing.
    guesses : int
        How many rows of B the attacker names.
    mechanism : Mechanism or None
        How the cells were randomized, where the questionnaire tells it.
    declared : Anonymizer or None
        The method that is said to have made the release: the attacker can run it on samples of its
        own.
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
            limits = f"from 1 to {len(self.population)}, the rows of the population"
            raise ParameterError("guesses", limits, self.guesses)

    @property
    def members(self) -> int:
        """How many rows of B were the source: as many as were released, but never more than half of
        B.
        """
        return max(1, min(len(self.release), len(self.population) // 2))

    @property
    def rate(self) -> float:
        """The share of B that are members."""
        return self.members / len(self.population)


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
        numbers = whole_numbers("rows", rows)
        if numbers.ndim != 1:
            shape = f"an array of {numbers.ndim} dimensions"
            raise ParameterError("rows", "a list of row numbers", shape)
        distinct, counts = np.unique(numbers, return_counts=True)
        wrong = distinct[(distinct < 0) | (counts > 1)]
        if len(wrong):
            raise ParameterError("rows", "distinct row numbers from 0", int(wrong[0]))
        numbers.setflags(write=False)
        object.__setattr__(self, "rows", numbers)


class MembershipAttack(Attack[MembershipKnowledge, MembershipGuess]):
    """Score every row, name the ``guesses`` highest, ties by row number.

    A subclass defines :meth:`scores`. These serve a guess of any length, a curve of false and true
    positives, and other attacks that combine them.
    """

    knowledge: ClassVar[type] = MembershipKnowledge

    @abstractmethod
    def scores(
        self, knowledge: MembershipKnowledge, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return how likely each row of the population is a member: the higher, the likelier; shape
        (n,), finite.

        The scale is the attack's own. Where the rows of the population come in another order, so do
        the scores, but for ties that an attack breaks by row number.
        """

    def __call__(self, knowledge: MembershipKnowledge, rng: np.random.Generator) -> MembershipGuess:
        scores = self.scores(knowledge, rng)
        return MembershipGuess(most_confident(-scores, np.arange(len(scores)), knowledge.guesses))


def most_confident(
    doubt: NDArray[np.generic], rows: NDArray[np.int64], guesses: int
) -> NDArray[np.int64]:
    """Return the ``guesses`` rows of the least doubt, ties by row number; fewer where there are
    fewer.
    """
    return rows[np.lexsort((rows, doubt))[:guesses]]
