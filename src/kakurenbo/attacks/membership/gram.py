"""The compiled loops of :class:`Rows`: sums and products of sparse feature vectors.

Kept apart so that Numba is loaded only when an attack is run. Sums run in a fixed order, so every machine gives the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kakurenbo.core.compiling import compiled


@compiled
def add_products(places: Any, values: Any, products: Any) -> None:  # pragma: no cover - compiled
    """Add phi phi^T of every row, each two features once, on either side of the diagonal.

    Parameters
    ----------
    places : array of int32, shape (n, slots)
    values : array of float64, shape (n, slots)
    products : array of float64, shape (d, d)
        Added to.
    """
    slots = places.shape[1]
    for row in range(len(places)):
        for first in range(slots):
            place, value = places[row, first], values[row, first]
            if value != 0.0:
                for second in range(first, slots):
                    products[place, places[row, second]] += value * values[row, second]


@compiled
def weighted_sum(
    places: Any, values: Any, weights: Any, count: Any
) -> Any:  # pragma: no cover - compiled
    """The sum over rows of weight times phi, shape (count,)."""
    total = np.zeros(count)
    for row in range(len(places)):
        weight = weights[row]
        for slot in range(places.shape[1]):
            total[places[row, slot]] += weight * values[row, slot]
    return total


@compiled
def dots(places: Any, values: Any, weights: Any) -> Any:  # pragma: no cover - compiled
    """phi^T weights of each row, shape (n,)."""
    found = np.zeros(len(places))
    for row in range(len(places)):
        total = 0.0
        for slot in range(places.shape[1]):
            total += weights[places[row, slot]] * values[row, slot]
        found[row] = total
    return found
