"""What attackers of pwscup2024 know and answer, and how methods for its two questions combine by
their names.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contest import Anonymizer, Attack, Mechanism, whole_numbers
from kakurenbo.core import Category, Schema, Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.data.ratings import ATTRIBUTES, HIGHEST_RATING, MOVIES
from kakurenbo.methods import registry

if TYPE_CHECKING:  # SciPy takes half a second to load, and the sample attack needs none of it
    from kakurenbo.attacks.reconstruction.row_model import RowModel

RATING_VALUES = HIGHEST_RATING + 1
STAR = "*"
UNKNOWN = -1
MATCHED_ROW = "row"


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
        Tables B that the attacker holds itself, of other people from the same source: attributes
        and ratings.
    public : Table or None
        A table of other people that everybody holds, of the same columns but not of the same
        source.
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
        return columns_of(self.people, ATTRIBUTES)

    @cached_property
    def rating_codes(self) -> NDArray[np.int64]:
        """Ratings of b with ``UNKNOWN`` under the star, shape (k, 46)."""
        codes = columns_of(self.ratings, MOVIES)
        return np.where(codes < RATING_VALUES, codes, UNKNOWN)

    @cached_property
    def hidden(self) -> NDArray[np.int64]:
        """Position of the star of each row of b among the movies, shape (k,)."""
        return np.asarray((self.rating_codes == UNKNOWN).argmax(axis=1))

    def level_count(self, name: str) -> int:
        """Return how many values a column of the files has."""
        return (self.files[0].schema[name].size or 0) if name in ATTRIBUTES else RATING_VALUES

    def released(self, movie: str) -> list[NDArray[np.int64]]:
        """Return the ratings of a movie in each file that has it."""
        return [file.codes[movie] for file in self.files if movie in file.schema]

    def filled(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return b with these ratings in place of the stars, shape (k, 46)."""
        codes = self.rating_codes.copy()
        codes[np.arange(len(codes)), self.hidden] = values
        return codes

    def filled_with_mode(self) -> NDArray[np.int64]:
        """Return b with the released column's commonest value under each star, shape (k, 46)."""
        commonest_values = np.zeros(len(MOVIES), dtype=np.int64)
        for movie in np.unique(self.hidden):
            commonest_values[movie] = commonest(np.concatenate(self.released(MOVIES[movie])))
        return self.filled(commonest_values[self.hidden])


@dataclass(frozen=True, eq=False)
class RatingsGuess:
    """For each row of b the row of a that it belongs to, and the rating under the star; both of
    shape (k,).
    """

    people: NDArray[np.int64]
    values: NDArray[np.int64]

    def __post_init__(self) -> None:
        for name in ("people", "values"):
            object.__setattr__(self, name, whole_numbers(name, getattr(self, name)))


RatingsAttack = Attack[RatingsKnowledge, RatingsGuess]


def starred_schema() -> Schema:
    """Return the columns of b: ratings, or the star."""
    levels = (*map(str, range(RATING_VALUES)), STAR)
    return Schema(Category(name, levels) for name in MOVIES)


def columns_of(table: Table, names: Any) -> NDArray[np.int64]:
    """Return the codes of some columns side by side, shape (n, columns)."""
    return np.stack([table.codes[name] for name in names], axis=1).astype(np.int64)


def movie_places(names: Any) -> list[int]:
    """Return where movies stand among all of them."""
    return [MOVIES.index(name) for name in names]


def indicators(codes: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return one-hot ratings, nothing for ``UNKNOWN``; shape (n, movies * 6)."""
    is_value = codes[:, :, None] == np.arange(RATING_VALUES)
    return np.asarray(is_value.reshape(len(codes), -1), dtype=np.float32)


def commonest(values: NDArray[np.int64]) -> int:
    """Return the value with the most votes, the smallest of several."""
    return int(np.bincount(values, minlength=RATING_VALUES).argmax())


# -- who it is, and what is hidden -------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Identification:
    """Who each row of b is.

    Attributes
    ----------
    people : array, shape (k,)
        Row of a for each row of b.
    values : array, shape (k,)
        The hidden ratings as they stand in the rows of the release that were matched.
    pairs : array, shape (k, k), or None
        P(row of a | row of b), where the method gives probabilities.
    model : RowModel or None
        What the method fitted on the way, so that a reconstruction need not fit it again.
    """

    people: NDArray[np.int64]
    values: NDArray[np.int64]
    pairs: NDArray[np.float64] | None = None
    model: RowModel | None = None

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """``pairs``, or certainty where the method gives none."""
        return np.eye(len(self.people))[self.people] if self.pairs is None else self.pairs


class Identifying(RatingsAttack):
    """An attack that finds the person; the rating is read from the matched rows or left to a
    reconstructing attack.
    """

    knowledge: ClassVar[type] = RatingsKnowledge
    reconstruction: str

    def parts(self) -> tuple[tuple[str, str], ...]:
        if self.reconstruction == MATCHED_ROW:
            return ()
        return (("attacks", registry.name_of(self.reconstruction)),)

    @abstractmethod
    def identify(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> Identification:
        """Find who each row of b is."""

    def __call__(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> RatingsGuess:
        identified = self.identify(knowledge, rng)
        values = identified.values
        if self.reconstruction != MATCHED_ROW:
            method = partner("reconstruction", self.reconstruction, Reconstructing)
            values = method.reconstruct(knowledge, identified, rng)
        return RatingsGuess(identified.people, values)


class Reconstructing(RatingsAttack):
    """An attack that finds the rating; the person is left to an identifying attack."""

    knowledge: ClassVar[type] = RatingsKnowledge
    completes: ClassVar[bool] = True
    identification: str

    def parts(self) -> tuple[tuple[str, str], ...]:
        # What that one would answer itself is not asked.
        return (("attacks", registry.name_of(self.identification)),)

    @abstractmethod
    def reconstruct(
        self, knowledge: RatingsKnowledge, identified: Identification, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Find the hidden rating of each row of b, shape (k,)."""

    def __call__(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> RatingsGuess:
        method = partner("identification", self.identification, Identifying)
        identified = method.identify(knowledge, rng)
        return RatingsGuess(identified.people, self.reconstruct(knowledge, identified, rng))

    def completed(self, knowledge: RatingsKnowledge, guess: RatingsGuess) -> Table:
        codes = knowledge.filled(guess.values)
        return Table(knowledge.ratings.schema, dict(zip(MOVIES, codes.T, strict=True)))


def partner(parameter: str, text: str, kind: type) -> Any:
    """Build the method that another one names as its partner, e.g.
    ``collaborative_filtering:variant=user``.
    """
    method = registry.build("attacks", text)
    if not isinstance(method, kind):
        question = "who a row is" if kind is Identifying else "which rating is hidden"
        raise ParameterError(parameter, f"an attack that finds {question}", text)
    return method
