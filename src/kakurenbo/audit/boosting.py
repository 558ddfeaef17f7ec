"""Gradient boosting on the released rows: what a learner that takes the release for the truth tells of a secret."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from kakurenbo.audit.encoding import Coded, Codes, Floats
from kakurenbo.audit.tracing import steps_of

MOST_VALUES = 20  # of a secret: there is a tree for each value in every round
_ROUNDS, _LEAVES, _RATE = 15, 15, 0.15
_RIDGE = 1.0  # without it the steps of rare values grow beyond bounds, and trees are worse than the commonest value
_MOST_ROWS = 10_000  # that are learned from
Labels = NDArray[np.int64]


def inputs(coded: Coded, shown: Codes) -> Floats:
    """Rows as trees take them, shape (n, columns): numbers in their order, released words by their codes.

    Parameters
    ----------
    coded : Coded
    shown : array of int32, shape (n, columns)
        Released codes, or people as the release would show them.
    """
    columns = [
        (steps_of(column) if column.numeric else np.arange(column.released))[shown[:, place]]
        for place, column in enumerate(coded.columns)
    ]
    return np.column_stack(columns).astype(np.float64)


def learned_from(rows: Codes) -> Codes:
    """An even share of the rows, as many as trees need, shape (k, columns)."""
    return rows[
        np.unique(np.linspace(0, len(rows) - 1, min(_MOST_ROWS, len(rows))).astype(np.int64))
    ]


def boosted_guesses(
    rows: Floats, labels: NDArray[np.integer], asked: Sequence[Floats]
) -> list[Labels]:
    """The likeliest label of each of those who are asked, group by group.

    Parameters
    ----------
    rows : array, shape (m, columns)
        What is learned from, and ``labels``, shape (m,).
    asked : sequence of arrays, shape (n, columns)
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    known = np.unique(labels)
    if len(known) < 2:
        return [np.full(len(group), known[0], dtype=np.int64) for group in asked]
    # Without early stopping nothing is drawn: the state only says so.
    model = HistGradientBoostingClassifier(
        max_iter=_ROUNDS,
        max_leaf_nodes=_LEAVES,
        learning_rate=_RATE,
        l2_regularization=_RIDGE,
        early_stopping=False,
        random_state=0,
    )
    # OpenMP was loaded just now, behind the back of whoever limited threads before: two tasks would wait for each other's.
    with threadpool_limits(1):
        model.fit(rows, labels)
        # Of nobody it would refuse to say anything.
        return [
            np.asarray(model.predict(group) if len(group) else [], dtype=np.int64)
            for group in asked
        ]
