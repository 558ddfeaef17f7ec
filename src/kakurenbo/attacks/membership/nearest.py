"""`nearest`, the sample attack of amic2020: members are the rows of B that lie nearest to rows of D."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kakurenbo.attacks.membership.knowledge import MembershipGuess, MembershipKnowledge, most_confident
from kakurenbo.attacks.membership.neighbours import nearest_rows
from kakurenbo.contracts import Attack
from kakurenbo.parameters import parameter

_MISMATCH_WEIGHTS = {"rules": 1, "onehot": 2}


@dataclass(frozen=True)
class Nearest(Attack[MembershipKnowledge, MembershipGuess]):
    """For each record of D the nearest row of B; of these rows the ``guesses`` with the smallest distances, ties by row number.

    Where D points to fewer distinct rows than there are guesses, the rest are the rows of B that lie nearest to any record of
    D, ties by row number.
    """

    knowledge: ClassVar[type] = MembershipKnowledge

    metric: str = parameter(
        "rules",
        "squared distance that a differing category adds: 1 (rules) or 2 (onehot, the contest's own script)",
        choices=tuple(_MISMATCH_WEIGHTS),
    )

    def __call__(self, knowledge: MembershipKnowledge, rng: np.random.Generator) -> MembershipGuess:
        population, release, guesses = knowledge.population, knowledge.release, knowledge.guesses
        weight = _MISMATCH_WEIGHTS[self.metric]
        neighbours = nearest_rows(population, release, mismatch_weight=weight)
        pointed_at = np.unique(neighbours.rows)
        square = np.full(len(population), np.iinfo(np.int64).max)
        np.minimum.at(square, neighbours.rows, neighbours.squares)
        named = most_confident(square[pointed_at], pointed_at, guesses)
        if len(named) < guesses:
            others = np.setdiff1d(np.arange(len(population)), named)
            back = nearest_rows(release, population.take(others), mismatch_weight=weight)
            named = np.concatenate([named, most_confident(back.squares, others, guesses - len(named))])
        return MembershipGuess(named)
