"""Our reconstruction attack: the posterior over the six values from the matched rows and from what
goes with what in C.

Each kind of evidence gives a score per (row of b, movie, value), shape (k, movies, 6). All cells of
b but one per row are told, so how much each kind is worth is learned from them: a conditional logit
with the told ratings as labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.evidence import pools
from kakurenbo.attacks.reconstruction.row_model import RowModel, fit_row_model, rating_blocks
from kakurenbo.attacks.reconstruction.types import (
    RATING_VALUES,
    UNKNOWN,
    Identification,
    RatingsKnowledge,
    Reconstructing,
    columns_of,
    indicators,
    movie_places,
)
from kakurenbo.core import Table
from kakurenbo.data.ratings import MOVIES, NOT_SEEN, SPLITS
from kakurenbo.methods.parameters import parameter

Floats = NDArray[np.float64]

_PRIOR = 0.03  # of the expected frequency is added to every cell of a table
_LEAST, _MIN_SHARE = 1e-12, 1e-4
_MIN_RATIO, _MIN_STRENGTH = 0.02, 0.05
_RIDGE = 0.01  # added to the covariances of indicators
_PLACES = np.arange(len(MOVIES) * RATING_VALUES)  # of the indicators (movie, value)


@dataclass(frozen=True)
class Posterior(Reconstructing):
    """The likeliest of the six values, given the matched rows through the mechanism and b's other ratings through C.

    Where rows tell nothing, the naive Bayes classifier of the two-way tables (or gradient boosting
    on the files) decides. Tables of other people, where the attacker holds some, tell too which
    ratings go together. How much each kind of evidence is worth is learned from the ratings that b
    tells; where "always 0" fits these better than all evidence, that is the answer.
    """

    identification: str = parameter("bayes", "how the person is found: an identifying attack")
    fallback: str = parameter(
        "naive_bayes", "model of C beside the rows", choices=("naive_bayes", "boosting")
    )

    def reconstruct(
        self, knowledge: RatingsKnowledge, identified: Identification, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        movies = np.unique(knowledge.hidden).tolist()
        model = identified.model or fit_row_model(knowledge)
        evidence = [
            _share_evidence(knowledge, movies),
            _row_evidence(knowledge, model, identified.probabilities, movies),
            _table_evidence(knowledge, movies, dict.fromkeys(MOVIES, 1.0)),
            _table_evidence(knowledge, movies, model.kept_shares()),
        ]
        if self.fallback == "boosting":
            evidence.append(_boosting_evidence(knowledge, movies, rng))
        evidence += _sibling_evidence(knowledge, movies)
        codes = knowledge.rating_codes[:, movies]
        scores = np.tensordot(_learn_weights(evidence, codes), np.stack(evidence), axes=1)
        is_known = codes != UNKNOWN
        is_right = scores.argmax(axis=2) == codes
        if is_right[is_known].sum() < (codes == NOT_SEEN)[is_known].sum():
            return np.full(len(scores), NOT_SEEN, dtype=np.int64)
        places = np.searchsorted(movies, knowledge.hidden)
        return np.asarray(scores[np.arange(len(places)), places].argmax(axis=1))


def _learn_weights(evidence: Sequence[Floats], codes: NDArray[np.int64]) -> Floats:
    """Learn what each kind of evidence is worth from the told cells, shape (kinds,)."""
    from scipy.optimize import minimize

    rows, places = np.nonzero(codes != UNKNOWN)
    features = np.stack([kind[rows, places] for kind in evidence])  # (kinds, cells, 6)
    labels, cells = codes[rows, places], np.arange(len(rows))

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = np.tensordot(weights, features, axes=1)
        scores = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        expected = (features * np.exp(scores)).sum(axis=2).mean(axis=1)
        gradient = expected - features[:, cells, labels].mean(axis=1)
        return -float(scores[cells, labels].mean()), gradient

    start = np.full(len(evidence), 1 / len(evidence))
    bounds = [(0, 3)] * len(evidence)
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x)


# -- what the release tells --------------------------------------------------------------------


def _share_evidence(knowledge: RatingsKnowledge, movies: Sequence[int]) -> Floats:
    """Return log of how often each value occurs in the release."""
    released = [np.concatenate(knowledge.released(MOVIES[movie])) for movie in movies]
    counts = 0.5 + np.stack([np.bincount(codes, minlength=RATING_VALUES) for codes in released])
    logs = np.log(counts / counts.sum(axis=1, keepdims=True))
    return np.broadcast_to(logs, (len(knowledge.ratings), *logs.shape))


def _row_evidence(
    knowledge: RatingsKnowledge, model: RowModel, pairs: Floats, movies: Sequence[int]
) -> Floats:
    """Return log P(released cells of the movie | value) over the rows that b may be.

    A movie's own cells take no part in finding the rows.
    """
    evidence = np.zeros((len(knowledge.ratings), len(movies), RATING_VALUES))
    for number, group in enumerate(model.groups):
        mixture, weight = model.people_mixture(number, pairs), model.copy_weights[number]  # (k, n)
        blocks = rating_blocks(knowledge, group, model.transitions, weight)
        everything = np.concatenate([*blocks.values()], axis=1).astype(np.float32)
        scores = everything @ group.indicators.T  # (k, n)
        begin = 0
        for name, block in blocks.items():
            columns = slice(begin, begin + block.shape[1])
            begin = columns.stop
            movie = MOVIES.index(name)
            if movie not in movies:
                continue
            of_movie = block.astype(np.float32) @ group.indicators[:, columns].T
            rest = (scores - of_movie).astype(np.float64)
            rows = np.exp(rest - rest.max(axis=1, keepdims=True)) * mixture
            rows /= np.maximum(rows.sum(axis=1, keepdims=True), _LEAST)
            logs = weight[name] * np.log(np.maximum(model.transitions[name], _LEAST))
            cells = np.exp(sum(logs[:, codes] for codes in group.copies[name])).T  # (n, 6)
            evidence[:, movies.index(movie)] += np.log(rows @ cells + _LEAST)
    return evidence


def _table_evidence(
    knowledge: RatingsKnowledge, movies: Sequence[int], keep: dict[str, float]
) -> Floats:
    """Sum log n[value, other] / lambda over b's other ratings: naive Bayes.

    ``keep`` is the probability that a released cell tells of the original: noise of that strength
    is taken out of the tables.
    """
    counts = np.zeros((len(_PLACES), len(_PLACES)))
    for columns, file in zip(SPLITS, knowledge.files, strict=True):
        places = np.concatenate([_places(movie) for movie in movie_places(columns)])
        one_hot = indicators(columns_of(file, columns))
        counts[np.ix_(places, places)] += one_hot.T @ one_hot
    is_known = knowledge.rating_codes != UNKNOWN
    values = np.where(is_known, knowledge.rating_codes, 0)
    evidence = np.zeros((len(values), len(movies), RATING_VALUES))
    for place, movie in enumerate(movies):
        for other in range(len(MOVIES)):
            table = counts[np.ix_(_places(movie), _places(other))]
            if other == movie or not table.any():
                continue
            expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
            ratios = (table + _PRIOR * expected + _LEAST) / ((1 + _PRIOR) * expected + _LEAST)
            strength = max(keep[MOVIES[movie]] * keep[MOVIES[other]], _MIN_STRENGTH)
            logs = np.log(np.maximum(1 + (ratios - 1) / strength, _MIN_RATIO))
            evidence[:, place] += is_known[:, other, None] * logs[:, values[:, other]].T
    return evidence


def _places(movie: int) -> NDArray[np.int64]:
    return movie * RATING_VALUES + np.arange(RATING_VALUES)


def _boosting_evidence(
    knowledge: RatingsKnowledge, movies: Sequence[int], rng: np.random.Generator
) -> Floats:
    """Sum log P(value | other movies of the file) over the files with the movie, by gradient
    boosting.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    filled = knowledge.filled_with_mode()
    evidence = np.zeros((len(filled), len(movies), RATING_VALUES))
    for place, movie in enumerate(movies):
        for columns, file in zip(SPLITS, knowledge.files, strict=True):
            if MOVIES[movie] not in columns or len(np.unique(file.codes[MOVIES[movie]])) < 2:
                continue
            others = [name for name in columns if name != MOVIES[movie]]
            classifier = HistGradientBoostingClassifier(
                max_iter=25,
                learning_rate=0.25,
                max_leaf_nodes=12,
                categorical_features=np.ones(len(others), dtype=bool),
                random_state=int(rng.integers(2**31)),
            )
            classifier.fit(columns_of(file, others), file.codes[MOVIES[movie]])
            shares = np.full((len(filled), RATING_VALUES), _MIN_SHARE)
            predicted = classifier.predict_proba(filled[:, movie_places(others)])
            shares[:, classifier.classes_] += predicted
            evidence[:, place] += np.log(shares / shares.sum(axis=1, keepdims=True))
    return evidence


# -- what tables of other people tell ----------------------------------------------------------


def _sibling_evidence(knowledge: RatingsKnowledge, movies: Sequence[int]) -> list[Floats]:
    """Return two kinds of evidence for each pool of tables of other people: see `RatingMoments`.

    Three candidates come from one source for every team. What holds in them holds in the target's
    B, whatever its release hides.
    """
    is_known = (knowledge.rating_codes != UNKNOWN).repeat(RATING_VALUES, axis=1)
    one_hot = indicators(knowledge.rating_codes).astype(np.float64)
    evidence = []
    for pool in pools(knowledge):
        moments = RatingMoments.of(pool)
        centred = np.where(
            is_known, one_hot - moments.means, 0
        )  # what is not told counts as average
        evidence += [
            np.stack([moments.discriminant(centred, movie) for movie in movies], axis=1),
            np.stack([moments.naive_bayes(one_hot, movie) for movie in movies], axis=1),
        ]
    return evidence


@dataclass(frozen=True, eq=False)
class RatingMoments:
    """One- and two-way shares of the indicators (movie, value) of a table.

    Attributes
    ----------
    means : array, shape (276,)
    products : array, shape (276, 276)
        Shares of the rows that have both of two indicators.
    """

    means: Floats
    products: Floats

    @classmethod
    def of(cls, tables: Sequence[Table]) -> RatingMoments:
        counts = np.zeros((len(_PLACES), len(_PLACES)))
        for table in tables:
            one_hot = indicators(columns_of(table, MOVIES))
            counts += one_hot.T @ one_hot
        rows = sum(map(len, tables))
        return cls(np.diag(counts) / rows, counts / rows)

    def discriminant(self, centred: Floats, movie: int) -> Floats:
        """Return log P(value | other ratings) up to a constant, by linear discriminant analysis,
        shape (k, 6).

        Within a value the other indicators are taken as normal with one covariance W: (x - mu)'
        W^-1 d - d' W^-1 d / 2, with d the difference of the value's means from mu.
        """
        places, others = _places(movie), np.delete(_PLACES, _places(movie))
        shares, means = np.maximum(self.means[places], _MIN_SHARE), self.means[others]
        apart = self.products[np.ix_(places, others)] / shares[:, None] - means  # (6, 270)
        covariance = self.products[np.ix_(others, others)] - np.outer(means, means)
        within = covariance - (apart.T * shares) @ apart + _RIDGE * np.eye(len(others))
        directions = np.linalg.solve(within, apart.T)  # (270, 6)
        level = (apart * directions.T).sum(axis=1) / 2
        return np.asarray(centred[:, others] @ directions - level + np.log(shares))

    def naive_bayes(self, one_hot: Floats, movie: int) -> Floats:
        """Return log P(value) + sum over the other ratings of log P(rating | value), shape (k,
        6).
        """
        places, others = _places(movie), np.delete(_PLACES, _places(movie))
        shares = np.maximum(self.means[places], _MIN_SHARE)
        joint = self.products[np.ix_(others, places)] + _MIN_SHARE
        logs = np.log(joint / (shares + RATING_VALUES * _MIN_SHARE))
        return np.asarray(one_hot[:, others] @ logs + np.log(shares))
