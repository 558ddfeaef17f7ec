"""Correlations of a table whose categories are spread over a column per level (pwscup2021's ``cor``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contracts import Score
from kakurenbo.tables import Category, Table


@dataclass(frozen=True, eq=False)
class Correlations:
    """Pearson's correlation of every pair of one-hot columns.

    Attributes
    ----------
    names : tuple of str
        ``race=White`` or ``age``; of the levels that occur.
    matrix : array, shape (d, d)
        0 on the diagonal; NaN where a column is constant.
    """

    names: tuple[str, ...]
    matrix: NDArray[np.float64]


def one_hot_correlations(table: Table) -> Correlations:
    """The correlations of a table of one row at least."""
    columns, names = [], []
    for column in table.schema:
        if not isinstance(column, Category):
            columns.append(table.values(column.name).astype(np.float64))
            names.append(column.name)
            continue
        codes = table.codes[column.name]
        for code in np.flatnonzero(np.bincount(codes, minlength=column.size)).tolist():
            columns.append((codes == code).astype(np.float64))
            names.append(f"{column.name}={column.levels[code]}")
    view = np.stack(columns, axis=1)
    constant = view.min(axis=0) == view.max(axis=0)
    centred = view - view.mean(axis=0)
    lengths = np.sqrt((centred**2).sum(axis=0))
    lengths[constant] = np.nan
    matrix = (centred.T @ centred) / np.outer(lengths, lengths)
    np.fill_diagonal(matrix, 0)
    matrix[constant] = matrix[:, constant] = np.nan
    return Correlations(tuple(names), matrix)


def correlation_change(before: Correlations, after: Correlations, *, count_absent: bool = True) -> Score:
    """The largest |r before - r after| over all pairs; the mean is told beside it.

    Parameters
    ----------
    before, after : Correlations
    count_absent : bool
        Whether a level that one table does not have, or a constant number, is uncorrelated there; else such a pair is passed
        over. What neither table has a correlation of is passed over always.
    """
    names = tuple(dict.fromkeys((*before.names, *after.names)))
    first, second = (_spread(names, one) for one in (before, after))
    if count_absent:
        known = ~(np.isnan(first) & np.isnan(second))
        first, second = np.nan_to_num(first), np.nan_to_num(second)
    else:
        known = ~(np.isnan(first) | np.isnan(second))
    if not known.any():
        return Score(0.0, higher_is_better=False)
    difference = np.where(known, np.abs(first - second), 0.0)
    row, column = (int(place) for place in np.unravel_index(int(difference.argmax()), difference.shape))
    value = float(difference[row, column])
    limit = {"pair": [names[row], names[column]]} if value else {}
    return Score(value, higher_is_better=False, limit=limit, parts={"mean": float(difference[known].mean())})


def _spread(names: tuple[str, ...], one: Correlations) -> NDArray[np.float64]:
    """The matrix over these names, NaN for those that the table does not have."""
    place: Mapping[str, int] = {name: index for index, name in enumerate(one.names)}
    own = np.array([place.get(name, -1) for name in names])
    matrix: NDArray[np.float64] = one.matrix[np.ix_(own, own)].copy()
    matrix[own < 0] = matrix[:, own < 0] = np.nan
    return matrix
