"""How common a row is among people: the tree of Chow and Liu (1968) over pairs of columns."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from kakurenbo.audit.encoding import Floats

_SMOOTHING = 0.5  # people added to every column of a pair, spread as its values are
_EDGE = (
    1e-6  # nats that any two columns are taken to tell: what is nearly nothing counts as no edge
)
_TELLING, _FEWEST_TELLING = 20_000, 2000  # people by whom the pairs are chosen
_PAIRED = 4_000_000  # people times pairs of columns: of very many pairs fewer people must do
_COUNTED = (
    1_000_000  # pairs of values that have a counter each; of more, those that occur are sorted
)
Rows = NDArray[Any]


def log_densities(
    people: Rows, rows: Rows, sizes: Sequence[int], told: Floats | None = None
) -> Floats:
    """log of the share of people whose row each row would be, shape (m,): of many columns it is less than a number can be.

    Parameters
    ----------
    people, rows : arrays of int, shape (n, columns), (m, columns)
        Codes of one kind.
    sizes : sequence of int
        How many codes each column has.
    told : array, shape (columns, columns), optional
        From :func:`mutual_information`, where it is known.
    """
    shares = [_share(people[:, place], size) for place, size in enumerate(sizes)]
    found = np.log(shares[0][rows[:, 0]])
    for child, parent in _tree(mutual_information(people) if told is None else told):
        together = _together(
            _keys(people, parent, child, sizes),
            _keys(rows, parent, child, sizes),
            sizes[parent] * sizes[child],
        )
        alone = np.bincount(people[:, parent], minlength=sizes[parent])[rows[:, parent]]
        found += np.log(
            (together + _SMOOTHING * shares[child][rows[:, child]]) / (alone + _SMOOTHING)
        )
    return np.asarray(found)


def _together(keys: NDArray[np.int64], asked: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """How often each number that is asked for occurs among the keys, all below ``size``; shape of ``asked``."""
    if size <= max(_COUNTED, len(keys)):
        return np.asarray(np.bincount(keys, minlength=size)[asked])
    different, counts = np.unique(keys, return_counts=True)
    places = np.minimum(np.searchsorted(different, asked), len(different) - 1)
    return np.where(different[places] == asked, counts[places], 0)


def mutual_information(people: Rows) -> Floats:
    """What each two columns tell of each other, in nats, shape (columns, columns)."""
    count = people.shape[1]
    most = min(_TELLING, max(_FEWEST_TELLING, _PAIRED // max(1, count * (count - 1) // 2)))
    some = people[:: -(-len(people) // most)].astype(np.int64)
    sizes = [int(some[:, place].max()) + 1 for place in range(some.shape[1])]
    told = np.zeros((len(sizes), len(sizes)))
    shares = [np.bincount(some[:, place]) / len(some) for place in range(len(sizes))]
    for i, j in itertools.combinations(range(len(sizes)), 2):
        keys, counts = np.unique(_keys(some, i, j, sizes), return_counts=True)
        joint = counts / len(some)
        apart = shares[i][keys // sizes[j]] * shares[j][keys % sizes[j]]
        told[i, j] = told[j, i] = float((joint * np.log(joint / apart)).sum())
    return told


def _share(codes: Rows, size: int) -> Floats:
    """How common each code is, with one more person spread over all, shape (size,)."""
    return np.asarray((np.bincount(codes, minlength=size) + 1 / size) / (len(codes) + 1))


def _keys(rows: Rows, one: int, other: int, sizes: Sequence[int]) -> NDArray[np.int64]:
    keys: NDArray[np.int64] = rows[:, one].astype(np.int64) * sizes[other] + rows[:, other]
    return keys


def _tree(told: Floats) -> list[tuple[int, int]]:
    """(child, parent) of every column but the first, parents before children: the pairs that tell most of each other."""
    if len(told) == 1:
        return []
    weights = -np.triu(np.maximum(told, 0) + _EDGE, 1)
    order, parents = breadth_first_order(minimum_spanning_tree(weights), 0, directed=False)
    return [(int(child), int(parents[child])) for child in order[1:]]
