"""An attack of pwscup2024 answers two questions; methods for each combine freely, found by their registered names."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.knowledge import RatingsGuess, RatingsKnowledge
from kakurenbo.contest import Attack
from kakurenbo.core import Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.data.ratings import MOVIES
from kakurenbo.methods import registry

if (
    TYPE_CHECKING
):  # SciPy takes half a second to load, and the sample attack of the rulebook needs none of it
    from kakurenbo.attacks.reconstruction.row_model import RowModel


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


class Identifying(Attack[RatingsKnowledge, RatingsGuess]):
    """An attack that finds the person; the rating is read from the matched rows or left to a reconstructing attack."""

    knowledge: ClassVar[type] = RatingsKnowledge
    reconstruction: str

    def parts(self) -> tuple[tuple[str, str], ...]:
        return (
            ()
            if self.reconstruction == MATCHED_ROW
            else (("attacks", registry.name_of(self.reconstruction)),)
        )

    @abstractmethod
    def identify(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> Identification:
        """Who each row of b is."""

    def __call__(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> RatingsGuess:
        identified = self.identify(knowledge, rng)
        if self.reconstruction == MATCHED_ROW:
            return RatingsGuess(identified.people, identified.values)
        values = partner("reconstruction", self.reconstruction, Reconstructing).reconstruct(
            knowledge, identified, rng
        )
        return RatingsGuess(identified.people, values)


class Reconstructing(Attack[RatingsKnowledge, RatingsGuess]):
    """An attack that finds the rating; the person is left to an identifying attack."""

    knowledge: ClassVar[type] = RatingsKnowledge
    completes: ClassVar[bool] = True
    identification: str

    def parts(self) -> tuple[tuple[str, str], ...]:
        return (
            ("attacks", registry.name_of(self.identification)),
        )  # what that one would answer itself is not asked

    @abstractmethod
    def reconstruct(
        self, knowledge: RatingsKnowledge, identified: Identification, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The hidden rating of each row of b, shape (k,)."""

    def __call__(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> RatingsGuess:
        identified = partner("identification", self.identification, Identifying).identify(
            knowledge, rng
        )
        return RatingsGuess(identified.people, self.reconstruct(knowledge, identified, rng))

    def completed(self, knowledge: RatingsKnowledge, guess: RatingsGuess) -> Table:
        codes = filled(knowledge, guess.values)
        return Table(knowledge.ratings.schema, dict(zip(MOVIES, codes.T, strict=True)))


MATCHED_ROW = "row"


def filled(knowledge: RatingsKnowledge, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return b with these ratings in place of the stars, shape (k, 46)."""
    codes = knowledge.rating_codes.copy()
    codes[np.arange(len(codes)), knowledge.hidden] = values
    return codes


def partner(parameter: str, text: str, kind: type) -> Any:
    """The method that another one names as its partner, e.g. ``collaborative_filtering:variant=user``."""
    method = registry.build("attacks", text)
    if not isinstance(method, kind):
        question = "who a row is" if kind is Identifying else "which rating is hidden"
        raise ParameterError(parameter, f"an attack that finds {question}", text)
    return method


def commonest(values: NDArray[np.int64], weights: NDArray[np.float64] | None = None) -> int:
    """The value with the most votes, the smallest of several."""
    return int(np.bincount(values, weights=weights).argmax())
