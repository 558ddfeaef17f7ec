"""Logistic regression of a flag on the other columns of a table: Fisher scoring, treatment coding."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kakurenbo.core.arrays import Floats
from kakurenbo.core.schema import Category
from kakurenbo.core.table import Table

INTERCEPT = "Intercept"
MAX_STEPS = 100
TOLERANCE = 1e-8  # of the deviance, as statsmodels stops
SEPARATED = 1e-10  # a deviance below this: some plane tells both outcomes apart
MAX_STEEPNESS = 15.0  # a coefficient per standard deviation that no finite sample of people gives


@dataclass(frozen=True, eq=False)
class Regression:
    """Coefficients by their names, such as ``gen[Male]`` and ``age``.

    Attributes
    ----------
    coefficients, p_values : mapping of str to float
    scores : array, shape (n, d)
        What each row adds to the derivative of the likelihood: they sum up to 0.
    """

    coefficients: Mapping[str, float]
    p_values: Mapping[str, float]
    scores: Floats

    @property
    def odds_ratios(self) -> dict[str, float]:
        """exp(coefficient), of the intercept too."""
        return {name: math.exp(value) for name, value in self.coefficients.items()}


def logistic_regression(table: Table, target: str, variables: Sequence[str]) -> Regression | None:
    """Regress a flag on variables: a category by its levels that occur, without the first; a number as it is.

    Gives None where there is no such regression: one outcome alone, outcomes that can be told apart perfectly, or nothing but
    one row.
    """
    outcome = table.values(target).astype(np.float64)
    matrix, names = _design(table, variables)
    if len(matrix) <= matrix.shape[1] or len(np.unique(outcome)) < 2:
        return None
    fitted = _fit(matrix, outcome)
    if fitted is None:
        return None
    coefficients, information = fitted
    scores = matrix * (outcome - 1 / (1 + np.exp(-(matrix @ coefficients))))[:, None]
    values = dict(zip(names, coefficients.tolist(), strict=True))
    p_values = dict.fromkeys(names, 1.0)
    for name, variance in zip(names, np.diag(np.linalg.pinv(information)).tolist(), strict=True):
        if variance > 0:  # Wald's test, both sides: 2 P(Z > |z|) = erfc(|z| / sqrt 2)
            p_values[name] = math.erfc(abs(values[name]) / math.sqrt(2 * variance))
    return Regression(values, p_values, scores)


def _design(table: Table, variables: Sequence[str]) -> tuple[Floats, list[str]]:
    columns, names = [np.ones(len(table))], [INTERCEPT]
    for name in variables:
        column = table.schema[name]
        if not isinstance(column, Category):
            columns.append(table.values(name).astype(np.float64))
            names.append(name)
            continue
        occurring = np.flatnonzero(np.bincount(table.codes[name], minlength=column.size))
        for code in sorted(occurring, key=lambda code: column.levels[code])[1:]:
            columns.append((table.codes[name] == code).astype(np.float64))
            names.append(f"{name}[{column.levels[code]}]")
    return np.stack(columns, axis=1), names


def _fit(matrix: Floats, outcome: Floats) -> tuple[Floats, Floats] | None:
    """Return coefficients and Fisher information; None where they have no finite values."""
    chance = (outcome + 0.5) / 2
    linear: Floats = np.log(chance / (1 - chance))
    deviance = math.inf
    coefficients: Floats = np.zeros(0)
    information: Floats = np.zeros(0)
    for _ in range(MAX_STEPS):
        weights = chance * (1 - chance)
        if (weights < np.finfo(float).tiny).any():
            return None
        information = matrix.T @ (matrix * weights[:, None])
        working = linear + (outcome - chance) / weights
        root = np.sqrt(weights)
        solved = np.linalg.lstsq(matrix * root[:, None], working * root, rcond=None)[0]
        coefficients = solved.astype(np.float64, copy=False)
        linear = np.clip(matrix @ coefficients, -700, 700)
        chance = 1 / (1 + np.exp(-linear))
        # -2 log likelihood; an outcome between 0 and 1 counts in part as either
        log_likelihood = (outcome * linear - np.logaddexp(0, linear)).sum()
        before, deviance = deviance, float(-2 * log_likelihood)
        if deviance < SEPARATED * len(outcome):
            return None
        if abs(before - deviance) <= TOLERANCE:
            break
    spread = matrix[:, 1:].std(axis=0)
    steepness = np.abs(coefficients[1:]) * spread
    is_separated = (steepness > MAX_STEEPNESS).any() or np.abs(linear).max() >= 700
    return None if is_separated else (coefficients, information)
