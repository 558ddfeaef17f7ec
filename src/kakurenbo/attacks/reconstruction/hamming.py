"""Hamming distance attacks: the contest's own `sample` and team 09's `all_pairs` ("2,500 attack")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.knowledge import RATING_VALUES, RatingsKnowledge
from kakurenbo.attacks.reconstruction.methods import (
    MATCHED_ROW,
    Identification,
    Identifying,
    commonest,
)
from kakurenbo.core import Table
from kakurenbo.data.ratings import ATTRIBUTES, MOVIES, SPLITS
from kakurenbo.methods.parameters import parameter

_TABLE_COLUMNS = tuple(
    tuple(line.split())
    for line in (
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
)
"""Which columns the sample attack takes from which file."""

Distances = NDArray[np.uint8]


@dataclass(frozen=True)
class Sample(Identifying):
    """The contest's sample attack: the ten files side by side, and the row nearest to any pair (a, b) by Hamming distance.

    On ties the first row of a, then the first row of the table; several rows of b may get the same row of a.
    """

    reconstruction: str = parameter(
        MATCHED_ROW, "how the hidden rating is found: row, or a reconstructing attack"
    )

    def identify(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> Identification:
        codes = side_by_side(knowledge.files)
        of_people = attribute_distances(knowledge, [codes[name] for name in ATTRIBUTES])
        of_ratings = rating_distances(knowledge, MOVIES, [codes[name] for name in MOVIES])
        people, rows = np.array(
            [np.unravel_index((of_people + each).argmin(), of_people.shape) for each in of_ratings]
        ).T
        values = np.array(
            [codes[MOVIES[hidden]][row] for hidden, row in zip(knowledge.hidden, rows, strict=True)]
        )
        return Identification(people.astype(np.int64), values.astype(np.int64))


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
            of_people = attribute_distances(knowledge, [file.codes[name] for name in ATTRIBUTES])
            of_ratings = rating_distances(knowledge, movies, [file.codes[name] for name in movies])
            for index, each in enumerate(of_ratings):
                distances = of_people + each
                rows[number, index] = distances.argmin(axis=1)
                total[index] += distances.min(axis=1)
        people = total.argmin(axis=1)
        values = np.zeros(count, dtype=np.int64)
        for index, (hidden, person) in enumerate(zip(knowledge.hidden, people, strict=True)):
            movie = MOVIES[hidden]
            votes = [
                knowledge.files[f].codes[movie][rows[f, index, person]]
                for f in range(len(SPLITS))
                if movie in SPLITS[f]
            ]
            values[index] = commonest(np.array(votes))
        return Identification(people, values)


def side_by_side(files: Sequence[Table]) -> dict[str, NDArray[np.int64]]:
    """The sample attack's table of 50 columns, each taken from one file, as codes by column."""
    return {
        name: files[number].codes[name].astype(np.int64)
        for number, columns in enumerate(_TABLE_COLUMNS)
        for name in columns
    }


def attribute_distances(
    knowledge: RatingsKnowledge, codes: Sequence[NDArray[np.int64]]
) -> Distances:
    """In how many of the four attributes each row of a differs from each row of the release, shape (k, n)."""
    distances = np.zeros((len(knowledge.people), len(codes[0])), dtype=np.uint8)
    for given, column in zip(knowledge.attribute_codes.T, codes, strict=True):
        distances += given[:, None] != column[None, :]
    return distances


def rating_distances(
    knowledge: RatingsKnowledge, movies: Sequence[str], codes: Sequence[NDArray[np.int64]]
) -> Distances:
    """In how many movies each row of b differs from each row of the release, shape (k, n); the star always differs."""
    given = knowledge.rating_codes[:, [MOVIES.index(name) for name in movies]]
    levels = np.arange(RATING_VALUES)
    wanted = (
        (given[:, :, None] == levels).reshape(len(given), -1).astype(np.float32)
    )  # (k, movies * 6); a star is all 0
    table = (
        (np.stack(codes, axis=1)[:, :, None] == levels)
        .reshape(len(codes[0]), -1)
        .astype(np.float32)
    )
    return np.asarray(len(movies) - wanted @ table.T, dtype=np.uint8)
