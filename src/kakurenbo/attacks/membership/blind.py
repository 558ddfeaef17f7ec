"""`blind`: the control that every other attack is compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.base import MembershipAttack
from kakurenbo.methods.threats import MembershipKnowledge


@dataclass(frozen=True)
class Blind(MembershipAttack):
    """Guess rows of B at random, without replacement: hits follow the hypergeometric distribution."""

    def scores(
        self, knowledge: MembershipKnowledge, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        count, guesses = len(knowledge.population), knowledge.guesses
        named = rng.choice(count, guesses, replace=False)
        scores = rng.random(count)  # the rest below those that are named, in random order, too
        scores[named] = np.arange(guesses, 0, -1)
        return scores
