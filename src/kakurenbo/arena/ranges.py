"""A method whose parameters are to be searched: ``rrp:p=0.1..0.9`` or ``kanony:k=2..9,columns=age/age,sex|repair``.

A range ``low..high`` is of numbers, words to choose from stand between slashes, and ``|`` separates the steps of a pipeline. A
point of the search has a coordinate from 0 to 1 for every range, so that nothing else need know what kind it is of.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import Parameter, parameters_of

PIPELINE, STEP = "pipeline", "|"
_RANGE, _OR = "..", "/"
_WIDE = 100.0  # from this ratio of its ends on, a range is searched by the logarithm
_DIGITS = 3  # of a range that numbers tell apart: enough to choose by, and short to type
_NEAR, _OTHER_WORD = (
    0.12,
    0.3,
)  # how far a neighbour lies in each coordinate, and how often it has another word

Point = tuple[float, ...]
"""A coordinate from 0 to 1 for every range."""


@dataclass(frozen=True)
class Numbers:
    """The numbers from ``low`` to ``high``, whole ones alone where the parameter is."""

    low: float
    high: float
    whole: bool

    @property
    def count(self) -> float:
        """How many different values there are."""
        return self.high - self.low + 1 if self.whole else math.inf

    def text_at(self, place: float) -> str:
        """The value at a place from 0 to 1: evenly, or by the logarithm where the ends are a hundredfold apart."""
        low, high = (self.low - 0.5, self.high + 0.5) if self.whole else (self.low, self.high)
        if self.low > 0 and self.high >= _WIDE * self.low:
            value = math.exp(
                math.log(self.low) + place * (math.log(self.high) - math.log(self.low))
            )
            rounded = float(f"{value:.{_DIGITS}g}")
        else:
            value = low + place * (high - low)
            rounded = round(value, _DIGITS - 1 - math.floor(math.log10(high - low)))
        return f"{min(max(round(value) if self.whole else rounded, self.low), self.high):.12g}"


@dataclass(frozen=True)
class Words:
    """Values to choose from, as texts."""

    values: tuple[str, ...]

    @property
    def count(self) -> float:
        return len(self.values)

    def text_at(self, place: float) -> str:
        return self.values[min(int(place * len(self.values)), len(self.values) - 1)]


@dataclass(frozen=True)
class Step:
    """One method of the search: by parameter a value as it is given, or what is searched."""

    name: str
    settings: Mapping[str, str | Numbers | Words]


@dataclass(frozen=True)
class Space:
    """All settings of a method, or of the steps of a pipeline, that a search may try."""

    steps: tuple[Step, ...]

    @cached_property
    def ranges(self) -> tuple[Numbers | Words, ...]:
        return tuple(
            found
            for step in self.steps
            for found in step.settings.values()
            if not isinstance(found, str)
        )

    @property
    def count(self) -> float:
        """How many different settings there are."""
        return math.prod(found.count for found in self.ranges)

    def text(self, point: Point) -> str:
        """The setting at a point as ``registry.build`` takes it."""
        places, texts = iter(point), []
        for step in self.steps:
            values = (
                (name, one if isinstance(one, str) else one.text_at(next(places)))
                for name, one in step.settings.items()
            )
            settings = ",".join(f"{name}={value}" for name, value in values)
            texts.append(f"{step.name}:{settings}" if settings else step.name)
        if len(texts) == 1:
            return texts[0]
        return f"{PIPELINE}:steps={STEP.join(text.replace(',', ';') for text in texts)}"

    def everything(self) -> list[Point]:
        """A point of every setting, where they can be counted."""
        grids = [
            [(place + 0.5) / int(found.count) for place in range(int(found.count))]
            for found in self.ranges
        ]
        return list(itertools.product(*grids))

    def spread(self, count: int, rng: np.random.Generator) -> list[Point]:
        """So many points that leave no part of any range out: a Latin hypercube; all settings where they are no more."""
        if self.count <= count:
            return self.everything()
        strata = [(rng.permutation(count) + rng.random(count)) / count for _ in self.ranges]
        return [tuple(map(float, place)) for place in zip(*strata, strict=True)]

    def near(self, point: Point, rng: np.random.Generator) -> Point:
        """A point close by: numbers a little moved, words now and then another."""
        moved = []
        for place, found in zip(point, self.ranges, strict=True):
            if isinstance(found, Words):
                moved.append(float(rng.random()) if rng.random() < _OTHER_WORD else place)
            else:
                inside = (
                    abs(place + rng.normal(0, _NEAR)) % 2
                )  # reflected where it would leave the range
                moved.append(float(min(inside, 2 - inside)))
        return tuple(moved)


def read_space(text: str) -> Space:
    """A method with ranges, from the command line.

    Raises
    ------
    UsageError, ParameterError
        Where a step, a parameter or an end of a range is none, or nothing is left to search.
    """
    given = text.strip()
    if registry.name_of(given) == PIPELINE:
        given = given.partition(":")[2].strip().removeprefix("steps=")
    space = Space(
        tuple(_step(part.strip().replace(";", ",")) for part in given.split(STEP) if part.strip())
    )
    for corner in ((0.0,) * len(space.ranges), (1.0,) * len(space.ranges)):
        registry.build("anonymizers", space.text(corner))  # says which value a method does not take
    if not space.ranges:
        raise UsageError("error.nothing_to_search", text=repr(text))
    return space


def _step(text: str) -> Step:
    name = registry.name_of(text)
    known = {
        described.name: described for described in parameters_of(registry.load("anonymizers", name))
    }
    settings: dict[str, str | Numbers | Words] = {}
    for key, value in registry.settings_of(text).items():
        if key in known and _RANGE in value:
            settings[key] = _numbers(known[key], value)
        elif key in known and _OR in value:
            settings[key] = _words(known[key], value)
        else:
            settings[key] = value
    return Step(name, settings)


def _numbers(parameter: Parameter, value: str) -> Numbers:
    ends = value.split(_RANGE)
    if parameter.kind not in (int, float) or len(ends) != 2:
        raise ParameterError(parameter.name, parameter.expectation, value)
    low, high = (parameter.parse(end.strip()) for end in ends)
    for end in (low, high):
        parameter.check(end)
    if not isinstance(low, int | float) or not isinstance(high, int | float) or low >= high:
        raise UsageError("error.bad_range", given=f"{parameter.name}={value}")
    return Numbers(low, high, parameter.kind is int)


def _words(parameter: Parameter, value: str) -> Words:
    words = Words(tuple(part.strip() for part in value.split(_OR)))
    for word in words.values:
        parameter.check(parameter.parse(word))
    return words
