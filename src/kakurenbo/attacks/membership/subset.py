"""`subset`: which rows of B, put together, have the statistics of the release?

A question of linear programming, after the reconstruction attacks of Dinur and Nissim (2003) on what is published of a table:
every mean of D is an equation, and each row of B an unknown between 0, not a member, and 1. Where there are as many equations
as rows hardly any other subset is left than the members; where there are far fewer, all that is known is which rows are in
more of the subsets, and `tracing` and `max_entropy` tell that as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.base import MembershipAttack
from kakurenbo.attacks.membership.evidence import (
    FEATURES,
    FITTING,
    Evidence,
    Ground,
    members,
    plain_evidence,
)
from kakurenbo.attacks.membership.knowledge import MembershipKnowledge
from kakurenbo.attacks.membership.max_entropy import Potential, fitted_weights
from kakurenbo.methods.parameters import parameter


@dataclass(frozen=True)
class Subset(MembershipAttack):
    """Name the rows of the largest weights, from 0 to 1, with which B has the statistics of the release.

    Of all such weights they are the ones nearest to each other, in squares. The statistics are the features of `tracing`. Rows
    that reach 0 or 1 are told apart by how far beyond they would lie.
    """

    features: str = parameter(
        FITTING,
        "values and pairs: those whose means are like a sample's, all, or values only",
        choices=FEATURES,
    )
    rounding: float = parameter(
        0.3, "standard error of a count of the release, in records", low=0.01, high=1e6
    )

    def scores(
        self, knowledge: MembershipKnowledge, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        ground = Ground.of(knowledge, pairs=self.features != "histograms")
        evidence = plain_evidence(ground, knowledge, self.features, self.rounding)
        return weighed(ground, evidence, members(knowledge) / len(knowledge.population))


def weighed(ground: Ground, evidence: Evidence, rate: float) -> NDArray[np.float64]:
    """Each row's weight before it is cut off at 0 and 1, in units of rate (1 - rate), but for a constant; shape (n,)."""
    return ground.population.dot(fitted_weights(ground, evidence, rate, _squares(rate)))


def _squares(rate: float) -> Potential:
    """The dual of (weight - rate)^2 / 2 rate (1 - rate), weights from 0 to 1: a line that is cut off for the logistic curve."""
    prior, variance = np.log(rate / (1 - rate)), rate * (1 - rate)

    def potential(eta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        line = rate + variance * (eta - prior)
        weight = np.clip(line, 0, 1)
        return weight * (line - weight / 2) / variance, weight

    return potential
