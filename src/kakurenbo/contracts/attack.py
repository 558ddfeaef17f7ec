"""`Attack`: from `Knowledge`, which only a rulebook builds, to a `Guess`.

Each family of attacks has its own kind of knowledge and guess beside it; an attack is handed nothing else, so it cannot
reach a secret.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

import numpy as np

from kakurenbo.parameters import Method

Knowledge = TypeVar("Knowledge", contravariant=True)
Guess = TypeVar("Guess", covariant=True)


class Attack(Method, ABC, Generic[Knowledge, Guess]):
    """A frozen dataclass of parameters; calling it makes a guess."""

    knowledge: ClassVar[type]
    """What it is given: it plays every rulebook that gives its attackers this type, or a subclass of it."""

    @abstractmethod
    def __call__(self, knowledge: Knowledge, rng: np.random.Generator) -> Guess:
        """Guess the secret from what attackers are given, with randomness from ``rng`` only."""
