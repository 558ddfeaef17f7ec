"""`omth17`: the generator of the contest, [OMTH17], as its own code behaved; kept with its drift.

Columns drawn independently, whitened, coloured with the source's covariance, discretised by the arg max of each category.
"""

from __future__ import annotations

import numpy as np

from kakurenbo.core import Category, Codes, Integer, Moments, Table
from kakurenbo.core.arrays import Floats, Rng
from kakurenbo.data.statistics import check_request, one_blas_thread

_BLOCK = 65_536
_RANK_TOLERANCE = 1e-10  # eigenvalues below this share of the largest are rounding
_DECIMALS = 9  # values closer than this are ties: the arg max must not depend on rounding


def generate(moments: Moments, rows: int, rng: Rng) -> Table:
    """Draw a table by steps (1) to (5) of the rules.

    Parameters
    ----------
    moments : Moments
        Of the source A; levels that do not occur in it have no column.
    rows : int
    rng : numpy.random.Generator

    Returns
    -------
    Table
        Its histograms drift from the source's, as the contest's did; see :func:`kakurenbo.data.generators.fidelity`.
    """
    check_request(moments, rows)
    # (1) Y: every integer from its histogram and every level by itself, as 0 or 1, from its frequency.
    columns: list[Codes] = []
    occurring: list[bool] = []
    for column, histogram in zip(moments.schema, moments.histograms, strict=True):
        if isinstance(column, Category):
            occurring.extend(histogram > 0)
            frequencies = histogram[histogram > 0]
            columns.extend(rng.random(rows) * moments.count < count for count in frequencies)
        else:
            occurring.append(True)
            ranks = rng.integers(moments.count, size=rows)
            codes = np.searchsorted(np.cumsum(histogram), ranks, side="right")
            columns.append(column.values(codes))
    kept = np.flatnonzero(occurring)
    mean, covariance = moments.mean[kept], moments.covariance[np.ix_(kept, kept)]
    parts: dict[str, list[Codes]] = {name: [] for name in moments.schema.names}
    with one_blas_thread():
        centre, spread = _sample_moments(columns)
        # (2) Y' = (Y - mean) V S^-1/2 has identity covariance; directions without variance stay 0. (3) Times (U L^1/2)^T,
        # largest variance first in both, so that columns are paired in the same order.
        variances, directions = _principal(spread)
        scale = np.divide(1, np.sqrt(variances), out=np.zeros_like(variances), where=variances > 0)
        coloured, axes = _principal(covariance)
        transform = (directions * scale) @ (axes * np.sqrt(coloured)).T  # (d, d)
        for start in range(0, rows, _BLOCK):
            block = np.column_stack([column[start : start + _BLOCK] for column in columns]) - centre
            _discretise(moments, block @ transform + mean, parts)
    nothing = np.zeros(0, dtype=np.int64)
    return Table(
        moments.schema, {name: np.concatenate([nothing, *codes]) for name, codes in parts.items()}
    )


def _sample_moments(columns: list[Codes]) -> tuple[Floats, Floats]:
    """Compute mean, shape (d,), and covariance with ddof 1, shape (d, d), of Y; the sums are of whole numbers and exact."""
    rows, width = len(columns[0]), len(columns)
    products = np.zeros((width, width))
    for start in range(0, rows, _BLOCK):
        block = np.column_stack([column[start : start + _BLOCK] for column in columns])
        block = block.astype(np.float64)
        products += block.T @ block
    sums = np.array([column.sum() for column in columns], dtype=np.float64)
    if rows < 2:
        return sums / max(rows, 1), np.zeros((width, width))
    return sums / rows, (products - np.outer(sums, sums) / rows) / (rows - 1)


def _principal(covariance: Floats) -> tuple[Floats, Floats]:
    """Return eigenvalues, descending, those of rounding set to 0, and eigenvectors whose first large entry is positive."""
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = values[::-1], vectors[:, ::-1]
    values = np.where(values > _RANK_TOLERANCE * max(values[0], 0.0), values, 0.0)
    # Two levels often share the largest entry up to sign: the first of them decides, not rounding.
    sizes = np.abs(vectors)
    leading = (sizes > sizes.max(axis=0) * (1 - 1e-6)).argmax(axis=0)
    return values, vectors * np.sign(vectors[leading, np.arange(len(values))])


def _discretise(moments: Moments, values: Floats, parts: dict[str, list[Codes]]) -> None:
    """(5) Integers clipped and rounded half to even; of each category the level with the largest value, the first on ties."""
    values = values.round(_DECIMALS)
    place = 0
    for column, histogram in zip(moments.schema, moments.histograms, strict=True):
        if isinstance(column, Integer):
            whole = np.rint(np.clip(values[:, place], column.low, column.high)).astype(np.int64)
            parts[column.name].append(whole - column.low)
            place += 1
        else:
            levels = np.flatnonzero(histogram)
            parts[column.name].append(levels[values[:, place : place + len(levels)].argmax(axis=1)])
            place += len(levels)
