"""`tracing`: members pull the means of a release towards themselves; whitened, all values and pairs of columns at once.

After the tracing attacks of Homer et al. (2008) and Dwork et al. (2015), with the covariance of the population. Where a release
keeps its input's statistics only in part, shadows show which part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.base import MembershipAttack
from kakurenbo.attacks.membership.calibration import Calibration
from kakurenbo.attacks.membership.evidence import (
    FEATURES,
    FITTING,
    Evidence,
    Ground,
    plain_evidence,
)
from kakurenbo.attacks.membership.knowledge import MembershipKnowledge
from kakurenbo.attacks.membership.shadows import shadows
from kakurenbo.methods.parameters import parameter


@dataclass(frozen=True)
class Tracing(MembershipAttack):
    """Name the rows that lie farthest in the direction in which the release deviates from the population.

    phi(x) holds every value of x and, for each two columns, the product of their dummies or standardized numbers. The score is
    phi(x)^T (Sigma_B + r I)^-1 (m_D - m_B), with m_D and m_B the means of phi and r the rounding error of a mean, squared,
    times the rows of D. Columns of more than 512 values take part in groups of values.

    With ``shadows`` m_D is not taken for the members' mean: own releases, by the declared method or one that makes releases
    like this, show how much of a member's deviation each column and pair keeps, and how noisily.
    """

    features: str = parameter(
        FITTING,
        "values and pairs: those whose means are like a sample's, all, or values only",
        choices=FEATURES,
    )
    rounding: float = parameter(
        1.0, "standard error of a count of the release, in records", low=0.01, high=1e6
    )
    shadows: int | None = parameter(
        None,
        "releases of samples of its own, to calibrate by",
        low=2,
        high=1000,
        none="word.release_means",
    )

    def scores(
        self, knowledge: MembershipKnowledge, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        ground = Ground.of(knowledge, pairs=self.features != "histograms")
        if self.shadows is None:
            return traced(ground, plain_evidence(ground, knowledge, self.features, self.rounding))
        calibration = Calibration.of(ground, shadows(knowledge, self.shadows, rng))
        return traced(ground, calibration.evidence(ground, knowledge, self.rounding))


def traced(ground: Ground, evidence: Evidence) -> NDArray[np.float64]:
    """phi(x)^T (Sigma_B + noise)^-1 deviation of each row of the population, shape (n,)."""
    return ground.population.dot(trace_weights(ground, evidence))


def trace_weights(ground: Ground, evidence: Evidence) -> NDArray[np.float64]:
    """(Sigma_B + noise)^-1 deviation, 0 for features that are not used, shape (d,)."""
    from scipy.linalg import solve

    weights = np.zeros(ground.features.count)
    if len(evidence.used):
        covariance = ground.covariance[np.ix_(evidence.used, evidence.used)]
        covariance[np.diag_indices_from(covariance)] += evidence.noise
        weights[evidence.used] = solve(covariance, evidence.deviation, assume_a="pos")
    return weights
