"""`shadow`: draws samples of its own, anonymizes them the same way, and learns from them what each clue is worth.

After the shadow models of Shokri et al. (2017): the clues are the scores of the other attacks and their parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.base import MembershipAttack
from kakurenbo.attacks.membership.calibration import Calibration
from kakurenbo.attacks.membership.clues import Clues, clues
from kakurenbo.attacks.membership.evidence import Ground
from kakurenbo.attacks.membership.knowledge import MembershipKnowledge
from kakurenbo.attacks.membership.rarity import by_rarity, likelihood_ratios
from kakurenbo.attacks.membership.shadows import Shadow, shadows
from kakurenbo.methods.parameters import parameter

T = TypeVar("T")
LOGISTIC, BOOSTING = "logistic", "boosting"
_STRANGERS = 1  # rows that are not in a shadow for each that is: what a stack is trained with


@dataclass(frozen=True)
class ShadowStack(MembershipAttack):
    """Name the rows that a classifier, trained on the attacker's own releases of samples of B, holds for members.

    The own releases are made by the declared method or, where there is none, by one that makes releases like this: swapped or
    redrawn cells, synthetic data, or rows as they are. With ``bins`` what the classifier says of a row is compared with what it
    says of members and of others as rare as that row, after the likelihood ratio attack of Carlini et al. (2022).
    """

    shadows: int = parameter(8, "releases of samples of its own", low=2, high=1000)
    stack: str = parameter(LOGISTIC, "how the clues are put together", choices=(LOGISTIC, BOOSTING))
    bins: int | None = parameter(
        None,
        "groups of rows by rarity, each with a likelihood ratio of its own",
        low=1,
        high=1000,
        none="word.classifier_odds",
    )

    def scores(
        self, knowledge: MembershipKnowledge, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        ground = Ground.of(knowledge)
        made = shadows(knowledge, self.shadows, rng)
        found = rehearsed(ground, made)
        lessons = [lesson(one, shadow, rng) for one, shadow in zip(found, made, strict=True)]
        odds = judged(
            trained(self.stack, lessons), clues(ground, knowledge, Calibration.of(ground, made))
        )
        if self.bins is None:
            return odds
        return likelihood_ratios(
            odds, by_rarity(ground, self.bins), retried(self.stack, lessons, found), made
        )


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


def retried(kind: str, lessons: list[Lesson], found: list[Clues]) -> list[NDArray[np.float64]]:
    """What classifiers say of the rows of every shadow, trained with the half of the shadows that it does not belong to."""
    said = []
    for asked, taught in halves(list(range(len(found)))):
        learned = trained(kind, [lessons[index] for index in taught])
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


def trained(kind: str, lessons: list[Lesson]) -> Any:
    """A classifier that has had these lessons."""
    learned = _classifier(kind)
    learned.fit(
        np.vstack([one.matrix for one in lessons]),
        np.concatenate([one.is_member for one in lessons]),
    )
    return learned


def judged(learned: Any, found: Clues) -> NDArray[np.float64]:
    """The log odds of membership that a classifier gives every row, shape (n,)."""
    return np.asarray(learned.decision_function(found.matrix()), dtype=np.float64)


def _classifier(kind: str) -> Any:
    if kind == BOOSTING:
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(
            max_iter=150, learning_rate=0.05, max_leaf_nodes=15, random_state=0
        )
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        StandardScaler(), LogisticRegression(C=0.1, solver="newton-cholesky", max_iter=50)
    )
