"""Statistics of tables: moments, two-way frequency tables, and wide columns numbered anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.core.errors import ParameterError
from kakurenbo.core.schema import Category, Codes, Column, Integer, Schema
from kakurenbo.core.table import Table

Pair = tuple[str, str]
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
        return cls(
            table.schema,
            len(table),
            histograms,
            np.asarray(products, dtype=np.float64).round().astype(np.int64),
        )

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
        histograms = dict(
            zip(
                self.schema.names,
                (histogram.tolist() for histogram in self.histograms),
                strict=True,
            )
        )
        return {"count": self.count, "histograms": histograms, "products": upper}

    @classmethod
    def from_json(cls, content: dict[str, Any], schema: Schema) -> Moments:
        """The moments that :meth:`as_json` gave."""
        upper = content["products"]
        products = np.zeros((len(upper), len(upper)), dtype=np.int64)
        for index, row in enumerate(upper):
            products[index, index:] = products[index:, index] = row
        histograms = tuple(
            np.asarray(content["histograms"][name], dtype=np.int64) for name in schema.names
        )
        return cls(schema, int(content["count"]), histograms, products)


def crosstab(table: Table, first: str, second: str) -> NDArray[np.int64]:
    """Count the value pairs of two columns, shape (size of first, size of second)."""
    sizes = _sizes(table, (first, second))
    joint = table.codes[first].astype(np.intp) * sizes[second] + table.codes[second]
    counts = np.bincount(joint, minlength=sizes[first] * sizes[second])
    return counts.reshape(sizes[first], sizes[second])


def crosstab_errors(original: Table, released: Table, pairs: Sequence[Pair]) -> NDArray[np.int64]:
    """e = sum over cells |freq in original - freq in released|, one per pair, shape (len(pairs),).

    Both tables have the same schema, so a cell that occurs in one of them only counts with frequency 0 in the other.

    Examples
    --------
    >>> from kakurenbo.core import Integer, Schema
    >>> schema = Schema([Integer("x", 0, 1), Integer("y", 0, 1)])
    >>> before, after = (Table.from_rows(schema, rows) for rows in ([(0, 0), (1, 1)], [(0, 0), (1, 0)]))
    >>> crosstab_errors(before, after, [("x", "y")]).tolist()  # (1, 1) lost one, (1, 0) gained one
    [2]
    """
    if original.schema != released.schema:
        expected = "a table of the original's columns and values"
        raise ParameterError("released", expected, released.schema.names)
    names = tuple(dict.fromkeys(name for pair in pairs for name in pair))
    sizes = _sizes(original, names)
    before = {name: original.codes[name].astype(np.intp) for name in names}
    after = {name: released.codes[name].astype(np.intp) for name in names}
    errors = np.empty(len(pairs), dtype=np.int64)
    for index, (first, second) in enumerate(pairs):
        cells, size = sizes[first] * sizes[second], sizes[second]
        differences = np.bincount(before[first] * size + before[second], minlength=cells)
        differences -= np.bincount(after[first] * size + after[second], minlength=cells)
        errors[index] = np.abs(differences).sum()
    return errors


def _sizes(table: Table, names: Sequence[str]) -> dict[str, int]:
    sizes = {}
    for name in names:
        size = table.schema[name].size
        if size is None:
            raise ParameterError("pairs", "pairs of columns with a finite domain", name)
        sizes[name] = size
    return sizes


@dataclass(frozen=True, eq=False)
class Coarsening:
    """Groups of neighbouring codes for the columns of more than so many values; the other columns stay as they are.

    Attributes
    ----------
    schema : Schema
        Of a coarsened table: a wide column is a range of integers, the numbers of its groups.
    firsts : mapping of column name to array of int64, shape (groups,)
        For each wide column the lowest code of every group, ascending.
    """

    schema: Schema
    firsts: dict[str, NDArray[np.int64]]

    @classmethod
    def of(cls, tables: Sequence[Table], most: int) -> Coarsening:
        """Groups for tables of one schema: a group per value that occurs or, where those are more than ``most``, groups of
        about equally many values that occur.
        """
        columns: list[Column] = []
        firsts = {}
        for column in tables[0].schema:
            if column.size is not None and column.size > most:
                values = np.unique(np.concatenate([table.codes[column.name] for table in tables]))
                firsts[column.name] = values[:: -(-len(values) // most)].astype(np.int64)
                columns.append(Integer(column.name, 0, len(firsts[column.name]) - 1))
            else:
                columns.append(column)
        return cls(Schema(columns), firsts)

    def apply(self, table: Table) -> Table:
        """One of the tables that the groups were made for, coarsened."""
        groups = {name: self.groups(name, table.codes[name]) for name in self.firsts}
        return Table(self.schema, {**table.codes, **groups}, table.vocabularies)

    def groups(self, name: str, codes: Codes) -> NDArray[np.int64]:
        """The group of each code of a wide column."""
        return np.searchsorted(self.firsts[name], codes, side="right") - 1

    def undo(self, coarse: Table, source: Table, rng: np.random.Generator) -> Table:
        """A table of ``source``'s schema: in place of each group the code of a random row of ``source`` in that group."""
        codes = dict(coarse.codes)
        for name in self.firsts:
            groups = self.groups(name, source.codes[name])
            order = np.argsort(groups, kind="stable")
            ends = np.cumsum(np.bincount(groups, minlength=len(self.firsts[name])))
            begins = np.concatenate(([0], ends[:-1]))
            places = rng.integers(begins[coarse.codes[name]], ends[coarse.codes[name]])
            codes[name] = source.codes[name][order[places]]
        return Table(source.schema, codes, coarse.vocabularies)
