"""The compiled loops over released rows and people; apart, so that Numba is loaded only when they are run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.compiling import compiled


@compiled
def take_least(slots: Any, costs: Any, first: int, least: Any, nearest: Any) -> None:  # pragma: no cover - compiled
    """Lower each person's least cost to that of the cheapest of the given released rows.

    Parameters
    ----------
    slots : array of uint32, shape (g, n)
        Where the costs of each person stand, at least three.
    costs : array of float64, shape (m, s)
        For each released row all costs that may occur.
    first : int
        The number of the first of these rows.
    least : array of float64, shape (n,)
        Lowered.
    nearest : array of int64, shape (n,)
        The row of the least cost.
    """
    groups, count = slots.shape
    total = np.empty(count)
    for row in range(len(costs)):
        cost = costs[row]
        one, two, three = slots[0], slots[1], slots[2]
        for person in range(count):
            total[person] = cost[one[person]] + cost[two[person]] + cost[three[person]]
        for group in range(3, groups - 2, 3):
            one, two, three = slots[group], slots[group + 1], slots[group + 2]
            for person in range(count):
                total[person] += cost[one[person]] + cost[two[person]] + cost[three[person]]
        for group in range(groups - groups % 3, groups):
            one = slots[group]
            for person in range(count):
                total[person] += cost[one[person]]
        for person in range(count):
            if total[person] < least[person]:
                least[person] = total[person]
                nearest[person] = first + row


@compiled
def fill_products(slots: Any, factors: Any, products: Any) -> None:  # pragma: no cover - compiled
    """Fill in P(released row | person) of every pair, shape (m, n): the product of each person's factors.

    Parameters
    ----------
    slots : array of uint32, shape (g, n)
        At least three groups.
    factors : array of float64, shape (m, s)
    products : array of float64, shape (m, n)
    """
    for row in range(len(factors)):
        _multiply(slots, factors[row], products[row])


@compiled
def _multiply(slots: Any, factor: Any, made: Any) -> None:  # pragma: no cover - compiled
    """Fill in the products of each person's factors, shape (n,)."""
    groups, count = slots.shape
    one, two, three = slots[0], slots[1], slots[2]
    for person in range(count):
        made[person] = factor[one[person]] * factor[two[person]] * factor[three[person]]
    for group in range(3, groups - 2, 3):
        one, two, three = slots[group], slots[group + 1], slots[group + 2]
        for person in range(count):
            made[person] *= factor[one[person]] * factor[two[person]] * factor[three[person]]
    for group in range(groups - groups % 3, groups):
        one = slots[group]
        for person in range(count):
            made[person] *= factor[one[person]]


@compiled
def add_votes(slots: Any, factors: Any, shown: Any, votes: Any) -> None:  # pragma: no cover - compiled
    """Let every released row vote for the value that it shows, with P(released row | person), for each person.

    Parameters
    ----------
    slots : array of uint32, shape (g, n)
        At least three groups.
    factors : array of float64, shape (m, s)
    shown : array of int32, shape (m,)
        The value that each row shows.
    votes : array of float64, shape (values, n)
        Added to.
    """
    count = slots.shape[1]
    product = np.empty(count)
    for row in range(len(factors)):
        _multiply(slots, factors[row], product)
        vote = votes[shown[row]]
        for person in range(count):
            vote[person] += product[person]


def how_many(keys: NDArray[np.int64], sought: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often each sought number occurs among the keys, shape of ``sought``."""
    bits = max(int(2 * len(sought)).bit_length(), 4)
    return np.asarray(_count_sought(keys, sought, bits))


@compiled
def _count_sought(keys: Any, sought: Any, bits: int) -> Any:  # pragma: no cover - compiled
    """Look the keys up in a hash table of what is sought: it is small, the keys are many.

    Parameters
    ----------
    keys, sought : arrays of int64
    bits : int
        Of a place in the table, so that at least half of it stays empty.
    """
    size = 1 << bits
    at = np.full(size, -1)
    counts = np.zeros(size, dtype=np.int64)
    held = np.empty(size, dtype=np.int64)
    for number in sought:
        place = _place(number, bits)
        while at[place] >= 0 and held[place] != number:
            place = (place + 1) & (size - 1)
        at[place], held[place] = 0, number
    for number in keys:
        place = _place(number, bits)
        while at[place] >= 0:
            if held[place] == number:
                counts[place] += 1
                break
            place = (place + 1) & (size - 1)
    found = np.empty(len(sought), dtype=np.int64)
    for row in range(len(sought)):
        place = _place(sought[row], bits)
        while held[place] != sought[row]:
            place = (place + 1) & (size - 1)
        found[row] = counts[place]
    return found


@compiled
def _place(number: int, bits: int) -> Any:  # pragma: no cover - compiled
    """Where a number stands in a table: the upper bits of its product with 2^64 over the golden ratio (Knuth)."""
    return np.int64((np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits))
