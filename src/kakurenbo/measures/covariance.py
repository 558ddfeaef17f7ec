"""How far columns hang together otherwise: covariances and correlations (amic2020), correlations and odds ratios (pwscup2021)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kakurenbo.contest import Score
from kakurenbo.core import Moments, Schema, Table, dummy_names
from kakurenbo.core.arrays import Floats
from kakurenbo.measures.regression import Regression


def covariance_utility(original: Moments, released: Moments, edition: int = 1) -> Score:
    """U = 1 / (difference of the dummy-coded covariance matrices, ddof 1); infinity for equal matrices.

    Edition 1 sums |s^D - s^C| over all elements, edition 2 takes the largest row sum.
    """
    difference = np.abs(released.covariance - original.covariance)
    total = float(difference.sum() if edition == 1 else difference.sum(axis=1).max())
    return Score(
        1 / total if total > 0 else math.inf, limit=_worst_pair(original.schema, difference)
    )


def correlation_difference(original: Moments, released: Moments) -> Score:
    """Largest |r^D - r^C| over pairs of distinct dummy-coded columns; a constant column has correlation 0."""
    difference = np.abs(released.correlation - original.correlation)
    np.fill_diagonal(difference, 0)
    limit = _worst_pair(original.schema, difference)
    return Score(float(difference.max()), higher_is_better=False, limit=limit)


def _worst_pair(schema: Schema, difference: Floats) -> dict[str, object]:
    """Return the two columns that differ most; empty where none does."""
    largest, names = float(difference.max()), _dummy_labels(schema)
    first, second = sorted(divmod(int(difference.argmax()), len(names)))
    return {"pair": [names[first], names[second]], "difference": largest} if largest else {}


def _dummy_labels(schema: Schema) -> list[str]:
    return ["=".join(filter(None, name)) for name in dummy_names(schema)]


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
    matrix: Floats

    def spread(self, names: tuple[str, ...]) -> Floats:
        """Return the matrix over these names, NaN for those that the table does not have."""
        places = np.array([self.names.index(n) if n in self.names else -1 for n in names])
        matrix: Floats = self.matrix[np.ix_(places, places)]
        matrix[places < 0] = matrix[:, places < 0] = np.nan
        return matrix


def one_hot_correlations(table: Table) -> Correlations:
    """Return the correlations of a table of one row at least."""
    view, levels = table.dummies(), [level for _, level in dummy_names(table.schema)]
    occurs = np.array([level is None for level in levels]) | view.any(axis=0)
    view = np.ascontiguousarray(view[:, occurs])
    constant = view.min(axis=0) == view.max(axis=0)
    centred = view - view.mean(axis=0)
    lengths = np.sqrt((centred**2).sum(axis=0))
    lengths[constant] = np.nan
    matrix = (centred.T @ centred) / np.outer(lengths, lengths)
    np.fill_diagonal(matrix, 0)
    matrix[constant] = matrix[:, constant] = np.nan
    names = np.array(_dummy_labels(table.schema))[occurs]
    return Correlations(tuple(names.tolist()), matrix)


def correlation_change(
    before: Correlations, after: Correlations, *, count_absent: bool = True
) -> Score:
    """Largest |r before - r after| over all pairs, with the mean as a part.

    With ``count_absent`` a level that one table does not have, or a constant number, is uncorrelated there; else such a pair
    is passed over. What neither table has a correlation of is passed over always.
    """
    names = tuple(dict.fromkeys((*before.names, *after.names)))
    first, second = before.spread(names), after.spread(names)
    if count_absent:
        known = ~(np.isnan(first) & np.isnan(second))
        first, second = np.nan_to_num(first), np.nan_to_num(second)
    else:
        known = ~(np.isnan(first) | np.isnan(second))
    if not known.any():
        return Score(0.0, higher_is_better=False)
    difference = np.where(known, np.abs(first - second), 0.0)
    row, column = divmod(int(difference.argmax()), len(names))
    largest = float(difference[row, column])
    limit = {"pair": [names[row], names[column]]} if largest else {}
    parts = {"mean": float(difference[known].mean())}
    return Score(largest, higher_is_better=False, limit=limit, parts=parts)


def odds_ratio_difference(
    before: Regression | None, after: Regression | None, *, count_absent: bool = True
) -> Score:
    """Largest |odds ratio before - after| of two regressions, infinite where there is none (None).

    With ``count_absent`` a level that one table alone has makes it infinite; else it is passed over.
    """
    if before is None or after is None:
        return Score(math.inf, higher_is_better=False, limit={"reason": "separated"})
    absent = sorted(before.coefficients.keys() ^ after.coefficients.keys())
    if absent and count_absent:
        limit = {"reason": "absent", "coefficient": absent[0]}
        return Score(math.inf, higher_is_better=False, limit=limit)
    names = [name for name in before.coefficients if name in after.coefficients]

    def changes(first: Mapping[str, float], second: Mapping[str, float]) -> Floats:
        return np.array([abs(first[name] - second[name]) for name in names])

    ratios = changes(before.odds_ratios, after.odds_ratios)
    largest_coefficient = changes(before.coefficients, after.coefficients).max()
    largest_p = changes(before.p_values, after.p_values).max()
    parts = {"mean": ratios.mean(), "max_coefficient": largest_coefficient, "max_p": largest_p}
    parts = {name: float(value) for name, value in parts.items()}
    worst = int(ratios.argmax())
    limit = {"coefficient": names[worst]} if ratios[worst] else {}
    return Score(float(ratios[worst]), higher_is_better=False, limit=limit, parts=parts)
