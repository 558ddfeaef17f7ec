"""`blind_shop`: pseudonyms at random, whatever was bought; the control that every other attack stands beside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kakurenbo.attacks.reidentification import ReidentificationGuess, ReidentificationKnowledge
from kakurenbo.contest import Attack
from kakurenbo.data.transactions import months


@dataclass(frozen=True)
class BlindShop(Attack[ReidentificationKnowledge, ReidentificationGuess]):
    """Guess for each customer of a month a pseudonym of that month at random, each once."""

    knowledge: ClassVar[type] = ReidentificationKnowledge

    def __call__(
        self, knowledge: ReidentificationKnowledge, rng: np.random.Generator
    ) -> ReidentificationGuess:
        guess = ReidentificationGuess.blank(knowledge)
        bought, released = months(knowledge.original), months(knowledge.released)
        for month in range(knowledge.calendar.months):
            customers = rng.permutation(
                np.unique(knowledge.original.codes["id_user"][bought == month])
            )
            pseudonyms = rng.permutation(
                np.unique(knowledge.released.codes["id_user"][released == month])
            )
            count = min(len(customers), len(pseudonyms))
            guess.cells[customers[:count], month, 0] = pseudonyms[:count]
        return guess
