"""`moments`: our generator. Draws column after column, and steers every draw by what the rows so far are short of.

The conditionals come from :mod:`calibration`. Rows are drawn in blocks; before each block the conditionals are tilted by
the moments still missing, so that the errors of the blocks cancel instead of adding up: the histograms and the covariance
of the finished table are far closer to the source's than an independent sample's would be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.generators.calibration import Conditional, calibrate, on_grid, pick
from kakurenbo.generators.factors import Factor, Plan
from kakurenbo.generators.protocol import check_request, one_blas_thread
from kakurenbo.generators.quotas import quota_codes
from kakurenbo.tables import Codes, Moments, Table

Matrix = NDArray[np.float64]

_LARGEST_BLOCK = 16_384
_SMALLEST_BLOCK = 16
_RIDGE = 1e-2  # steering ignores directions of the features with less variance than this
_SLACK = 4.0  # rows: a level expected less often than this in a block is steered gently
_LARGEST_CHANGE = 2.0  # root mean square change of a logit by steering
_LARGEST_WEIGHT = 1.0  # change of a single weight by steering
_LARGEST_RATIO = 4.0  # change of a group's chances by raking
_RAKINGS = 2
_TINY = 1e-12


def generate(moments: Moments, rows: int, rng: np.random.Generator) -> Table:
    """Draw a table whose histograms and covariance match those of a source.

    Parameters
    ----------
    moments : Moments
        Of the source; all that is known of it.
    rows : int
        Any number, whatever the source has.
    rng : numpy.random.Generator

    Returns
    -------
    Table
        Rows in random order. Values that do not occur in the source do not occur here.
    """
    return calibrated(moments, rng)(rows, rng)


def calibrated(moments: Moments, rng: np.random.Generator) -> Callable[[int, np.random.Generator], Table]:
    """The generator of one source, calibrated once: ``draw(rows, rng)`` as often as tables are needed."""
    check_request(moments, 1)
    with one_blas_thread():
        plan = Plan.of(moments)
        conditionals = calibrate(plan, rng)
    return lambda rows, stream: _table(moments, plan, conditionals, rows, stream)


def _table(moments: Moments, plan: Plan, conditionals: tuple[Conditional, ...], rows: int, rng: np.random.Generator) -> Table:
    check_request(moments, rows)
    with one_blas_thread():
        groups = _draw(plan, conditionals, rows, rng)
    # The last rows of a draw make up for the first: their order must not tell.
    order = rng.permutation(rows)
    codes = {name: np.full(rows, code) for name, code in plan.constants.items()}
    for factor, drawn in zip(plan.factors, groups, strict=True):
        codes[factor.name] = _ungroup(factor, drawn[order], rng)
    return Table(plan.schema, codes)


def _draw(plan: Plan, conditionals: tuple[Conditional, ...], rows: int, rng: np.random.Generator) -> list[Codes]:
    """The group of every factor for every row, each of shape (rows,)."""
    if not plan.factors:
        return []
    groups: list[Codes] = [np.empty(rows, dtype=np.int32) for _ in plan.factors]
    groups[0][:] = quota_codes(plan.factors[0].group_counts, rows, rng)
    steered = [_Steered(plan, *pair) for pair in zip(plan.factors[1:], conditionals, strict=True)]
    for block in _blocks(rows):
        for place, column in enumerate(steered, start=1):
            design = plan.design([drawn[block] for drawn in groups[:place]])
            groups[place][block] = column.draw(design, rng)
    return groups


def _blocks(rows: int) -> Iterator[slice]:
    """Blocks that shrink towards the end: what the last block misses, nothing can make up for."""
    start = 0
    while start < rows:
        left = rows - start
        size = min(left, max(_SMALLEST_BLOCK, min(_LARGEST_BLOCK, left // 4)))
        yield slice(start, start + size)
        start += size


@dataclass(eq=False)
class _Steered:
    """A conditional, and the sums of the moments that its draws have reached so far."""

    plan: Plan
    factor: Factor
    conditional: Conditional
    rows: int = 0
    cross: Matrix = field(init=False)  # (d', s) sum of (x - mean) features
    counts: Matrix = field(init=False)  # (K,)

    def __post_init__(self) -> None:
        width, factor = self.factor.offset, self.factor
        self.cross, self.counts = np.zeros((width, factor.width)), np.zeros(factor.size)
        self._mean = self.plan.mean[:width]
        self._target = self.plan.covariance[:width, width : width + factor.width]
        self._covariance = self.plan.covariance[:width, :width]
        self._shares = factor.shares
        self._variances = self._shares if factor.nominal else self._shares @ factor.scores**2
        # Newton's step as if the conditional hung on nothing: its curvature is the largest, so the step is never too long.
        self._gain = np.linalg.inv(self._covariance + _RIDGE * np.eye(width))

    def draw(self, design: Any, rng: np.random.Generator) -> Codes:
        """Groups of one block of rows, shape (n,), drawn so as to make up for what is missing."""
        odds = self._tilted(design.shape[0]).odds(self.factor, design)
        for _ in range(_RAKINGS):
            self._rake(odds)
        codes = pick(odds, rng)
        features = self.factor.scores[codes]
        self.cross += design.T @ features - np.outer(self._mean, features.sum(axis=0))
        self.counts += np.bincount(codes, minlength=self.factor.size)
        self.rows += len(codes)
        return codes

    def _tilted(self, size: int) -> Conditional:
        """The conditional for a block of ``size`` rows, with the cross products that are missing."""
        missing = (self.rows * self._target - self.cross) / size
        weights = self._gain @ missing / (self._variances + _SLACK / size)
        # (s,) root mean square change of a logit; many small wishes together must not drown the conditional.
        change = np.sqrt(np.maximum((weights * (self._covariance @ weights)).sum(axis=0), 0))
        weights *= _LARGEST_CHANGE / np.maximum(change, _LARGEST_CHANGE)
        weights = on_grid(np.clip(weights, -_LARGEST_WEIGHT, _LARGEST_WEIGHT))
        bias = on_grid(self.factor.spread((self._mean @ weights)[None, :])[:, 0])
        return Conditional(self.conditional.weights + weights, self.conditional.bias - bias)

    def _rake(self, odds: Matrix) -> None:
        """Scale the odds, shape (K, n), towards the group counts that are missing."""
        expected = odds @ (1 / odds.sum(axis=0))
        wanted = (self.rows + odds.shape[1]) * self._shares - self.counts
        ratio = np.clip(wanted / np.maximum(expected, _TINY), 1 / _LARGEST_RATIO, _LARGEST_RATIO)
        odds *= on_grid(ratio)[:, None]


def _ungroup(factor: Factor, drawn: Codes, rng: np.random.Generator) -> Codes:
    """Codes of the column for the groups drawn: within a group the source's own frequencies, exactly."""
    if factor.size == len(factor.levels):
        return factor.levels[drawn]
    codes = np.empty(len(drawn), dtype=np.int64)
    for group in range(factor.size):
        members = np.flatnonzero(factor.groups == group)
        rows = np.flatnonzero(drawn == group)
        codes[rows] = factor.levels[members[quota_codes(factor.counts[members], len(rows), rng)]]
    return codes
