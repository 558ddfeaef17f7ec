"""Team 09's identification attack: nearest rows by Euclidean distance in every file, then a vote on the row number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.hamming import attribute_distances
from kakurenbo.attacks.reconstruction.knowledge import RATING_VALUES, UNKNOWN, RatingsKnowledge
from kakurenbo.attacks.reconstruction.methods import (
    MATCHED_ROW,
    Identification,
    Identifying,
    Reconstructing,
    commonest,
    filled,
    partner,
)
from kakurenbo.data.ratings import ATTRIBUTES, MOVIES, SPLITS
from kakurenbo.methods.parameters import parameter

POSTERS_FILTERING = "collaborative_filtering:on=b,variant=w50"
SHIFT = 50  # added to ratings 1..5, so that seen differs strongly from not seen


@dataclass(frozen=True)
class Euclidean(Identifying):
    """In each file the rows nearest to b that share at least three attributes with a; the commonest row number wins.

    Ratings 1 to 5 are shifted by 50. Where no row number occurs twice the smallest distance decides. The poster leaves open
    whose row number that is: ``votes=c_row`` elects a row of C, whose person is then the row of a that agrees with it best;
    with ``votes=a_row`` each near row votes for the row of a that agrees with it best.
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
        count = len(knowledge.ratings)
        rows = np.empty((count, 0), dtype=np.int64)
        distances, people, agreement = np.empty((count, 0)), rows.copy(), rows.copy()
        for movies, file in zip(SPLITS, knowledge.files, strict=True):
            released = shifted(
                np.stack([file.codes[name] for name in movies], axis=1).astype(np.float64)
            )
            near, squared = _nearest(
                completed[:, [MOVIES.index(name) for name in movies]], released, self.neighbours
            )
            shared = len(ATTRIBUTES) - attribute_distances(
                knowledge, [file.codes[name] for name in ATTRIBUTES]
            )
            best = shared.argmax(axis=0)[near]  # the row of a that agrees best with each near row
            rows, distances = np.hstack((rows, near)), np.hstack((distances, squared))
            people, agreement = (
                np.hstack((people, best)),
                np.hstack((agreement, shared.max(axis=0)[near])),
            )
        numbers = rows if self.votes == "c_row" else people
        chosen = [
            _vote(numbers[i], distances[i], agreement[i] >= self.agreeing) for i in range(count)
        ]
        matched = rows[np.arange(count), chosen]
        return Identification(people[np.arange(count), chosen], _values_in_row(knowledge, matched))

    def _completed(
        self, knowledge: RatingsKnowledge, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        if self.completion == "mode":
            return filled_with_mode(knowledge)
        method = partner("completion", POSTERS_FILTERING, Reconstructing)
        nobody = np.zeros(0, dtype=np.int64)  # filtering on b alone does not ask who a row is
        values = method.reconstruct(knowledge, Identification(nobody, nobody), rng)
        return filled(knowledge, values).astype(np.float64)


def filled_with_mode(knowledge: RatingsKnowledge) -> NDArray[np.float64]:
    """b with the released column's commonest value under each star, shape (k, 46)."""
    filled = knowledge.rating_codes.astype(np.float64)
    for position, name in enumerate(MOVIES):
        stars = knowledge.rating_codes[:, position] == UNKNOWN
        if stars.any():
            counts = sum(
                np.bincount(f.codes[name], minlength=RATING_VALUES)
                for f in knowledge.files
                if name in f.schema
            )
            filled[stars, position] = int(np.argmax(counts))
    return filled


def shifted(ratings: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ratings with "seen" far from "not seen"."""
    return np.where(ratings > 0, ratings + SHIFT, 0.0)


def _nearest(
    given: NDArray[np.float64], released: NDArray[np.float64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The nearest rows of the release and their squared distances, nearest first, shape (k, count) each."""
    squared = (
        (given**2).sum(axis=1)[:, None]
        + (released**2).sum(axis=1)[None, :]
        - 2 * given @ released.T
    )
    order = np.argsort(squared, axis=1, kind="stable")[:, :count]
    return order, np.take_along_axis(squared, order, axis=1)


def _vote(
    rows: NDArray[np.int64], distances: NDArray[np.float64], agrees: NDArray[np.bool_]
) -> int:
    """Position of the winner among the near rows of all files."""
    candidates = np.flatnonzero(agrees) if agrees.any() else np.arange(len(rows))
    numbers, votes = np.unique(rows[candidates], return_counts=True)
    if votes.max() > 1:
        candidates = candidates[rows[candidates] == numbers[votes.argmax()]]
    return int(candidates[distances[candidates].argmin()])


def _values_in_row(knowledge: RatingsKnowledge, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The hidden rating as it stands in the same row of the files that have the movie."""
    values = np.zeros(len(rows), dtype=np.int64)
    for index, (hidden, row) in enumerate(zip(knowledge.hidden, rows, strict=True)):
        movie = MOVIES[hidden]
        holding = [file for file in knowledge.files if movie in file.schema and row < len(file)]
        if holding:
            values[index] = commonest(np.array([file.codes[movie][row] for file in holding]))
    return values
