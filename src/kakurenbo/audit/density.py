"""How common a released row is among people at large: the tree of Chow and Liu (1968) over pairs of columns."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from kakurenbo.audit.encoding import Coded, Floats
from kakurenbo.audit.mechanism import joint_shares

_SMOOTHING = 0.5  # people added to every column of a pair, spread as its values are
_LEAST = 1e-300


def densities(people: NDArray[np.int64], coded: Coded) -> Floats:
    """The share of people that each released row would be the row of, shape (m,).

    Parameters
    ----------
    people : array of int64, shape (n, columns)
        As the release would show them.
    coded : Coded
        Its released rows are looked up.
    """
    sizes = [column.released for column in coded.columns]
    shares = [
        (np.bincount(people[:, place], minlength=size) + 1 / size) / (len(people) + 1) for place, size in enumerate(sizes)
    ]
    joints = {
        (i, j): joint_shares(people[:, i], sizes[i], people[:, j], sizes[j])
        for i, j in itertools.combinations(range(len(sizes)), 2)
    }
    found = shares[0][coded.release[:, 0]]
    for child, parent in _tree(joints, len(sizes)):
        joint = joints[(parent, child)] if parent < child else joints[(child, parent)].T
        counts = joint * len(people) + _SMOOTHING * shares[child]
        given = counts / counts.sum(axis=1, keepdims=True)
        found = found * given[coded.release[:, parent], coded.release[:, child]]
    return np.asarray(found)


def _tree(joints: dict[tuple[int, int], Floats], count: int) -> list[tuple[int, int]]:
    """(child, parent) of every column but the first, parents before children: the pairs that tell most of each other."""
    if count == 1:
        return []
    weights = np.zeros((count, count))
    for (i, j), joint in joints.items():
        apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        told = float((joint * np.log(np.maximum(joint, _LEAST) / np.maximum(apart, _LEAST))).sum())
        weights[i, j] = -(told + 1e-9)  # never none, which would be no edge
    order, parents = breadth_first_order(minimum_spanning_tree(weights), 0, directed=False)
    return [(int(child), int(parents[child])) for child in order[1:]]
