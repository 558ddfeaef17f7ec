"""All pairs of a released row and a person at the price of a few look-ups: what a row gives each value of a group of columns.

Columns are put together in few groups of small domains. Any schema and any mechanism takes part, also one whose releases are
coarser than the people: a matrix of a column is as wide as what is released of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
GROUP_SIZE = 4096  # values of a group of columns: their factors together stay in the fastest cache
_LEAST_GROUPS = 3  # what the compiled loops take; a group may be empty
BLOCK = 256  # released rows whose factors are held at a time


@dataclass(frozen=True, eq=False)
class Pairs:
    """What released rows give people, by groups of columns.

    Attributes
    ----------
    slots : array of uint32, shape (groups, n)
        Where the factors of each person stand; those of the first group first.
    factors : tuple of mappings of column number to array, shape (released, values of the group)
        For each group and each of its columns what every released code gives the values that occur together.
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
        """The pairs of these people with any released rows.

        Parameters
        ----------
        people : sequence of arrays of int, shape (n,)
            The codes of each column.
        matrices : sequence of arrays, shape (size, released)
            What a released code gives a code: a probability, or a cost.
        most : int
            Values that a group of several columns may have.
        """
        slots, factors, first = [], [], 0
        for group in grouped([len(matrix) for matrix in matrices], most):
            keys = np.zeros(len(people[0]), dtype=np.int64)
            for column in group:
                keys = keys * len(matrices[column]) + people[column]
            _, examples, places = np.unique(keys, return_index=True, return_inverse=True)
            slots.append(first + places)
            factors.append(
                {
                    column: np.ascontiguousarray(matrices[column][people[column][examples]].T)
                    for column in group
                }
            )
            first += len(examples)
        return cls(np.stack(slots).astype(np.uint32), tuple(factors))

    @property
    def count(self) -> int:
        """How many factors a released row has."""
        return int(self.slots.max()) + 1

    def products(self, release: Sequence[NDArray[np.integer]]) -> Iterator[Floats]:
        """For blocks of released rows the product over a group's columns, shape (block, factors)."""
        return self._blocks(release, 1.0, np.multiply)

    def sums(self, release: Sequence[NDArray[np.integer]]) -> Iterator[Floats]:
        """For blocks of released rows the sum over a group's columns, shape (block, factors)."""
        return self._blocks(release, 0.0, np.add)

    def _blocks(
        self,
        release: Sequence[NDArray[np.integer]],
        start: float,
        combine: Callable[[Floats, Floats], Floats],
    ) -> Iterator[Floats]:
        rows = len(release[0])
        for begin in range(0, rows, BLOCK):
            parts = []
            for group in self.factors:
                part = np.full((min(BLOCK, rows - begin), 1), start)
                for column, given in group.items():
                    part = combine(part, given[release[column][begin : begin + BLOCK]])
                parts.append(part)
            yield np.hstack(parts)


def grouped(sizes: Sequence[int], most: int = GROUP_SIZE) -> list[list[int]]:
    """Columns in as few groups as have small products of sizes: a group costs one look-up for every pair of rows.

    Examples
    --------
    >>> grouped([74, 2, 99, 16])
    [[2], [0], [3, 1]]
    """
    by_size = sorted(range(len(sizes)), key=lambda column: -sizes[column])
    for count in range(_LEAST_GROUPS, max(_LEAST_GROUPS, len(by_size)) + 1):
        groups: list[list[int]] = [[] for _ in range(count)]
        products = [1] * count
        for column in by_size:
            smallest = products.index(min(products))
            groups[smallest].append(column)
            products[smallest] *= sizes[column]
        if max(products) <= max(most, *sizes):  # a large column has a group in any case
            break
    return groups
