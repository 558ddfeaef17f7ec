"""The compiled loop of ``likelihood``: over all pairs of a release row and a population row, the odds that one made the other.

Kept apart so that Numba is loaded only when the attack is run. Sums run in a fixed order, so every machine gives the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kakurenbo.compiling import compiled

_SURE = 1e-12  # of the total: what is left for all other rows where rounding leaves nothing


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
    groups, count = slots.shape
    likelihood = np.empty(count)
    for release_row in range(len(factors)):
        factor = factors[release_row]
        first, second, last = slots[0], slots[1], slots[groups - 1]
        for b in range(count):
            likelihood[b] = factor[first[b]] * factor[second[b]]
        for group in range(2, groups - 1):
            slot = slots[group]
            for b in range(count):
                likelihood[b] *= factor[slot[b]]
        total = 0.0
        # The sum waits for each addition: the last look-ups fill the time.
        for b in range(count):
            likelihood[b] *= factor[last[b]]
            total += likelihood[b]
        if total > 0:
            least = _SURE * total
            for b in range(count):
                odds[b] += likelihood[b] / max(total - likelihood[b], least)
