"""The compiled loop of ``likelihood``: over all pairs of a release row and a population row, the odds that one made the other.

Kept apart so that Numba is loaded only when the attack is run. Sums run in a fixed order, so every machine gives the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kakurenbo.compiling import compiled

_SURE = 1e-12  # of the total: what is left for all other rows where rounding leaves nothing
_SMALL = 1e-8  # a share x whose odds x / (1 - x) are x itself, but for the last bits


@compiled
def add_odds(slots: Any, factors: Any, odds: Any) -> None:  # pragma: no cover - compiled
    """Add to each population row b the odds that it, and no other row, made d, for every given release row d.

    P(d | b) is a product of gathered factors; the odds of b are P(d | b) / sum over b' != b of P(d | b').

    Parameters
    ----------
    slots : array of uint32, shape (g, n)
        Where the factors of each population row stand, at least three; unsigned, because Numba tests signed ones for -1.
    factors : array of float64, shape (m, s)
        For each release row all factors that may occur.
    odds : array of float64, shape (n,)
        Added to.
    """
    likelihood = np.empty(slots.shape[1])
    for release_row in range(len(factors)):
        total = _likelihoods(slots, factors[release_row], likelihood)
        if total > 0:
            scale = 1 / total
            for b in range(len(likelihood)):
                share = likelihood[b] * scale
                if share > _SMALL:  # few rows: most are spared the division
                    share /= max(1 - share, _SURE)
                odds[b] += share


@compiled
def _likelihoods(slots: Any, factor: Any, likelihood: Any) -> float:  # pragma: no cover - compiled
    """Fill in the products of each row's factors, shape (n,), and give their sum."""
    groups, count = slots.shape
    if groups > 3:
        for b in range(count):
            likelihood[b] = factor[slots[0][b]]
        for group in range(1, groups):
            slot = slots[group]
            for b in range(count):
                likelihood[b] *= factor[slot[b]]
        total: float = likelihood.sum()
        return total
    first, second, third = slots[0], slots[1], slots[2]
    # Four sums side by side, because each addition has to wait for the one before it.
    sum_0 = sum_1 = sum_2 = sum_3 = 0.0
    fours = count // 4 * 4
    for b in range(0, fours, 4):
        one = factor[first[b]] * factor[second[b]] * factor[third[b]]
        two = factor[first[b + 1]] * factor[second[b + 1]] * factor[third[b + 1]]
        three = factor[first[b + 2]] * factor[second[b + 2]] * factor[third[b + 2]]
        four = factor[first[b + 3]] * factor[second[b + 3]] * factor[third[b + 3]]
        likelihood[b], likelihood[b + 1], likelihood[b + 2], likelihood[b + 3] = one, two, three, four
        sum_0 += one
        sum_1 += two
        sum_2 += three
        sum_3 += four
    for b in range(fours, count):
        likelihood[b] = factor[first[b]] * factor[second[b]] * factor[third[b]]
        sum_0 += likelihood[b]
    return (sum_0 + sum_1) + (sum_2 + sum_3)
