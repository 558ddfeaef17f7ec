"""Team 09's reconstruction attack: collaborative filtering on the files that hold the hidden movie, in five variants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.euclidean import filled_with_mode, shifted
from kakurenbo.attacks.reconstruction.knowledge import RATING_VALUES, RatingsKnowledge
from kakurenbo.attacks.reconstruction.methods import Identification, Reconstructing
from kakurenbo.datasets.ratings import MOVIES, NOT_SEEN
from kakurenbo.parameters import parameter
from kakurenbo.tables import Table


@dataclass(frozen=True)
class CollaborativeFiltering(Reconstructing):
    """The most frequent value among similar users and similar items, by cosine similarity.

    Variants: ``all0`` always answers 0; ``user`` asks the five most similar users, ``item`` the ratings that b gave to the
    five most similar items; ``w`` asks both, votes weighted by similarity; ``w50`` is ``w`` with ratings 1 to 5 shifted by
    50, so that "seen" differs strongly from "not seen".
    """

    identification: str = parameter("euclidean", "how the person is found: an identifying attack")
    variant: str = parameter("w50", "whom to ask", choices=("all0", "user", "item", "w", "w50"))
    neighbours: int = parameter(5, "similar users, and items, that are asked", low=1, high=1000)

    def reconstruct(
        self, knowledge: RatingsKnowledge, identified: Identification, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        if self.variant == "all0":
            return np.full(len(knowledge.ratings), NOT_SEEN, dtype=np.int64)
        votes = np.zeros((len(knowledge.ratings), RATING_VALUES))
        filled = filled_with_mode(knowledge)
        for position in np.unique(knowledge.hidden):
            asking = np.flatnonzero(knowledge.hidden == position)
            for file in knowledge.files:
                if MOVIES[position] in file.schema:
                    votes[asking] += self._votes(file, int(position), filled[asking])
        return np.asarray(votes.argmax(axis=1))

    def _votes(self, file: Table, hidden: int, asking: NDArray[np.float64]) -> NDArray[np.float64]:
        """Votes of one file on the values of the hidden movie, shape (rows of b, 6)."""
        movies = [name for name in file.schema.names if name in MOVIES]
        own = movies.index(MOVIES[hidden])
        released = np.stack([file.codes[name] for name in movies], axis=1).astype(np.float64)
        given = asking[:, [MOVIES.index(name) for name in movies]]
        scale = shifted if self.variant == "w50" else lambda ratings: ratings
        votes = np.zeros((len(asking), RATING_VALUES))
        if self.variant != "item":
            similarity = _cosine(scale(given), scale(released))  # (rows of b, n)
            near = np.argsort(-similarity, axis=1, kind="stable")[:, : self.neighbours]
            self._count(votes, released[near, own], np.take_along_axis(similarity, near, axis=1))
        if self.variant != "user":
            alike = _cosine(scale(released[:, [own]].T), scale(released.T))[0]  # (movies,)
            alike[own] = -np.inf
            near_items = np.argsort(-alike, kind="stable")[: min(self.neighbours, len(movies) - 1)]
            self._count(votes, given[:, near_items], np.broadcast_to(alike[near_items], (len(asking), len(near_items))))
        return votes

    def _count(self, votes: NDArray[np.float64], values: NDArray[np.float64], similarity: NDArray[np.float64]) -> None:
        weights = similarity if self.variant in ("w", "w50") else np.ones_like(similarity)
        for row, (said, weight) in enumerate(zip(values.astype(np.int64), weights, strict=True)):
            votes[row] += np.bincount(said, weights=weight, minlength=RATING_VALUES)


def _cosine(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosine similarity of the rows, 0 for a row of zeros; shape (rows of first, rows of second)."""
    lengths = np.outer(np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1))
    return np.divide(first @ second.T, lengths, out=np.zeros(lengths.shape), where=lengths > 0)
