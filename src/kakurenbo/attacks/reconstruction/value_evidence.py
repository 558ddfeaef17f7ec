"""What tells of a rating: matched rows, the two-way tables with b's other ratings, and how often each value occurs.

Each kind of evidence gives a score per (row of b, movie, value). All cells of b but one per row are told, so how much each
kind is worth is learned from them: a conditional logit with the told ratings as labels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from kakurenbo.attacks.reconstruction.knowledge import RATING_VALUES, UNKNOWN, RatingsKnowledge
from kakurenbo.attacks.reconstruction.row_model import RowModel, people_mixture, rating_blocks
from kakurenbo.data.ratings import MOVIES, SPLITS

Floats = NDArray[np.float64]

_PRIOR = 0.03  # of the expected frequency is added to every cell of a table
_LEAST = 1e-12
_LEAST_RATIO = 0.02


def row_evidence(
    knowledge: RatingsKnowledge, model: RowModel, pairs: Floats, movies: Sequence[int]
) -> Floats:
    """log P(released cells of the movie | value) over the rows that b may be, shape (k, movies, 6).

    A movie's own cells take no part in finding the rows.
    """
    evidence = np.zeros((len(knowledge.ratings), len(movies), RATING_VALUES))
    for number, group in enumerate(model.groups):
        mixture = people_mixture(model, number, pairs)  # (k, n)
        blocks = rating_blocks(knowledge, group, model.transitions, model.copy_weights[number])
        everything = np.concatenate([*blocks.values()], axis=1).astype(np.float32)
        scores = everything @ group.indicators.T  # (k, n)
        begin = 0
        for name, block in blocks.items():
            width = block.shape[1]
            if MOVIES.index(name) in movies:
                own = block.astype(np.float32) @ group.indicators[:, begin : begin + width].T
                rest = (scores - own).astype(np.float64)
                weights = np.exp(rest - rest.max(axis=1, keepdims=True)) * mixture
                weights /= np.maximum(weights.sum(axis=1, keepdims=True), _LEAST)
                told = _cell_likelihood(
                    group.copies[name], model.transitions[name], model.copy_weights[number][name]
                )
                evidence[:, movies.index(MOVIES.index(name))] += np.log(weights @ told + _LEAST)
            begin += width
    return evidence


def _cell_likelihood(
    copies: Sequence[NDArray[np.int64]], transition: Floats, weight: float
) -> Floats:
    """P(the copies of a cell | value) of every row, shape (n, 6)."""
    logs = weight * np.log(np.maximum(transition, _LEAST))
    return np.asarray(np.exp(sum(logs[:, codes] for codes in copies)).T)


def table_evidence(
    knowledge: RatingsKnowledge, movies: Sequence[int], keep: dict[str, float] | None = None
) -> Floats:
    """Naive Bayes: the sum over b's other ratings of log n[value, other] / lambda, shape (k, movies, 6).

    Parameters
    ----------
    keep : mapping of movie to float, optional
        Probability that a released cell tells of the original: noise of that strength is taken out of the tables.
    """
    counts = np.zeros((len(MOVIES) * RATING_VALUES,) * 2)
    for columns, file in zip(SPLITS, knowledge.files, strict=True):
        places = np.concatenate(
            [MOVIES.index(name) * RATING_VALUES + np.arange(RATING_VALUES) for name in columns]
        )
        codes = np.stack([file.codes[name] for name in columns], axis=1)
        one_hot = (
            (codes[:, :, None] == np.arange(RATING_VALUES))
            .reshape(len(file), -1)
            .astype(np.float32)
        )
        counts[np.ix_(places, places)] += one_hot.T @ one_hot
    tables = counts.reshape(len(MOVIES), RATING_VALUES, len(MOVIES), RATING_VALUES)
    told = knowledge.rating_codes != UNKNOWN
    given = np.where(told, knowledge.rating_codes, 0)
    evidence = np.zeros((len(given), len(movies), RATING_VALUES))
    for place, movie in enumerate(movies):
        for other in range(len(MOVIES)):
            table = tables[movie, :, other, :]
            if other == movie or not table.any():
                continue
            strength = keep[MOVIES[movie]] * keep[MOVIES[other]] if keep else 1.0
            logs = _log_ratios(table, strength)
            evidence[:, place] += told[:, other, None] * logs[:, given[:, other]].T
    return evidence


def _log_ratios(table: Floats, strength: float) -> Floats:
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    ratios = (table + _PRIOR * expected + _LEAST) / ((1 + _PRIOR) * expected + _LEAST)
    return np.asarray(np.log(np.maximum(1 + (ratios - 1) / max(strength, 0.05), _LEAST_RATIO)))


def share_evidence(knowledge: RatingsKnowledge, movies: Sequence[int]) -> Floats:
    """log of how often each value occurs in the release, shape (k, movies, 6)."""
    counts = np.stack(
        [
            sum(
                np.bincount(f.codes[MOVIES[m]], minlength=RATING_VALUES)
                for f in knowledge.files
                if MOVIES[m] in f.schema
            )
            for m in movies
        ]
    ).astype(np.float64)
    logs = np.log((counts + 0.5) / (counts + 0.5).sum(axis=1, keepdims=True))
    return np.broadcast_to(logs, (len(knowledge.ratings), *logs.shape))


def learned_posterior(
    knowledge: RatingsKnowledge, evidence: Sequence[Floats], movies: Sequence[int]
) -> Floats:
    """log P(value) of every row of b and movie, with weights learned from the told cells; shape (k, movies, 6)."""
    given = knowledge.rating_codes[:, list(movies)]
    rows, places = np.nonzero(given != UNKNOWN)
    features = np.stack([kind[rows, places] for kind in evidence])  # (kinds, cells, 6)
    labels = given[rows, places]
    start = np.full(len(evidence), 1 / len(evidence))
    fitted = minimize(
        _loss,
        start,
        args=(features, labels),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, 3)] * len(evidence),
    )
    return np.asarray(np.tensordot(fitted.x, np.stack(evidence), axes=1))


def beats_constant(
    knowledge: RatingsKnowledge, scores: Floats, movies: Sequence[int], constant: int
) -> bool:
    """Whether the likeliest values are right at least as often as one answer for all, on the cells that b tells."""
    given = knowledge.rating_codes[:, list(movies)]
    told = given != UNKNOWN
    return bool((scores.argmax(axis=2) == given)[told].sum() >= (given == constant)[told].sum())


def _loss(weights: Floats, features: Floats, labels: NDArray[np.int64]) -> tuple[float, Floats]:
    """Minus the mean log-likelihood of the labels, and its gradient."""
    scores = np.tensordot(weights, features, axes=1)
    scores = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    cells = np.arange(len(labels))
    gradient = (features * np.exp(scores)).sum(axis=2).mean(axis=1) - features[
        :, cells, labels
    ].mean(axis=1)
    return -float(scores[cells, labels].mean()), gradient
