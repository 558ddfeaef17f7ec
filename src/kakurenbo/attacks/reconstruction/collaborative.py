"""Team 09's reconstruction attack: collaborative filtering in five variants, on b alone as the
poster did it or with C.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.euclidean import shifted
from kakurenbo.attacks.reconstruction.types import (
    RATING_VALUES,
    UNKNOWN,
    Identification,
    RatingsKnowledge,
    Reconstructing,
    columns_of,
    commonest,
    movie_places,
)
from kakurenbo.core import Table
from kakurenbo.data.ratings import MOVIES, NOT_SEEN
from kakurenbo.methods.parameters import parameter

Ratings = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CollaborativeFiltering(Reconstructing):
    """The most frequent value among similar users and similar items, by cosine similarity.

    Variants: ``all0`` always answers 0; ``user`` asks the five most similar users, ``item`` the
    ratings that b gave to the five most similar items; ``w`` asks both, votes weighted by
    similarity; ``w50`` is ``w`` with ratings 1 to 5 shifted by 50, so that "seen" differs strongly
    from "not seen".

    The poster's filtering works on b alone (``on=b``): 50 users and 46 items, stars filled with the
    mode of b's own column; of values with equally many votes the most similar one's is taken. Ours
    compares b with the rows of every released file that holds the hidden movie.
    """

    identification: str = parameter("euclidean", "how the person is found: an identifying attack")
    on: str = parameter(
        "release", "where similar users and items are looked for", choices=("release", "b")
    )
    variant: str = parameter("w50", "whom to ask", choices=("all0", "user", "item", "w", "w50"))
    neighbours: int = parameter(5, "similar users, and items, that are asked", low=1, high=1000)

    def reconstruct(
        self, knowledge: RatingsKnowledge, identified: Identification, rng: np.random.Generator
    ) -> Ratings:
        if self.variant == "all0":
            return np.full(len(knowledge.ratings), NOT_SEEN, dtype=np.int64)
        if self.on == "b":
            return self._filtered_alone(knowledge)
        votes = np.zeros((len(knowledge.ratings), RATING_VALUES))
        filled = knowledge.filled_with_mode()
        for movie in np.unique(knowledge.hidden).tolist():
            asking = knowledge.hidden == movie
            for file in knowledge.files:
                if MOVIES[movie] in file.schema:
                    votes[asking] += self._votes(file, movie, filled[asking])
        return np.asarray(votes.argmax(axis=1))

    def _votes(self, file: Table, hidden: int, asking: Ratings) -> Floats:
        """Return the votes of one file on the values of the hidden movie, shape (rows of b, 6)."""
        movies = [name for name in file.schema.names if name in MOVIES]
        place = movies.index(MOVIES[hidden])
        released, known = columns_of(file, movies), asking[:, movie_places(movies)]
        votes = np.zeros((len(asking), RATING_VALUES))
        if self.variant != "item":
            similarity = _cosine(self._scaled(known), self._scaled(released))  # (rows of b, n)
            near = np.argsort(-similarity, axis=1, kind="stable")[:, : self.neighbours]
            weights = np.take_along_axis(similarity, near, axis=1)
            self._count(votes, released[near, place], weights)
        if self.variant != "user":
            items = self._scaled(released.T)
            similarity = _cosine(items[[place]], items)[0]  # (movies,)
            near = _most_similar(similarity, place, self.neighbours)
            weights = np.broadcast_to(similarity[near], (len(asking), len(near)))
            self._count(votes, known[:, near], weights)
        return votes

    def _count(self, votes: Floats, values: Ratings, similarity: Floats) -> None:
        weights = self._weights(similarity)
        for row, (of_row, weight) in enumerate(zip(values, weights, strict=True)):
            votes[row] += np.bincount(of_row, weights=weight, minlength=RATING_VALUES)

    def _filtered_alone(self, knowledge: RatingsKnowledge) -> Ratings:
        """Filter the poster's way, shape (k,)."""
        filled = _filled_with_own_mode(knowledge)
        scaled = self._scaled(filled)
        users, items = _cosine(scaled, scaled), _cosine(scaled.T, scaled.T)
        values = np.empty(len(filled), dtype=np.int64)
        for row, hidden in enumerate(knowledge.hidden):
            votes, similarity = [], []
            if self.variant != "item":
                near = _most_similar(users[row], row, self.neighbours)
                votes.append(filled[near, hidden])
                similarity.append(users[row, near])
            if self.variant != "user":
                near = _most_similar(items[hidden], hidden, self.neighbours)
                votes.append(filled[row, near])
                similarity.append(items[hidden, near])
            values[row] = self._elected(np.concatenate(votes), np.concatenate(similarity))
        return values

    def _elected(self, values: Ratings, similarity: Floats) -> int:
        """Return the value with the most votes; of several the most similar one's, then the
        smallest.
        """
        votes, nearest = np.zeros((2, RATING_VALUES))
        np.add.at(votes, values, self._weights(similarity))
        np.maximum.at(nearest, values, similarity)
        return int(np.lexsort((-np.arange(RATING_VALUES), nearest, votes))[-1])

    def _scaled(self, ratings: Ratings) -> Floats:
        return shifted(ratings) if self.variant == "w50" else ratings.astype(np.float64)

    def _weights(self, similarity: Floats) -> Floats:
        return similarity if self.variant in ("w", "w50") else np.ones_like(similarity)


def _most_similar(similarity: Floats, place: int, count: int) -> NDArray[np.int64]:
    """Return the most similar others, ties by number."""
    others = np.delete(np.arange(len(similarity)), place)
    return others[np.argsort(-similarity[others], kind="stable")[:count]]


def _filled_with_own_mode(knowledge: RatingsKnowledge) -> Ratings:
    """Return b with the commonest told value of b's own column under each star, shape (k, 46)."""
    values = [commonest(column[column != UNKNOWN]) for column in knowledge.rating_codes.T]
    return knowledge.filled(np.array(values)[knowledge.hidden])


def _cosine(first: Floats, second: Floats) -> Floats:
    """Return the cosine similarity of the rows, 0 for a row of zeros; shape (rows of first, rows of
    second).
    """
    lengths = np.outer(np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1))
    return np.divide(first @ second.T, lengths, out=np.zeros(lengths.shape), where=lengths > 0)
