"""Covariance utility (amic2020, eq. 2, both editions) and the main round's pairwise correlations."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contracts import Score
from kakurenbo.errors import ParameterError
from kakurenbo.tables import Moments, Schema, dummy_names


def covariance_utility(original: Moments, released: Moments, edition: int = 1) -> Score:
    """U = 1 / (difference of the dummy-coded covariance matrices, ddof 1); infinity for equal matrices.

    Parameters
    ----------
    original, released : Moments
    edition : int
        1: the difference is the sum of |s^D - s^C| over all elements. 2: the largest row sum of it.
    """
    if edition not in (1, 2):
        raise ParameterError("edition", "1 or 2", edition)
    difference = np.abs(released.covariance - original.covariance)
    total = float(difference.sum() if edition == 1 else difference.sum(axis=1).max())
    value = 1 / total if total > 0 else math.inf
    return Score(value, limit=_worst_pair(original.schema, difference))


def correlation_difference(original: Moments, released: Moments) -> Score:
    """The largest |r^D - r^C| over pairs of distinct dummy-coded columns; a constant column has correlation 0."""
    difference = np.abs(released.correlation - original.correlation)
    np.fill_diagonal(difference, 0)
    return Score(float(difference.max()), higher_is_better=False, limit=_worst_pair(original.schema, difference))


def _worst_pair(schema: Schema, difference: NDArray[np.float64]) -> dict[str, object]:
    """The two columns that differ most; nothing where none does."""
    first, second = np.unravel_index(int(difference.argmax()), difference.shape)
    if difference[first, second] == 0:
        return {}
    names = ["=".join(filter(None, name)) for name in dummy_names(schema)]
    pair = sorted({int(first), int(second)})
    return {"pair": [names[index] for index in (pair * 2)[:2]], "difference": float(difference[first, second])}
