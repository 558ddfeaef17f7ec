"""The compiled loops over released rows and people; apart, so that Numba is loaded only when they are run."""

from __future__ import annotations

from typing import Any

import numpy as np

from kakurenbo.compiling import compiled


@compiled
def take_least(slots: Any, costs: Any, least: Any) -> None:  # pragma: no cover - compiled
    """Lower each person's least cost to that of the cheapest of the given released rows.

    Parameters
    ----------
    slots : array of uint32, shape (g, n)
        Where the costs of each person stand, at least three.
    costs : array of float64, shape (m, s)
        For each released row all costs that may occur.
    least : array of float64, shape (n,)
        Lowered.
    """
    groups, count = slots.shape
    total = np.empty(count)
    for row in range(len(costs)):
        cost = costs[row]
        first, second, third = slots[0], slots[1], slots[2]
        for person in range(count):
            total[person] = cost[first[person]] + cost[second[person]] + cost[third[person]]
        for group in range(3, groups):
            slot = slots[group]
            for person in range(count):
                total[person] += cost[slot[person]]
        for person in range(count):
            if total[person] < least[person]:
                least[person] = total[person]


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
    groups, count = slots.shape
    first, second, third = slots[0], slots[1], slots[2]
    for row in range(len(factors)):
        factor, product = factors[row], products[row]
        for person in range(count):
            product[person] = factor[first[person]] * factor[second[person]] * factor[third[person]]
        for group in range(3, groups):
            slot = slots[group]
            for person in range(count):
                product[person] *= factor[slot[person]]


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
    groups, count = slots.shape
    first, second, third = slots[0], slots[1], slots[2]
    product = np.empty(count)
    for row in range(len(factors)):
        factor, vote = factors[row], votes[shown[row]]
        for person in range(count):
            product[person] = factor[first[person]] * factor[second[person]] * factor[third[person]]
        for group in range(3, groups):
            slot = slots[group]
            for person in range(count):
                product[person] *= factor[slot[person]]
        for person in range(count):
            vote[person] += product[person]
