"""`copula`: records drawn from a Gaussian copula of the input: its own histograms, tied by correlations of hidden normals.

Each column is a normal variable cut at the quantiles of its histogram (the levels of a category in the order of the first
principal axis). For normal scores m = E[z | value], Hermite's expansion gives cov(m_X, m_Y) = r var(m_X) var(m_Y) + O(r^2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.anonymizers.tables.grouping import standard_view
from kakurenbo.contracts import Anonymizer, Release
from kakurenbo.generators.protocol import one_blas_thread
from kakurenbo.parameters import parameter
from kakurenbo.tables import Category, Codes, Table

_HIGHEST = 0.99  # of a correlation of hidden normals
_LEAST_EIGENVALUE = 1e-4
_GRID = 2.0**20  # correlations are cut to multiples of 1 / this: their last bits differ between processors

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Copula(Anonymizer):
    """Generate records with the input's histograms and, between columns, the ties of a Gaussian copula.

    No record comes from one of the input's; of how columns hang together, only one number per pair is kept.
    """

    rows: int | None = parameter(None, "how many records", low=1, none="as many as the input has")

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        if not len(table):
            return Release.of(table)
        rows = len(table) if self.rows is None else self.rows
        with one_blas_thread():
            margins = [_Margin.of(table.codes[name], ranks) for name, ranks in _ranks(table).items()]
            lower = np.linalg.cholesky(_correlations(margins))
            hidden = rng.standard_normal((rows, len(margins))) @ lower.T  # (rows, c)
        drawn = {
            name: margin.values(column) for name, margin, column in zip(table.schema.names, margins, hidden.T, strict=True)
        }
        return Release.of(Table(table.schema, drawn))


@dataclass(frozen=True, eq=False)
class _Margin:
    """One column: its codes in order, where normals are cut for them, and the normal score of each row."""

    codes: Codes  # (m,)
    cuts: Matrix  # (m - 1,)
    scores: Matrix  # (n,)

    @classmethod
    def of(cls, codes: Codes, ranks: Codes) -> _Margin:
        from scipy.special import ndtri

        _, first, place, counts = np.unique(ranks, return_index=True, return_inverse=True, return_counts=True)
        shares = counts / len(ranks)
        cuts = ndtri(np.cumsum(counts)[:-1] / len(ranks))
        density = np.r_[0.0, np.exp(-(cuts**2) / 2) / np.sqrt(2 * np.pi), 0.0]
        return cls(codes[first], cuts, ((density[:-1] - density[1:]) / shares)[place])  # E[z | a < z <= b], mean 0

    def values(self, hidden: Matrix) -> Codes:
        drawn: Codes = self.codes[np.searchsorted(self.cuts, hidden)]
        return drawn


def _correlations(margins: list[_Margin]) -> Matrix:
    """Correlations of the hidden normals, shape (c, c), positive definite."""
    scores = np.column_stack([margin.scores for margin in margins])
    products = scores.T @ scores / len(scores)
    variances = np.diag(products)
    scale = np.outer(variances, variances)
    raw = np.divide(products, scale, out=np.zeros_like(products), where=scale > 0)
    raw = np.rint(np.clip(raw, -_HIGHEST, _HIGHEST) * _GRID) / _GRID
    np.fill_diagonal(raw, 1)
    values, vectors = np.linalg.eigh(raw)
    mended = (vectors * np.maximum(values, _LEAST_EIGENVALUE)) @ vectors.T
    spread = np.sqrt(np.diag(mended))
    definite: Matrix = np.rint(mended / np.outer(spread, spread) * _GRID) / _GRID + np.eye(len(raw)) / _GRID * len(raw)
    return definite


def _ranks(table: Table) -> dict[str, Codes]:
    """Each column as something to be ordered by: numbers as they are, levels by where they lie on the first principal axis."""
    axis = _principal_axis(table)
    return {
        column.name: _level_ranks(table.codes[column.name], column.size, axis)[table.codes[column.name]]
        if isinstance(column, Category)
        else table.codes[column.name]
        for column in table.schema
    }


def _principal_axis(table: Table) -> Matrix:
    """Where each row lies on the first principal axis of the view of standardised numbers and indicators, shape (n,)."""
    view = standard_view(table, table.schema.names)
    view = view - view.mean(axis=0)
    _, vectors = np.linalg.eigh(view.T @ view)
    axis = vectors[:, -1] * np.sign(vectors[np.abs(vectors[:, -1]).argmax(), -1])
    placed: Matrix = (view @ axis).round(6)
    return placed


def _level_ranks(codes: Codes, size: int, axis: Matrix) -> Codes:
    counts = np.bincount(codes, minlength=size)
    means = np.bincount(codes, weights=axis, minlength=size) / np.maximum(counts, 1)
    ranks = np.empty(size, dtype=np.int64)
    ranks[np.argsort(means.round(6), kind="stable")] = np.arange(size)
    return ranks
