"""Odds over all pairs of released rows and people, for any schema and any mechanism.

P(d | b) is a product over columns. Columns are put together in few groups of small domains: a pair
costs one look-up for each group. A matrix of a column is as wide as what is released of it, which
may be coarser than the people.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
GROUP_SIZE = 4096  # values of a group of columns: their factors together stay in the fastest cache
_MIN_GROUPS = 3  # what the compiled loop takes; a group may be empty
_BLOCK = 256  # released rows whose factors are held at a time


@dataclass(frozen=True, eq=False)
class Pairs:
    """What released rows give people, by groups of columns.

    Attributes
    ----------
    slots : array of uint32, shape (groups, n)
        Where the factors of each person stand; those of the first group first.
    factors : tuple of mappings of column number to array, shape (released, values of the group)
        For each group and each of its columns what every released code gives the values that occur
        together.
    """

    slots: NDArray[np.uint32]
    factors: tuple[dict[int, Floats], ...]

    @classmethod
    def of(
        cls,
        people: Sequence[NDArray[np.integer]],
        matrices: Sequence[Floats],
        most: int = GROUP_SIZE,
    ) -> Pairs:
        """Prepare the pairs of these people with any released rows.

        Parameters
        ----------
        people : sequence of arrays of int, shape (n,)
            The codes of each column.
        matrices : sequence of arrays, shape (size, released)
            P(released code | code) of each column.
        most : int
            Values that a group of several columns may have.
        """
        slots, factors, first = [], [], 0
        for group in group_columns([len(matrix) for matrix in matrices], most):
            keys = np.zeros(len(people[0]), dtype=np.int64)
            for column in group:
                keys = keys * len(matrices[column]) + people[column]
            _, examples, places = np.unique(keys, return_index=True, return_inverse=True)
            slots.append(first + places)
            codes = {column: people[column][examples] for column in group}
            factors.append({c: np.ascontiguousarray(matrices[c][codes[c]].T) for c in group})
            first += len(examples)
        return cls(np.stack(slots).astype(np.uint32), tuple(factors))

    @property
    def count(self) -> int:
        """How many factors a released row has."""
        return int(self.slots.max()) + 1

    def products(self, release: Sequence[NDArray[np.integer]]) -> Iterator[Floats]:
        """Yield the product over each group's columns for blocks of released rows, shape (block,
        factors).
        """
        rows = len(release[0])
        for begin in range(0, rows, _BLOCK):
            parts = []
            for group in self.factors:
                part = np.ones((min(_BLOCK, rows - begin), 1))
                for column, factors in group.items():
                    part = part * factors[release[column][begin : begin + _BLOCK]]
                parts.append(part)
            yield np.hstack(parts)


def group_columns(sizes: Sequence[int], most: int = GROUP_SIZE) -> list[list[int]]:
    """Put columns in as few groups as have small products of sizes.

    Examples
    --------
    >>> group_columns([74, 2, 99, 16])
    [[2], [0], [3, 1]]
    """
    by_size = sorted(range(len(sizes)), key=lambda column: -sizes[column])
    for count in range(_MIN_GROUPS, max(_MIN_GROUPS, len(by_size)) + 1):
        groups: list[list[int]] = [[] for _ in range(count)]
        products = [1] * count
        for column in by_size:
            smallest = products.index(min(products))
            groups[smallest].append(column)
            products[smallest] *= sizes[column]
        if max(products) <= max(most, *sizes):  # a large column has a group in any case
            break
    return groups


def summed_odds(slots: NDArray[np.uint32], blocks: Iterable[Floats]) -> Floats:
    """Sum over released rows d the odds that a person b, and nobody else, made d, shape (n,).

    The odds of b are P(d | b) / sum over b' != b of P(d | b').

    Parameters
    ----------
    slots : array of uint32, shape (g, n)
        Where the factors of each person stand, in at least three groups.
    blocks : iterable of arrays of float64, shape (m, s)
        For each released row all factors that may occur; some rows at a time.
    """
    from kakurenbo.attacks.records.loops import add_odds

    order = np.argsort(slots[0], kind="stable")  # who shares a factor looks it up in turn: faster
    sorted_slots = np.ascontiguousarray(slots[:, order])
    ends = np.append(np.flatnonzero(np.diff(sorted_slots[0])) + 1, len(order))
    summed = np.zeros(len(order))
    for factors in blocks:
        add_odds(sorted_slots, ends, factors, summed)
    odds = np.empty_like(summed)
    odds[order] = summed
    return odds
