"""Rows as feature vectors phi: every value of every column, and the products of two columns.

A vector is sparse: of a column, or of a pair of columns, exactly one feature is not 0. Rows are kept as the place and the
value of that one feature, a *slot* for each column and pair: 45 numbers for 9 columns instead of 1,288.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.core import Category, Coarsening, Table
from kakurenbo.core.errors import ParameterError

_LARGEST_DOMAIN = 512  # values of a column: wider ones take part in groups
_LARGEST_LEVELS = 64  # of a category that takes part in pairs
_MOST_FEATURES, _MOST_PAIRS = 2_500, 150  # of all kinds; the pairs of the most features go first
_SEEN = 10  # times that a pair of values must occur in B

Places = NDArray[np.int32]
Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rows:
    """The features of some rows.

    Attributes
    ----------
    places : array of int32, shape (n, slots)
        Which feature of a slot is not 0; the number of features, d, where none is.
    values : array of float64, shape (n, slots)
        Its value; 1 for what merely occurs.
    count : int
        Features, d.
    """

    places: Places
    values: Values
    count: int

    def __len__(self) -> int:
        return len(self.places)

    def sums(self, weights: Values) -> Values:
        """The sum of the feature vectors, each times the weight of its row, shape (d,)."""
        from kakurenbo.attacks.membership.gram import weighted_sum

        total: Values = weighted_sum(self.places, self.values, weights, self.count + 1)
        return total[:-1]

    def mean(self) -> Values:
        """The mean feature vector, shape (d,)."""
        return self.sums(np.full(len(self), 1 / len(self)))

    def parts(self, weights: Values) -> Values:
        """What each slot adds to phi^T ``weights``, shape (n, slots)."""
        gathered: Values = np.append(weights, 0.0)[self.places]
        return gathered * self.values

    def dot(self, weights: Values) -> Values:
        """phi^T ``weights`` of each row, shape (n,)."""
        from kakurenbo.attacks.membership.gram import dots

        found: Values = dots(self.places, self.values, np.append(weights, 0.0))
        return found

    def covariance(self) -> Values:
        """The covariance of the feature vectors, shape (d, d)."""
        from kakurenbo.attacks.membership.gram import add_products

        products = np.zeros((self.count + 1, self.count + 1))
        add_products(self.places, self.values, products)
        products = products[:-1, :-1]
        products = products + products.T - np.diag(np.diag(products))
        mean = self.mean()
        return products / len(self) - np.outer(mean, mean)


@dataclass(frozen=True, eq=False)
class _Slot:
    """One column, or a pair of them: which features it has, and where they begin."""

    names: tuple[str, ...]
    first: int
    numbers: NDArray[np.int64] | None = None  # of each pair of levels: which feature it is, or -1
    size: int = 0


class PairFeatures:
    """The features of tables of one schema, as a population defines them.

    Parameters
    ----------
    population : Table
        B: which pairs are seen often enough, and by which mean and deviation numbers are standardized.
    release : Table
        D: wide columns are grouped by the values of both tables.
    pairs : bool
        Whether there are products of columns at all, or their values only.

    Attributes
    ----------
    count : int
        Features, d.
    owners : array of int64, shape (d,)
        The slot of each feature.
    slots : tuple of tuples of str
        The column or the two columns of each slot.
    """

    def __init__(self, population: Table, release: Table, *, pairs: bool = True) -> None:
        for column in population.schema:
            if column.size is None:
                raise ParameterError("population", "columns of finite domains", column.name)
        self._coarsening = Coarsening.of((population, release), _LARGEST_DOMAIN)
        coarse = self._coarsening.apply(population)
        self._scales: dict[str, tuple[float, float]] = {}
        for column in coarse.schema:
            if not isinstance(column, Category):
                codes = coarse.codes[column.name].astype(np.float64)
                self._scales[column.name] = float(codes.mean()), float(codes.std()) or 1.0
        slots, first = [], 0
        for column in coarse.schema:
            slots.append(_Slot((column.name,), first, size=column.size or 0))
            first += column.size or 0
        for names, numbers in _chosen(coarse, self._scales, first) if pairs else ():
            size = 1 if numbers is None else int(numbers.max()) + 1
            slots.append(_Slot(names, first, numbers, size))
            first += size
        self._slots, self.count = tuple(slots), first
        self.owners = np.repeat(np.arange(len(slots)), [slot.size for slot in slots])
        self.slots = tuple(slot.names for slot in slots)

    def rows(self, table: Table) -> Rows:
        """The features of a table's rows."""
        coarse = self._coarsening.apply(table)
        places = np.empty((len(table), len(self._slots)), dtype=np.int32)
        values = np.ones((len(table), len(self._slots)))
        standard = {
            name: (coarse.codes[name] - mean) / scale
            for name, (mean, scale) in self._scales.items()
        }
        for index, slot in enumerate(self._slots):
            if len(slot.names) == 1:
                places[:, index] = slot.first + coarse.codes[slot.names[0]].astype(np.int32)
                continue
            levels = [name for name in slot.names if name not in standard]
            for name in slot.names:
                if name in standard:
                    values[:, index] *= standard[name]
            if slot.numbers is None:
                places[:, index] = slot.first
            else:
                numbers = slot.numbers[coarse.keys(levels)]
                places[:, index] = np.where(numbers < 0, self.count, slot.first + numbers)
        return Rows(places, values, self.count)


def _chosen(
    table: Table, numbers: dict[str, tuple[float, float]], taken: int
) -> list[tuple[tuple[str, str], NDArray[np.int64] | None]]:
    """The pairs of columns that take part, and the number of each pair of levels that occurs often enough."""
    found: list[tuple[tuple[str, str], NDArray[np.int64] | None, int]] = []
    for a, b in itertools.combinations(table.schema.names, 2):
        levels = [name for name in (a, b) if name not in numbers]
        if any((table.schema[name].size or 0) > _LARGEST_LEVELS for name in levels):
            continue
        if not levels:
            found.append(((a, b), None, 1))
            continue
        sizes = [table.schema[name].size or 0 for name in levels]
        often = np.bincount(table.keys(levels), minlength=int(np.prod(sizes))) >= _SEEN
        if often.any():
            found.append(((a, b), np.where(often, np.cumsum(often) - 1, -1), int(often.sum())))
    by_size = sorted(range(len(found)), key=lambda index: -found[index][2])[:_MOST_PAIRS]
    kept = []
    for index in by_size:
        taken += found[index][2]
        if taken <= _MOST_FEATURES:
            kept.append(index)
    return [found[index][:2] for index in sorted(kept)]
