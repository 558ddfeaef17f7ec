"""`blind_ratings`: people and ratings at random; the control that every other attack stands beside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kakurenbo.attacks.reconstruction.knowledge import RATING_VALUES, RatingsGuess, RatingsKnowledge
from kakurenbo.contest import Attack


@dataclass(frozen=True)
class BlindRatings(Attack[RatingsKnowledge, RatingsGuess]):
    """Guess the people in random order and every hidden rating at random."""

    knowledge: ClassVar[type] = RatingsKnowledge

    def __call__(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> RatingsGuess:
        rows = len(knowledge.hidden)
        return RatingsGuess(rng.permutation(rows), rng.integers(RATING_VALUES, size=rows))
