"""Rows as feature vectors phi: every value of every column, and the products of two columns.

A vector is sparse: of a column, or of a pair of columns, exactly one feature is not 0. Rows are
kept as the place and the value of that one feature, a *slot* for each column and pair: 45 numbers
for 9 columns instead of 1,288.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.core import Category, Coarsening, Table
from kakurenbo.core.errors import ParameterError

_MAX_DOMAIN = 512  # values of a column: wider ones take part in groups
_MAX_LEVELS = 64  # of a category that takes part in pairs
_MAX_FEATURES, _MAX_PAIRS = 2_500, 150  # of all kinds; the pairs of the most features go first
_MIN_COUNT = 10  # times that a pair of values must occur in B

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

    places: NDArray[np.int32]
    values: Values
    count: int

    def __len__(self) -> int:
        return len(self.places)

    def take(self, rows: NDArray[np.int64]) -> Rows:
        return Rows(self.places[rows], self.values[rows], self.count)

    def sums(self, weights: Values) -> Values:
        """Sum the feature vectors, each times the weight of its row, shape (d,)."""
        from kakurenbo.attacks.records.loops import weighted_sum

        total: Values = weighted_sum(self.places, self.values, weights, self.count + 1)
        return total[:-1]

    def mean(self) -> Values:
        """Return the mean feature vector, shape (d,)."""
        return self.sums(np.full(len(self), 1 / len(self)))

    def parts(self, weights: Values) -> Values:
        """Return what each slot adds to phi^T ``weights``, shape (n, slots)."""
        gathered: Values = np.append(weights, 0.0)[self.places]
        return gathered * self.values

    def dot(self, weights: Values) -> Values:
        """Return phi^T ``weights`` of each row, shape (n,)."""
        from kakurenbo.attacks.records.loops import dots

        products: Values = dots(self.places, self.values, np.append(weights, 0.0))
        return products

    def covariance(self) -> Values:
        """Return the covariance of the feature vectors, shape (d, d)."""
        from kakurenbo.attacks.records.loops import add_products

        products = np.zeros((self.count + 1, self.count + 1))
        add_products(self.places, self.values, products)
        products = products[:-1, :-1]
        products = products + products.T - np.diag(np.diag(products))
        mean = self.mean()
        return products / len(self) - np.outer(mean, mean)


@dataclass(frozen=True, eq=False)
class _Slot:
    """A column, or a pair of them, with ``size`` features; ``numbers`` tells which each pair of
    levels is, or -1.
    """

    names: tuple[str, ...]
    size: int
    numbers: NDArray[np.int64] | None = None


class PairFeatures:
    """The features of tables of one schema, as a population defines them.

    Parameters
    ----------
    population : Table
        B: which pairs are seen often enough, and by which mean and deviation numbers are
        standardized.
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
        self._coarsening = Coarsening.of((population, release), _MAX_DOMAIN)
        coarse = self._coarsening.apply(population)
        self._scales: dict[str, tuple[float, float]] = {}
        slots = []
        for column in coarse.schema:
            if column.size is None:
                raise ParameterError("population", "columns of finite domains", column.name)
            slots.append(_Slot((column.name,), column.size))
            if not isinstance(column, Category):
                codes = coarse.codes[column.name].astype(np.float64)
                self._scales[column.name] = float(codes.mean()), float(codes.std()) or 1.0
        if pairs:
            candidates = list(_pair_slots(coarse, self._scales))
            sizes = np.array([slot.size for slot in candidates], dtype=np.int64)
            largest_first = np.argsort(-sizes, kind="stable")[:_MAX_PAIRS]
            total = sum(slot.size for slot in slots) + np.cumsum(sizes[largest_first])
            kept = np.sort(largest_first[total <= _MAX_FEATURES])
            slots += [candidates[index] for index in kept]
        *self._firsts, self.count = np.cumsum([0, *(slot.size for slot in slots)]).tolist()
        self._slots = slots
        self.owners = np.repeat(np.arange(len(slots)), [slot.size for slot in slots])
        self.slots = tuple(slot.names for slot in slots)

    def rows(self, table: Table) -> Rows:
        """Return the features of a table's rows."""
        coarse = self._coarsening.apply(table)
        places = np.empty((len(table), len(self._slots)), dtype=np.int32)
        values = np.ones((len(table), len(self._slots)))
        for index, (slot, first) in enumerate(zip(self._slots, self._firsts, strict=True)):
            if len(slot.names) == 1:
                places[:, index] = first + coarse.codes[slot.names[0]].astype(np.int32)
                continue
            for name in slot.names:
                if name in self._scales:
                    mean, scale = self._scales[name]
                    values[:, index] *= (coarse.codes[name] - mean) / scale
            if slot.numbers is None:
                places[:, index] = first
            else:
                levels = [name for name in slot.names if name not in self._scales]
                numbers = slot.numbers[coarse.keys(levels)]
                places[:, index] = np.where(numbers < 0, self.count, first + numbers)
        return Rows(places, values, self.count)


def _pair_slots(table: Table, numbers: Container[str]) -> Iterator[_Slot]:
    """Yield the pairs of columns that may take part, with the pairs of levels that occur often
    enough.
    """
    for names in itertools.combinations(table.schema.names, 2):
        levels = [name for name in names if name not in numbers]
        sizes = [table.schema[name].size or 0 for name in levels]
        if not levels:
            yield _Slot(names, 1)
        elif max(sizes) <= _MAX_LEVELS:
            counts = np.bincount(table.keys(levels), minlength=int(np.prod(sizes)))
            often = counts >= _MIN_COUNT
            if often.any():
                yield _Slot(names, int(often.sum()), np.where(often, np.cumsum(often) - 1, -1))
