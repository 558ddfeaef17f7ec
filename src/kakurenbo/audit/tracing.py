"""Who pulls the release's moments towards himself: the contests' `tracing` on the tables of an audit.

They need no released row to look like a person. People take part as the release would show them, so that a coarser release
has the same columns as they.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.moments import (
    FITTING,
    MeanShift,
    PopulationModel,
    tilt,
    trace_weights,
)
from kakurenbo.audit.encoding import Coded, CodedColumn, Codes, Floats
from kakurenbo.audit.mechanism import shown_as
from kakurenbo.core import Category, Column, Integer, Schema, Table
from kakurenbo.methods.threats import MembershipKnowledge

_ROUNDING = 1.0  # standard error of a count of the release, in records
_FINEST = (
    4096  # steps of a grid on which numbers are evenly spaced; beyond it they go by their ranks
)
_OFF = 1e-3  # steps that a number may be off the grid
_MOST_VALUES, _FEWEST_VALUES = (
    1500,
    8,
)  # of all columns together, and of one at least: the cost is that number cubed
Labels = NDArray[np.int64]


def released_form(coded: Coded, people: Codes) -> Codes:
    """The released code that each cell would most likely have, shape (n, columns): people as the release would show them."""
    shown = np.empty(people.shape, dtype=np.int32)
    for place, column in enumerate(coded.columns):
        seen = np.bincount(coded.release[:, place], minlength=column.released)
        codes = shown_as(column, coded.release[:, place])
        # A value that the release never shows is taken for the commonest, as if it had been released as anything.
        shown[:, place] = np.where(codes < column.released, codes, seen.argmax())[people[:, place]]
    return shown


@dataclass(frozen=True, eq=False)
class Traces:
    """What histograms and pairs say of everybody.

    Attributes
    ----------
    total : array, shape (n,)
        The score of `tracing`: phi(x)^T (Sigma + r I)^-1 (mean phi of the release - mean phi of the pool).
    logit : array, shape (n,)
        Log odds of membership by the exponential tilt of the pool that has these means, but for a constant.
    by_column : array, shape (n, columns)
        The part of the total that each column's own values make.
    ratios : array, shape (n, columns)
        log of how much more common each value is in the release than in the pool.
    """

    total: Floats
    logit: Floats
    by_column: Floats
    ratios: Floats

    def first(self, count: int) -> Traces:
        """Those of the first so many people."""
        return Traces(
            self.total[:count], self.logit[:count], self.by_column[:count], self.ratios[:count]
        )


def trace(coded: Coded, pool: Codes) -> Traces:
    """Scores of everybody in the pool, shape (n,), from histograms and pairs alone."""
    people, release = released_form(coded, pool), coded.release
    knowledge = MembershipKnowledge(*_tables(coded, people, release), guesses=1)
    model = PopulationModel.of(knowledge)
    evidence = MeanShift.released(model, knowledge, FITTING, _ROUNDING)
    weights = trace_weights(model, evidence)
    # Every other person of the pool is a control.
    logit = model.rows.dot(tilt(model, evidence, 0.5))
    own = model.rows.parts(weights)[
        :, : len(coded.columns)
    ]  # the slots of columns come before those of pairs
    return Traces(model.rows.dot(weights), logit, own, _ratios(coded, people, release))


def _tables(coded: Coded, people: Codes, release: Codes) -> tuple[Table, Table]:
    """Pool and release as tables of one schema: released values as levels, numbers as evenly spaced as they are."""
    most = max(_FEWEST_VALUES, _MOST_VALUES // len(coded.columns))
    columns: list[Column] = []
    codes: tuple[dict[str, Labels], dict[str, Labels]] = ({}, {})
    for place, column in enumerate(coded.columns):
        name, seen = str(place), np.bincount(people[:, place], minlength=column.released)
        numbers = (
            _in_groups(steps_of(column), seen, most) if column.numeric else _commonest(seen, most)
        )
        size = int(numbers.max()) + 1
        columns.append(
            Integer(name, 0, size - 1)
            if column.numeric
            else Category(name, tuple(map(str, range(size))))
        )
        for side, rows in zip(codes, (people, release), strict=True):
            side[name] = numbers[rows[:, place]]
    schema = Schema(columns)
    return Table(schema, codes[0]), Table(schema, codes[1])


def steps_of(column: CodedColumn) -> Labels:
    """Where each released number stands on an even grid, or else its rank, shape (released,); a missing one after the last."""
    told = ~column.covers[-1]  # what may be missing is no number
    if not told.any():
        return np.zeros(column.released, dtype=np.int64)
    weights = column.covers[:, told] / np.maximum(column.covers[:, told].sum(axis=0), 1)
    distinct, ranks = np.unique(np.round(column.numbers @ weights, 9), return_inverse=True)
    places = np.arange(len(distinct))
    gap = np.diff(distinct).min() if len(distinct) > 1 else 1.0
    if np.ptp(distinct) < _FINEST * gap:
        even = (distinct - distinct[0]) / gap
        if np.abs(even - np.round(even)).max() < _OFF:
            places = np.round(even).astype(np.int64)
    steps = np.full(column.released, places[-1] + 1, dtype=np.int64)
    steps[told] = places[ranks]
    return steps


def _in_groups(steps: Labels, seen: Labels, most: int) -> Labels:
    """Steps, or where they are more than ``most`` groups of them, of about equally many people each."""
    if steps.max() < most:
        return steps
    people = np.cumsum(np.bincount(steps, weights=seen))
    groups = (people * most / (people[-1] + 1)).astype(np.int64)
    return np.asarray(np.unique(groups, return_inverse=True)[1][steps])


def _commonest(seen: Labels, most: int) -> Labels:
    """A number for each of the commonest values, and one for all others, shape (released,)."""
    if len(seen) <= most:
        return np.arange(len(seen))
    numbers = np.full(len(seen), most - 1)
    numbers[np.argsort(-seen, kind="stable")[: most - 1]] = np.arange(most - 1)
    return numbers


def _ratios(coded: Coded, people: Codes, release: Codes) -> Floats:
    logs = []
    for place, column in enumerate(coded.columns):
        ours = np.bincount(people[:, place], minlength=column.released) * (
            len(release) / len(people)
        )
        theirs = np.bincount(release[:, place], minlength=column.released)
        logs.append(np.log((theirs + 1) / (ours + 1))[people[:, place]])
    return np.column_stack(logs)
