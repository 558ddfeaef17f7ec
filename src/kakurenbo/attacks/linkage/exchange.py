"""Releases in which records were exchanged: whoever is there is found to the letter, but in the row of somebody else.

The row of a person then holds the record of another who is near. How near is not known: swaps may reach as far as the limits
of the contest let them, or less far.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.linkage.knowledge import LinkageKnowledge
from kakurenbo.core import Decimal, Table
from kakurenbo.measures.records import changes, differing

Matrix = NDArray[np.float64]

_WHOLE, _BLURRED = (
    1.0,
    0.3,
)  # how far a number may be off by rounding, and by noise that hides nobody
_TO_THE_LETTER = 0.9  # of the people who are there: so many found as they were tell of swaps
_OUTLIERS = 5  # per cent of the shifts at either end that may come of people who are not there
_SHARES = (0.5, 0.75, 1.0)  # of the largest reach
_BLOCK = 128


@dataclass(frozen=True, eq=False)
class Traces:
    """What swapped records look like in a release.

    Attributes
    ----------
    found : array of bool, shape (people, rows)
        Which rows hold a person's own record.
    offsets : mapping of str to float
        What is to be added to each number of the release: numbers that were cut off are too low.
    blur : float
        How far the numbers of a record that was found are off at most.
    """

    found: NDArray[np.bool_]
    offsets: Mapping[str, float]
    blur: float


def traces_of_swaps(knowledge: LinkageKnowledge) -> Traces | None:
    """What gives swaps away; None where people are not found to the letter: there, noise is what hides them.

    Noise so small that everybody is found hides nobody, so something else must: else nobody would have released this.
    """
    people, release = knowledge.people, knowledge.release
    found = np.ones((len(people), len(release)), dtype=bool)
    shifts: dict[str, Matrix] = {}
    for column in people.schema:
        if isinstance(column, Decimal):
            shifts[column.name] = (
                people.values(column.name)[:, None] - release.values(column.name)[None, :]
            )
            whole = bool((release.values(column.name) % 1 == 0).all())
            found &= np.abs(shifts[column.name]) <= (_WHOLE if whole else _BLURRED) + 1e-9
        else:
            found &= ~differing(people, release, column.name)
    if not knowledge.kept or found.any(axis=1).sum() < _TO_THE_LETTER * knowledge.kept:
        return None
    offsets, blur = {}, 0.0
    for name, shift in shifts.items():
        low, high = np.percentile(shift[found], (_OUTLIERS, 100 - _OUTLIERS))
        offsets[name] = float(low + high) / 2
        blur = max(blur, abs(float(low)), abs(float(high)))
    return Traces(found, offsets, blur)


def exchanged(knowledge: LinkageKnowledge, traces: Traces, reach: float, cells: int) -> Matrix:
    """How likely each row is a person's own that got another record, where records in reach were swapped at random.

    Noise takes its part of what the limits allow, swaps the rest. A record that many others are near to is taken by each of
    them less likely; who has nobody near keeps the own record. The wider the box, the safer the team: its weight is the root
    of how many records it holds, between all boxes alike and all records alike.
    """
    reaches = [share * max(0.0, reach - traces.blur) for share in _SHARES]
    counts = _in_boxes(knowledge.release, reaches, cells)
    moved, changed = changes(knowledge.people, knowledge.release, traces.offsets)
    own = traces.found / np.maximum(traces.found.sum(axis=1, keepdims=True), 1)
    chances = np.zeros(moved.shape)
    for level, farthest in enumerate(reaches):
        for most in range(min(1, cells), cells + 1):
            others = counts[:, level, most] - 1  # but for the record itself
            near = ((moved <= farthest) & (changed <= most) & ~traces.found) / np.maximum(others, 1)
            total = near.sum(axis=1, keepdims=True)
            chances += np.sqrt(others.mean()) * np.where(
                total > 0, near / np.maximum(total, 1e-12), own
            )
    result: Matrix = chances / np.maximum(chances.sum(axis=1, keepdims=True), 1e-12)
    return result


def _in_boxes(release: Table, reaches: list[float], cells: int) -> NDArray[np.int64]:
    """How many records are near each one, itself too, by reach and number of cells: (rows, reaches, cells + 1)."""
    rows, kinds = len(release), (len(reaches) + 1) * (cells + 2)
    counts = np.zeros((rows, kinds), dtype=np.int64)
    # In the order of one number, whoever is in reach stands near: few pairs have to be compared.
    numbers = [
        release.values(column.name) for column in release.schema if isinstance(column, Decimal)
    ]
    along = numbers[0] if numbers else np.zeros(rows)
    order = np.argsort(along, kind="stable")
    for start in range(0, rows, _BLOCK):
        block = order[start : start + _BLOCK]
        low, high = along[block[0]] - reaches[-1] - 1, along[block[-1]] + reaches[-1] + 1
        others = order[
            np.searchsorted(along[order], low) : np.searchsorted(along[order], high, side="right")
        ]
        moved, changed = changes(release.take(block), release.take(others))
        kind = np.minimum(changed, cells + 1).astype(np.int32)
        for farthest in reaches:
            kind += np.int32(cells + 2) * (moved > farthest)
        kind += np.arange(len(block), dtype=np.int32)[:, None] * np.int32(kinds)
        counts[block] = np.bincount(kind.ravel(), minlength=len(block) * kinds).reshape(
            len(block), kinds
        )
    boxes: NDArray[np.int64] = (
        counts.reshape(rows, len(reaches) + 1, cells + 2).cumsum(axis=1).cumsum(axis=2)
    )
    return boxes[:, :-1, :-1]
