"""Hamming distance attacks: the contest's own `sample` and team 09's `all_pairs` ("2,500 attack");
and the control.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.types import (
    MATCHED_ROW,
    RATING_VALUES,
    Identification,
    Identifying,
    RatingsAttack,
    RatingsGuess,
    RatingsKnowledge,
    columns_of,
    commonest,
    indicators,
    movie_places,
)
from kakurenbo.core import Table
from kakurenbo.data.ratings import ATTRIBUTES, MOVIES, SPLITS
from kakurenbo.methods.parameters import parameter

# Which columns the sample attack takes from which file.
_COLUMNS_OF_FILES = (
    "Gender Age 3877 3889",
    "Occupation ZIP-code 653 3489",
    "673 1881 2138",
    "2 56 1009 1525 1967 2043 2399 3438 3439 3440",
    "810 1126 1702 2253 3393 3466",
    "885 1654 2086",
    "2143 2872 3479",
    "1750 2021 2093",
    "247 1920 2017 2087",
    "260 1073 1097 2100 2105 2174 2193 2628 2797 2968",
)

Distances = NDArray[np.uint8]


@dataclass(frozen=True)
class BlindRatings(RatingsAttack):
    """Guess the people in random order and every hidden rating at random."""

    knowledge: ClassVar[type] = RatingsKnowledge

    def __call__(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> RatingsGuess:
        rows = len(knowledge.hidden)
        return RatingsGuess(rng.permutation(rows), rng.integers(RATING_VALUES, size=rows))


@dataclass(frozen=True)
class Sample(Identifying):
    """The contest's sample attack: the ten files side by side, and the row nearest to any pair (a, b) by Hamming distance.

    On ties the first row of a, then the first row of the table; several rows of b may get the same
    row of a.
    """

    reconstruction: str = parameter(
        MATCHED_ROW, "how the hidden rating is found: row, or a reconstructing attack"
    )

    def identify(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> Identification:
        codes = side_by_side(knowledge.files)
        of_people = attribute_distances(knowledge, np.stack([codes[n] for n in ATTRIBUTES], axis=1))
        ratings = np.stack([codes[name] for name in MOVIES], axis=1)
        of_ratings = rating_distances(knowledge, MOVIES, ratings)
        nearest = [(of_people + distances).argmin() for distances in of_ratings]
        people, rows = np.unravel_index(np.array(nearest), of_people.shape)
        return Identification(people.astype(np.int64), ratings[rows, knowledge.hidden])


@dataclass(frozen=True)
class AllPairs(Identifying):
    """Every (a, b) pair against every file by Hamming distance: a is who comes closest over all ten files."""

    reconstruction: str = parameter(
        MATCHED_ROW, "how the hidden rating is found: row, or a reconstructing attack"
    )

    def identify(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> Identification:
        count = len(knowledge.ratings)
        total = np.zeros((count, len(knowledge.people)), dtype=np.int64)
        rows = np.zeros((len(SPLITS), count, len(knowledge.people)), dtype=np.int64)
        for number, (movies, file) in enumerate(zip(SPLITS, knowledge.files, strict=True)):
            of_people = attribute_distances(knowledge, columns_of(file, ATTRIBUTES))
            of_ratings = rating_distances(knowledge, movies, columns_of(file, movies))
            for index, distances in enumerate(of_ratings):
                pairs = of_people + distances
                rows[number, index] = pairs.argmin(axis=1)
                total[index] += pairs.min(axis=1)
        people = total.argmin(axis=1)
        values = np.zeros(count, dtype=np.int64)
        for index, (hidden, person) in enumerate(zip(knowledge.hidden, people, strict=True)):
            movie = MOVIES[hidden]
            votes = [
                file.codes[movie][rows[number, index, person]]
                for number, file in enumerate(knowledge.files)
                if movie in SPLITS[number]
            ]
            values[index] = commonest(np.array(votes))
        return Identification(people, values)


def side_by_side(files: Sequence[Table]) -> dict[str, NDArray[np.int64]]:
    """Return the sample attack's table of 50 columns, each taken from one file, as codes by
    column.
    """
    table: dict[str, NDArray[np.int64]] = {}
    for file, names in zip(files, _COLUMNS_OF_FILES, strict=True):
        table |= {name: file.codes[name].astype(np.int64) for name in names.split()}
    return table


def attribute_distances(knowledge: RatingsKnowledge, attributes: NDArray[np.int64]) -> Distances:
    """Count the attributes in which each row of a differs from each row of the release, shape (k,
    n).
    """
    distances = np.zeros((len(knowledge.people), len(attributes)), dtype=np.uint8)
    for ours, theirs in zip(knowledge.attribute_codes.T, attributes.T, strict=True):
        distances += ours[:, None] != theirs[None, :]
    return distances


def rating_distances(
    knowledge: RatingsKnowledge, movies: Sequence[str], ratings: NDArray[np.int64]
) -> Distances:
    """Count the movies in which each row of b differs from each row of the release, shape (k, n);
    the star always does.
    """
    wanted = indicators(knowledge.rating_codes[:, movie_places(movies)])  # a star is all 0
    return np.asarray(len(movies) - wanted @ indicators(ratings).T, dtype=np.uint8)
