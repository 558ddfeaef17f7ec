"""`moments`: our generator. Draws column after column, and steers every draw by what the rows so far are short of.

The conditionals come from :mod:`calibration`. Rows are drawn in blocks; before each block the conditionals are tilted by
the moments still missing, so that the errors of the blocks cancel instead of adding up: the histograms and the covariance
of the finished table are far closer to the source's than an independent sample's would be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.generators.blocks import shrinking_blocks
from kakurenbo.generators.calibration import Conditional, calibrate, on_grid, pick
from kakurenbo.generators.factors import Design, Factor, Plan
from kakurenbo.generators.protocol import check_request, one_blas_thread
from kakurenbo.generators.quotas import quota_codes
from kakurenbo.tables import Codes, Moments, Table

Matrix = NDArray[np.float64]

_SMALLEST_BLOCK = 16
_FEATURES_PER_ROW = 4  # of the smallest block at most: fewer rows cannot be steered in so many directions
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
        aims = tuple(_Aim.of(plan, *pair) for pair in zip(plan.factors[1:], conditionals, strict=True))
    return lambda rows, stream: _table(moments, plan, aims, rows, stream)


def _table(moments: Moments, plan: Plan, aims: tuple[_Aim, ...], rows: int, rng: np.random.Generator) -> Table:
    check_request(moments, rows)
    with one_blas_thread():
        groups = _draw(plan, aims, rows, rng)
    # The last rows of a draw make up for the first: their order must not tell.
    order = rng.permutation(rows)
    codes = {name: np.full(rows, code) for name, code in plan.constants.items()}
    for factor, drawn in zip(plan.factors, groups, strict=True):
        codes[factor.name] = _ungroup(factor, drawn[order], rng)
    return Table(plan.schema, codes)


def _draw(plan: Plan, aims: tuple[_Aim, ...], rows: int, rng: np.random.Generator) -> list[Codes]:
    """The group of every factor for every row, each of shape (rows,)."""
    if not plan.factors:
        return []
    groups: list[Codes] = [np.empty(rows, dtype=np.int32) for _ in plan.factors]
    groups[0][:] = quota_codes(plan.factors[0].group_counts, rows, rng)
    steered = [_Steered(aim) for aim in aims]
    smallest = max(_SMALLEST_BLOCK, len(plan.mean) // _FEATURES_PER_ROW)
    for block in shrinking_blocks(rows, smallest):
        design = Design(plan, block.stop - block.start)
        for place, column in enumerate(steered, start=1):
            design.add(groups[place - 1][block])
            groups[place][block] = column.draw(design.matrix(), rng)
    return groups


@dataclass(frozen=True, eq=False)
class _Aim:
    """A conditional, and the moments that its draws are to reach.

    Attributes
    ----------
    mean : array, shape (d',)
    cross : array, shape (d', s)
        E[(x - mean) features].
    shares : array, shape (K,)
    variances : array, shape (s,)
        Largest variances of the features.
    gain : array, shape (d', d')
        Newton's step as if the conditional hung on nothing: its curvature is the largest, so the step is never too long.
    """

    factor: Factor
    conditional: Conditional
    mean: Matrix
    cross: Matrix
    shares: Matrix
    variances: Matrix
    gain: Matrix

    @classmethod
    def of(cls, plan: Plan, factor: Factor, conditional: Conditional) -> _Aim:
        width, shares = factor.offset, factor.shares
        variances = shares if factor.nominal else shares @ factor.scores**2
        cross = plan.covariance[:width, width : width + factor.width]
        gain: Matrix = np.linalg.inv(plan.covariance[:width, :width] + _RIDGE * np.eye(width)).astype(np.float64)
        return cls(factor, conditional, plan.mean[:width], cross, shares, variances, gain)

    def tilted(self, missing: Matrix, size: int) -> Conditional:
        """The conditional for a block of ``size`` rows that is to make up for the cross products ``missing``, shape (d', s)."""
        missing = missing / size
        step = self.gain @ missing
        weights = step / (self.variances + _SLACK / size)
        # (s,) root mean square change of a logit, since covariance @ step = missing - ridge * step; many small wishes
        # together must not drown the conditional.
        reached = (missing - _RIDGE * step) / (self.variances + _SLACK / size)
        change = np.sqrt(np.maximum((weights * reached).sum(axis=0), 0))
        weights *= _LARGEST_CHANGE / np.maximum(change, _LARGEST_CHANGE)
        weights = on_grid(np.clip(weights, -_LARGEST_WEIGHT, _LARGEST_WEIGHT))
        bias = on_grid(self.factor.spread((self.mean @ weights)[None, :])[:, 0])
        return Conditional(self.conditional.weights + weights, self.conditional.bias - bias)


class _Steered:
    """The draws of one factor, and the sums of the moments that they have reached so far."""

    def __init__(self, aim: _Aim) -> None:
        self._aim, self._rows = aim, 0
        self._cross = np.zeros_like(aim.cross)  # (d', s) sum of (x - mean) features
        self._counts = np.zeros(aim.factor.size)

    def draw(self, design: Any, rng: np.random.Generator) -> Codes:
        """Groups of one block of rows, shape (n,), drawn so as to make up for what is missing."""
        aim = self._aim
        odds = aim.tilted(self._rows * aim.cross - self._cross, design.shape[0]).odds(aim.factor, design)
        for _ in range(_RAKINGS):
            self._rake(odds)
        codes = pick(odds, rng)
        features = aim.factor.scores[codes]
        self._cross += design.T @ features - np.outer(aim.mean, features.sum(axis=0))
        self._counts += np.bincount(codes, minlength=aim.factor.size)
        self._rows += len(codes)
        return codes

    def _rake(self, odds: Matrix) -> None:
        """Scale the odds, shape (K, n), towards the group counts that are missing."""
        expected = odds @ (1 / odds.sum(axis=0))
        wanted = (self._rows + odds.shape[1]) * self._aim.shares - self._counts
        ratio = np.clip(wanted / np.maximum(expected, _TINY), 1 / _LARGEST_RATIO, _LARGEST_RATIO)
        odds *= on_grid(ratio)[:, None]


def _ungroup(factor: Factor, drawn: Codes, rng: np.random.Generator) -> Codes:
    """Codes of the column for the groups drawn: within a group the source's own frequencies, exactly."""
    if factor.size == len(factor.levels):
        return factor.levels[drawn]
    codes = np.empty(len(drawn), dtype=np.int64)
    by_group = np.argsort(drawn.astype(np.int16), kind="stable")  # 16 bits are sorted by counting
    ends = np.cumsum(np.bincount(drawn, minlength=factor.size))
    for group, rows in enumerate(np.split(by_group, ends[:-1])):
        members = np.flatnonzero(factor.groups == group)
        codes[rows] = factor.levels[members[quota_codes(factor.counts[members], len(rows), rng)]]
    return codes
