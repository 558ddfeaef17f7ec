"""The mechanism behind a release, guessed from the release alone: each cell kept with probability p_c, else drawn anew.

Keeping cells independently shrinks the dependence of two columns c, c' by exactly p_c p_c', whatever is drawn otherwise.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contest import Mechanism
from kakurenbo.core import Table

_LEAST, _MOST = 0.01, 0.999  # a cell may always have been drawn anew, and never always is
_ROUNDS = 500
_SETTLED = 1e-9
_UNEXPLAINED = 1e-3  # share of the draws given to the release's own distribution, so that no released value is impossible


def estimate_mechanism(population: Table, release: Table) -> Mechanism:
    """The mechanism that turns a random sample of ``population`` into ``release``, if it keeps or redraws each cell alone.

    Randomized response with a uniform draw (``rr``), with one from the data (``rrp``), and the swapping of cells are of this
    kind. With p_c from :func:`retention`, the distribution of the draws follows from the histograms of B and D:
    h^D = p_c h^B + (1 - p_c) draws.

    Parameters
    ----------
    population, release : Table
        B and D, of finite domains.
    """
    transitions = {}
    for column, p in zip(population.schema, retention(population, release), strict=True):
        before = population.frequencies(column.name) / len(population)
        after = release.frequencies(column.name) / len(release)
        draws = np.maximum((after - p * before) / (1 - p), 0) + _UNEXPLAINED * after
        transitions[column.name] = p * np.eye(len(draws)) + (1 - p) * draws / draws.sum()
    return Mechanism(transitions)


def retention(population: Table, release: Table) -> NDArray[np.float64]:
    """The probability p_c that a cell was kept, per column, shape (columns,).

    The centred joint histogram J of two columns has E[J^D] = p_c p_c' J^B. The least squares fit of all pairs together is
    found one p_c after the other. A column that depends on no other cannot be told, and its estimate means little.
    """
    names = population.schema.names
    agreement, strength = np.zeros((len(names), len(names))), np.zeros((len(names), len(names)))
    for (i, a), (j, b) in itertools.combinations(enumerate(names), 2):
        before, after = _dependence(population, a, b), _dependence(release, a, b)
        agreement[i, j] = agreement[j, i] = np.vdot(after, before)
        strength[i, j] = strength[j, i] = np.vdot(before, before)
    p = np.full(len(names), 0.5)
    for _ in range(_ROUNDS):
        previous = p.copy()
        for i in range(len(names)):
            if strength[i] @ p**2 > 0:
                p[i] = np.clip(agreement[i] @ p / (strength[i] @ p**2), _LEAST, _MOST)
        if np.abs(p - previous).max() < _SETTLED:
            break
    return p


def _dependence(table: Table, a: str, b: str) -> NDArray[np.float64]:
    """Joint relative frequencies of two columns less the product of their own, shape (size of a, size of b)."""
    rows, columns = (table.frequencies(name) / len(table) for name in (a, b))
    joint = np.bincount(table.keys((a, b)), minlength=len(rows) * len(columns)) / len(table)
    return joint.reshape(len(rows), len(columns)) - np.outer(rows, columns)
