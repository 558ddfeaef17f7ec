"""`max_entropy`: of all ways to choose members at random, the least committed one whose mean features are the release's.

Each row x of B is a member with probability 1 / (1 + exp(-(a + w^T phi(x)))), and w is such that the expected mean of phi over
the members is that of D. These are the equations of a logistic regression of membership on phi, which needs to know of the
members nothing but that mean. Where `tracing` takes the first step of Newton's method, this goes all the way: rare values
count for what they tell.
"""

from __future__ import annotations

from collections.abc import Callable
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
from kakurenbo.methods.parameters import parameter

_STEPS = 40
_SETTLED = 1e-6

Potential = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]


@dataclass(frozen=True)
class MaxEntropy(MembershipAttack):
    """Name the rows of the highest probability under the exponential tilt of B that has the release's mean features.

    The features are those of `tracing`. Each mean is matched up to its rounding error.
    """

    features: str = parameter(
        FITTING,
        "values and pairs: those whose means are like a sample's, all, or values only",
        choices=FEATURES,
    )
    rounding: float = parameter(
        1.0, "standard error of a count of the release, in records", low=0.01, high=1e6
    )

    def scores(
        self, knowledge: MembershipKnowledge, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        ground = Ground.of(knowledge, pairs=self.features != "histograms")
        evidence = plain_evidence(ground, knowledge, self.features, self.rounding)
        return ground.population.dot(
            tilt(ground, evidence, members(knowledge) / len(knowledge.population))
        )


def tilt(ground: Ground, evidence: Evidence, rate: float) -> NDArray[np.float64]:
    """The weights w of the features, 0 for those that are not used, shape (d,); ``rate`` is the share of B that are members."""
    return fitted_weights(ground, evidence, rate, _entropy)


def _entropy(eta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The dual of the entropy of membership, and the probability of membership."""
    from scipy.special import expit

    return np.logaddexp(0, eta), expit(eta)


def fitted_weights(
    ground: Ground, evidence: Evidence, rate: float, potential: Potential
) -> NDArray[np.float64]:
    """The weights w, 0 for features that are not used, with which the expected means of the members are those of the evidence.

    They minimize mean over B of h(eta) - rate eta_C + rate / 2 sum of noise_j w_j^2, with eta = a + w^T (phi - m_B)
    and eta_C = a + w^T deviation: a dual problem in which each mean is known up to its noise, shape (d,).

    Parameters
    ----------
    ground : Ground
    evidence : Evidence
    rate : float
        The share of B that are members.
    potential : callable
        h and its derivative, the chance of membership, which is ``rate`` at its logit.
    """
    from scipy.linalg import cholesky, solve_triangular
    from scipy.optimize import minimize

    used, weights = evidence.used, np.zeros(ground.features.count)
    if not len(used):
        return weights
    mean, prior, scale = ground.mean[used], np.log(rate / (1 - rate)), np.sqrt(rate * (1 - rate))
    curvature = rate * (1 - rate) * ground.covariance[np.ix_(used, used)]
    curvature[np.diag_indices_from(curvature)] += rate * evidence.noise
    root = cholesky(curvature, lower=True)  # in u = root^T w the problem is nearly round

    def unrolled(u: NDArray[np.float64]) -> NDArray[np.float64]:
        solved: NDArray[np.float64] = solve_triangular(root, u, lower=True, trans="T")
        return solved

    def objective(u: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        shift, own = prior + u[0] / scale, unrolled(u[1:])
        weights[used] = own
        eta = ground.population.dot(weights) + (shift - mean @ own)
        penalty = evidence.noise * own
        height, chance = potential(eta)
        value = height.mean() - rate * (shift + evidence.deviation @ own) + rate * penalty @ own / 2
        chance = chance / len(eta)
        slope = (
            ground.population.sums(chance)[used]
            - chance.sum() * mean
            - rate * (evidence.deviation - penalty)
        )
        return float(value), np.append(
            (chance.sum() - rate) / scale, solve_triangular(root, slope, lower=True)
        )

    found = minimize(
        objective,
        np.zeros(len(used) + 1),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _STEPS, "gtol": _SETTLED, "ftol": 1e-12},
    )
    weights[used] = unrolled(found.x[1:])
    return weights
