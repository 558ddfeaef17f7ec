"""Which few numbers about a sample a release must copy so that its histograms and covariances pass, and no more than those.

Errors are summed up without squares, over covariances s and frequencies h. A release that copies m linear combinations of the
sample's deviations d from the population, and takes everything else from the population, has the errors d - g, g being the
regression of d on those combinations. As sum w |d - g| = sum w (d - g)^2 / |d - g|, the best m combinations are the leading
eigenvectors of the deviations' covariance, weighted with w over the errors expected last: iteratively reweighted principal
components. They are known before the sample is seen, so that by them the release tells m numbers of the sample: a best linear
test of who is in it would gain sqrt(m / n) standard deviations, n being the records of the sample. That is no bound for a
method that also looks at the sample to choose m, to clip histograms or to repair trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.generators.protocol import one_blas_thread
from kakurenbo.tables import Moments, Table

Matrix = NDArray[np.float64]

_FEATURES = 2_000  # deviations looked at, those that cost most; of the others the population's values are taken
_ROWS = 30_000  # of the population, for the covariance of the deviations
_TYPICAL = 60  # combinations for which weights are found
_MOST = 120
_REWEIGHTINGS = 5
_LEAST_ERROR = 1e-3  # of a deviation's own size: keeps weights finite
_HISTOGRAM_COUNTS = 0.35  # how much the histograms' budget counts beside that of the covariances


@dataclass(frozen=True, eq=False)
class Outlook:
    """A population, and the combinations of deviations from it, the most useful first.

    Attributes
    ----------
    covariance : array, shape (d, d)
    shares : array, shape (v,)
        Relative frequency of every value of every column, one column after the other.
    elements : array of int, shape (f,)
        The deviations that combinations are made of: elements of the upper triangle of the covariance, then values.
    into, back : arrays, shapes (m, f) and (f, m)
        Deviations to combinations, and combinations to the deviations to expect.
    """

    covariance: Matrix
    shares: Matrix
    elements: NDArray[np.int64]
    into: Matrix
    back: Matrix

    @classmethod
    def of(cls, population: Table, rows: int, covariance_budget: float, histogram_budget: float, rng: Any) -> Outlook:
        """Look at a population whose samples have ``rows`` records; budgets are the sums of errors that are allowed."""
        moments = Moments.of(population)
        seen = population.take(rng.permutation(len(population))[:_ROWS])
        upper = np.triu_indices(len(moments.mean))
        costs = np.r_[
            np.where(upper[0] == upper[1], 1.0, 2.0) / covariance_budget,
            np.full(len(shares_of(population)), _HISTOGRAM_COUNTS * rows / histogram_budget),
        ]
        with one_blas_thread():
            spread = _spreads(seen, moments)
            elements = np.sort(np.argsort(-(costs * spread), kind="stable")[:_FEATURES])
            elements = elements[spread[elements] > 1e-6 * spread.max()]
            deviations = _products(seen, moments, elements)  # (n, f)
            deviations -= deviations.mean(axis=0)
            between = (deviations.T @ deviations).astype(np.float64) / len(seen)
            into, back = _combinations(between, costs[elements])
        return cls(moments.covariance, shares_of(population), elements, into, back)

    @property
    def most(self) -> int:
        """How many combinations there are."""
        return len(self.into)

    def expected(self, sample: Table, count: int) -> tuple[Matrix, Matrix]:
        """Covariance, shape (d, d), and shares of values, shape (v,), of people like the sample in ``count`` combinations."""
        upper = np.triu_indices(len(self.covariance))
        missing = np.r_[(Moments.of(sample).covariance - self.covariance)[upper], shares_of(sample) - self.shares]
        moved = np.zeros(len(missing))
        moved[self.elements] = self.back[:, :count] @ (self.into[:count] @ missing[self.elements])
        covariance = np.zeros_like(self.covariance)
        covariance[upper] = moved[: len(upper[0])]
        covariance = covariance + np.triu(covariance, 1).T
        return self.covariance + covariance, self.shares + moved[len(upper[0]) :]


def shares_of(table: Table) -> Matrix:
    """Relative frequency of every value of every column, one column after the other."""
    return np.concatenate([table.frequencies(name) for name in table.schema.names]) / max(len(table), 1)


def _spreads(table: Table, moments: Moments) -> Matrix:
    """Standard deviation of each covariance and each frequency in a sample of one record, without writing products down."""
    view = table.dummies() - moments.mean
    fourth = (view**2).T @ (view**2) / len(table) - (view.T @ view / len(table)) ** 2
    shares = shares_of(table)
    spreads: Matrix = np.sqrt(np.maximum(np.r_[fourth[np.triu_indices(len(fourth))], shares * (1 - shares)], 0))
    return spreads


def _products(table: Table, moments: Moments, elements: NDArray[np.int64]) -> NDArray[np.float32]:
    """What each record adds to the chosen covariances and frequencies, shape (n, f)."""
    view = (table.dummies() - moments.mean).astype(np.float32)
    first, second = np.triu_indices(view.shape[1])
    covariances = elements[elements < len(first)]
    values = [
        (table.codes[column.name][:, None] == np.arange(column.size)[wanted]).astype(np.float32)
        for column, wanted in _chosen_values(table, elements[len(covariances) :] - len(first))
    ]
    return np.hstack([view[:, first[covariances]] * view[:, second[covariances]], *values])


def _chosen_values(table: Table, values: NDArray[np.int64]) -> list[tuple[Any, NDArray[np.int64]]]:
    """Each column with those of its codes that are among the values."""
    chosen, start = [], 0
    for column in table.schema:
        size = column.size or 0
        chosen.append((column, values[(values >= start) & (values < start + size)] - start))
        start += size
    return chosen


def _combinations(between: Matrix, costs: Matrix) -> tuple[Matrix, Matrix]:
    """The best combinations for a covariance of deviations, shape (f, f), the most useful first."""
    own = np.sqrt(np.diag(between))
    error = own.copy()
    weights, vectors = np.ones_like(own), np.zeros((len(own), 0))
    for step in range(_REWEIGHTINGS):
        weights = np.sqrt(costs / np.maximum(error, _LEAST_ERROR * own))
        last = step == _REWEIGHTINGS - 1
        values, vectors = _leading(weights[:, None] * between * weights, _MOST if last else _TYPICAL)
        explained = ((vectors / weights[:, None]) ** 2 * values).sum(axis=1)
        error = np.sqrt(np.maximum(own**2 - explained, 0))
    return vectors.T * weights, vectors / weights[:, None]


def _leading(matrix: Matrix, count: int) -> tuple[Matrix, Matrix]:
    """The largest eigenvalues, descending, and their vectors."""
    if len(matrix) <= 2 * count:
        values, vectors = np.linalg.eigh(matrix)
        values, vectors = values[-count:], vectors[:, -count:]
    else:
        from scipy.sparse.linalg import eigsh

        values, vectors = eigsh(matrix, k=count, v0=np.ones(len(matrix)))
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]
