"""Which files list the same people in the same order: their shared columns agree more than chance
allows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.core import Table

# Standard deviations: in a thousand comparisons chance reaches this about once in a million times.
SIGNIFICANT = 6.0


def aligned_groups(files: Sequence[Table]) -> list[tuple[int, ...]]:
    """Return numbers of the files in groups whose rows stand for the same people; a shuffled file
    is alone.
    """

    def agreement(first: int, second: int) -> float:
        a, b = files[first], files[second]
        if len(a) != len(b):
            return 0.0
        # The column that agrees most decides: where rows mean the same people, some column tells.
        shared = [name for name in a.schema.names if name in b.schema]
        return max((column_agreement(a.codes[n], b.codes[n]) for n in shared), default=0.0)

    return groups_by(len(files), agreement)


def groups_by(count: int, agreement_of: Callable[[int, int], float]) -> list[tuple[int, ...]]:
    """Group so many files, those together that agree in more than six standard deviations."""
    from scipy.sparse.csgraph import connected_components

    linked = np.zeros((count, count), dtype=bool)
    for first, second in itertools.combinations(range(count), 2):
        linked[first, second] = agreement_of(first, second) > SIGNIFICANT
    _, labels = connected_components(linked, directed=False)
    return [tuple(np.flatnonzero(labels == label).tolist()) for label in range(labels.max() + 1)]


def column_agreement(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return how much more often than by chance two columns of codes agree, in standard
    deviations.
    """
    size = 1 + int(max(first.max(initial=0), second.max(initial=0)))
    counts = [np.bincount(codes, minlength=size) for codes in (first, second)]
    chance = float(counts[0] @ counts[1]) / max(len(first), 1) ** 2
    deviation = np.sqrt(len(first) * chance * (1 - chance))
    if deviation == 0:
        return 0.0
    return float(((first == second).sum() - len(first) * chance) / deviation)


def shared_noise(copies: Sequence[np.ndarray], size: int, keep: float) -> float:
    """Return the correlation of the noise of copies of a column: 0 perturbed each, 1 perturbed
    once, then copied.

    Parameters
    ----------
    copies : sequence of arrays, shape (n,)
        Codes of one column in files that list the same people.
    size : int
        Values of the column.
    keep : float
        Probability that a released cell tells of the original at all.
    """
    if len(copies) < 2:
        return 0.0
    shares = [np.bincount(copy, minlength=size) / len(copy) for copy in copies]
    related = []
    for i in range(len(copies)):
        for j in range(i):
            chance = float(shares[i] @ shares[j])
            related.append(((copies[i] == copies[j]).mean() - chance) / max(1 - chance, 1e-9))
    # Independent noise leaves keep^2 of the dependence; what is more than that, the noise has in
    # common.
    return float(np.clip((np.mean(related) - keep**2) / max(1 - keep**2, 0.02), 0, 1))
