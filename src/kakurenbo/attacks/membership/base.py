"""What all membership attacks share: a score for every row of the population, of which the highest are named."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.knowledge import (
    MembershipGuess,
    MembershipKnowledge,
    most_confident,
)
from kakurenbo.contest import Attack


class MembershipAttack(Attack[MembershipKnowledge, MembershipGuess]):
    """Score every row, name the ``guesses`` highest, ties by row number.

    A subclass defines :meth:`scores`. These serve a guess of any length, a curve of false and true positives, and other
    attacks that combine them.
    """

    knowledge: ClassVar[type] = MembershipKnowledge

    @abstractmethod
    def scores(
        self, knowledge: MembershipKnowledge, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """How likely each row of the population is a member: the higher, the likelier; shape (n,), finite.

        The scale is the attack's own. Where the rows of the population come in another order, so do the scores, but for ties
        that an attack breaks by row number.
        """

    def __call__(self, knowledge: MembershipKnowledge, rng: np.random.Generator) -> MembershipGuess:
        scores = self.scores(knowledge, rng)
        return MembershipGuess(most_confident(-scores, np.arange(len(scores)), knowledge.guesses))
