"""Our identification attack: the likelihood of both parts through the mechanism, and a one-to-one
assignment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.evidence import CrosstabEvidence, pair_evidence
from kakurenbo.attacks.reconstruction.row_model import MATCH_ROUNDS, RowModel, fit_row_model
from kakurenbo.attacks.reconstruction.types import (
    Identification,
    Identifying,
    RatingsKnowledge,
)
from kakurenbo.attacks.records.sinkhorn import balanced
from kakurenbo.data.ratings import ATTRIBUTES, MOVIES, files_with
from kakurenbo.methods.parameters import parameter

Floats = NDArray[np.float64]

_CROWD = 300
_ROUNDS = 15
_RIDGE, _CENTRE = 0.5, 0.5  # evidence that tells little keeps a little weight
# A rehearsal has no relations between columns: what it says of weak evidence is mostly chance.
_KNOWN_RIDGE = 5.0


@dataclass(frozen=True)
class Bayes(Identifying):
    """Which row of a explains the release best together with b, by Bayes' rule, each row of a once.

    Rows count as noisy images of people, summed over files in the same order and marginalised over
    shuffled ones; two-way tables count where rows tell nothing. The noise is the declared
    mechanism's or fitted by EM, and the weights of the kinds of evidence are learned against a
    crowd of made-up people.
    """

    reconstruction: str = parameter(
        "posterior", "how the hidden rating is found: row, or a reconstructing attack"
    )
    noise: str = parameter(
        "declared",
        "believe a declared mechanism, or fit the noise always",
        choices=("declared", "fitted"),
    )
    alignment: str = parameter(
        "found",
        "whether files list people in the same order",
        choices=("found", "aligned", "shuffled"),
    )

    def identify(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> Identification:
        model = fit_row_model(
            knowledge, use_declared=self.noise == "declared", alignment=self.alignment
        )
        tables = CrosstabEvidence.of_release(knowledge)
        # Made-up people, each attribute drawn by itself from the release.
        draws = [rng.choice(knowledge.files[0].codes[name], _CROWD) for name in ATTRIBUTES]
        crowd = np.stack(draws, axis=1).astype(np.int64)
        real, made_up = (
            pair_evidence(knowledge, tables, model, people)
            for people in (knowledge.attribute_codes, crowd)
        )
        return match(knowledge, model, np.tensordot(learn_weights(real, made_up), real, axes=1))


def match(knowledge: RatingsKnowledge, model: RowModel, scores: Floats) -> Identification:
    """Match each row of b with one person, by the scores of all pairs, shape (k, k)."""
    from scipy.optimize import linear_sum_assignment

    _, people = linear_sum_assignment(-scores)
    pairs = balanced(scores, MATCH_ROUNDS)
    # The hidden rating is that of the likeliest row of the first group of files that has the movie.
    rows = [
        model.row_weights(number, pairs)[0].argmax(axis=1) for number in range(len(model.groups))
    ]
    values = np.zeros(len(knowledge.ratings), dtype=np.int64)
    for index, hidden in enumerate(knowledge.hidden):
        file = files_with(MOVIES[hidden])[0]
        group = next(number for number, each in enumerate(model.groups) if file in each.files)
        values[index] = knowledge.files[file].codes[MOVIES[hidden]][rows[group][index]]
    return Identification(people.astype(np.int64), values, pairs, model)


# -- how much each kind of evidence is worth ---------------------------------------------------


def learn_weights(real: Floats, crowd: Floats) -> Floats:
    """Learn weights of the kinds of evidence without knowing a single match, none negative, shape
    (kinds,).

    Every row of b belongs to one of the k people of a, and to none of a crowd of made-up people.
    Weights are good when the real people explain b better than the crowd does: a conditional logit
    with the matches as hidden labels, fitted by EM.

    Parameters
    ----------
    real : array, shape (kinds, k, k)
        Log-evidence of rows of b by people of a.
    crowd : array, shape (kinds, k, m)
        The same with made-up people, who have nothing to do with b.
    """
    level = crowd.mean(axis=2, keepdims=True)
    real, crowd = real - level, crowd - level
    centre = weights = np.full(len(real), _CENTRE)
    for _ in range(_ROUNDS):
        matches = balanced(np.tensordot(weights, real, axes=1), MATCH_ROUNDS)
        matched = (matches * real).sum(axis=(1, 2))
        improved = _fit_logit(weights, matched, crowd, centre, _RIDGE)
        if np.abs(improved - weights).max() < 1e-3:
            break
        weights = improved
    return weights


def known_weights(evidence: Floats, people: NDArray[np.int64], centre: Floats) -> Floats:
    """Learn weights of the kinds of evidence where every match is known, none negative, shape
    (kinds,).

    Parameters
    ----------
    evidence : array, shape (kinds, m, k)
        Log-evidence of rows of b, of one target or of several, by the people of their a.
    people : array, shape (m,)
        The person that each row of b is.
    centre : array, shape (kinds,)
        What evidence is worth of which the matches tell little.
    """
    evidence = evidence - evidence.mean(axis=2, keepdims=True)
    matched = evidence[:, np.arange(len(people)), people].sum(axis=1)
    return _fit_logit(centre, matched, evidence, centre, _KNOWN_RIDGE)


def _fit_logit(
    start: Floats, matched: Floats, crowd: Floats, centre: Floats, ridge: float
) -> Floats:
    """Maximize the log-likelihood of the matches among the crowd, with a ridge towards the
    centre.
    """
    from scipy.optimize import minimize

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = np.tensordot(weights, crowd, axes=1)  # (k, m)
        top = scores.max(axis=1, keepdims=True)
        shares = np.exp(scores - top)
        level = shares.sum(axis=1, keepdims=True)
        value = float((top[:, 0] + np.log(level[:, 0] / scores.shape[1])).sum() - weights @ matched)
        gradient = (crowd * (shares / level)).sum(axis=(1, 2)) - matched
        pull = weights - centre
        return value + ridge * float(pull @ pull), gradient + 2 * ridge * pull

    solution = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, 3)] * len(start),
        options={"maxiter": 30},
    )
    return np.asarray(solution.x)
