"""Team 09's reconstruction attack: collaborative filtering in five variants, on b alone as the poster did it or with C."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.euclidean import filled_with_mode, shifted
from kakurenbo.attacks.reconstruction.knowledge import RATING_VALUES, UNKNOWN, RatingsKnowledge
from kakurenbo.attacks.reconstruction.methods import Identification, Reconstructing
from kakurenbo.core import Table
from kakurenbo.data.ratings import MOVIES, NOT_SEEN
from kakurenbo.methods.parameters import parameter


@dataclass(frozen=True)
class CollaborativeFiltering(Reconstructing):
    """The most frequent value among similar users and similar items, by cosine similarity.

    Variants: ``all0`` always answers 0; ``user`` asks the five most similar users, ``item`` the ratings that b gave to the
    five most similar items; ``w`` asks both, votes weighted by similarity; ``w50`` is ``w`` with ratings 1 to 5 shifted by
    50, so that "seen" differs strongly from "not seen".

    The poster's filtering works on b alone (``on=b``): 50 users and 46 items, stars filled with the mode of b's own column; of
    values with equally many votes the most similar one's is taken. Ours compares b with the rows of every released file that
    holds the hidden movie.
    """

    identification: str = parameter("euclidean", "how the person is found: an identifying attack")
    on: str = parameter(
        "release", "where similar users and items are looked for", choices=("release", "b")
    )
    variant: str = parameter("w50", "whom to ask", choices=("all0", "user", "item", "w", "w50"))
    neighbours: int = parameter(5, "similar users, and items, that are asked", low=1, high=1000)

    def reconstruct(
        self, knowledge: RatingsKnowledge, identified: Identification, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        if self.variant == "all0":
            return np.full(len(knowledge.ratings), NOT_SEEN, dtype=np.int64)
        if self.on == "b":
            return self._filtered_alone(knowledge)
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
        votes = np.zeros((len(asking), RATING_VALUES))
        if self.variant != "item":
            similarity = _cosine(self._scaled(given), self._scaled(released))  # (rows of b, n)
            near = np.argsort(-similarity, axis=1, kind="stable")[:, : self.neighbours]
            self._count(votes, released[near, own], np.take_along_axis(similarity, near, axis=1))
        if self.variant != "user":
            alike = _cosine(self._scaled(released[:, [own]].T), self._scaled(released.T))[
                0
            ]  # (movies,)
            alike[own] = -np.inf
            near_items = np.argsort(-alike, kind="stable")[: min(self.neighbours, len(movies) - 1)]
            self._count(
                votes,
                given[:, near_items],
                np.broadcast_to(alike[near_items], (len(asking), len(near_items))),
            )
        return votes

    def _filtered_alone(self, knowledge: RatingsKnowledge) -> NDArray[np.int64]:
        """The poster's way, shape (k,)."""
        filled = filled_with_own_mode(knowledge)
        scaled = self._scaled(filled)
        users, items = _cosine(scaled, scaled), _cosine(scaled.T, scaled.T)
        found = np.empty(len(filled), dtype=np.int64)
        for row, hidden in enumerate(knowledge.hidden):
            said, similarity = [], []
            if self.variant != "item":
                near = self._most_similar(users[row], row)
                said.append(filled[near, hidden])
                similarity.append(users[row, near])
            if self.variant != "user":
                near = self._most_similar(items[hidden], hidden)
                said.append(filled[row, near])
                similarity.append(items[hidden, near])
            found[row] = self._elected(
                np.concatenate(said).astype(np.int64), np.concatenate(similarity)
            )
        return found

    def _elected(self, said: NDArray[np.int64], similarity: NDArray[np.float64]) -> int:
        """The value with the most votes; of several the one that the most similar said, then the smallest."""
        votes, nearest = np.zeros(RATING_VALUES), np.zeros(RATING_VALUES)
        np.add.at(votes, said, self._weights(similarity))
        np.maximum.at(nearest, said, similarity)
        return int(np.lexsort((-np.arange(RATING_VALUES), nearest, votes))[-1])

    def _most_similar(self, similarity: NDArray[np.float64], own: int) -> NDArray[np.int64]:
        others = np.delete(np.arange(len(similarity)), own)
        return others[np.argsort(-similarity[others], kind="stable")[: self.neighbours]]

    def _scaled(self, ratings: NDArray[np.float64]) -> NDArray[np.float64]:
        return shifted(ratings) if self.variant == "w50" else ratings

    def _weights(self, similarity: NDArray[np.float64]) -> NDArray[np.float64]:
        return similarity if self.variant in ("w", "w50") else np.ones_like(similarity)

    def _count(
        self,
        votes: NDArray[np.float64],
        values: NDArray[np.float64],
        similarity: NDArray[np.float64],
    ) -> None:
        for row, (said, weight) in enumerate(
            zip(values.astype(np.int64), self._weights(similarity), strict=True)
        ):
            votes[row] += np.bincount(said, weights=weight, minlength=RATING_VALUES)


def filled_with_own_mode(knowledge: RatingsKnowledge) -> NDArray[np.float64]:
    """b with the commonest told value of b's own column under each star, the smallest of several; shape (k, 46)."""
    filled = knowledge.rating_codes.astype(np.float64)
    for position in np.unique(knowledge.hidden):
        column = knowledge.rating_codes[:, position]
        told = np.bincount(column[column != UNKNOWN], minlength=RATING_VALUES)
        filled[column == UNKNOWN, position] = int(told.argmax())
    return filled


def _cosine(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosine similarity of the rows, 0 for a row of zeros; shape (rows of first, rows of second)."""
    lengths = np.outer(np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1))
    return np.divide(first @ second.T, lengths, out=np.zeros(lengths.shape), where=lengths > 0)
