"""Gradient boosting on the released files: predicts a movie's rating from the other movies of the same file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from kakurenbo.attacks.reconstruction.euclidean import filled_with_mode
from kakurenbo.attacks.reconstruction.knowledge import RATING_VALUES, RatingsKnowledge
from kakurenbo.data.ratings import MOVIES, SPLITS

_LEAST = 1e-4


def boosting_evidence(
    knowledge: RatingsKnowledge, movies: Sequence[int], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Sum over the files with the movie of log P(value | other movies of the file), shape (k, movies, 6)."""
    filled = filled_with_mode(knowledge).astype(np.int64)
    evidence = np.zeros((len(filled), len(movies), RATING_VALUES))
    for place, movie in enumerate(movies):
        for columns, file in zip(SPLITS, knowledge.files, strict=True):
            others = [name for name in columns if name != MOVIES[movie]]
            labels = file.codes[MOVIES[movie]] if MOVIES[movie] in columns else np.zeros(0)
            if len(np.unique(labels)) < 2:
                continue
            model = HistGradientBoostingClassifier(
                max_iter=25,
                learning_rate=0.25,
                max_leaf_nodes=12,
                categorical_features=np.ones(len(others), dtype=bool),
                random_state=int(rng.integers(2**31)),
            )
            model.fit(np.stack([file.codes[name] for name in others], axis=1), labels)
            predicted = np.full((len(filled), RATING_VALUES), _LEAST)
            predicted[:, model.classes_] += model.predict_proba(
                filled[:, [MOVIES.index(name) for name in others]]
            )
            evidence[:, place] += np.log(predicted / predicted.sum(axis=1, keepdims=True))
    return evidence
