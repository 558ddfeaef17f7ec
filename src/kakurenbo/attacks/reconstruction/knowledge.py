"""What attackers of pwscup2024 are given, and what they answer: who is it, and what is under the star."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contest import Anonymizer, Mechanism, whole_numbers
from kakurenbo.core import Category, Schema, Table
from kakurenbo.data.ratings import ATTRIBUTES, HIGHEST_RATING, MOVIES

RATING_VALUES = HIGHEST_RATING + 1
STAR = "*"
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class RatingsKnowledge:
    """One target of pwscup2024.

    Attributes
    ----------
    people : Table
        File a: the attributes of k people; its attribute columns have the levels of the files'.
    ratings : Table
        File b: the ratings of the same people in another order; one cell per row is the star.
    files : tuple of Table
        The ten released files.
    mechanism : Mechanism or None
        How cells were randomized, where the team declared it.
    declared : Anonymizer or None
        The method that is said to have made the files: the attacker can run it on data of its own.
    siblings : tuple of Table
        Tables B that the attacker holds itself, of other people from the same source: attributes and ratings.
    public : Table or None
        A table of other people that everybody holds, of the same columns but not of the same source.
    """

    people: Table
    ratings: Table
    files: tuple[Table, ...]
    mechanism: Mechanism | None = None
    declared: Anonymizer | None = None
    siblings: tuple[Table, ...] = ()
    public: Table | None = None

    @cached_property
    def attribute_codes(self) -> NDArray[np.int64]:
        """Attributes of a, shape (k, 4)."""
        return np.stack([self.people.codes[name] for name in ATTRIBUTES], axis=1).astype(np.int64)

    @cached_property
    def rating_codes(self) -> NDArray[np.int64]:
        """Ratings of b with ``UNKNOWN`` under the star, shape (k, 46)."""
        codes = np.stack([self.ratings.codes[name] for name in MOVIES], axis=1).astype(np.int64)
        return np.where(codes < RATING_VALUES, codes, UNKNOWN)

    @cached_property
    def hidden(self) -> NDArray[np.int64]:
        """Position of the star of each row of b among the movies, shape (k,)."""
        return np.asarray((self.rating_codes == UNKNOWN).argmax(axis=1))

    def level_count(self, name: str) -> int:
        """How many values a column of the files has."""
        size = self.files[0].schema[name].size if name in ATTRIBUTES else RATING_VALUES
        assert size is not None
        return size


def starred_schema() -> Schema:
    """The columns of b: ratings, or the star."""
    levels = (*map(str, range(RATING_VALUES)), STAR)
    return Schema(Category(name, levels) for name in MOVIES)


@dataclass(frozen=True, eq=False)
class RatingsGuess:
    """For each row of b the row of a that it belongs to, and the rating under the star; both of shape (k,)."""

    people: NDArray[np.int64]
    values: NDArray[np.int64]

    def __post_init__(self) -> None:
        for name in ("people", "values"):
            object.__setattr__(self, name, whole_numbers(name, getattr(self, name)))
