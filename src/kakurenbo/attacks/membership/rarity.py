"""Likelihood ratios by rarity: a rare row that looks like a member may be one, a common row with that score seldom is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.evidence import Ground
from kakurenbo.attacks.membership.shadows import Shadow

_LEAST_SPREAD = 1e-9  # of scores that are all alike


def by_rarity(ground: Ground, bins: int) -> NDArray[np.int64]:
    """In which of so many groups of equal size each row of B is, the most common rows in the first; shape (n,).

    Rarity is minus the sum over columns of the log of the share of B that has the row's value.
    """
    single = [slot for slot, names in enumerate(ground.features.slots) if len(names) == 1]
    rarity = -np.log(ground.mean[ground.population.places[:, single]]).sum(axis=1)
    groups: NDArray[np.int64] = np.searchsorted(
        np.quantile(rarity, np.arange(1, bins) / bins), rarity
    )
    return groups


def likelihood_ratios(
    scores: NDArray[np.float64],
    groups: NDArray[np.int64],
    shown: list[NDArray[np.float64]],
    made: list[Shadow],
) -> NDArray[np.float64]:
    """log of how much likelier each score is of a member than of another row of its group, shape (n,).

    Parameters
    ----------
    scores : array of float64, shape (n,)
    groups : array of int64, shape (n,)
        From 0.
    shown : list of arrays of float64, shape (n,)
        The scores of all rows in each shadow: normal in either kind of row of a group, of one variance, because two variances
        would have the highest scores speak against membership where others vary more.
    made : list of Shadow
        Who the members of the shadows are.
    """
    count = int(groups.max()) + 1
    sums = np.zeros((3, 2, count))  # rows, scores and squares of scores, of others and of members
    for values, shadow in zip(shown, made, strict=True):
        is_member = np.zeros(len(values), dtype=np.int64)
        is_member[shadow.members] = 1
        for power in range(3):
            sums[power] += np.bincount(
                is_member * count + groups, weights=values**power, minlength=2 * count
            ).reshape(2, count)
    rows = np.maximum(sums[0], 1)
    means = sums[1] / rows
    variance = np.maximum((sums[2] / rows - means**2).mean(axis=0), _LEAST_SPREAD)
    ratios: NDArray[np.float64] = ((means[1] - means[0]) / variance)[groups] * (
        scores - means.mean(axis=0)[groups]
    )
    return ratios
