"""What the mean features of a release tell of its members: how much, how reliably, and of which
columns.

A release that keeps a statistic of its members has, there, the deviation of a random sample of B;
one that does not deviates by far more (permuted columns have other pairs) and tells nothing. One
pair of columns that deviates by more shows a method that makes the pairs itself: the others may be
near to B's because they were repaired, and are not believed either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.base import count_members, member_rate
from kakurenbo.attacks.membership.features import PairFeatures, Rows
from kakurenbo.methods.threats import MembershipKnowledge

_MIN_VARIANCE = 1e-3  # of a direction in which a deviation is judged
_MAX_DEVIATION = (
    6.0  # standard errors of a slot's mean square deviation that still looks like a sample's
)
_STEPS, _SETTLED = 40, 1e-6

ALL, FITTING, HISTOGRAMS = "all", "fitting", "histograms"
FEATURES = (FITTING, ALL, HISTOGRAMS)

Values = NDArray[np.float64]
Potential = Callable[[Values], tuple[Values, Values]]


@dataclass(frozen=True, eq=False)
class PopulationModel:
    """The features of B, which serve every release.

    Attributes
    ----------
    features : PairFeatures
    rows : Rows
    mean : array, shape (d,)
    covariance : array, shape (d, d)
    """

    features: PairFeatures
    rows: Rows
    mean: Values
    covariance: Values

    @classmethod
    def of(cls, knowledge: MembershipKnowledge, *, pairs: bool = True) -> PopulationModel:
        """Model B; D only says which values wide columns have."""
        features = PairFeatures(knowledge.population, knowledge.release, pairs=pairs)
        rows = features.rows(knowledge.population)
        return cls(features, rows, rows.mean(), rows.covariance())


@dataclass(frozen=True, eq=False)
class MeanShift:
    """How far the members' mean features are from B's, as a release shows it.

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

    @classmethod
    def released(
        cls, model: PopulationModel, knowledge: MembershipKnowledge, which: str, rounding: float
    ) -> MeanShift:
        """Take the release's mean features for the members' own.

        Parameters
        ----------
        model : PopulationModel
        knowledge : MembershipKnowledge
        which : str
            ``all`` features, ``histograms`` of single columns only, or those of the columns and
            pairs that are ``fitting``: that deviate from B no more than a sample would, and of the
            pairs all or none.
        rounding : float
            Standard error of each count of the release.
        """
        deviation = model.features.rows(knowledge.release).mean() - model.mean
        single = np.array([len(names) == 1 for names in model.features.slots])
        kept = single if which == HISTOGRAMS else np.ones(len(single), dtype=bool)
        noise = np.zeros(model.features.count)
        if which == FITTING:
            squares, degrees = _squared_deviations(model, deviation, knowledge)
            kept = squares <= degrees + _MAX_DEVIATION * np.sqrt(2 * degrees)
            if not kept[~single].all():
                kept &= single
            for kind in (kept & single, kept & ~single):
                # What a sample does not explain is noise, of one size for all columns, and for all
                # pairs.
                excess = max(0.0, squares[kind].sum() / max(1, degrees[kind].sum()) - 1)
                noise[kind[model.features.owners]] = excess
            noise *= np.diag(model.covariance)
        used = np.flatnonzero(kept[model.features.owners])
        return cls(used, deviation[used], noise[used] + rounding**2 / count_members(knowledge))


def _squared_deviations(
    model: PopulationModel, deviation: Values, knowledge: MembershipKnowledge
) -> tuple[Values, Values]:
    """Sum each slot's squared deviations, in units of a random sample's, and count them; shape
    (slots,) each.
    """
    unit = count_members(knowledge) / (1 - member_rate(knowledge))
    squares, degrees = np.zeros((2, len(model.features.slots)))
    for slot in range(len(squares)):
        places = np.flatnonzero(model.features.owners == slot)
        variances, directions = np.linalg.eigh(model.covariance[np.ix_(places, places)])
        # Rounded: the variance of levels that occur equally often can be the limit itself.
        judged = variances.round(12) > _MIN_VARIANCE
        along = directions[:, judged].T @ deviation[places]
        squares[slot] = (along**2 / variances[judged]).sum() * unit
        degrees[slot] = judged.sum()
    return squares, degrees


# -- weights of features -----------------------------------------------------------------------


def trace_weights(model: PopulationModel, shift: MeanShift) -> Values:
    """Return (Sigma_B + noise)^-1 deviation, 0 for features that are not used, shape (d,)."""
    from scipy.linalg import solve

    weights = np.zeros(model.features.count)
    if len(shift.used):
        covariance = model.covariance[np.ix_(shift.used, shift.used)]
        covariance[np.diag_indices_from(covariance)] += shift.noise
        weights[shift.used] = solve(covariance, shift.deviation, assume_a="pos")
    return weights


def tilt(model: PopulationModel, shift: MeanShift, rate: float) -> Values:
    """Return weights w of the features in the exponential tilt of B that has the release's mean
    features, shape (d,).

    Each row x of B is a member with probability 1 / (1 + exp(-(a + w^T phi(x)))), and w is such
    that the expected mean of phi over the members is that of D. Where :func:`trace_weights` takes
    the first step of Newton's method, this goes all the way: rare values count for what they tell.
    """

    def entropy(eta: Values) -> tuple[Values, Values]:
        from scipy.special import expit

        return np.logaddexp(0, eta), expit(eta)

    return _fitted_weights(model, shift, rate, entropy)


def subset_scores(model: PopulationModel, shift: MeanShift, rate: float) -> Values:
    """Score rows by weights from 0 to 1, nearest to each other in squares, that have the release's
    means, shape (n,).

    A score is the weight before it is cut off at 0 and 1, in units of rate (1 - rate), but for a
    constant.
    """
    prior, variance = np.log(rate / (1 - rate)), rate * (1 - rate)

    def squares(eta: Values) -> tuple[Values, Values]:
        line = rate + variance * (eta - prior)
        weight = np.clip(line, 0, 1)
        return weight * (line - weight / 2) / variance, weight

    return model.rows.dot(_fitted_weights(model, shift, rate, squares))


def _fitted_weights(
    model: PopulationModel, shift: MeanShift, rate: float, potential: Potential
) -> Values:
    """Return the weights w with which the expected means of the members are those of the shift.

    They minimize mean over B of h(eta) - rate eta_C + rate / 2 sum of noise_j w_j^2, with eta = a +
    w^T (phi - m_B) and eta_C = a + w^T deviation: a dual problem in which each mean is known up to
    its noise, shape (d,). ``potential`` gives h and its derivative, the chance of membership, which
    is ``rate`` at its logit.
    """
    from scipy.linalg import cholesky, solve_triangular
    from scipy.optimize import minimize

    used, weights = shift.used, np.zeros(model.features.count)
    if not len(used):
        return weights
    mean, prior, scale = model.mean[used], np.log(rate / (1 - rate)), np.sqrt(rate * (1 - rate))
    curvature = rate * (1 - rate) * model.covariance[np.ix_(used, used)]
    curvature[np.diag_indices_from(curvature)] += rate * shift.noise
    root = cholesky(curvature, lower=True)  # in u = root^T w the problem is nearly round

    def unrolled(u: Values) -> Values:
        solved: Values = solve_triangular(root, u, lower=True, trans="T")
        return solved

    def objective(u: Values) -> tuple[float, Values]:
        intercept, w = prior + u[0] / scale, unrolled(u[1:])
        weights[used] = w
        eta = model.rows.dot(weights) + (intercept - mean @ w)
        penalty = shift.noise * w
        height, chance = potential(eta)
        value = height.mean() - rate * (intercept + shift.deviation @ w) + rate * penalty @ w / 2
        chance = chance / len(eta)
        slope = (
            model.rows.sums(chance)[used] - chance.sum() * mean - rate * (shift.deviation - penalty)
        )
        return float(value), np.append(
            (chance.sum() - rate) / scale, solve_triangular(root, slope, lower=True)
        )

    solution = minimize(
        objective,
        np.zeros(len(used) + 1),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _STEPS, "gtol": _SETTLED, "ftol": 1e-12},
    )
    weights[used] = unrolled(solution.x[1:])
    return weights
