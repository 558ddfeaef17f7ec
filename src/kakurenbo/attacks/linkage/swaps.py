"""Releases in which records were exchanged: whoever is kept is found to the letter, but in the row
of somebody else.

The row of a person then holds the record of another who is near. How near is not known: swaps may
reach as far as the limits of the contest let them, or less far.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.core import Decimal, Table
from kakurenbo.measures.records import changes, differing
from kakurenbo.methods.threats import LinkageKnowledge

Matrix = NDArray[np.float64]

_ROUNDED, _BLURRED = (
    1.0,
    0.3,
)  # how far a number may be off by rounding, and by noise that hides nobody
_MIN_EXACT = 0.9  # of the people who are kept: so many found as they were tell of swaps
_OUTLIERS = 5  # per cent of the shifts at either end that may come of people who are not kept
_SHARES = (0.5, 0.75, 1.0)  # of the largest reach
_BLOCK = 128


@dataclass(frozen=True, eq=False)
class SwapTraces:
    """What swapped records look like in a release.

    Attributes
    ----------
    is_found : array of bool, shape (people, rows)
        Which rows hold a person's own record.
    offsets : mapping of str to float
        What is to be added to each number of the release: numbers that were cut off are too low.
    blur : float
        How far the numbers of a record that was found are off at most.
    """

    is_found: NDArray[np.bool_]
    offsets: Mapping[str, float]
    blur: float


def find_swap_traces(knowledge: LinkageKnowledge) -> SwapTraces | None:
    """Return what gives swaps away; None where people are not found to the letter: there, noise is
    what hides them.

    Noise so small that everybody is found hides nobody, so something else must: else nobody would
    have released this.
    """
    people, release = knowledge.people, knowledge.release
    is_found = np.ones((len(people), len(release)), dtype=bool)
    shifts: dict[str, Matrix] = {}
    for column in people.schema:
        name = column.name
        if isinstance(column, Decimal):
            shifts[name] = people.values(name)[:, None] - release.values(name)[None, :]
            is_whole = bool((release.values(name) % 1 == 0).all())
            is_found &= np.abs(shifts[name]) <= (_ROUNDED if is_whole else _BLURRED) + 1e-9
        else:
            is_found &= ~differing(people, release, name)
    if not knowledge.kept or is_found.any(axis=1).sum() < _MIN_EXACT * knowledge.kept:
        return None
    offsets, blur = {}, 0.0
    for name, shift in shifts.items():
        low, high = np.percentile(shift[is_found], (_OUTLIERS, 100 - _OUTLIERS))
        offsets[name] = float(low + high) / 2
        blur = max(blur, abs(float(low)), abs(float(high)))
    return SwapTraces(is_found, offsets, blur)


def exchange_chances(
    knowledge: LinkageKnowledge, traces: SwapTraces, reach: float, cells: int
) -> Matrix:
    """Return how likely each row is a person's own that got another record, where records in reach
    were swapped at random.

    Noise takes its part of what the limits allow, swaps the rest. A record that many others are
    near to is taken by each of them less likely; who has nobody near keeps the own record. The
    wider the box, the safer the team: its weight is the root of how many records it holds, between
    all boxes alike and all records alike.
    """
    reaches = [share * max(0.0, reach - traces.blur) for share in _SHARES]
    counts = count_in_boxes(knowledge.release, reaches, cells)
    moved, changed = changes(knowledge.people, knowledge.release, traces.offsets)
    kept = traces.is_found / np.maximum(traces.is_found.sum(axis=1, keepdims=True), 1)
    chances = np.zeros(moved.shape)
    for level, farthest in enumerate(reaches):
        for most in range(min(1, cells), cells + 1):
            others = counts[:, level, most] - 1  # but for the record itself
            is_near = (moved <= farthest) & (changed <= most) & ~traces.is_found
            near = is_near / np.maximum(others, 1)
            total = near.sum(axis=1, keepdims=True)
            shares = np.where(total > 0, near / np.maximum(total, 1e-12), kept)
            chances += np.sqrt(others.mean()) * shares
    result: Matrix = chances / np.maximum(chances.sum(axis=1, keepdims=True), 1e-12)
    return result


def count_in_boxes(release: Table, reaches: list[float], cells: int) -> NDArray[np.int64]:
    """Count records near each one, itself too, by reach and number of changed cells: (rows,
    reaches, cells + 1).
    """
    rows, kinds = len(release), (len(reaches) + 1) * (cells + 2)
    counts = np.zeros((rows, kinds), dtype=np.int64)
    # In the order of one number, whoever is in reach stands near: few pairs have to be compared.
    numbers = [column.name for column in release.schema if isinstance(column, Decimal)]
    along = release.values(numbers[0]) if numbers else np.zeros(rows)
    order = np.argsort(along, kind="stable")
    for start in range(0, rows, _BLOCK):
        block = order[start : start + _BLOCK]
        low, high = along[block[0]] - reaches[-1] - 1, along[block[-1]] + reaches[-1] + 1
        first, last = (
            np.searchsorted(along[order], low),
            np.searchsorted(along[order], high, "right"),
        )
        moved, changed = changes(release.take(block), release.take(order[first:last]))
        kind = np.minimum(changed, cells + 1).astype(np.int32)
        for farthest in reaches:
            kind += np.int32(cells + 2) * (moved > farthest)
        kind += np.arange(len(block), dtype=np.int32)[:, None] * np.int32(kinds)
        histogram = np.bincount(kind.ravel(), minlength=len(block) * kinds)
        counts[block] = histogram.reshape(len(block), kinds)
    boxes = counts.reshape(rows, len(reaches) + 1, cells + 2).cumsum(axis=1).cumsum(axis=2)
    return np.asarray(boxes[:, :-1, :-1])
