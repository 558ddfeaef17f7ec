"""Distinct rows that still have the source's moments: chosen with exponentially tilted chances (amic2020, "Questioner").

Dropping duplicates flattens a distribution: frequent rows count once. Each distinct row is therefore taken with the chance
1 / (1 + exp(-tilt . features)), the tilt such that means, histograms, and covariances with every integer are expected to be
the source's. The rows are drawn in blocks, each tilted a little more by what the ones before it miss, as in `moments`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.errors import ParameterError
from kakurenbo.generators.blocks import shrinking_blocks
from kakurenbo.generators.calibration import on_grid
from kakurenbo.generators.factors import MAX_GROUPS, neighbours
from kakurenbo.generators.protocol import one_blas_thread
from kakurenbo.tables import Category, Codes, Moments, Table

Matrix = NDArray[np.float64]

_PILOT_ROWS = 8_192  # at most; rows of the pool on which the tilt is fitted before all of them are looked at
_LEAST_PILOT_ROWS = 1_024
_PILOT_WORK = 2**23  # rows of the pilot times features
_FIT_STEPS = 20
_FULL_STEPS = 6
_CLOSE = 1e-3  # of a feature's own size
_PENALTY = 1e-2  # per feature, on its tilt: keeps a tilt finite where no choice of rows reaches the source's moments
_LARGEST_STEP = 6.0  # change of a row's logit in one step of the fit
_SMALLEST_BLOCK = 64
_LARGEST_CHANGE = 1.0  # root mean square change of a logit by steering


def tilted_rows(source: Moments, pool: Table, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
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
    return np.flatnonzero(_exactly(rows, taken, features.logits(tilt), rng))


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
    factors: Matrix
    used: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.factors)

    def take(self, rows: NDArray[np.int64] | slice) -> _Features:
        return _Features(self.columns[rows], self.factors[rows], self.used)

    def logits(self, tilt: Matrix) -> Matrix:
        """Tilt times features, (f,) -> (n,)."""
        weights = np.zeros(self.used.shape)
        weights[self.used] = tilt
        logits: Matrix = ((self.columns @ weights) * self.factors).sum(axis=1)
        return logits

    def totals(self, weights: Matrix) -> Matrix:
        """Weighted sums of the features, (n,) -> (f,)."""
        totals: Matrix = (self.columns.T @ (weights[:, None] * self.factors))[self.used]
        return totals

    def dense(self) -> Matrix:
        """All features, shape (n, f)."""
        column, factor = np.nonzero(self.used)
        features: Matrix = self.columns.toarray()[:, column] * self.factors[:, factor]
        return features


class _Layout:
    """Collects columns of :class:`_Features`, and the mean of every product in the source."""

    def __init__(self, source: Moments, pool: Table) -> None:
        self._pool = pool
        spread = np.sqrt(np.diag(source.covariance))
        numeric, start = [], 0
        for column in source.schema:
            if not isinstance(column, Category) and spread[start] > 0:
                numeric.append(start)
            start += column.size if isinstance(column, Category) else 1
        # (numeric view, m) covariance of everything with the integers in standard units
        self._covariance = source.covariance[:, numeric] / spread[numeric]
        self._numeric = numeric
        self.factors = [np.ones(len(pool))]
        self._indices: list[Codes] = [np.zeros(len(pool), dtype=np.int32)]
        self._values = [np.ones(len(pool))]
        nothing = np.zeros(len(numeric))
        self._targets = [np.concatenate([[1.0], nothing])]
        self._used = [np.concatenate([[True], nothing > 0])]

    def add_levels(self, name: str, groups: Codes, shares: Matrix, places: NDArray[np.int64] | None) -> None:
        """One column per group of levels; ``groups`` (size,) has -1 for levels that do not occur in the source.

        ``places`` are the groups' positions in the numeric view, None where only their frequency is to be restored.
        """
        sizes = np.sqrt(shares)
        self._add(name, np.where(groups < 0, 0, len(self._targets) + groups), np.where(groups < 0, 0, 1 / sizes[groups]))
        for group, size in enumerate(sizes):
            related = np.zeros(len(self._numeric)) if places is None else self._covariance[places[group]] / size
            self._targets.append(np.concatenate([[size], related]))
            self._used.append(np.concatenate([[True], np.full(len(self._numeric), places is not None)]))

    def add_integer(self, name: str, standard: Matrix, place: int, spread: float) -> None:
        """The integer itself; ``standard`` (size,) are its values in standard units."""
        self._add(name, np.full(len(standard), len(self._targets)), standard)
        self.factors.append(standard[self._pool.codes[name]])
        self._targets.append(np.concatenate([[0.0], self._covariance[place] / spread]))
        # Each product of two integers once.
        self._used.append(np.concatenate([[True], np.array(self._numeric) >= place]))

    def _add(self, name: str, indices: Codes, values: Matrix) -> None:
        codes = self._pool.codes[name]
        self._indices.append(indices.astype(np.int32)[codes])
        self._values.append(values[codes])

    def built(self) -> tuple[_Features, Matrix]:
        rows, known, width = len(self._pool), len(self._indices), len(self._targets)
        from scipy import sparse

        columns = sparse.csr_array(
            (
                np.column_stack(self._values).ravel(),
                np.column_stack(self._indices).ravel(),
                np.arange(0, rows * known + 1, known, dtype=np.int32),
            ),
            shape=(rows, width),
        )
        used = np.array(self._used)
        return _Features(columns, np.column_stack(self.factors), used), np.array(self._targets)[used]


def _features(source: Moments, pool: Table) -> tuple[_Features, Matrix]:
    """The features of a pool, and their means in the source, shape (f,)."""
    layout = _Layout(source, pool)
    spread, start = np.sqrt(np.diag(source.covariance)), 0
    for column, histogram in zip(source.schema, source.histograms, strict=True):
        levels = np.flatnonzero(histogram)
        shares = histogram[levels] / source.count
        groups = np.full(len(histogram), -1)
        if isinstance(column, Category):
            groups[levels] = np.arange(len(levels))
            layout.add_levels(column.name, groups, shares, start + levels)
            start += column.size
            continue
        if len(levels) > 1:
            values = column.values(np.arange(len(histogram))).astype(np.float64)
            layout.add_integer(column.name, (values - source.mean[start]) / spread[start], start, spread[start])
            groups[levels] = neighbours(histogram[levels], MAX_GROUPS)
            layout.add_levels(column.name, groups, np.bincount(groups[levels], weights=shares).astype(np.float64), None)
        start += 1
    return layout.built()


def _fit(features: _Features, targets: Matrix, rows: int, rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    """The tilt, shape (f,), by Newton's method, and the inverse of the curvature per row chosen, shape (f, f).

    The curvature is that of a pilot of the pool; the last steps look at every row, with the same curvature and no penalty.
    """
    tilt = np.zeros(len(targets))
    tilt[0] = np.log(rows / (len(features) - rows))
    origin = tilt.copy()
    pilot_rows, weights = _pilot(features, len(targets), rng)
    pilot = features.take(pilot_rows).dense()  # (size, f)
    for _ in range(_FIT_STEPS):
        chances = _logistic(pilot @ tilt)
        gap = pilot.T @ (weights * chances) / rows - targets + _PENALTY * (tilt - origin)
        curvature = (pilot * (weights * chances * (1 - chances))[:, None]).T @ pilot / rows
        gain: Matrix = np.linalg.inv(curvature + _PENALTY * np.eye(len(targets))).astype(np.float64)
        if np.abs(gap).max() < _CLOSE:
            break
        tilt -= _bounded(gain @ gap, pilot)
    for _ in range(_FULL_STEPS):
        gap = features.totals(_logistic(features.logits(tilt))) / rows - targets
        if np.abs(gap).max() < _CLOSE:
            break
        tilt -= _bounded(gain @ gap, pilot)
    return on_grid(tilt), gain


def _pilot(features: _Features, width: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], Matrix]:
    """Some rows of the pool, and how many rows each stands for; rows with rare levels are the likelier, for they tell most."""
    size = int(np.clip(_PILOT_WORK // width, _LEAST_PILOT_ROWS, _PILOT_ROWS))
    if len(features) <= size:
        return np.arange(len(features)), np.ones(len(features))
    lengths = (features.columns**2).sum(axis=1)  # a level counts as much as it is rare
    chances = np.minimum(1, size * lengths / lengths.sum())
    rows = np.flatnonzero(rng.random(len(features)) < chances)
    return rows, 1 / chances[rows]


def _bounded(step: Matrix, pilot: Matrix) -> Matrix:
    """A step of the tilt, shortened where it would move a row of the pilot too far."""
    bounded: Matrix = step * (_LARGEST_STEP / max(np.abs(pilot @ step).max(), _LARGEST_STEP))
    return bounded


def _steered(features: _Features, wanted: Matrix, tilt: Matrix, gain: Matrix, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which rows are taken, shape (n,), so that the sums of their features come close to ``wanted``, shape (f,)."""
    order = rng.permutation(len(features))
    shuffled = features.take(order)
    logits = shuffled.logits(tilt)
    chances = _logistic(logits)
    missing = wanted - shuffled.totals(chances)
    taken = np.zeros(len(features), dtype=np.bool_)
    for block in shrinking_blocks(len(features), _SMALLEST_BLOCK):
        part = shuffled.take(block)
        # Newton's step for the missing sums; a part of the pool has that part of the pool's curvature.
        change = on_grid(gain @ missing * (len(features) / len(part)))
        moved = part.logits(change)
        size = np.sqrt((moved**2 * chances[block]).sum() / max(chances[block].sum(), 1e-12))
        moved *= _LARGEST_CHANGE / max(size, _LARGEST_CHANGE)
        drawn = rng.random(len(part)) < _logistic(logits[block] + moved)
        taken[order[block]] = drawn
        missing += part.totals(chances[block] - drawn)
    return taken


def _exactly(rows: int, taken: NDArray[np.bool_], logits: Matrix, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Give back rows at random, or take more by their tilted odds, until there are exactly as many as wanted."""
    surplus = int(taken.sum()) - rows
    if surplus > 0:
        taken[rng.choice(np.flatnonzero(taken), surplus, replace=False)] = False
    elif surplus < 0:
        others = np.flatnonzero(~taken)
        # The largest of logit + Gumbel noise are a sample without replacement, proportional to the odds.
        ranks = np.argsort(-(logits[others] + rng.gumbel(size=len(others))), kind="stable")
        taken[others[ranks[:-surplus]]] = True
    return taken


def _logistic(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import expit  # takes a while to load, and only drawing needs it

    chances: NDArray[np.float64] = expit(logits)
    return chances
