"""Fits the chain of conditional draws behind the generator `moments`: one convex problem per column.

Each column is a multinomial logit of the columns before it. At the optimum its expected cross products with all of them
equal the source's (the maximum-entropy dual), so fitting the likelihood *is* matching the second moments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.generators.factors import Design, Factor, Plan
from kakurenbo.generators.quotas import quota_codes

Matrix = NDArray[np.float64]

_PILOT_ROWS = 16_384  # at most; a plan with many columns takes fewer
_LEAST_PILOT_ROWS = 4_096
_PILOT_WORK = 2**23  # rows of the pilot times effects per row
_STEPS = 40
_PENALTY = 0.1  # per feature and pilot row, on whitened weights: against learning the pilot by heart
_LEAST_PENALTY = 1e-4  # keeps the weights of levels that never occur together from running to infinity
_FLOOR = 1e-4  # variance below which a direction of the features is not told from rounding
_CHUNK = 2**19  # chances held at a time
_GRID = 2.0**16


@dataclass(frozen=True, eq=False)
class Conditional:
    """How one factor hangs on those before it: logits = spread(X @ weights) + bias.

    Attributes
    ----------
    weights : array, shape (d', s)
    bias : array, shape (K,)
    """

    weights: Matrix
    bias: Matrix

    def odds(self, factor: Factor, design: Any) -> Matrix:
        """Odds of every group for every row, shape (K, n): probabilities up to a factor per row."""
        return odds(factor.spread(design @ self.weights), self.bias)[0]


def calibrate(plan: Plan, rng: np.random.Generator) -> tuple[Conditional, ...]:
    """The conditionals of all factors but the first, each fitted on a pilot sample of the ones before it."""
    if not plan.factors:
        return ()
    rows = _pilot_rows(plan)
    pilot = Design(plan, rows)
    pilot.add(quota_codes(plan.factors[0].group_counts, rows, rng))
    conditionals = []
    for factor in plan.factors[1:]:
        design = pilot.matrix()
        conditional = _fit(plan, factor, design)
        conditionals.append(conditional)
        pilot.add(pick(conditional.odds(factor, design), rng))
    return tuple(conditionals)


def on_grid(numbers: Matrix) -> Matrix:
    """Numbers cut to multiples of 2^-16: the last bits of a fit differ between processors, and no draw may hang on them."""
    return np.rint(numbers * _GRID) / _GRID


def odds(effects: Matrix, bias: Matrix) -> tuple[Matrix, Matrix]:
    """exp(effects + bias), the largest of a row being 1, shape (K, n), and the logarithm of what was divided out, shape (n,).

    Overwrites ``effects``.
    """
    effects += bias[:, None]
    highest = effects.max(axis=0)
    effects -= highest
    return np.exp(effects, out=effects), highest


def pick(weights: Matrix, rng: np.random.Generator) -> NDArray[np.int64]:
    """One group per row, drawn with chances proportional to ``weights``, shape (K, n) -> (n,)."""
    level = rng.random(weights.shape[1]) * weights.sum(axis=0)
    reached = np.zeros_like(level)
    codes = np.zeros(len(level), dtype=np.int64)
    for weight in weights[:-1]:
        reached += weight
        codes += reached <= level
    return codes


def _pilot_rows(plan: Plan) -> int:
    effects = sum(place * factor.width + factor.size for place, factor in enumerate(plan.factors))
    return int(np.clip(_PILOT_WORK // effects, _LEAST_PILOT_ROWS, _PILOT_ROWS))


@dataclass(frozen=True, eq=False)
class _Targets:
    """What a conditional must reach on the pilot sample, whose features are not exactly those of the source."""

    mean: Matrix  # (d',) of the pilot's features
    cross: Matrix  # (d', s) E[(x - mean) features]
    shares: Matrix  # (K,)
    whitener: Matrix  # (d', d') weights = whitener.T @ parameters


def _targets(plan: Plan, factor: Factor, design: Any) -> _Targets:
    """Carry the source's moments over to the pilot by linear regression, so that they can be reached there.

    A rare level may be missing from the pilot altogether; asking for its cross products would have no solution.
    """
    rows, width = design.shape
    mean = design.sum(axis=0) / rows
    covariance = (design.T @ design).toarray() / rows - np.outer(mean, mean)
    source = plan.covariance[:width, :width]
    cross = plan.covariance[:width, factor.offset : factor.offset + factor.width]
    slopes = np.linalg.solve(source + 1e-9 * np.eye(width), cross)  # (d', s)
    shares = factor.shares
    if factor.nominal:
        moved = shares + (mean - plan.mean[:width]) @ slopes
        moved = np.maximum(moved, shares / 10)
        shares = moved / moved.sum()
    lower = np.linalg.cholesky(covariance + _FLOOR * np.eye(width))
    return _Targets(mean, covariance @ slopes, shares, np.linalg.inv(lower))


def _fit(plan: Plan, factor: Factor, design: Any) -> Conditional:
    """Minimise log-partition - <parameters, targets> + penalty by L-BFGS in whitened coordinates."""
    from scipy.optimize import minimize  # loaded on use: most calls of the command line draw nothing

    targets = _targets(plan, factor, design)
    rows, width = design.shape
    step = max(1, _CHUNK // factor.size)
    chunks = [design[start : start + step] for start in range(0, rows, step)]
    chunks = [(chunk, chunk.T.tocsr()) for chunk in chunks]
    penalty = max(_LEAST_PENALTY, _PENALTY * width / rows)
    units = 1 / np.sqrt(targets.shares)
    cut = width * factor.width

    def unpack(parameters: Matrix) -> tuple[Matrix, Matrix]:
        weights = targets.whitener.T @ parameters[:cut].reshape(width, factor.width)
        bias = np.log(targets.shares) + parameters[cut:] * units
        return weights, bias

    def objective(parameters: Matrix) -> tuple[float, Matrix]:
        weights, bias = unpack(parameters)
        centred = bias - factor.spread((targets.mean @ weights)[None, :])[:, 0]
        value, cross, shares = 0.0, np.zeros_like(weights), np.zeros(factor.size)
        for chunk, transposed in chunks:
            chances, highest = odds(factor.spread(chunk @ weights), centred)
            total = chances.sum(axis=0)
            chances /= total
            value += (np.log(total) + highest).sum()
            shares += chances.sum(axis=1)
            cross += transposed @ factor.gather(chances)
        shares /= rows
        cross = cross / rows - np.outer(targets.mean, factor.gather(shares[:, None])[0])
        value = value / rows - (weights * targets.cross).sum() - bias @ targets.shares
        slope = np.concatenate([(targets.whitener @ (cross - targets.cross)).ravel(), (shares - targets.shares) * units])
        return value + penalty / 2 * (parameters @ parameters), slope + penalty * parameters

    found = minimize(
        objective,
        np.zeros(cut + factor.size),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _STEPS, "maxcor": 20, "gtol": 1e-5},
    )
    weights, bias = unpack(found.x)
    weights = on_grid(weights)
    return Conditional(weights, on_grid(bias - factor.spread((targets.mean @ weights)[None, :])[:, 0]))
