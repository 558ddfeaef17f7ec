"""`Score` of one measure and `Utility` of a whole release: values, thresholds, and what limits them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Score:
    """What a measure says of a release.

    Attributes
    ----------
    value : float
    higher_is_better : bool
    limit : mapping
        What holds the score back (attribute, value, pair ...), ready for JSON; empty where nothing does.
    parts : mapping of str to float
        Figures the value is made of, e.g. one per attribute.
    """

    value: float
    higher_is_better: bool = True
    limit: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Threshold:
    """A value that a score must reach: at least (``minimum``) or at most."""

    value: float
    minimum: bool = True

    def met_by(self, score: float) -> bool:
        return score >= self.value if self.minimum else score <= self.value

    def __str__(self) -> str:
        return f"{'≥' if self.minimum else '≤'} {self.value:g}"


@dataclass(frozen=True)
class Utility:
    """All scores of a release under one rulebook.

    Attributes
    ----------
    scores : mapping of name to Score
        In the order they are shown; the names are stable.
    thresholds : mapping of name to Threshold
        The scores that decide; all must hold.
    notices : tuple of str
        What had to be assumed to measure at all.
    """

    scores: Mapping[str, Score]
    thresholds: Mapping[str, Threshold] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        return not self.failed

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the thresholds that do not hold."""
        return tuple(name for name, threshold in self.thresholds.items() if not threshold.met_by(self.scores[name].value))

    def as_json(self) -> dict[str, Any]:
        """The stable JSON object of ``measure``."""
        return {
            "valid": True,
            "passes": self.passes,
            "scores": {name: json_number(score.value) for name, score in self.scores.items()},
            "thresholds": {
                name: {"minimum" if threshold.minimum else "maximum": threshold.value}
                for name, threshold in self.thresholds.items()
            },
            "limits": {name: dict(score.limit) for name, score in self.scores.items() if score.limit},
            **({"notices": list(self.notices)} if self.notices else {}),
        }


def json_number(value: float) -> float | str:
    """A number as JSON holds it: infinity is the string "inf", and there is no NaN."""
    if math.isnan(value):
        raise ValueError("a score came out as NaN")
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")
