"""Few people whose rows were released in part or with small changes: told together by whom a released row is like.

A released row is the more like a person the fewer people are as near to it in each of its columns, so that rare values count
most and columns that were changed not at all. A handful of such rows moves no rate, and hides among thousands of people one by
one.
"""

from __future__ import annotations

import math

import numpy as np

from kakurenbo.audit import statistics
from kakurenbo.audit.encoding import Coded, CodedColumn, Codes, Floats
from kakurenbo.audit.engine import nearest_rows
from kakurenbo.audit.result import Caveat

_CONTROLS = (
    1,
    2,
    4,
    8,
    16,
)  # which of the controls, the one that is most like a released row first, members are compared with
_SELDOM, _RARELY = (
    0.02,
    0.005,
)  # p-values below which it is told, and below which people are given away
_DECIMALS = 9  # of likeness: rounding in the last bits must not decide between equals
_TINY = 1e-12


def standing_out(coded: Coded, members: Codes, controls: Codes) -> Caveat | None:
    """Members who are more like a released row than the controls who are most so, where chance hardly makes so many.

    Parameters
    ----------
    coded : Coded
    members, controls : arrays of int32, shape (n, columns), (h, columns)
        People of the original and of the holdout. Under a release that knows neither they are exchangeable, so that among the
        first of them members are no more than their share (Fisher's test, for five controls by Bonferroni's correction).

    Returns
    -------
    Caveat or None
        Which leaks if a single record may not be given away.
    """
    likeness = likest(coded, np.concatenate([members, controls]))
    ours, theirs = likeness[: len(members)], np.sort(likeness[len(members) :])[::-1]
    found = []
    for line in theirs[[place - 1 for place in _CONTROLS if place <= len(theirs)]]:
        rates = [statistics.rate(int((some > line).sum()), len(some)) for some in (ours, theirs)]
        found.append((statistics.fisher(rates[0], rates[1]) * len(_CONTROLS), rates))
    p_value, (rate, control) = min(found, key=lambda one: one[0])
    if p_value >= _SELDOM:
        return None
    least = max(1, math.floor(statistics.excess(rate, control).low * len(members)))
    told = {"rows": rate.hits, "control": control.hits, "least": least}
    return Caveat("standing_out", told, blocks=True, leaks=p_value < _RARELY)


def likest(coded: Coded, pool: Codes) -> Floats:
    """How like the released row is that is most like each person, in nats, shape (n,)."""
    gains = [_gains(column, pool[:, place]) for place, column in enumerate(coded.columns)]
    most = [gain.max(axis=1) for gain in gains]
    for gain, best in zip(gains, most, strict=True):
        np.subtract(best[:, None], gain, out=gain)
    missed, _ = nearest_rows(pool, coded.release, gains)
    whole = sum(best[pool[:, place]] for place, best in enumerate(most))
    return np.asarray(np.round(whole - missed, _DECIMALS))


def _gains(column: CodedColumn, codes: Codes) -> Floats:
    """Minus the log of the share of people who are at least as near to a released value as somebody is, (size, released)."""
    shares = np.bincount(codes, minlength=column.size) / len(codes)
    as_near = np.ones((column.size, column.released))
    if column.numeric:
        as_near[:-1] = _between(column, shares)
    np.copyto(as_near, shares @ column.covers, where=column.covers)
    np.clip(as_near, 0.5 / len(codes), 1.0, out=as_near)
    return np.asarray(-np.log(as_near, out=as_near))


def _between(column: CodedColumn, shares: Floats) -> Floats:
    """The share of people whose number is no farther from a released one than each number is, shape (numbers, released)."""
    positions, weights = column.positions[:-1], column.covers[:-1].astype(np.float64)
    middle = (positions @ weights) / np.maximum(weights.sum(axis=0), 1)
    apart = np.abs(positions[:, None] - middle[None, :]) + _TINY
    before = np.concatenate([[0.0], np.cumsum(shares[:-1])])
    first, last = (
        np.searchsorted(positions, middle - apart),
        np.searchsorted(positions, middle + apart, side="right"),
    )
    return np.asarray(before[last] - before[first])
