"""`rlink`, the organizers' sample attack of pwscup2021, and `blind_link`, the control of all
attacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.linkage.base import LinkageAttack, category_names, number_names
from kakurenbo.measures.records import differing
from kakurenbo.methods.parameters import parameter
from kakurenbo.methods.threats import CHOICES, DELETED, LinkageGuess, LinkageKnowledge


@dataclass(frozen=True)
class BlindLink(LinkageAttack):
    """Guess three rows of D at random for everybody, and nobody to be deleted."""

    knowledge: ClassVar[type] = LinkageKnowledge

    def __call__(self, knowledge: LinkageKnowledge, rng: np.random.Generator) -> LinkageGuess:
        rows, few = len(knowledge.release), len(knowledge.release) < CHOICES
        return LinkageGuess(
            [rng.choice(rows, CHOICES, replace=few) for _ in range(len(knowledge.people))]
        )


@dataclass(frozen=True)
class NearestRows(LinkageAttack):
    """Name the three nearest rows; who is farther from the nearest than half of the people was deleted."""

    knowledge: ClassVar[type] = LinkageKnowledge

    deleted: float = parameter(
        0.5, "share of the people who are taken for deleted; 0 to name rows for all", low=0, high=1
    )

    def __call__(self, knowledge: LinkageKnowledge, rng: np.random.Generator) -> LinkageGuess:
        distances = squared_distances(knowledge)
        least = distances.min(axis=1)
        is_deleted = least > np.quantile(least, 1 - self.deleted)
        return LinkageGuess(np.where(is_deleted[:, None], DELETED, nearest_columns(distances)))


def squared_distances(knowledge: LinkageKnowledge) -> NDArray[np.float64]:
    """Return squared Euclidean distances of people and rows: numbers as they are, 2 for each word
    that differs.
    """
    people, release = knowledge.people, knowledge.release
    distances = np.zeros((len(people), len(release)))
    for name in number_names(people.schema):
        numbers = people.values(name)[:, None].astype(np.float64)
        distances += (numbers - release.values(name)[None, :]) ** 2
    for name in category_names(people.schema):
        distances += 2.0 * differing(people, release, name)
    return distances


def nearest_columns(distances: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the three nearest columns of every row, nearest first, ties by number; the last again
    where there are fewer.
    """
    order = np.argsort(distances, axis=1, kind="stable")[:, :CHOICES]
    missing = CHOICES - order.shape[1]
    return np.pad(order, ((0, 0), (0, missing)), mode="edge").astype(np.int64)
