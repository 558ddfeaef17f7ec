"""`nearest`, the sample attack of amic2020: members are the rows of B that lie nearest to rows of
D.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.base import MembershipAttack, most_confident
from kakurenbo.attacks.records.nearest_rows import Neighbours, nearest_rows
from kakurenbo.core import Table
from kakurenbo.methods.parameters import parameter
from kakurenbo.methods.threats import MembershipGuess, MembershipKnowledge

# What a differing category adds, and the power to which differences of numbers are raised before
# they are added.
_GEOMETRIES = {"rules": (1, 2), "onehot": (2, 2), "sum": (1, 1)}
_NOWHERE = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Nearest(MembershipAttack):
    """For each record of D the nearest row of B; of these rows the ``guesses`` with the smallest distances, ties by row number.

    Where D points to fewer distinct rows than there are guesses, the rest are the rows of B that
    lie nearest to any record of D, ties by row number.
    """

    metric: str = parameter(
        "rules",
        "squared differences plus 1 (rules) or 2 (onehot, the contest's own script) for each differing category;"
        " or the sum of plain differences and differing categories (sum, the figure of the rules)",
        choices=tuple(_GEOMETRIES),
    )

    def __call__(self, knowledge: MembershipKnowledge, rng: np.random.Generator) -> MembershipGuess:
        distances = self._distances(knowledge)
        nearest = np.flatnonzero(distances < _NOWHERE)
        if len(nearest) < knowledge.guesses:
            return super().__call__(knowledge, rng)
        # The distances of all other rows need not be known.
        return MembershipGuess(most_confident(distances[nearest], nearest, knowledge.guesses))

    def scores(
        self, knowledge: MembershipKnowledge, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Rank rows that D points to by their distance, then all others by theirs."""
        distances = self._distances(knowledge)
        others = np.flatnonzero(distances == _NOWHERE)
        ranks = np.empty(len(distances))
        distinct, ranks[:] = np.unique(distances, return_inverse=True)
        if len(others):
            neighbours = self._search(knowledge.release, knowledge.population.take(others))
            ranks[others] = len(distinct) + np.unique(neighbours.squares, return_inverse=True)[1]
        return -ranks

    def _search(self, base: Table, queries: Table) -> Neighbours:
        weight, power = _GEOMETRIES[self.metric]
        return nearest_rows(base, queries, mismatch_weight=weight, power=power)

    def _distances(self, knowledge: MembershipKnowledge) -> NDArray[np.int64]:
        """Return the least distance of a record of D whose nearest row this is, shape (n,)."""
        neighbours = self._search(knowledge.population, knowledge.release)
        distances = np.full(len(knowledge.population), _NOWHERE)
        np.minimum.at(distances, neighbours.rows, neighbours.squares)
        return distances
