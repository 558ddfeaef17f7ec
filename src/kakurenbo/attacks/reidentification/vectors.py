"""Noisy vectors: the prices, or quantities, of a basket in ascending order, against those of a basket of the same size.

Noise on every value hardly moves the k-th smallest of them, so sorted vectors still tell people apart where no value was left
as it was; items are not looked at, so that swapping these does not help.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reidentification.matching import Scores
from kakurenbo.attacks.reidentification.monthly import Month, Side, Vector

_FARTHEST = 8.0  # one value that is off altogether costs this much, not everything
_SMALLEST = 1e-6  # prices that are not positive have no log
_STEPS = 8
_LOWEST, _HIGHEST = 1e-3, 0.999
_BLOCK = 512  # customers of one size that are compared at a time


@dataclass(frozen=True, eq=False)
class SortedVectors:
    """One kind of vector of one month.

    Attributes
    ----------
    log_ratio : array, shape (customers, pseudonyms)
        log P(vector of the pseudonym | noise on the customer's) - log P(it | noise on anybody's of the same size).
    comparable : array of bool, shape (customers, pseudonyms)
        Whether the two baskets have the same size; the others say nothing of each other.
    """

    log_ratio: Scores
    comparable: NDArray[np.bool_]

    @classmethod
    def of(cls, month: Month, kind: str) -> SortedVectors:
        vector = month.vectors[kind]
        ours, theirs = (_sorted_logs(side, vector) for side in (month.original, month.released))
        sizes = month.original.sizes, month.released.sizes
        shape = len(sizes[0]), len(sizes[1])
        ratio, comparable = (
            np.zeros(shape, dtype=np.float32),
            sizes[0][:, None] == sizes[1][None, :],
        )
        for size in np.intersect1d(*sizes):
            customers, pseudonyms = (np.flatnonzero(side == size) for side in sizes)
            fit = _fit(ours(customers), theirs(pseudonyms), vector.sigma)
            best = fit.max(axis=0)
            # Whose it may be otherwise: the mean over everybody whose basket has this size.
            ratio[np.ix_(customers, pseudonyms)] = (
                fit - best - np.log(np.exp(fit - best).mean(axis=0))
            )
        return cls(ratio, comparable)

    def add_scores(self, total: Scores, rho: float) -> None:
        """Add log((1 - rho) + rho ratio): the vector is the customer's with probability rho, else anybody's."""
        total += np.where(
            self.comparable, np.log1p(np.float32(rho) * np.expm1(self.log_ratio)), np.float32(0)
        )

    def scores(self, rho: float) -> Scores:
        """The scores alone, shape (customers, pseudonyms)."""
        total = np.zeros_like(self.log_ratio)
        self.add_scores(total, rho)
        return total

    def kept_share(
        self, customers: NDArray[np.int64], pseudonyms: NDArray[np.int64], rho: float
    ) -> float:
        """EM estimate of rho on matched pairs of equal size; the lowest where there are none."""
        ratio = np.exp(
            self.log_ratio[customers, pseudonyms][self.comparable[customers, pseudonyms]].astype(
                np.float64
            )
        )
        if not len(ratio):
            return _LOWEST
        for _ in range(_STEPS):
            rho = float(np.clip((rho * ratio / (rho * ratio + 1 - rho)).mean(), _LOWEST, _HIGHEST))
        return rho


def _sorted_logs(side: Side, vector: Vector) -> Callable[[NDArray[np.int64]], NDArray[np.float32]]:
    """A function from owners of one basket size to the logs of their values in ascending order, shape (owners, size)."""
    values = side.values[vector.field].astype(np.float64)
    logs = (
        np.log1p(np.maximum(values, 0)) if vector.counted else np.log(np.maximum(values, _SMALLEST))
    )
    ascending = logs[np.lexsort((logs, side.owner))].astype(np.float32)
    start = np.cumsum(side.sizes) - side.sizes

    def of(owners: NDArray[np.int64]) -> NDArray[np.float32]:
        found: NDArray[np.float32] = ascending[
            start[owners][:, None] + np.arange(side.sizes[owners[0]])
        ]
        return found

    return of


def _fit(ours: NDArray[np.float32], theirs: NDArray[np.float32], sigma: float) -> Scores:
    """- sum_k min(8, (log p_(k) - log p'_(k))^2 / 2 sigma^2), shape (customers, pseudonyms)."""
    total = np.zeros((len(ours), len(theirs)), dtype=np.float32)
    scale = np.float32(1 / (np.sqrt(2) * sigma))
    for place in range(ours.shape[1]):
        for start in range(0, len(ours), _BLOCK):
            apart = (ours[start : start + _BLOCK, place, None] - theirs[None, :, place]) * scale
            total[start : start + _BLOCK] -= np.minimum(apart * apart, np.float32(_FARTHEST))
    return total
