"""First and second moments of a table's numeric view, exact: counts, sums and cross products are whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.errors import ParameterError
from kakurenbo.tables.schema import Category, Integer, Schema
from kakurenbo.tables.table import Table

_BLOCK = 65_536  # rows per matrix product: keeps the one-hot view of a million rows out of memory


@dataclass(frozen=True, eq=False)
class Moments:
    """What the generators know of a table, and what the covariance measures compare.

    Attributes
    ----------
    schema : Schema
        Of integers and categories only.
    count : int
        Rows, n.
    histograms : tuple of arrays, one per column, shape (size,)
        Absolute frequencies of every value of the domain.
    products : array of int64, shape (d, d)
        X^T X of the numeric view X, shape (n, d); the columns are those of ``dummy_names``.
    """

    schema: Schema
    count: int
    histograms: tuple[NDArray[np.int64], ...]
    products: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table) -> Moments:
        """The moments of a table. Integer arithmetic throughout, so the order of rows never matters."""
        for column in table.schema:
            if not isinstance(column, Category | Integer):
                raise ParameterError("table", "a table of integers and categories", column.name)
        products = 0
        for start in range(0, len(table), _BLOCK):
            # (block, d) float64 holds whole numbers far below 2^53: the product is exact.
            view = table.take(np.arange(start, min(start + _BLOCK, len(table)))).dummies()
            products = products + view.T @ view
        histograms = tuple(table.frequencies(name) for name in table.schema.names)
        return cls(table.schema, len(table), histograms, np.asarray(products, dtype=np.float64).round().astype(np.int64))

    @property
    def sums(self) -> NDArray[np.int64]:
        """Column sums of the numeric view, shape (d,)."""
        parts: list[Any] = []
        for column, histogram in zip(self.schema, self.histograms, strict=True):
            if isinstance(column, Category):
                parts.append(histogram)
            else:
                parts.append([histogram @ column.values(np.arange(len(histogram)))])
        return np.concatenate(parts).astype(np.int64)

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean of the numeric view, shape (d,)."""
        return self.sums / self.count

    @property
    def covariance(self) -> NDArray[np.float64]:
        """Covariance of the numeric view with ddof 1, shape (d, d)."""
        if self.count < 2:
            return np.zeros(self.products.shape)
        sums = self.sums.astype(np.float64)
        return (self.products - np.outer(sums, sums) / self.count) / (self.count - 1)

    @property
    def correlation(self) -> NDArray[np.float64]:
        """Correlation of the numeric view, shape (d, d); 0 where a column is constant."""
        covariance = self.covariance
        deviation = np.sqrt(np.diag(covariance))
        # Rounding may leave a trace of variance in a constant column; whole numbers tell for certain.
        deviation[np.diag(self.products) * self.count == self.sums**2] = 0
        with np.errstate(divide="ignore", invalid="ignore"):
            correlation = covariance / np.outer(deviation, deviation)
        return np.where(np.outer(deviation, deviation) > 0, correlation, 0.0)

    def as_json(self) -> dict[str, Any]:
        """Whole numbers only: count, histograms, and the upper triangle of the cross products row by row."""
        upper = [row[index:].tolist() for index, row in enumerate(self.products)]
        histograms = dict(zip(self.schema.names, (histogram.tolist() for histogram in self.histograms), strict=True))
        return {"count": self.count, "histograms": histograms, "products": upper}

    @classmethod
    def from_json(cls, content: dict[str, Any], schema: Schema) -> Moments:
        """The moments that :meth:`as_json` gave."""
        upper = content["products"]
        products = np.zeros((len(upper), len(upper)), dtype=np.int64)
        for index, row in enumerate(upper):
            products[index, index:] = products[index:, index] = row
        histograms = tuple(np.asarray(content["histograms"][name], dtype=np.int64) for name in schema.names)
        return cls(schema, int(content["count"]), histograms, products)
