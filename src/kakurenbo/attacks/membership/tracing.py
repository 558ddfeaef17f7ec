"""`tracing`: members pull the means of a release towards themselves; whitened, all values and pairs
of columns at once.

After the tracing attacks of Homer et al. (2008) and Dwork et al. (2015), with the covariance of the
population. Where a release keeps its input's statistics only in part, shadows show which part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.base import MembershipAttack
from kakurenbo.attacks.membership.moments import (
    FEATURES,
    FITTING,
    HISTOGRAMS,
    MeanShift,
    PopulationModel,
    trace_weights,
)
from kakurenbo.attacks.membership.shadows import Calibration, draw_shadows
from kakurenbo.methods.parameters import parameter
from kakurenbo.methods.threats import MembershipKnowledge


@dataclass(frozen=True)
class Tracing(MembershipAttack):
    """Name the rows that lie farthest in the direction in which the release deviates from the population.

    phi(x) holds every value of x and, for each two columns, the product of their dummies or
    standardized numbers. The score is phi(x)^T (Sigma_B + r I)^-1 (m_D - m_B), with m_D and m_B the
    means of phi and r the rounding error of a mean, squared, times the rows of D. Columns of more
    than 512 values take part in groups of values.

    With ``shadows`` m_D is not taken for the members' mean: own releases, by the declared method or
    one that makes releases like this, show how much of a member's deviation each column and pair
    keeps, and how noisily.
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
        model = PopulationModel.of(knowledge, pairs=self.features != HISTOGRAMS)
        if self.shadows is None:
            shift = MeanShift.released(model, knowledge, self.features, self.rounding)
        else:
            calibration = Calibration.of(model, draw_shadows(knowledge, self.shadows, rng))
            shift = calibration.shift(model, knowledge, self.rounding)
        return model.rows.dot(trace_weights(model, shift))
