"""How much each kind of evidence is worth, learned without knowing a single match.

Every row of b belongs to one of the k people of a, and to none of a crowd of made-up people. Weights are good when the
real people explain b better than the crowd does: a conditional logit with the matches as hidden labels, fitted by EM.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from kakurenbo.attacks.reconstruction.row_model import MATCH_ROUNDS
from kakurenbo.attacks.records.sinkhorn import balanced

Floats = NDArray[np.float64]

_ROUNDS = 15
_RIDGE, _CENTRE = 0.5, 0.5  # evidence that tells little keeps a little weight
_KNOWN_RIDGE = 5.0  # a rehearsal has no relations between columns: what it says of weak evidence is mostly chance


def known_weights(evidence: Floats, people: NDArray[np.int64], centre: Floats) -> Floats:
    """Weights of the kinds of evidence where every match is known: a conditional logit, none negative, shape (kinds,).

    Parameters
    ----------
    evidence : array, shape (kinds, m, k)
        Log-evidence of rows of b, of one target or of several, by the people of their a.
    people : array, shape (m,)
        The person that each row of b is.
    centre : array, shape (kinds,)
        What evidence is worth of which the matches tell little.
    """
    level = evidence.mean(axis=2, keepdims=True)
    found = (evidence - level)[:, np.arange(len(people)), people].sum(axis=1)
    return _minimized(centre, found, evidence - level, centre, _KNOWN_RIDGE)


def learn_weights(real: Floats, crowd: Floats) -> Floats:
    """Weights of the kinds of evidence, none negative, shape (kinds,).

    Parameters
    ----------
    real : array, shape (kinds, k, k)
        Log-evidence of rows of b by people of a.
    crowd : array, shape (kinds, k, m)
        The same with made-up people, who have nothing to do with b.
    """
    centre = np.full(len(real), _CENTRE)
    level = crowd.mean(axis=2, keepdims=True)
    real, crowd = real - level, crowd - level
    weights = centre
    for _ in range(_ROUNDS):
        matches = balanced(np.tensordot(weights, real, axes=1), MATCH_ROUNDS)
        found = (matches * real).sum(axis=(1, 2))
        improved = _minimized(weights, found, crowd, centre, _RIDGE)
        if np.abs(improved - weights).max() < 1e-3:
            break
        weights = improved
    return np.asarray(weights)


def _minimized(start: Floats, found: Floats, crowd: Floats, centre: Floats, ridge: float) -> Floats:
    bounds = [(0, 3)] * len(start)
    arguments = (found, crowd, centre, ridge)
    solution = minimize(
        _loss,
        start,
        args=arguments,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 30},
    )
    return np.asarray(solution.x)


def _loss(
    weights: Floats, found: Floats, crowd: Floats, centre: Floats, ridge: float
) -> tuple[float, Floats]:
    """Minus the log-likelihood of the matches among the crowd, and its gradient; convex in the weights."""
    scores = np.tensordot(weights, crowd, axes=1)  # (k, m)
    top = scores.max(axis=1, keepdims=True)
    shares = np.exp(scores - top)
    level = shares.sum(axis=1, keepdims=True)
    value = float((top[:, 0] + np.log(level[:, 0] / scores.shape[1])).sum() - weights @ found)
    gradient = (crowd * (shares / level)).sum(axis=(1, 2)) - found
    pull = weights - centre
    return value + ridge * float(pull @ pull), gradient + 2 * ridge * pull
