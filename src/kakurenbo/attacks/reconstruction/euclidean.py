"""Team 09's identification attack: nearest rows by Euclidean distance in every file, then a vote on
the row number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.hamming import attribute_distances
from kakurenbo.attacks.reconstruction.types import (
    MATCHED_ROW,
    Identification,
    Identifying,
    RatingsKnowledge,
    Reconstructing,
    columns_of,
    commonest,
    movie_places,
    partner,
)
from kakurenbo.data.ratings import ATTRIBUTES, MOVIES, SPLITS
from kakurenbo.methods.parameters import parameter

_POSTERS_FILTERING = "collaborative_filtering:on=b,variant=w50"
_SHIFT = 50  # added to ratings 1..5, so that seen differs strongly from not seen


@dataclass(frozen=True)
class Euclidean(Identifying):
    """In each file the rows nearest to b that share at least three attributes with a; the commonest row number wins.

    Ratings 1 to 5 are shifted by 50. Where no row number occurs twice the smallest distance
    decides. The poster leaves open whose row number that is: ``votes=c_row`` elects a row of C,
    whose person is then the row of a that agrees with it best; with ``votes=a_row`` each near row
    votes for the row of a that agrees with it best.
    """

    reconstruction: str = parameter(
        MATCHED_ROW, "how the hidden rating is found: row, or a reconstructing attack"
    )
    neighbours: int = parameter(
        10, "nearest rows that are looked at in each file", low=1, high=1000
    )
    agreeing: int = parameter(3, "attributes in which a row must agree with a", low=0, high=4)
    completion: str = parameter(
        "mode",
        "what replaces the star of b: the release's commonest value, or collaborative filtering on b",
        choices=("mode", "collaborative"),
    )
    votes: str = parameter("c_row", "whose row numbers are counted", choices=("c_row", "a_row"))

    def identify(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> Identification:
        completed = shifted(self._completed(knowledge, rng))
        rows, distances, people, agreement = [], [], [], []
        for movies, file in zip(SPLITS, knowledge.files, strict=True):
            squared = _squared_distances(
                completed[:, movie_places(movies)], shifted(columns_of(file, movies))
            )
            near = np.argsort(squared, axis=1, kind="stable")[:, : self.neighbours]
            differing = attribute_distances(knowledge, columns_of(file, ATTRIBUTES))
            rows.append(near)
            distances.append(np.take_along_axis(squared, near, axis=1))
            people.append(differing.argmin(axis=0)[near])  # who agrees best with each near row
            agreement.append(len(ATTRIBUTES) - differing.min(axis=0)[near])
        numbers = np.hstack(rows if self.votes == "c_row" else people)
        agrees = np.hstack(agreement) >= self.agreeing
        winners = [_vote(*each) for each in zip(numbers, np.hstack(distances), agrees, strict=True)]
        places = np.arange(len(winners)), winners
        return Identification(
            np.hstack(people)[places], _values_in_row(knowledge, np.hstack(rows)[places])
        )

    def _completed(
        self, knowledge: RatingsKnowledge, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        if self.completion == "mode":
            return knowledge.filled_with_mode()
        method = partner("completion", _POSTERS_FILTERING, Reconstructing)
        nobody = np.zeros(0, dtype=np.int64)  # filtering on b alone does not ask who a row is
        return knowledge.filled(method.reconstruct(knowledge, Identification(nobody, nobody), rng))


def shifted(ratings: NDArray[np.int64]) -> NDArray[np.float64]:
    """Put "seen" far from "not seen"."""
    return np.where(ratings > 0, ratings + _SHIFT, 0).astype(np.float64)


def _squared_distances(
    wanted: NDArray[np.float64], released: NDArray[np.float64]
) -> NDArray[np.float64]:
    squares = (wanted**2).sum(axis=1)[:, None] + (released**2).sum(axis=1)[None, :]
    return np.asarray(squares - 2 * wanted @ released.T)


def _vote(
    numbers: NDArray[np.int64], distances: NDArray[np.float64], agrees: NDArray[np.bool_]
) -> int:
    """Return the position of the winner among the near rows of all files."""
    candidates = np.flatnonzero(agrees) if agrees.any() else np.arange(len(numbers))
    distinct, votes = np.unique(numbers[candidates], return_counts=True)
    if votes.max() > 1:
        candidates = candidates[numbers[candidates] == distinct[votes.argmax()]]
    return int(candidates[distances[candidates].argmin()])


def _values_in_row(knowledge: RatingsKnowledge, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the hidden rating as it stands in the same row of the files that have the movie."""
    values = np.zeros(len(rows), dtype=np.int64)
    for index, (hidden, row) in enumerate(zip(knowledge.hidden, rows, strict=True)):
        votes = [codes[row] for codes in knowledge.released(MOVIES[hidden]) if row < len(codes)]
        if votes:
            values[index] = commonest(np.array(votes))
    return values
