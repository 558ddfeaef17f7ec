"""Weights of features with which the rows of B have the mean features of a release.

Where `tracing` takes the first step of Newton's method, these go all the way: rare values count for what they tell.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.evidence import Evidence, Ground

_STEPS = 40
_SETTLED = 1e-6

Potential = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]


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


def weighed(ground: Ground, evidence: Evidence, rate: float) -> NDArray[np.float64]:
    """Score rows by weights from 0 to 1, nearest to each other in squares, before they are cut off; shape (n,)."""
    prior, variance = np.log(rate / (1 - rate)), rate * (1 - rate)

    def potential(eta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        line = rate + variance * (eta - prior)
        weight = np.clip(line, 0, 1)
        return weight * (line - weight / 2) / variance, weight

    return ground.population.dot(fitted_weights(ground, evidence, rate, potential))
