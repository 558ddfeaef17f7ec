"""Two sources about the same people, which have no column in common: does the release say which two belong together?

Both sources are explained by the same released row: log of the mean over rows of P(a | row) P(b | row) / (P(a) P(b)), which is
P(row | a) P(row | b) over how common both parts of the row are; then one-to-one assignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from kakurenbo.audit import statistics
from kakurenbo.audit.encoding import Coded, Codes, Floats
from kakurenbo.audit.people import Asked, RowModel, row_models
from kakurenbo.audit.result import Rate, Risk, ThreatRow

LINED_UP = 500  # people of each source
_LEAST = 1e-300
Split = tuple[tuple[int, ...], tuple[int, ...]]


def attack_linkability(
    coded: Coded, holdout: Codes, rng: np.random.Generator, splits: Sequence[Split] | None = None
) -> tuple[Risk, float]:
    """Link members by the release, and people of the holdout as a control; the split is chosen by other members.

    Parameters
    ----------
    coded : Coded
    holdout : array of int32, shape (h, columns)
        May be empty: then there is no control, and the gain is that over what the rest of the original tells.
    splits : sequence of pairs of column numbers, optional
        What the two sources know. By default halves of the columns in several ways.

    Returns
    -------
    Risk, and the p-value that the release helps nobody.
    """
    asked = Asked.of(coded, holdout, LINED_UP, rng)
    choosing, reported, controls, count = (
        asked.choosing,
        asked.reported,
        asked.controls,
        len(asked.reported),
    )
    model, instead = row_models(asked, coded, holdout)
    tried = list(splits or default_splits(coded))
    hits = [int(linked(model, choosing, split).sum()) for split in tried]
    best = int(np.argmax(hits))
    rates = [statistics.rate(hit, len(choosing)) for hit in hits]
    rows = [
        _row(coded, split, rate, len(choosing)) for split, rate in zip(tried, rates, strict=True)
    ]
    rate = statistics.rate(int(linked(model, reported, tried[best]).sum()), count)
    control = (
        statistics.rate(int(linked(model, controls, tried[best]).sum()), len(controls))
        if len(controls)
        else None
    )
    # What other people tell instead of the release: how their columns go together.
    without = statistics.rate(int(linked(instead, reported, tried[best]).sum()), count)
    compared, baseline = control or without, without.value
    above = statistics.excess(rate, compared)
    row = replace(
        rows[best],
        rate=rate,
        control=control,
        excess=above,
        baseline=baseline,
        chance=1 / count,
        reported=True,
    )
    rows[best] = row
    risk = Risk(
        "linkability",
        True,
        "",
        row.attack,
        rate,
        control,
        above,
        baseline,
        1 / count,
        rows=tuple(rows),
    )
    return risk, statistics.fisher(rate, compared)


def default_splits(coded: Coded) -> list[Split]:
    """The columns in halves: as they stand, and every other one by how much they tell."""
    places = list(range(len(coded.columns)))
    telling = sorted(places, key=lambda place: -_entropy(coded.original[:, place]))
    half = len(places) // 2
    ways = [(places[:half], places[half:]), (telling[::2], telling[1::2])]
    found: list[Split] = []
    for one, other in ways:
        split = (tuple(sorted(one)), tuple(sorted(other)))
        if split not in found and split[::-1] not in found:
            found.append(split)
    return found


def _entropy(codes: Codes) -> float:
    share = np.bincount(codes) / len(codes)
    share = share[share > 0]
    return float(-(share * np.log(share)).sum())


def linked(model: RowModel, people: Codes, split: Split) -> NDArray[np.bool_]:
    """Which of the people are linked to themselves, shape (n,)."""
    together = np.zeros((len(people), len(people)))
    weights, first = model.evidence(split[0]) * model.evidence(split[1]), 0
    for one, other in zip(*(model.blocks(people, places) for places in split), strict=True):
        together += (
            one * weights[first : first + len(one), None]
        ).T @ other  # (n, block) @ (block, n)
        first += len(one)
    return assigned(np.log(np.maximum(together, _LEAST)), people, split)


def assigned(scores: Floats, people: Codes, split: Split) -> NDArray[np.bool_]:
    """Whether each person is the one that is assigned to her, one to one, shape (n,)."""
    # In an order of their own: where a source cannot tell people apart, a solver that goes by the rows would find them.
    order = np.lexsort(people[:, list(split[1])].T)
    _, partner = linear_sum_assignment(np.round(scores[:, order], 9), maximize=True)
    return np.asarray(order[partner] == np.arange(len(people)))


def _row(coded: Coded, split: Split, rate: Rate, count: int) -> ThreatRow:
    knows, wants = (tuple(coded.names[place] for place in side) for side in split)
    return ThreatRow("two_sources", knows, wants, "row_model", rate, chance=1 / count)
