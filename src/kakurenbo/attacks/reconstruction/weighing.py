"""How much each kind of evidence is worth, learned without knowing a single match.

Every row of b belongs to one of the k people of a, and to none of a crowd of made-up people. Weights are good when the
real people explain b better than the crowd does: a conditional logit with the matches as hidden labels, fitted by EM.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from kakurenbo.attacks.reconstruction.row_model import MATCH_ROUNDS
from kakurenbo.attacks.sinkhorn import balanced

Floats = NDArray[np.float64]

_ROUNDS = 15
_RIDGE, _CENTRE = 0.5, 0.5  # evidence that tells little keeps a little weight


def learn_weights(real: Floats, crowd: Floats) -> Floats:
    """Weights of the kinds of evidence, none negative, shape (kinds,).

    Parameters
    ----------
    real : array, shape (kinds, k, k)
        Log-evidence of rows of b by people of a.
    crowd : array, shape (kinds, k, m)
        The same with made-up people, who have nothing to do with b.
    """
    kinds = len(real)
    level = crowd.mean(axis=2, keepdims=True)
    real, crowd = real - level, crowd - level
    weights = np.full(kinds, _CENTRE)
    for _ in range(_ROUNDS):
        matches = balanced(np.tensordot(weights, real, axes=1), MATCH_ROUNDS)
        found = (matches * real).sum(axis=(1, 2))
        solution = minimize(
            _loss, weights, args=(found, crowd), jac=True, method="L-BFGS-B", bounds=[(0, 3)] * kinds, options={"maxiter": 30}
        )
        if np.abs(solution.x - weights).max() < 1e-3:
            break
        weights = solution.x
    return np.asarray(weights)


def _loss(weights: Floats, found: Floats, crowd: Floats) -> tuple[float, Floats]:
    """Minus the log-likelihood of the matches among the crowd, and its gradient; convex in the weights."""
    scores = np.tensordot(weights, crowd, axes=1)  # (k, m)
    top = scores.max(axis=1, keepdims=True)
    shares = np.exp(scores - top)
    level = shares.sum(axis=1, keepdims=True)
    value = float((top[:, 0] + np.log(level[:, 0] / scores.shape[1])).sum() - weights @ found)
    gradient = (crowd * (shares / level)).sum(axis=(1, 2)) - found
    pull = weights - _CENTRE
    return value + _RIDGE * float(pull @ pull), gradient + 2 * _RIDGE * pull
