"""Singling out: predicates of few columns that fit one released row, and whether they isolate one person of the original.

After Cohen and Nissim, "Towards formalizing the GDPR's notion of singling out" (PNAS 2020): isolating somebody means
something only where the predicate is so rare that chance would seldom isolate anybody, so each is counted among people
who are not in the original as well, and its weight gives what chance alone would do.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.audit import statistics
from kakurenbo.audit.encoding import Coded, Codes
from kakurenbo.audit.result import Risk, ThreatRow
from kakurenbo.audit.rows import column_major, joined, row_keys
from kakurenbo.audit.tracing import released_form

LARGEST = 3  # columns of a predicate
_MOST_SUBSETS = 300  # sets of columns, drawn where there are more
_LIGHT = 0.1  # people that a predicate may be expected to fit, by how common its values are, to mean something
_MOST_CANDIDATES = 20_000  # released rows for which predicates are sought
_MOST_ROWS = 2000  # released rows whose predicates are reported
_FEWEST = 20  # of them, by which the size of predicates is chosen
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Isolated:
    """A predicate for each released row that has one.

    Attributes
    ----------
    rows : array, shape (k,)
        Released rows.
    original, holdout : arrays, shape (k,)
        How many people the predicate fits.
    weights : array, shape (k,)
        The share of people that it fits where columns are independent: all that a stranger can tell.
    """

    rows: Counts
    original: Counts
    holdout: Counts
    weights: NDArray[np.float64]


def attack_singling_out(
    coded: Coded, holdout: Codes, rng: np.random.Generator
) -> tuple[Risk, float]:
    """Try every predicate of up to three columns that fits a single released row; one, drawn by lot, speaks for its row.

    Without a holdout the gain is that over 1/e, which no predicate that knows nothing of the original can beat.

    Returns
    -------
    Risk, and the p-value that the original is isolated no more often than people who are not in it, or than 1/e.
    """
    size = min(len(coded.original), len(holdout)) if len(holdout) else len(coded.original)
    people = column_major(
        released_form(coded, coded.original[rng.permutation(len(coded.original))[:size]])
    )
    others = (
        column_major(released_form(coded, holdout[rng.permutation(len(holdout))[:size]]))
        if len(holdout)
        else None
    )
    chooses = rng.random(len(coded.release)) < 0.5
    ceiling = (1 - 1 / size) ** (
        size - 1
    )  # n w (1 - w)^(n - 1) at its highest, w = 1 / n: near 1/e
    rows, gains = [], []
    for columns in range(1, min(LARGEST, len(coded.columns)) + 1):
        found = _isolated(coded, people, others, columns, rng)
        sides = [found.rows[chooses[found.rows] == side] for side in (True, False)]
        places = [np.flatnonzero(np.isin(found.rows, side))[:_MOST_ROWS] for side in sides]
        # Who finds no predicate has said of every row that it fits nobody.
        tries = len(places[1]) or min(int((~chooses).sum()), _MOST_ROWS)
        rate = statistics.rate(int((found.original[places[1]] == 1).sum()), tries)
        control = (
            statistics.rate(int((found.holdout[places[1]] == 1).sum()), tries)
            if others is not None
            else None
        )
        above = (
            statistics.excess_over(rate, ceiling)
            if control is None
            else statistics.excess(rate, control)
        )
        chance = _chance(found.weights, size)
        rows.append(
            ThreatRow(
                "stranger",
                (),
                coded.names,
                f"predicates_{columns}",
                rate,
                control,
                above,
                chance,
                chance,
            )
        )
        gain = (found.original[places[0]] == 1).mean() if len(places[0]) else 0.0
        told = len(places[1])
        gains.append(
            gain - (control.value if control is not None else 0.0)
            if told >= _FEWEST
            else -1.0
            if told
            else -2.0
        )
    best = int(np.argmax(gains))
    risk, worst = Risk.reporting("singling_out", rows, best), rows[best]
    if worst.control is None:
        return risk, statistics.binomial(worst.rate, ceiling)
    return risk, statistics.fisher(worst.rate, worst.control)


def fitting_one(coded: Coded) -> int:
    """How many released rows show, in all columns, what exactly one person of the original would be shown as."""
    people, released = row_keys(released_form(coded, coded.original), coded.release)
    counts = np.bincount(people, minlength=int(released.max()) + 1)
    return int((counts[released] == 1).sum())


def _isolated(
    coded: Coded, people: Codes, others: Codes | None, columns: int, rng: np.random.Generator
) -> _Isolated:
    from kakurenbo.audit.kernels import how_many

    release, sizes = column_major(coded.release), [column.released for column in coded.columns]
    # Of many released rows some, drawn by lot, can speak for all: more could not be reported.
    some = (
        np.sort(rng.permutation(len(release))[:_MOST_CANDIDATES])
        if len(release) > _MOST_CANDIDATES
        else None
    )
    candidates = release if some is None else column_major(release[some])
    # A released value that may stand for nearly anything says nothing of anybody.
    telling = [column.covers.mean(axis=0) < 0.5 for column in coded.columns]
    shares = [
        np.bincount(release[:, place], minlength=size) / len(release)
        for place, size in enumerate(sizes)
    ]
    weights = np.zeros(len(candidates))
    chosen, lot = np.full(len(candidates), -1), np.full(len(candidates), -1.0)
    original, holdout = (
        np.zeros(len(candidates), dtype=np.int64),
        np.zeros(len(candidates), dtype=np.int64),
    )
    for number, places in enumerate(_subsets(len(sizes), columns, rng)):
        own = joined(candidates, places, sizes)
        order = np.argsort(own, kind="stable")
        alone = order[how_many(joined(release, places, sizes), own[order]) == 1]
        alone = alone[
            np.logical_and.reduce([telling[place][candidates[alone, place]] for place in places])
        ]
        weight = np.prod([shares[place][candidates[alone, place]] for place in places], axis=0)
        light = weight * len(people) <= _LIGHT
        alone, weight = alone[light], weight[light]
        drawn = rng.random(len(alone))
        wins = drawn > lot[alone]
        rows = alone[wins]
        chosen[rows], lot[rows], weights[rows] = number, drawn[wins], weight[wins]
        original[rows] = how_many(joined(people, places, sizes), own[rows])
        if others is not None:
            holdout[rows] = how_many(joined(others, places, sizes), own[rows])
    rows = rng.permutation(np.flatnonzero(chosen >= 0))
    return _Isolated(
        rows if some is None else some[rows], original[rows], holdout[rows], weights[rows]
    )


def _subsets(count: int, columns: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    every = list(itertools.combinations(range(count), columns))
    if len(every) <= _MOST_SUBSETS:
        return every
    return [
        every[place]
        for place in np.sort(rng.choice(len(every), _MOST_SUBSETS, replace=False)).tolist()
    ]


def _chance(weights: NDArray[np.float64], size: int) -> float | None:
    """What predicates of these weights isolate by chance: n w (1 - w)^(n - 1), on average."""
    return float((size * weights * (1 - weights) ** (size - 1)).mean()) if len(weights) else None
