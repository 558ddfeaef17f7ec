"""What the mean features of a release tell of its members' mean features: how much, how reliably, and of which columns.

A release that keeps a statistic of its members has, there, the deviation of a random sample of B; one that does not deviates
by far more (permuted columns have other pairs) and tells nothing. One pair of columns that deviates by more shows a method that
makes the pairs itself: the others may be near to B's because they were repaired, and are not believed either.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.features import PairFeatures, Rows
from kakurenbo.attacks.membership.knowledge import MembershipKnowledge

_SMALLEST_VARIANCE = 1e-3  # of a direction in which a deviation is judged
_FARTHEST = (
    6.0  # standard errors of the mean square deviation of a slot that still looks like a sample's
)

ALL, FITTING, HISTOGRAMS = "all", "fitting", "histograms"
FEATURES = (FITTING, ALL, HISTOGRAMS)

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ground:
    """All that hangs on the population alone, and serves every release.

    Attributes
    ----------
    features : PairFeatures
    population : Rows
    mean : array, shape (d,)
    covariance : array, shape (d, d)
    """

    features: PairFeatures
    population: Rows
    mean: Values
    covariance: Values

    @classmethod
    def of(cls, knowledge: MembershipKnowledge, *, pairs: bool = True) -> Ground:
        """The ground of B; D only says which values wide columns have."""
        features = PairFeatures(knowledge.population, knowledge.release, pairs=pairs)
        rows = features.rows(knowledge.population)
        return cls(features, rows, rows.mean(), rows.covariance())


@dataclass(frozen=True, eq=False)
class Evidence:
    """The members' mean features as a release shows them.

    Attributes
    ----------
    used : array of int64, shape (e,)
        The features that tell something.
    deviation : array, shape (e,)
        m_C - m_B as far as it can be told.
    noise : array, shape (e,)
        n times the variance of the error of ``deviation``.
    """

    used: NDArray[np.int64]
    deviation: Values
    noise: Values


def plain_evidence(
    ground: Ground, knowledge: MembershipKnowledge, which: str, rounding: float
) -> Evidence:
    """Evidence that takes the release's mean features for the members' own.

    Parameters
    ----------
    ground : Ground
    knowledge : MembershipKnowledge
    which : str
        ``all`` features, ``histograms`` of single columns only, or those of the columns and pairs that are ``fitting``: that
        deviate from B no more than a sample would, and of the pairs all or none.
    rounding : float
        Standard error of each count of the release.
    """
    deviation = ground.features.rows(knowledge.release).mean() - ground.mean
    single = np.array([len(names) == 1 for names in ground.features.slots])
    kept = single if which == HISTOGRAMS else np.ones(len(single), dtype=bool)
    noise = np.zeros(ground.features.count)
    if which == FITTING:
        squares, degrees = _deviations(ground, deviation, knowledge)
        kept = squares <= degrees + _FARTHEST * np.sqrt(2 * degrees)
        if not kept[~single].all():
            kept &= single
        for kind in (kept & single, kept & ~single):
            # What a sample does not explain is noise, of one size for all columns, and for all pairs.
            excess = max(0.0, squares[kind].sum() / max(1, degrees[kind].sum()) - 1)
            noise[kind[ground.features.owners]] = excess
        noise *= np.diag(ground.covariance)
    used = np.flatnonzero(kept[ground.features.owners])
    return Evidence(used, deviation[used], noise[used] + rounding**2 / members(knowledge))


def members(knowledge: MembershipKnowledge) -> int:
    """How many rows of B were the source: as many as were released, but never more than half of B."""
    return max(1, min(len(knowledge.release), len(knowledge.population) // 2))


def _deviations(
    ground: Ground, deviation: Values, knowledge: MembershipKnowledge
) -> tuple[Values, Values]:
    """For each slot the sum of squared deviations, in units of a random sample's, and how many there are; shape (slots,)."""
    unit = members(knowledge) / (1 - members(knowledge) / len(knowledge.population))
    squares, degrees = np.zeros(len(ground.features.slots)), np.zeros(len(ground.features.slots))
    for slot in range(len(squares)):
        own = np.flatnonzero(ground.features.owners == slot)
        variances, directions = np.linalg.eigh(ground.covariance[np.ix_(own, own)])
        judged = variances > _SMALLEST_VARIANCE
        squares[slot] = (
            (directions[:, judged].T @ deviation[own]) ** 2 / variances[judged]
        ).sum() * unit
        degrees[slot] = judged.sum()
    return squares, degrees
