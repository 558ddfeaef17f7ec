"""`blind_link`: names rows at random and never looks at a record; the control that every other attack stands beside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kakurenbo.attacks.linkage.knowledge import CHOICES, LinkageGuess, LinkageKnowledge
from kakurenbo.contest import Attack


@dataclass(frozen=True)
class BlindLink(Attack[LinkageKnowledge, LinkageGuess]):
    """Guess three rows of D at random for everybody, and nobody to be deleted."""

    knowledge: ClassVar[type] = LinkageKnowledge

    def __call__(self, knowledge: LinkageKnowledge, rng: np.random.Generator) -> LinkageGuess:
        rows, few = len(knowledge.release), len(knowledge.release) < CHOICES
        return LinkageGuess(
            [rng.choice(rows, CHOICES, replace=few) for _ in range(len(knowledge.people))]
        )
