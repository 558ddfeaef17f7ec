"""The compiled loop of ``likelihood``: over all pairs of a release row and a population row, the odds that one made the other.

Kept apart so that Numba is loaded only when the attack is run. Sums run in a fixed order, so every machine gives the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.core.compiling import compiled

_SURE = 1e-12  # of the total: what is left for all other rows where rounding leaves nothing
_SMALL = 1e-8  # a share x whose odds x / (1 - x) are x itself, but for the last bits
_TOGETHER = 1024  # population rows whose products of more than three factors are made together
_STRETCH = 64  # population rows that are looked through together for shares that are not small


def summed_odds(
    slots: NDArray[np.uint32], blocks: Iterable[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """For each population row b the odds that it, and no other row, made d, summed over release rows d; shape (n,).

    P(d | b) is a product of gathered factors; the odds of b are P(d | b) / sum over b' != b of P(d | b').

    Parameters
    ----------
    slots : array of uint32, shape (g, n)
        Where the factors of each population row stand, at least three; unsigned, because Numba tests signed ones for -1.
    blocks : iterable of arrays of float64, shape (m, s)
        For each release row all factors that may occur; some release rows at a time.
    """
    order = np.argsort(slots[0], kind="stable")  # rows that share the first factor look it up once
    together = np.ascontiguousarray(slots[:, order])
    summed = np.zeros(slots.shape[1])
    for factors in blocks:
        _add_odds(together, factors, summed)
    odds = np.empty_like(summed)
    odds[order] = summed
    return odds


@compiled
def _add_odds(slots: Any, factors: Any, odds: Any) -> None:  # pragma: no cover - compiled
    """Add the odds that the given release rows, shape (m, s), give to each population row, shape (n,)."""
    likelihood = np.empty(slots.shape[1])
    ends = _ends(slots[0])
    for release_row in range(len(factors)):
        total = _likelihoods(slots, ends, factors[release_row], likelihood)
        if total > 0:
            _add_shares(likelihood, total, odds)


@compiled
def _ends(slot: Any) -> Any:  # pragma: no cover - compiled
    """Behind the last row of each run of equal slots."""
    ends = np.empty(len(slot), dtype=np.int64)
    runs = 0
    for b in range(1, len(slot) + 1):
        if b == len(slot) or slot[b] != slot[b - 1]:
            ends[runs] = b
            runs += 1
    return ends[:runs]


@compiled
def _likelihoods(
    slots: Any, ends: Any, factor: Any, likelihood: Any
) -> float:  # pragma: no cover - compiled
    """Fill in the products of each row's factors, shape (n,), and give their sum."""
    groups, count = slots.shape
    if groups > 3:
        # Some rows at a time, whose products stay in the fastest cache; the factors in the order of their groups.
        for begin in range(0, count, _TOGETHER):
            made = likelihood[begin : begin + _TOGETHER]
            size = len(made)
            one, two, three = (
                slots[0, begin : begin + size],
                slots[1, begin : begin + size],
                slots[2, begin : begin + size],
            )
            for b in range(size):
                made[b] = factor[one[b]] * factor[two[b]] * factor[three[b]]
            for group in range(3, groups - 2, 3):
                one, two = (
                    slots[group, begin : begin + size],
                    slots[group + 1, begin : begin + size],
                )
                three = slots[group + 2, begin : begin + size]
                for b in range(size):
                    made[b] = made[b] * factor[one[b]] * factor[two[b]] * factor[three[b]]
            for group in range(groups - groups % 3, groups):
                one = slots[group, begin : begin + size]
                for b in range(size):
                    made[b] *= factor[one[b]]
        total: float = likelihood.sum()
        return total
    # Four sums side by side, because each addition has to wait for the one before it.
    sum_0 = sum_1 = sum_2 = sum_3 = 0.0
    begin = 0
    for end in ends:
        common = factor[slots[0, begin]]
        # Slices, because of numbers from 0 on Numba knows that none is negative.
        second, third, made = slots[1, begin:end], slots[2, begin:end], likelihood[begin:end]
        fours = len(made) // 4 * 4
        for b in range(0, fours, 4):
            one = common * factor[second[b]] * factor[third[b]]
            two = common * factor[second[b + 1]] * factor[third[b + 1]]
            three = common * factor[second[b + 2]] * factor[third[b + 2]]
            four = common * factor[second[b + 3]] * factor[third[b + 3]]
            made[b], made[b + 1], made[b + 2], made[b + 3] = one, two, three, four
            sum_0 += one
            sum_1 += two
            sum_2 += three
            sum_3 += four
        for b in range(fours, len(made)):
            made[b] = common * factor[second[b]] * factor[third[b]]
            sum_0 += made[b]
        begin = end
    return (sum_0 + sum_1) + (sum_2 + sum_3)


@compiled
def _add_shares(likelihood: Any, total: float, odds: Any) -> None:  # pragma: no cover - compiled
    """Add the odds of each row's share of the total; where all shares of a stretch are small, these are the odds."""
    scale = 1 / total
    for begin in range(0, len(likelihood), _STRETCH):
        own, added = likelihood[begin : begin + _STRETCH], odds[begin : begin + _STRETCH]
        large = 0
        for b in range(len(own)):
            large += own[b] * scale > _SMALL
        if large == 0:  # most stretches: without a branch or a division for each row
            for b in range(len(own)):
                added[b] += own[b] * scale
            continue
        for b in range(len(own)):
            share = own[b] * scale
            if share > _SMALL:
                share /= max(1 - share, _SURE)
            added[b] += share
