"""What tables of other people tell: an attacker's own B files show which ratings go together, and who gives them.

Three candidates come from one source for every team. What holds in them holds in the target's B, whatever its release hides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.crosstab_evidence import CrosstabEvidence
from kakurenbo.attacks.reconstruction.knowledge import RATING_VALUES, UNKNOWN, RatingsKnowledge
from kakurenbo.attacks.reconstruction.row_model import one_hot
from kakurenbo.core import Category, Table
from kakurenbo.data.ratings import ATTRIBUTES, MOVIES, ZIP_CODE

Floats = NDArray[np.float64]

_RIDGE = 0.01  # added to the covariances of indicators
_PRIOR = {ZIP_CODE: 30.0}  # people of average ratings that are added to each value of an attribute
_OTHER_PRIOR = 6.0
_LEAST = 1e-4


def pools(knowledge: RatingsKnowledge) -> list[tuple[Table, ...]]:
    """Tables that are counted together: the attacker's own, and what everybody holds."""
    return [
        pool
        for pool in (
            knowledge.siblings,
            (knowledge.public,) if knowledge.public is not None else (),
        )
        if pool
    ]


# -- ratings from ratings ------------------------------------------------------------------------------------------------


def sibling_evidence(knowledge: RatingsKnowledge, movies: Sequence[int]) -> list[Floats]:
    """For each pool two kinds of evidence on the values of ``movies``, shape (k, movies, 6): see `RatingMoments`."""
    told = (knowledge.rating_codes != UNKNOWN).repeat(RATING_VALUES, axis=1)
    indicators = _indicators(knowledge.rating_codes).astype(np.float64)
    evidence = []
    for pool in pools(knowledge):
        moments = RatingMoments.of(pool)
        centred = np.where(
            told, indicators - moments.means, 0
        )  # what is not told counts as average
        evidence.append(
            np.stack([moments.discriminant(centred, movie) for movie in movies], axis=1)
        )
        evidence.append(
            np.stack([moments.naive_bayes(indicators * told, movie) for movie in movies], axis=1)
        )
    return evidence


@dataclass(frozen=True, eq=False)
class RatingMoments:
    """One- and two-way shares of the indicators (movie, value) of a table.

    Attributes
    ----------
    means : array, shape (276,)
    products : array, shape (276, 276)
        Shares of the rows that have both of two indicators.
    """

    means: Floats
    products: Floats

    @classmethod
    def of(cls, tables: Sequence[Table]) -> RatingMoments:
        counts, rows = np.zeros((len(MOVIES) * RATING_VALUES,) * 2), 0
        for table in tables:
            indicators = _indicators(rating_matrix(table))
            counts += indicators.T @ indicators
            rows += len(table)
        return cls(np.diag(counts) / rows, counts / rows)

    def discriminant(self, centred: Floats, movie: int) -> Floats:
        """Linear discriminant analysis: log P(value | other ratings) up to a constant, shape (k, 6).

        Within a value the other indicators are taken as normal with one covariance W: (x - mu)' W^-1 d - d' W^-1 d / 2, with d
        the difference of the value's means from mu.
        """
        own, others = self._places(movie)
        shares = np.maximum(self.means[own], _LEAST)
        apart = (
            self.products[np.ix_(own, others)] / shares[:, None] - self.means[others]
        )  # (6, 270)
        covariance = self.products[np.ix_(others, others)] - np.outer(
            self.means[others], self.means[others]
        )
        within = covariance - (apart.T * shares) @ apart + _RIDGE * np.eye(len(others))
        directions = np.linalg.solve(within, apart.T)  # (270, 6)
        return np.asarray(
            centred[:, others] @ directions
            - (apart * directions.T).sum(axis=1) / 2
            + np.log(shares)
        )

    def naive_bayes(self, indicators: Floats, movie: int) -> Floats:
        """log P(value) + sum over the other ratings of log P(rating | value), shape (k, 6)."""
        own, others = self._places(movie)
        shares = np.maximum(self.means[own], _LEAST)
        given = (self.products[np.ix_(others, own)] + _LEAST) / (shares + RATING_VALUES * _LEAST)
        return np.asarray(indicators[:, others] @ np.log(given) + np.log(shares))

    @staticmethod
    def _places(movie: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        everything = np.arange(len(MOVIES) * RATING_VALUES)
        own = everything // RATING_VALUES == movie
        return everything[own], everything[~own]


def rating_matrix(table: Table) -> NDArray[np.int64]:
    """The ratings of a table of all columns, shape (n, 46)."""
    return np.stack([table.codes[name] for name in MOVIES], axis=1).astype(np.int64)


def _indicators(codes: NDArray[np.int64]) -> NDArray[np.float32]:
    """One-hot ratings, nothing for ``UNKNOWN``: shape (n, 276)."""
    return np.asarray(
        (codes[:, :, None] == np.arange(RATING_VALUES)).reshape(len(codes), -1), dtype=np.float32
    )


# -- people from ratings -------------------------------------------------------------------------------------------------


def sibling_tables(knowledge: RatingsKnowledge, pool: Sequence[Table]) -> CrosstabEvidence:
    """log P(rating | attribute) / P(rating) in a pool of tables, for the attribute values of the target."""
    return CrosstabEvidence(
        tuple(_log_ratios(knowledge, pool, attribute) for attribute in ATTRIBUTES)
    )


def _log_ratios(knowledge: RatingsKnowledge, pool: Sequence[Table], attribute: str) -> Floats:
    """Shape (movies, levels, 6); a value that nobody in the pool has tells nothing."""
    levels = knowledge.level_count(attribute)
    counts = np.zeros((levels, len(MOVIES) * RATING_VALUES))
    people = np.zeros(levels)
    for table in pool:
        codes = _as_in_target(knowledge, table, attribute)
        known = codes != UNKNOWN
        of_level = one_hot(codes[known], levels)  # (people, levels), sparse
        counts += of_level.T @ _indicators(rating_matrix(table)[known])
        people += np.bincount(codes[known], minlength=levels)
    shares = np.maximum(counts.sum(axis=0) / max(people.sum(), 1), _LEAST)
    prior = _PRIOR.get(attribute, _OTHER_PRIOR)
    ratios = (counts + prior * shares) / ((people[:, None] + prior) * shares)
    return np.asarray(np.log(ratios).reshape(levels, len(MOVIES), RATING_VALUES).transpose(1, 0, 2))


def _as_in_target(knowledge: RatingsKnowledge, table: Table, attribute: str) -> NDArray[np.int64]:
    """Codes of an attribute with the target's levels; ``UNKNOWN`` where the target has no such level."""
    target, own = knowledge.files[0].schema[attribute], table.schema[attribute]
    assert isinstance(target, Category)
    assert isinstance(own, Category)
    place = {level: code for code, level in enumerate(target.levels)}
    return np.array([place.get(level, UNKNOWN) for level in own.levels])[table.codes[attribute]]
