"""`Credit`: the judge's verdict on one guess, beside what blind guessing and a constant answer earn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kakurenbo.contest.measure import json_number


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
        What the guess earned; a whole number of right answers unless the rules give something else.
    of : float
        The most it could have earned.
    chance : Chance or None
        The same figure for blind guessing.
    constant : float or None
        The same figure for an answer that looks at nothing, where the contest names one ("always 0").
    details : mapping of str to number
        Further figures under the stable names of the command line, e.g. ``identification``; anybody may see them.
    kept : mapping
        Figures that tell about the answer, e.g. which rows were hit: they stay with the answers until these are revealed.
    least : float
        The least it could have earned.
    """

    hits: float
    of: float
    chance: Chance | None = None
    constant: float | None = None
    details: Mapping[str, int | float] = field(default_factory=dict)
    kept: Mapping[str, Any] = field(default_factory=dict)
    least: float = 0

    @property
    def accuracy(self) -> float:
        """The share of what could be earned, 0 to 1."""
        return self.share(self.hits)

    def share(self, earned: float) -> float:
        """What was earned as a share of what could be: 0 for the least, 1 for the most."""
        return (earned - self.least) / (self.of - self.least) if self.of > self.least else 0.0

    def public(self) -> Credit:
        """The credit without what stays with the answers."""
        return Credit(self.hits, self.of, self.chance, self.constant, self.details, {}, self.least)

    def as_json(self) -> dict[str, Any]:
        """The stable JSON object of the command line."""
        out: dict[str, Any] = {
            "hits": json_number(self.hits),
            "of": json_number(self.of),
            "accuracy": self.accuracy,
            **self.details,
        }
        if self.least:
            out["least"] = json_number(self.least)
        if self.chance is not None:
            out["chance"] = {
                "hits": self.chance.mean,
                "band95": [self.chance.low, self.chance.high],
            }
        if self.constant is not None:
            out["constant"] = self.constant
        return out
