"""A classifier that learns from shadows what each clue is worth, after the shadow models of Shokri et al. (2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.calibration import Calibration
from kakurenbo.attacks.membership.clues import Clues, clues
from kakurenbo.attacks.membership.evidence import Ground
from kakurenbo.attacks.membership.shadows import Shadow

T = TypeVar("T")
_STRANGERS = 1  # rows that are not in a shadow for each that is: what a stack is trained with


@dataclass(frozen=True, eq=False)
class Lesson:
    """Rows of B of which it is known whether they are members of a shadow.

    Attributes
    ----------
    matrix : array of float32, shape (r, clues)
    is_member : array of bool, shape (r,)
    """

    matrix: NDArray[np.float32]
    is_member: NDArray[np.bool_]


def rehearsed(ground: Ground, made: list[Shadow]) -> list[Clues]:
    """The clues of every shadow, calibrated by the half of the shadows that it does not belong to."""
    found = []
    for own, others in halves(made):
        calibration = Calibration.of(ground, others)
        found += [clues(ground, shadow.knowledge, calibration) for shadow in own]
    return found


def retried(lessons: list[Lesson], found: list[Clues]) -> list[NDArray[np.float64]]:
    """What classifiers say of the rows of every shadow, trained with the half of the shadows that it does not belong to."""
    said = []
    for asked, taught in halves(list(range(len(found)))):
        learned = trained([lessons[index] for index in taught])
        said += [judged(learned, found[index]) for index in asked]
    return said


def halves(things: list[T]) -> list[tuple[list[T], list[T]]]:
    """The first half with the rest, and the rest with the first half.

    Examples
    --------
    >>> halves([1, 2, 3])
    [([1], [2, 3]), ([2, 3], [1])]
    """
    first, rest = things[: len(things) // 2], things[len(things) // 2 :]
    return [(first, rest), (rest, first)]


def lesson(found: Clues, shadow: Shadow, rng: np.random.Generator) -> Lesson:
    """All members of a shadow, and as many others."""
    others = np.setdiff1d(np.arange(len(found.parts)), shadow.members)
    strangers = rng.permutation(others)[: _STRANGERS * len(shadow.members)]
    rows = np.concatenate([shadow.members, strangers])
    return Lesson(found.matrix(rows), np.arange(len(rows)) < len(shadow.members))


def trained(lessons: list[Lesson]) -> Any:
    """A classifier that has had these lessons."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    learned = make_pipeline(
        StandardScaler(), LogisticRegression(C=0.1, solver="newton-cholesky", max_iter=50)
    )
    learned.fit(
        np.vstack([one.matrix for one in lessons]),
        np.concatenate([one.is_member for one in lessons]),
    )
    return learned


def judged(learned: Any, found: Clues) -> NDArray[np.float64]:
    """The log odds of membership that a classifier gives every row, shape (n,)."""
    return np.asarray(learned.decision_function(found.matrix()), dtype=np.float64)
