"""`nearest`, the sample attack of amic2020: members are the rows of B that lie nearest to rows of D."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.base import MembershipAttack
from kakurenbo.attacks.membership.knowledge import (
    MembershipGuess,
    MembershipKnowledge,
    most_confident,
)
from kakurenbo.attacks.membership.neighbours import Neighbours, nearest_rows
from kakurenbo.core import Table
from kakurenbo.methods.parameters import parameter

_GEOMETRIES = {"rules": (1, 2), "onehot": (2, 2), "sum": (1, 1)}
"""What a differing category adds, and the power to which differences of numbers are raised before they are added."""
_NOWHERE = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Nearest(MembershipAttack):
    """For each record of D the nearest row of B; of these rows the ``guesses`` with the smallest distances, ties by row number.

    Where D points to fewer distinct rows than there are guesses, the rest are the rows of B that lie nearest to any record of
    D, ties by row number.
    """

    metric: str = parameter(
        "rules",
        "squared differences plus 1 (rules) or 2 (onehot, the contest's own script) for each differing category;"
        " or the sum of plain differences and differing categories (sum, the figure of the rules)",
        choices=tuple(_GEOMETRIES),
    )

    def __call__(self, knowledge: MembershipKnowledge, rng: np.random.Generator) -> MembershipGuess:
        forth = self._forth(knowledge)
        pointed_at = np.flatnonzero(forth < _NOWHERE)
        if len(pointed_at) < knowledge.guesses:
            return super().__call__(knowledge, rng)
        return MembershipGuess(
            most_confident(forth[pointed_at], pointed_at, knowledge.guesses)
        )  # spares the way back

    def scores(
        self, knowledge: MembershipKnowledge, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Minus the place of a row among the distinct distances: first those that D points to, then those of all others."""
        forth = self._forth(knowledge)
        others = np.flatnonzero(forth == _NOWHERE)
        places = np.empty(len(forth))
        distinct, places[:] = np.unique(forth, return_inverse=True)
        if len(others):
            back = self._nearest(knowledge.release, knowledge.population.take(others))
            places[others] = len(distinct) + np.unique(back.squares, return_inverse=True)[1]
        return -places

    def _nearest(self, base: Table, queries: Table) -> Neighbours:
        weight, power = _GEOMETRIES[self.metric]
        return nearest_rows(base, queries, mismatch_weight=weight, power=power)

    def _forth(self, knowledge: MembershipKnowledge) -> NDArray[np.int64]:
        """The smallest distance of a record of D whose nearest row this is, shape (n,); ``_NOWHERE`` without one."""
        neighbours = self._nearest(knowledge.population, knowledge.release)
        square = np.full(len(knowledge.population), _NOWHERE)
        np.minimum.at(square, neighbours.rows, neighbours.squares)
        return square
