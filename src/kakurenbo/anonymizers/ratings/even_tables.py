"""Tables that say what is usual and no more: every ZIP-code has the ratings that a place of its size has on average.

A released count n_C of a cell with B's count n_B costs |n_C - n_B|. A permuted column draws n_C by chance, and chance adds to
chance. The number that costs least without any look at n_B is the median of its distribution, and it tells nothing of anybody.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from kakurenbo.anonymizers.ratings.choosing import UTILITIES, best_utility
from kakurenbo.anonymizers.ratings.crosstab_repair import largest_error
from kakurenbo.anonymizers.ratings.files import FileStep
from kakurenbo.anonymizers.ratings.repair_kernel import CrosstabState
from kakurenbo.anonymizers.ratings.shuffling import ShuffleRows
from kakurenbo.anonymizers.ratings.swap_kernel import trade_within
from kakurenbo.contracts import Release
from kakurenbo.datasets.ratings import ATTRIBUTES, HIGHEST_RATING, MOVIES, ZIP_CODE, is_split, split
from kakurenbo.parameters import parameter
from kakurenbo.tables import Table
from kakurenbo.tables.crosstabs import crosstab

Counts = NDArray[np.int64]

_RATINGS = HIGHEST_RATING + 1
_SWEEPS = 40


@dataclass(frozen=True)
class EvenTables(FileStep):
    """New rows in which every ZIP-code has usual ratings; tables of other columns are repaired to a utility and no further.

    Each ZIP-code gets every rating as often as a place of its size has it at the median. Movies that this leaves below the
    utility show the true counts of the largest ZIP-codes, as many as it takes. Then ratings are traded between rows of the same
    ZIP-code until the other tables are good enough. The whole table is treated before it is split, so that there is one noise
    for all files, and each file gets an order of its own.
    """

    per_file: bool = parameter(False, "treat each of the ten files by itself; false: the whole table, before it is split")
    utility: float | None = parameter(None, "utility of the release", low=0, high=100, none="the one that suits the data")

    def after(self, original: Table, release: Release, rng: np.random.Generator) -> Release:
        made = super().after(original, release, rng)
        tables = made.tables if is_split(made.tables) else split(made.table)
        return ShuffleRows().after(original, Release(tables), rng)

    def _treat_file(self, original: Table, current: Table, rng: np.random.Generator) -> Table:
        if self.utility is not None:
            return self._made(original, current, self.utility, rng)
        made = ((utility, self._made(original, current, utility, rng.spawn(1)[0])) for utility in UTILITIES)
        return best_utility(original, made, rng)

    def _made(self, original: Table, current: Table, utility: float, rng: np.random.Generator) -> Table:
        bound = largest_error(utility, len(original))
        codes = {name: rng.permutation(original.codes[name]) for name in ATTRIBUTES}
        blocks = codes[ZIP_CODE].astype(np.int64)
        for name in original.schema.names:
            if name in MOVIES:
                counts = crosstab(original, ZIP_CODE, name).astype(np.int64)
                codes[name] = _dealt(_shown(counts, bound), blocks, rng)
        state = CrosstabState.of(original, current.with_codes(codes))
        for _ in range(_SWEEPS):
            if trade_within(state, blocks, bound, rng):
                break
        return state.applied_to(current)


def _shown(counts: Counts, bound: int) -> Counts:
    """The table that is released for B's table of ZIP-code and rating: usual counts, and true ones where they must be."""
    sizes = counts.sum(axis=1)
    shown = usual_counts(sizes, counts.sum(axis=0) / counts.sum())
    errors = np.abs(shown - counts).sum(axis=1)
    largest_first = np.argsort(-sizes, kind="stable")
    left = errors.sum() - np.cumsum(errors[largest_first])  # error after the first i + 1 show the truth
    needed = int((left > bound).sum()) + 1 if errors.sum() > bound else 0
    # A count of the largest ZIP-codes tells least of one person.
    told = largest_first[:needed]
    shown[told] = counts[told]
    return shown


def usual_counts(sizes: Counts, shares: NDArray[np.float64]) -> Counts:
    """For blocks of these sizes the counts of each value whose expected absolute error is least, shape (blocks, values).

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


def _dealt(shown: Counts, blocks: Counts, rng: np.random.Generator) -> Counts:
    """A column with the counts of ``shown`` in each block, in random order within it."""
    values = np.repeat(np.tile(np.arange(_RATINGS), len(shown)), shown.ravel())  # block after block
    column = np.empty(len(blocks), dtype=np.int64)
    column[np.lexsort((rng.random(len(blocks)), blocks))] = values
    return column
