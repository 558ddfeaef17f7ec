"""Distinct rows that still have the source's moments: chosen with exponentially tilted chances (amic2020, "Questioner").

Dropping duplicates flattens a distribution: frequent rows count once. Each distinct row is therefore taken with the chance
1 / (1 + exp(-tilt . features)), the tilt such that means, histograms, and covariances with every integer are expected to be
the source's. The rows are drawn in blocks, each tilted a little more by what the ones before it miss, as in `moments`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kakurenbo.core import Category, Moments, Table
from kakurenbo.core.arrays import Bools, Floats, Ints, Rng
from kakurenbo.core.errors import ParameterError
from kakurenbo.data.moments import MAX_GROUPS, neighbours
from kakurenbo.data.statistics import on_grid, one_blas_thread, shrinking_blocks

_PILOT_ROWS = 8_192  # at most; the tilt is fitted on these rows before all of the pool is used
_LEAST_PILOT_ROWS = 1_024
_PILOT_WORK = 2**23  # rows of the pilot times features
_FIT_STEPS = 20
_FULL_STEPS = 6
_CLOSE = 1e-3  # of a feature's own size
_PENALTY = 1e-2  # per feature: keeps a tilt finite where no choice of rows has the source's moments
_LARGEST_STEP = 6.0  # change of a row's logit in one step of the fit
_SMALLEST_BLOCK = 64
_LARGEST_CHANGE = 1.0  # root mean square change of a logit by steering


def tilted_rows(source: Moments, pool: Table, rows: int, rng: Rng) -> Ints:
    """Choose ``rows`` rows of a pool so that their moments are the source's.

    Parameters
    ----------
    source : Moments
    pool : Table
        Different rows, of the source's schema.
    rows : int
    rng : numpy.random.Generator

    Returns
    -------
    array of int, shape (rows,)
        Row numbers, ascending.
    """
    if not 0 <= rows <= len(pool):
        raise ParameterError("rows", f"from 0 to the {len(pool):,} rows of the pool", rows)
    if rows in (0, len(pool)):
        return np.arange(rows)
    features, targets = _features(source, pool)
    with one_blas_thread():
        tilt, gain = _fit(features, targets, rows, rng)
        taken = _steered(features, targets * rows, tilt, gain / rows, rng)
    # Give back rows at random, or take more by their tilted odds, until there are exactly as many as wanted.
    surplus = int(taken.sum()) - rows
    if surplus > 0:
        taken[rng.choice(np.flatnonzero(taken), surplus, replace=False)] = False
    elif surplus < 0:
        others = np.flatnonzero(~taken)
        # The largest of logit + Gumbel noise are a sample without replacement, proportional to the odds.
        noisy = features.logits(tilt)[others] + rng.gumbel(size=len(others))
        taken[others[np.argsort(-noisy, kind="stable")[:-surplus]]] = True
    return np.flatnonzero(taken)


@dataclass(frozen=True, eq=False)
class _Features:
    """What is to be restored, for every row of a pool: products of a column of the row with 1 or with one of its integers.

    Attributes
    ----------
    columns : sparse array, shape (n, d)
        1, integers in standard units, and levels (of integers, groups of them), each in units of its size in the source.
    factors : array, shape (n, 1 + m)
        1, and the m integers in standard units.
    used : array of bool, shape (d, 1 + m)
        Which products are features; there are f of them.
    """

    columns: Any
    factors: Floats
    used: Bools

    def __len__(self) -> int:
        return len(self.factors)

    def take(self, rows: Ints | slice) -> _Features:
        return _Features(self.columns[rows], self.factors[rows], self.used)

    def logits(self, tilt: Floats) -> Floats:
        """Multiply tilt and features, (f,) -> (n,)."""
        weights = np.zeros(self.used.shape)
        weights[self.used] = tilt
        logits: Floats = ((self.columns @ weights) * self.factors).sum(axis=1)
        return logits

    def totals(self, weights: Floats) -> Floats:
        """Sum the features with weights, (n,) -> (f,)."""
        totals: Floats = (self.columns.T @ (weights[:, None] * self.factors))[self.used]
        return totals

    def dense(self) -> Floats:
        """Return all features, shape (n, f)."""
        column, factor = np.nonzero(self.used)
        features: Floats = self.columns.toarray()[:, column] * self.factors[:, factor]
        return features


def _features(source: Moments, pool: Table) -> tuple[_Features, Floats]:
    """Return the features of a pool, and their means in the source, shape (f,)."""
    from scipy import sparse

    spread = np.sqrt(np.diag(source.covariance))
    widths = [column.size if isinstance(column, Category) else 1 for column in source.schema]
    starts = np.cumsum([0, *widths[:-1]])
    integers = np.array([not isinstance(column, Category) for column in source.schema])
    numeric = starts[integers & (spread[starts] > 0)]
    # (numeric view, m) covariance of everything with the integers in standard units
    covariance = source.covariance[:, numeric] / spread[numeric]
    factors, blocks = [np.ones(len(pool))], [sparse.csr_array(np.ones((len(pool), 1)))]
    # Of each block: the mean of every product in the source, and which products are used.
    targets, used = [np.eye(1, 1 + len(numeric))], [np.eye(1, 1 + len(numeric)) > 0]
    for column, start, histogram in zip(source.schema, starts, source.histograms, strict=True):
        codes, levels = pool.codes[column.name], np.flatnonzero(histogram)
        shares, groups = histogram[levels] / source.count, np.arange(len(levels))
        nominal = isinstance(column, Category)
        if not nominal and len(levels) == 1:
            continue
        if not nominal:
            numbers = column.values(np.arange(len(histogram))).astype(np.float64)
            standard = (numbers - source.mean[start]) / spread[start]
            factors.append(standard[codes])
            blocks.append(sparse.csr_array(standard[:, None])[codes])
            targets.append(np.concatenate([[0.0], covariance[start] / spread[start]])[None, :])
            used.append(np.concatenate([[True], numeric >= start])[None, :])  # each product once
            groups = neighbours(histogram[levels], MAX_GROUPS)
            shares = np.bincount(groups, weights=shares).astype(np.float64)
        sizes = np.sqrt(shares)
        lookup = np.zeros((len(histogram), len(sizes)))
        lookup[levels, groups] = 1 / sizes[groups]
        blocks.append(sparse.csr_array(lookup)[codes])
        # Of groups of an integer, only frequencies are restored.
        related = np.zeros((len(sizes), len(numeric)))
        if nominal:
            related = covariance[start + levels] / sizes[:, None]
        targets.append(np.column_stack([sizes, related]))
        used.append(np.column_stack([sizes > 0, np.full(related.shape, nominal)]))
    columns, mask = sparse.hstack(blocks, format="csr"), np.concatenate(used)
    return _Features(columns, np.column_stack(factors), mask), np.concatenate(targets)[mask]


def _fit(features: _Features, targets: Floats, rows: int, rng: Rng) -> tuple[Floats, Floats]:
    """Fit the tilt, shape (f,), by Newton's method; return it and the inverse of the curvature per row chosen, shape (f, f).

    The curvature is that of a pilot of the pool; the last steps look at every row, with the same curvature and no penalty.
    """
    from scipy.special import expit  # takes a while to load, and only drawing needs it

    tilt = np.zeros(len(targets))
    tilt[0] = np.log(rows / (len(features) - rows))
    origin = tilt.copy()
    pilot_rows, weights = _pilot(features, len(targets), rng)
    pilot = features.take(pilot_rows).dense()  # (size, f)

    def bounded_step() -> Floats:
        """Shorten the step where it would move a row of the pilot too far."""
        step = gain @ gap
        limited: Floats = step * (_LARGEST_STEP / max(np.abs(pilot @ step).max(), _LARGEST_STEP))
        return limited

    for _ in range(_FIT_STEPS):
        chances = expit(pilot @ tilt)
        gap = pilot.T @ (weights * chances) / rows - targets + _PENALTY * (tilt - origin)
        curvature = (pilot * (weights * chances * (1 - chances))[:, None]).T @ pilot / rows
        gain: Floats = np.linalg.inv(curvature + _PENALTY * np.eye(len(targets))).astype(np.float64)
        if np.abs(gap).max() < _CLOSE:
            break
        tilt -= bounded_step()
    for _ in range(_FULL_STEPS):
        gap = features.totals(expit(features.logits(tilt))) / rows - targets
        if np.abs(gap).max() < _CLOSE:
            break
        tilt -= bounded_step()
    return on_grid(tilt), gain


def _pilot(features: _Features, width: int, rng: Rng) -> tuple[Ints, Floats]:
    """Sample rows of the pool, the likelier the rarer their levels; return them and how many rows each stands for."""
    size = int(np.clip(_PILOT_WORK // width, _LEAST_PILOT_ROWS, _PILOT_ROWS))
    if len(features) <= size:
        return np.arange(len(features)), np.ones(len(features))
    lengths = (features.columns**2).sum(axis=1)  # a level counts as much as it is rare
    chances = np.minimum(1, size * lengths / lengths.sum())
    rows = np.flatnonzero(rng.random(len(features)) < chances)
    return rows, 1 / chances[rows]


def _steered(features: _Features, wanted: Floats, tilt: Floats, gain: Floats, rng: Rng) -> Bools:
    """Take rows, shape (n,), so that the sums of their features come close to ``wanted``, shape (f,)."""
    from scipy.special import expit

    order = rng.permutation(len(features))
    shuffled = features.take(order)
    logits = shuffled.logits(tilt)
    chances = expit(logits)
    missing = wanted - shuffled.totals(chances)
    taken = np.zeros(len(features), dtype=np.bool_)
    for block in shrinking_blocks(len(features), _SMALLEST_BLOCK):
        part = shuffled.take(block)
        # Newton's step for the missing sums; a part of the pool has that part of the pool's curvature.
        moved = part.logits(on_grid(gain @ missing * (len(features) / len(part))))
        size = np.sqrt((moved**2 * chances[block]).sum() / max(chances[block].sum(), 1e-12))
        moved *= _LARGEST_CHANGE / max(size, _LARGEST_CHANGE)
        drawn = rng.random(len(part)) < expit(logits[block] + moved)
        taken[order[block]] = drawn
        missing += part.totals(chances[block] - drawn)
    return taken
