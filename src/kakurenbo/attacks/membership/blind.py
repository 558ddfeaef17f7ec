"""`blind`: names rows at random and never looks at the release; the control that every other attack stands beside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kakurenbo.attacks.membership.knowledge import MembershipGuess, MembershipKnowledge
from kakurenbo.contracts import Attack


@dataclass(frozen=True)
class Blind(Attack[MembershipKnowledge, MembershipGuess]):
    """Guess rows of B at random, without replacement: hits follow the hypergeometric distribution."""

    knowledge: ClassVar[type] = MembershipKnowledge

    def __call__(self, knowledge: MembershipKnowledge, rng: np.random.Generator) -> MembershipGuess:
        return MembershipGuess(rng.choice(len(knowledge.population), knowledge.guesses, replace=False))
