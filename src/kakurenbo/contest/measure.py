"""`Score` of one measure and `Utility` of a whole release: values, thresholds, and what limits them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from kakurenbo.core import Problem
from kakurenbo.core.messages import LANGUAGES, render


class Unit(StrEnum):
    """What kind of number a figure is: how many digits people want to see of it follows from that.

    A ``share`` is from 0 to 1 and shown in percent; a ``count`` counts things; ``points`` are what a contest gives; a
    ``similarity`` is 1 for tables that are alike, a ``distance`` 0; a ``number`` is anything else.
    """

    SHARE = "share"
    COUNT = "count"
    POINTS = "points"
    SIMILARITY = "similarity"
    DISTANCE = "distance"
    NUMBER = "number"


@dataclass(frozen=True)
class Figure:
    """What a contest declares of one of its figures, so that whoever shows it can say what it is.

    Attributes
    ----------
    unit : Unit
    of : float or None
        The most that it can be, where there is a most.
    code : str
        The sentence of the catalogue that says what it means; empty for none.
    shown_times : int
        What the contest multiplies it by before it is shown, e.g. 1,000 where a score of 0.71 is 710 points.
    label : str
        A second name that the rules give it; empty for none.

    Examples
    --------
    >>> Figure().definitions
    {}
    """

    unit: Unit = Unit.NUMBER
    of: float | None = None
    code: str = ""
    shown_times: int = 1
    label: str = ""

    @property
    def definitions(self) -> dict[str, str]:
        """What it means, in each language."""
        return {name: render(self.code, {}, name).message for name in LANGUAGES if self.code}


def with_meanings(rulebook: str, figures: Mapping[str, Figure]) -> Mapping[str, Figure]:
    """Return figures whose meanings stand in the catalogue under their names, ``amic2020.figure.vcm``."""
    return {
        name: replace(figure, code=f"{rulebook}.figure.{figure.code or name}")
        for name, figure in figures.items()
    }


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


def at_most(value: float) -> Threshold:
    """Return the threshold of a score that must not be higher."""
    return Threshold(value, minimum=False)


def at_least(value: float) -> Threshold:
    """Return the threshold of a score that must not be lower."""
    return Threshold(value)


@dataclass(frozen=True)
class Measurement:
    """One score of a release with its verdict, ready for a document.

    Attributes
    ----------
    name : str
    value : float or str
        Infinity is the text ``inf``.
    higher_is_better : bool
    minimum, maximum : float or None
        The threshold, where the score decides.
    passes : bool or None
        Whether the threshold holds; None where there is none.
    limit : mapping
        What holds the score back.
    parts : mapping of str to number
        Figures the value is made of.
    """

    name: str
    value: float | str
    higher_is_better: bool = True
    minimum: float | None = None
    maximum: float | None = None
    passes: bool | None = None
    limit: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def threshold(self) -> Threshold | None:
        if self.minimum is not None:
            return Threshold(self.minimum)
        return None if self.maximum is None else Threshold(self.maximum, minimum=False)


@dataclass(frozen=True)
class Utility:
    """All scores of a release under one rulebook.

    Attributes
    ----------
    scores : mapping of name to Score
        In the order they are shown; the names are stable.
    thresholds : mapping of name to Threshold
        The scores that decide; all must hold.
    notices : tuple of Problem or str
        What had to be assumed to measure at all.
    """

    scores: Mapping[str, Score]
    thresholds: Mapping[str, Threshold] = field(default_factory=dict)
    notices: tuple[Problem | str, ...] = ()

    @property
    def passes(self) -> bool:
        return not self.failed

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the thresholds that do not hold."""
        return tuple(
            name
            for name, threshold in self.thresholds.items()
            if not threshold.met_by(self.scores[name].value)
        )

    def with_grades(self, grades: Utility | None) -> Utility:
        """Return these scores and those that only the judge can compute."""
        if grades is None:
            return self
        scores, thresholds = (
            {**self.scores, **grades.scores},
            {**self.thresholds, **grades.thresholds},
        )
        return Utility(scores, thresholds, (*self.notices, *grades.notices))

    def measurements(self) -> tuple[Measurement, ...]:
        """Return every score with its verdict, as documents keep it."""
        return tuple(self._measurement(name, score) for name, score in self.scores.items())

    def _measurement(self, name: str, score: Score) -> Measurement:
        threshold = self.thresholds.get(name)
        return Measurement(
            name=name,
            value=json_number(score.value),
            higher_is_better=score.higher_is_better,
            minimum=threshold.value if threshold is not None and threshold.minimum else None,
            maximum=threshold.value if threshold is not None and not threshold.minimum else None,
            passes=None if threshold is None else threshold.met_by(score.value),
            limit=dict(score.limit),
            parts={part: json_number(value) for part, value in score.parts.items()},
        )

    def as_json(self) -> dict[str, Any]:
        """Return the stable JSON object of ``measure``."""
        return {
            "valid": True,
            "passes": self.passes,
            "scores": {name: json_number(score.value) for name, score in self.scores.items()},
            "thresholds": {
                name: {"minimum" if threshold.minimum else "maximum": threshold.value}
                for name, threshold in self.thresholds.items()
            },
            "limits": {
                name: dict(score.limit) for name, score in self.scores.items() if score.limit
            },
            **({"notices": list(map(str, self.notices))} if self.notices else {}),
        }


def json_number(value: float) -> float | str:
    """Return a number as JSON holds it: infinity is the string "inf", and there is no NaN."""
    if math.isnan(value):
        raise ValueError("a score came out as NaN")
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


# -- guesses ------------------------------------------------------------


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
        """Return what was earned as a share of what could be: 0 for the least, 1 for the most."""
        return (earned - self.least) / (self.of - self.least) if self.of > self.least else 0.0

    def public(self) -> Credit:
        """Return the credit without what stays with the answers."""
        return Credit(self.hits, self.of, self.chance, self.constant, self.details, {}, self.least)

    def as_json(self) -> dict[str, Any]:
        """Return the stable JSON object of the command line."""
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
