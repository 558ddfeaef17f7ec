"""Tables that say what is usual and no more: every ZIP-code has the ratings that a place of its size has on average.

A released count n_C of a cell with B's count n_B costs |n_C - n_B|. A permuted column draws n_C by chance, and chance adds to
chance. The number that costs least without any look at n_B is the median of its distribution, and it tells nothing of anybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

from kakurenbo.anonymizers.ratings.crosstab_repair import (
    UTILITIES,
    CrosstabState,
    RepairToUtility,
    best_utility,
    largest_error,
    overwrite_cell,
)
from kakurenbo.anonymizers.ratings.split_files import ShuffleRows
from kakurenbo.contest import Release
from kakurenbo.core import Table
from kakurenbo.core.arrays import Floats, Ints, Rng
from kakurenbo.core.compiling import compiled
from kakurenbo.core.statistics import crosstab
from kakurenbo.data.ratings import ATTRIBUTES, HIGHEST_RATING, MOVIES, ZIP_CODE, is_split, split

Counts = Ints

_SWEEPS = 40
_PARTNERS = 6  # rows of the same block that a cell tries to trade with


@dataclass(frozen=True)
class EvenTables(RepairToUtility):
    """New rows in which every ZIP-code has usual ratings; tables of other columns are repaired to a utility and no further.

    Each ZIP-code gets every rating as often as a place of its size has it at the median. Movies that this leaves below the
    utility show the true counts of the largest ZIP-codes, as many as it takes. Then ratings are traded between rows of the same
    ZIP-code until the other tables are good enough. The whole table is treated before it is split, so that there is one noise
    for all files, and each file gets an order of its own.
    """

    def after(self, original: Table, release: Release, rng: Rng) -> Release:
        even = super().after(original, release, rng)
        tables = even.tables if is_split(even.tables) else split(even.table)
        return ShuffleRows().after(original, Release(tables), rng)

    def _treat_file(self, original: Table, current: Table, rng: Rng) -> Table:
        if self.utility is not None:
            return _even_out(original, current, self.utility, rng)
        releases = ((u, _even_out(original, current, u, rng.spawn(1)[0])) for u in UTILITIES)
        return best_utility(original, releases, rng)


def _even_out(original: Table, current: Table, utility: float, rng: Rng) -> Table:
    bound = largest_error(utility, len(original))
    codes = {name: rng.permutation(original.codes[name]) for name in ATTRIBUTES}
    blocks = codes[ZIP_CODE].astype(np.int64)
    for name in (name for name in original.schema.names if name in MOVIES):
        counts = _released_counts(crosstab(original, ZIP_CODE, name).astype(np.int64), bound)
        values = np.repeat(np.tile(np.arange(HIGHEST_RATING + 1), len(counts)), counts.ravel())
        codes[name] = np.empty(len(blocks), dtype=np.int64)
        codes[name][np.lexsort((rng.random(len(blocks)), blocks))] = values
    state = CrosstabState.of(original, current.with_codes(codes))
    members = np.argsort(blocks, kind="stable")
    sizes = np.bincount(blocks)
    begins = np.cumsum(sizes) - sizes
    for _ in range(_SWEEPS):
        order = rng.permutation(len(blocks))
        if _trade(state.arrays, order, members, begins[blocks], sizes[blocks], bound, rng):
            break
    return state.applied_to(current)


def _released_counts(counts: Counts, bound: int) -> Counts:
    """Return usual counts in place of B's by ZIP-code and rating, and true ones of the largest ZIP-codes where they must be."""
    sizes = counts.sum(axis=1)
    released = usual_counts(sizes, counts.sum(axis=0) / counts.sum())
    errors = np.abs(released - counts).sum(axis=1)
    largest_first = np.argsort(-sizes, kind="stable")
    # Error after the first i + 1 show the truth; a count of the largest ZIP-codes tells least of one person.
    left = errors.sum() - np.cumsum(errors[largest_first])
    needed = int((left > bound).sum()) + 1 if errors.sum() > bound else 0
    released[largest_first[:needed]] = counts[largest_first[:needed]]
    return released


def usual_counts(sizes: Counts, shares: Floats) -> Counts:
    """Return the counts of each value whose expected absolute error is least, in blocks of these sizes, shape (blocks, values).

    One more row of a value changes the expected error by 2 P(X < c) - 1 with c the new count and X binomial, so that the
    rows of a block go to the smallest of these in turn.

    Examples
    --------
    >>> usual_counts(np.array([1, 4, 10]), np.array([0.7, 0.2, 0.1]))
    array([[1, 0, 0],
           [3, 1, 0],
           [7, 2, 1]])
    """
    counts = np.zeros((len(sizes), len(shares)), dtype=np.int64)
    for size in np.unique(sizes):
        # (size, values): P(X < c) for c = 1 ... size
        below = np.asarray(binom.cdf(np.arange(size)[:, None], size, shares[None, :]))
        first = np.argsort(below.ravel(), kind="stable")[:size]
        counts[sizes == size] = np.bincount(first % len(shares), minlength=len(shares))
    return counts


@compiled
def _trade(
    state: Any, order: Any, members: Any, begins: Any, sizes: Any, bound: int, rng: Any
) -> bool:
    """Trade ratings between rows of a block, which leaves the block's own tables as they are; whether all errors are within bound."""
    codes, _, _, _, errors = state
    for step in range(len(order)):
        row = order[step]
        if sizes[row] < 2:
            continue
        for column in range(codes.shape[0]):
            if errors[column].max() <= bound:
                continue
            best, best_change = -1, 0
            for _ in range(_PARTNERS):
                partner = members[begins[row] + int(rng.random() * sizes[row])]
                if codes[column, partner] == codes[column, row]:
                    continue
                change = _change(state, column, row, partner, bound)
                if change < best_change:
                    best, best_change = partner, change
            if best >= 0:
                value, other_value = codes[column, row], codes[column, best]
                overwrite_cell(state, column, row, other_value)
                overwrite_cell(state, column, best, value)
        if step % 100 == 0 and errors.max() <= bound:
            return True
    return bool(errors.max() <= bound)


@compiled
def _change(state: Any, column: int, row: int, partner: int, bound: int) -> int:
    """Return what trading the cells of two rows adds to the errors of the tables that are above the bound."""
    codes, cells, offsets, strides, errors = state
    change = 0
    value, other_value = codes[column, row], codes[column, partner]
    for other in range(codes.shape[0]):
        offset, step, stride = (
            offsets[column, other],
            strides[column, other],
            strides[other, column],
        )
        is_compared = other != column and offset >= 0 and errors[column, other] > bound
        if not is_compared or codes[other, row] == codes[other, partner]:
            continue
        row_cell, partner_cell = (
            offset + codes[other, row] * stride,
            offset + codes[other, partner] * stride,
        )
        for cell, sign in (
            (row_cell + value * step, -1),
            (row_cell + other_value * step, 1),
            (partner_cell + other_value * step, -1),
            (partner_cell + value * step, 1),
        ):
            change += abs(cells[cell] + sign) - abs(cells[cell])
    return change
