"""`Attack`: from `Knowledge`, which only a rulebook builds, to a `Guess`; and the `Credit` the judge gives for it.

Each family of attacks has its own kind of knowledge and guess beside it; an attack is handed nothing else, so it cannot
reach a secret.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

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


@dataclass(frozen=True)
class Chance:
    """What guessing blindly earns: expected hits and the central 95 % band, in hits."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Credit:
    """The judge's verdict on one guess.

    Attributes
    ----------
    hits : float
        Right answers; whole unless the rules give parts.
    of : int
        How many could have been right.
    chance : Chance or None
        The same figure for blind guessing.
    details : mapping of str to number
        Further figures under the stable names of the command line, e.g. ``identification``.
    """

    hits: float
    of: int
    chance: Chance | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def accuracy(self) -> float:
        return self.hits / self.of if self.of else 0.0

    def as_json(self) -> dict[str, Any]:
        """The stable JSON object of the command line."""
        out: dict[str, Any] = {"hits": self.hits, "of": self.of, "accuracy": self.accuracy, **self.details}
        if self.chance is not None:
            out["chance"] = {"hits": self.chance.mean, "band95": [self.chance.low, self.chance.high]}
        return out

    @classmethod
    def from_json(cls, content: Any) -> Credit:
        """The credit that :meth:`as_json` wrote."""
        known = {"hits", "of", "accuracy", "chance"}
        chance = content.get("chance")
        return cls(
            hits=content["hits"],
            of=int(content["of"]),
            chance=Chance(chance["hits"], *chance["band95"]) if chance else None,
            details={str(key): value for key, value in content.items() if key not in known},
        )
