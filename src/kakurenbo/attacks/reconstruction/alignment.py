"""Which of the ten files list the same people in the same order: their shared columns agree more than chance allows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse.csgraph import connected_components

from kakurenbo.tables import Table

_SIGNIFICANT = 6.0  # standard deviations: chance reaches this in one of a thousand comparisons about once in a million


def aligned_groups(files: Sequence[Table]) -> list[tuple[int, ...]]:
    """Numbers of the files in groups whose rows stand for the same people; a shuffled file is alone in its group."""
    count = len(files)
    linked = np.zeros((count, count), dtype=bool)
    for first in range(count):
        for second in range(first + 1, count):
            linked[first, second] = agreement(files[first], files[second]) > _SIGNIFICANT
    _, labels = connected_components(linked, directed=False)
    return [tuple(np.flatnonzero(labels == label).tolist()) for label in range(labels.max() + 1)]


def agreement(first: Table, second: Table) -> float:
    """How much more often than by chance a shared column of two files agrees row by row, in standard deviations.

    The column that agrees most decides: where rows mean the same people, some column tells.
    """
    if len(first) != len(second):
        return 0.0
    scores = []
    for name in first.schema.names:
        if name in second.schema:
            chance = float(first.frequencies(name) @ second.frequencies(name)) / len(first) ** 2
            deviation = np.sqrt(len(first) * chance * (1 - chance))
            if deviation > 0:
                scores.append(((first.codes[name] == second.codes[name]).sum() - len(first) * chance) / deviation)
    return float(max(scores, default=0.0))


def shared_noise(copies: Sequence[np.ndarray], size: int, keep: float) -> float:
    """Correlation of the noise of several copies of a column, 0 (perturbed each) to 1 (perturbed once, then copied).

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
    # Independent noise leaves keep^2 of the dependence; what is more than that, the noise has in common.
    return float(np.clip((np.mean(related) - keep**2) / max(1 - keep**2, 0.02), 0, 1))
