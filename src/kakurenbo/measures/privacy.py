"""Privacy models that can be computed from tables, or from the mechanism that made them.

k-anonymity (Samarati and Sweeney), l-diversity (Machanavajjhala et al.), t-closeness (Li et al.) and delta-presence (Nergiz et
al.) look at a release alone, or beside its population; Pk-anonymity (Ikarashi et al.) looks at how cells were randomized. They
say what equal rows hide; an attack that weighs unequal ones may still find people.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from kakurenbo.contest import Mechanism
from kakurenbo.core import Category, Table
from kakurenbo.core.arrays import Floats

_BLOCK = 1_000_000  # cells of a table of groups by values that are looked at together


def k_anonymity(table: Table, names: Iterable[str] | None = None) -> int:
    """Return the size of the smallest group of rows that are equal on ``names`` (all columns by default); 0 for no rows.

    Examples
    --------
    >>> from kakurenbo.core import Category, Schema
    >>> k_anonymity(Table.from_texts(Schema([Category("sex", ("F", "M"))]), {"sex": ["F", "F", "M"]}))
    1
    """
    _, counts = np.unique(table.keys(names), return_counts=True)
    return int(counts.min()) if len(counts) else 0


def l_diversity(table: Table, known: Iterable[str], secret: str) -> int:
    """Return the fewest different values of ``secret`` in a group of rows that are equal on ``known``; 0 for no rows.

    Examples
    --------
    >>> from kakurenbo.core import Integer, Schema
    >>> table = Table.from_rows(Schema([Integer("age", 0, 99), Integer("pay", 0, 9)]), [(30, 1), (30, 2), (40, 3), (40, 3)])
    >>> l_diversity(table, ["age"], "pay")
    1
    """
    cells = _Cells(table, known, secret)
    return int(np.bincount(cells.group).min()) if len(cells.group) else 0


def entropy_l_diversity(table: Table, known: Iterable[str], secret: str) -> float:
    """Return the exponential of the least entropy of ``secret`` in a group: as many equally likely values; 0 for no rows."""
    cells = _Cells(table, known, secret)
    if not len(cells.group):
        return 0.0
    entropies = np.bincount(cells.group, -cells.share * np.log(cells.share))
    return math.exp(max(0.0, float(entropies.min())))


def t_closeness(
    table: Table, known: Iterable[str], secret: str, *, ordered: bool | None = None
) -> float:
    """Return the largest distance of the distribution of ``secret`` in a group from that in the whole table, 0 to 1; 0 for no rows.

    Parameters
    ----------
    table : Table
    known, secret : names of columns
    ordered : bool or None
        Whether values lie in a row, each at the same distance from the next of those that occur (the earth mover's distance of
        numbers), or all at the same distance from each other. None takes numbers as ordered and categories as not.
    """
    cells = _Cells(table, known, secret)
    if not len(cells.group):
        return 0.0
    if ordered is None:
        ordered = not isinstance(table.schema[secret], Category)
    distances = cells.ordered_distances() if ordered else cells.equal_distances()
    return float(distances.max())


def delta_presence(population: Table, released: Table) -> tuple[float, float]:
    """Return the smallest and largest chance that a row of the population is in the release, seen from equal rows.

    For a row with value v it is min(1, rows equal to v in the release / rows equal to v in the population).

    Returns
    -------
    (float, float)
        delta_min and delta_max of (delta_min, delta_max)-presence.
    """
    # Keys of one table are only comparable among themselves, so both are numbered together.
    keys = Table.stack([population, released]).keys()
    distinct, number = np.unique(keys, return_inverse=True)
    group = number[: len(population)]
    in_release = np.bincount(number[len(population) :], minlength=len(distinct))
    present = np.minimum(in_release[group] / np.bincount(group)[group], 1.0)
    return float(present.min()), float(present.max())


def pk_anonymity(mechanism: Mechanism, names: Iterable[str], rows: int) -> float:
    """Return the k of Pk-anonymity: who knows all original records ties one to a person with a chance of at most 1 / k.

    Original records are taken as known, and the ``rows`` randomized ones as shuffled, each way being equally likely before they
    are seen. Let person u have become row u', and v have become v'. That they were exchanged is A[u, v'] A[v, u'] /
    (A[u, u'] A[v, v']) times as likely, and there are rows - 1 others to exchange with, so with the least such ratio

        k = 1 + (rows - 1) min A[u, v'] A[v, u'] / (A[u, u'] A[v, v']).

    Columns are randomized independently: the least ratio is the product of theirs. For each cell kept with probability p and
    else uniform among d values it is ((1 - p) / (1 + (d - 1) p))^2, as in the paper.

    Parameters
    ----------
    mechanism : Mechanism
    names : iterable of str
        Columns of a record; one that the mechanism leaves as it is makes k = 1.
    rows : int
        Records that were randomized.

    Examples
    --------
    >>> keep_half = Mechanism({"sex": np.array([[0.75, 0.25], [0.25, 0.75]])})
    >>> round(pk_anonymity(keep_half, ["sex"], 10), 6)  # 1 + 9 (1 / 3)^2
    2.0
    """
    least = math.fsum(_least_exchange(mechanism, name) for name in names)
    return 1.0 + (max(rows, 1) - 1) * math.exp(least)


class _Cells:
    """Values of a secret that occur in each group of rows equal on the known columns.

    Attributes
    ----------
    group, value : array of int, shape (c,)
        Group and value of each cell, both numbered from 0, in order of group and then value.
    share : array, shape (c,)
        The value's share of the rows of its group.
    overall : array, shape (values,)
        The share of each value in the whole table.
    """

    def __init__(self, table: Table, known: Iterable[str], secret: str) -> None:
        _, groups = np.unique(table.keys(known), return_inverse=True)
        _, values, totals = np.unique(table.keys([secret]), return_inverse=True, return_counts=True)
        cells, counts = np.unique(groups * max(1, len(totals)) + values, return_counts=True)
        self.group, self.value = np.divmod(cells, max(1, len(totals)))
        self.share = counts / np.bincount(groups)[self.group]
        self.overall = totals / max(1, len(table))

    def equal_distances(self) -> Floats:
        """Return half the sum of |q - p| in each group; a value that a group lacks adds its p."""
        overall = self.overall[self.value]
        return (np.bincount(self.group, np.abs(self.share - overall) - overall) + 1) / 2

    def ordered_distances(self) -> Floats:
        """Return the sum of |Q - P| of the cumulated shares, over one less than there are values; shape (groups,)."""
        groups, values = int(self.group[-1]) + 1, len(self.overall)
        distances, below = np.zeros(groups), np.cumsum(self.overall)
        step = max(1, _BLOCK // values)
        for first in range(0, groups if values > 1 else 0, step):
            start, stop = np.searchsorted(self.group, (first, first + step))
            shares = np.zeros((min(step, groups - first), values))
            shares[self.group[start:stop] - first, self.value[start:stop]] = self.share[start:stop]
            gaps = np.abs(np.cumsum(shares, axis=1) - below).sum(axis=1)
            distances[first : first + step] = gaps / (values - 1)
        return distances


def _least_exchange(mechanism: Mechanism, name: str) -> float:
    """Return the logarithm of the least of A[u, v'] A[v, u'] / (A[u, u'] A[v, v']) over possible u, v and what they can become."""
    matrix = mechanism.transitions.get(name)
    if matrix is None:
        return -math.inf
    matrix = matrix[mechanism.inputs.get(name, np.ones(len(matrix), dtype=bool))]
    matrix = matrix[:, matrix.max(axis=0) > 0]
    if (matrix == 0).any():
        return -math.inf  # one who cannot become a value is told from one who can
    logs = np.log(matrix)
    # For a pair u, v: the least of log A[u, .] - log A[v, .] minus the largest; a row of pairs at a time.
    return min(float(-np.ptp(logs - row, axis=1).max()) for row in logs)
