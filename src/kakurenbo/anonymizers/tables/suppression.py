"""Suppression of rows: those of rare combinations (`kanony` of amic2020), and of records that are one of a kind (`thin`)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kakurenbo.anonymizers.tables.columns import ColumnMethod
from kakurenbo.contest import Release
from kakurenbo.core import Category, Decimal, Table
from kakurenbo.core.arrays import Floats, Ints, Rng
from kakurenbo.core.errors import ParameterError
from kakurenbo.measures.records import unique_records
from kakurenbo.measures.regression import logistic_regression
from kakurenbo.methods.parameters import parameter

_EXCHANGES = 5000
_NOTHING = 1e-9
_PRODUCTS, _SCORES = 0.3, 2.0  # weights of products and scores relative to the columns themselves


@dataclass(frozen=True)
class SuppressRare(ColumnMethod):
    """Drop the rows whose combination on the chosen columns occurs fewer than k times."""

    k: int = parameter(2, "smallest group of equal rows that is kept", low=1)
    columns: tuple[str, ...] | None = parameter(
        ("education", "marital-status"),
        "columns that make up a combination",
        none="word.all_columns",
    )

    def __call__(self, table: Table, rng: Rng) -> Release:
        names = self.names(table.schema)
        if not names:
            raise ParameterError("columns", "at least one column", self.columns)
        _, group, counts = np.unique(table.keys(names), return_inverse=True, return_counts=True)
        # The claim of the questionnaire is about whole records: it needs all columns.
        claims = {"k": float(self.k)} if len(names) == len(table.schema) else {}
        return Release.keeping(table, counts[group] >= self.k, claims)


@dataclass(frozen=True)
class Thin(ColumnMethod):
    """Delete records that are one of a kind until few are left, so chosen that statistics stay as they were.

    Records are compared on the chosen columns, with decimal numbers in tens. Those that go are drawn at random, and exchanged
    for others until means, correlations and the regression of the last column are nearly what they were.
    """

    unique: float = parameter(
        0.48, "largest share of the input's records that may be one of a kind", low=0, high=1
    )
    columns: tuple[str, ...] | None = parameter(
        None, "columns that are compared", none="word.all_but_the_last"
    )

    def __call__(self, table: Table, rng: Rng) -> Release:
        names = table.schema.names[:-1] if self.columns is None else self.columns
        in_tens = [name for name in names if isinstance(table.schema[name], Decimal)]
        alone = unique_records(table, [name for name in names if name not in in_tens], in_tens)
        surplus = max(0, int(alone.sum()) - math.floor(self.unique * len(table)))
        deleted = _balanced_choice(_features(table), np.flatnonzero(alone), surplus, rng)
        return Release.keeping(table, ~np.isin(np.arange(len(table)), deleted))


def _features(table: Table) -> Floats:
    """Return what is to sum up to 0 over the records that are kept, shape (n, d).

    Every column (the means), its products with the others (the correlations), and the scores of a logistic regression of the
    last column, where that is a flag: where they sum up to 0, the regression of what is kept has the same coefficients.
    """
    view = table.dummies(drop_first=True).astype(np.float64)
    view = view[:, view.min(axis=0) < view.max(axis=0)]
    columns = (view - view.mean(axis=0)) / view.std(axis=0)
    first, second = np.triu_indices(columns.shape[1], 1)
    products = columns[:, first] * columns[:, second]
    parts = [columns, _PRODUCTS * (products - products.mean(axis=0))]
    *others, last = table.schema.names
    has_words = isinstance(table.schema[last], Category)
    if not has_words and np.isin(table.values(last), (0, 1)).all():
        regression = logistic_regression(table, last, others)
        if regression is not None:
            # Scaled so that their length is that of the change of the coefficients, in standard errors.
            spread, directions = np.linalg.eigh(
                regression.scores.T @ regression.scores / len(table)
            )
            some = spread > _NOTHING * spread.max()
            parts.append(_SCORES * regression.scores @ directions[:, some] / np.sqrt(spread[some]))
    return np.hstack(parts)


def _balanced_choice(
    features: Floats,
    candidates: Ints,
    count: int,
    rng: Rng,
) -> Ints:
    """Draw so many candidates at random, and exchange them until their features sum up to almost 0."""
    rows, gone = features[candidates], np.zeros(len(candidates), dtype=bool)
    gone[rng.permutation(len(candidates))[:count]] = True
    lengths, total = (rows**2).sum(axis=1), rows[gone].sum(axis=0)
    for _ in range(_EXCHANGES if 0 < count < len(candidates) else 0):
        # |total - x|^2 and |total + x|^2, without the part that is the same for all
        back = int(np.argmin(np.where(gone, lengths - 2 * (rows @ total), np.inf)))
        without = total - rows[back]
        away = int(np.argmin(np.where(gone, np.inf, lengths + 2 * (rows @ without))))
        if ((without + rows[away]) ** 2).sum() >= (total**2).sum() - _NOTHING:
            break
        gone[back], gone[away] = False, True
        total = without + rows[away]
    return candidates[gone]
