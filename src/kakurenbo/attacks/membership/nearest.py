"""`nearest`, the sample attack of amic2020: members are the rows of B that lie nearest to rows of D."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.base import MembershipAttack
from kakurenbo.attacks.membership.knowledge import MembershipGuess, MembershipKnowledge, most_confident
from kakurenbo.attacks.membership.neighbours import nearest_rows
from kakurenbo.parameters import parameter

_MISMATCH_WEIGHTS = {"rules": 1, "onehot": 2}
_NOWHERE = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Nearest(MembershipAttack):
    """For each record of D the nearest row of B; of these rows the ``guesses`` with the smallest distances, ties by row number.

    Where D points to fewer distinct rows than there are guesses, the rest are the rows of B that lie nearest to any record of
    D, ties by row number.
    """

    metric: str = parameter(
        "rules",
        "squared distance that a differing category adds: 1 (rules) or 2 (onehot, the contest's own script)",
        choices=tuple(_MISMATCH_WEIGHTS),
    )

    def __call__(self, knowledge: MembershipKnowledge, rng: np.random.Generator) -> MembershipGuess:
        forth = self._forth(knowledge)
        pointed_at = np.flatnonzero(forth < _NOWHERE)
        if len(pointed_at) < knowledge.guesses:
            return super().__call__(knowledge, rng)
        return MembershipGuess(most_confident(forth[pointed_at], pointed_at, knowledge.guesses))  # spares the way back

    def scores(self, knowledge: MembershipKnowledge, rng: np.random.Generator) -> NDArray[np.float64]:
        """Minus the place of a row among the distinct distances: first those that D points to, then those of all others."""
        forth = self._forth(knowledge)
        others = np.flatnonzero(forth == _NOWHERE)
        places = np.empty(len(forth))
        distinct, places[:] = np.unique(forth, return_inverse=True)
        if len(others):
            back = nearest_rows(knowledge.release, knowledge.population.take(others), mismatch_weight=self._weight)
            places[others] = len(distinct) + np.unique(back.squares, return_inverse=True)[1]
        return -places

    @property
    def _weight(self) -> int:
        return _MISMATCH_WEIGHTS[self.metric]

    def _forth(self, knowledge: MembershipKnowledge) -> NDArray[np.int64]:
        """The smallest squared distance of a record of D whose nearest row this is, shape (n,); ``_NOWHERE`` without one."""
        neighbours = nearest_rows(knowledge.population, knowledge.release, mismatch_weight=self._weight)
        square = np.full(len(knowledge.population), _NOWHERE)
        np.minimum.at(square, neighbours.rows, neighbours.squares)
        return square
