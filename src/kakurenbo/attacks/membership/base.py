"""What all membership attacks share: a score for every row of the population, the highest of which are named."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contest import Attack
from kakurenbo.methods.threats import MembershipGuess, MembershipKnowledge


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
        """Return how likely each row is a member: the higher, the likelier; shape (n,), finite.

        The scale is the attack's own. Where the rows of the population come in another order, so do
        the scores, but for ties that an attack breaks by row number.
        """

    def __call__(self, knowledge: MembershipKnowledge, rng: np.random.Generator) -> MembershipGuess:
        scores = self.scores(knowledge, rng)
        return MembershipGuess(most_confident(-scores, np.arange(len(scores)), knowledge.guesses))


def most_confident(
    doubt: NDArray[np.generic], rows: NDArray[np.int64], guesses: int
) -> NDArray[np.int64]:
    """Return the ``guesses`` rows of the least doubt, ties by row number; or as many as there are."""
    return rows[np.lexsort((rows, doubt))[:guesses]]


def count_members(knowledge: MembershipKnowledge) -> int:
    """Return how many rows of B were the source: those released, but never more than half of B."""
    return max(1, min(len(knowledge.release), len(knowledge.population) // 2))


def member_rate(knowledge: MembershipKnowledge) -> float:
    """Return the share of B that are members."""
    return count_members(knowledge) / len(knowledge.population)
