"""Evidence on who a row is: two-way tables of attribute and rating, of the release and of other
people.

Of the people with a's ZIP-code, a share has b's rating of a movie. Someone drawn from B has the
pair (z, v) with probability n_B[z, v] / n, so that log n_B[z, v] / lambda is the evidence of that
pair over chance, with lambda the expected frequency of independent columns. The release shows n_B
through noise; files that repeat a table tell how strong it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.row_model import RowModel, one_hot
from kakurenbo.attacks.reconstruction.types import (
    RATING_VALUES,
    UNKNOWN,
    RatingsKnowledge,
    columns_of,
    indicators,
)
from kakurenbo.core import Category, Table
from kakurenbo.core.statistics import crosstab
from kakurenbo.data.ratings import ATTRIBUTES, MOVIES, ZIP_CODE, files_with

Floats = NDArray[np.float64]

_IDENTICAL = 0.99  # share of the variance that files have in common where they repeat one table
_UNTOLD = 0.5  # shrinkage where nothing tells how strong the noise is
_MIN_RATIO = 0.02  # an empty cell of a noisy table does not exclude a pair
_PRIOR = {ZIP_CODE: 30.0}  # people of average ratings that are added to each value of an attribute
_OTHER_PRIOR = 6.0
_MIN_SHARE = 1e-4


@dataclass(frozen=True, eq=False)
class CrosstabEvidence:
    """log E[n_B | released tables] / lambda of every attribute value, movie and rating.

    Attributes
    ----------
    tables : tuple of arrays, one per attribute, shape (movies, levels, 6)
    """

    tables: tuple[Floats, ...]

    @classmethod
    def of_release(cls, knowledge: RatingsKnowledge) -> CrosstabEvidence:
        """Shrink the released tables as far as files that repeat them tell that they are noise."""
        return cls(tuple(_shrunk_log_ratios(knowledge, attribute) for attribute in ATTRIBUTES))

    @classmethod
    def of_others(cls, knowledge: RatingsKnowledge, pool: Sequence[Table]) -> CrosstabEvidence:
        """Return log P(rating | attribute) / P(rating) in tables of other people, for the target's
        attribute values.
        """
        return cls(tuple(_log_ratios_of_others(knowledge, pool, name) for name in ATTRIBUTES))

    def scores(self, rating_codes: NDArray[np.int64], attribute_codes: NDArray[np.int64]) -> Floats:
        """Return the evidence of each attribute, summed over movies, shape (4, rows of b,
        people).
        """
        is_known = rating_codes != UNKNOWN
        values = np.where(is_known, rating_codes, 0)
        total = np.zeros((len(self.tables), len(rating_codes), len(attribute_codes)))
        for scores, tables, levels in zip(total, self.tables, attribute_codes.T, strict=True):
            for movie, table in enumerate(tables):
                scores += is_known[:, movie, None] * table[levels][:, values[:, movie]].T
        return total


def pools(knowledge: RatingsKnowledge) -> list[tuple[Table, ...]]:
    """Return tables that are counted together: the attacker's own, and what everybody holds."""
    public = () if knowledge.public is None else (knowledge.public,)
    return [pool for pool in (knowledge.siblings, public) if pool]


def pair_evidence(
    knowledge: RatingsKnowledge,
    tables: CrosstabEvidence,
    model: RowModel,
    people: NDArray[np.int64],
) -> Floats:
    """Return every kind of evidence that a row of b is one of some people, shape (kinds, k,
    people).

    The four attributes by the two-way tables, the rows, and what each pool of other people's tables
    says.
    """
    kinds = [*tables.scores(knowledge.rating_codes, people), model.scores_of(people)]
    for pool in pools(knowledge):
        others = CrosstabEvidence.of_others(knowledge, pool)
        kinds.append(others.scores(knowledge.rating_codes, people).sum(axis=0))
    return np.stack(kinds)


# -- tables of the release ---------------------------------------------------------------------


def released_tables(knowledge: RatingsKnowledge, attribute: str, movie: str) -> Floats:
    """Return the two-way tables of the files with a movie, shape (files, levels, 6)."""
    files = [knowledge.files[number] for number in files_with(movie)]
    return np.stack([crosstab(file, attribute, movie) for file in files]).astype(np.float64)


def expected_counts(tables: Floats) -> Floats:
    """Return lambda, the frequencies of independent columns, of tables of shape (..., levels,
    6).
    """
    by_level, by_value = tables.sum(axis=-1, keepdims=True), tables.sum(axis=-2, keepdims=True)
    return np.asarray(by_level * by_value / tables.sum(axis=(-2, -1), keepdims=True))


def _shrunk_log_ratios(knowledge: RatingsKnowledge, attribute: str) -> Floats:
    """Return the evidence of one attribute, shape (movies, levels, 6)."""
    ratios, common, whole = [], [], []
    for movie in MOVIES:
        counts = released_tables(knowledge, attribute, movie)
        expected = expected_counts(counts)
        of_files = np.divide(counts, expected, out=np.ones_like(counts), where=expected > 0)
        ratios.append(of_files)
        deviations = (of_files - 1) * np.sqrt(expected.mean(axis=0))
        whole += [float((deviation**2).mean()) for deviation in deviations]
        for i in range(len(deviations)):
            common += [float((deviations[i] * deviations[j]).mean()) for j in range(i)]
    # What of the standardized deviations from independence the files have in common, and their
    # whole variance.
    signal, variance = max(0.0, float(np.mean(common))), max(float(np.mean(whole)), 1e-12)
    evidence = []
    for of_files in ratios:
        kept = shrinkage(signal, variance, len(of_files))
        evidence.append(np.log(np.maximum(1 + kept * (of_files.mean(axis=0) - 1), _MIN_RATIO)))
    return np.stack(evidence)


def shrinkage(signal: float, variance: float, tables: int) -> float:
    """Return how much of a deviation from chance in the mean of some tables is the original's."""
    if signal > _IDENTICAL * variance:
        # Copies of one table agree in their noise too, and tell nothing of how strong it is.
        return _UNTOLD
    # The mean of q tables holds the signal and a q-th of the noise.
    return signal / max(signal + (variance - signal) / tables, 1e-12)


# -- tables of other people --------------------------------------------------------------------


def _log_ratios_of_others(
    knowledge: RatingsKnowledge, pool: Sequence[Table], attribute: str
) -> Floats:
    """Return shape (movies, levels, 6); a value that nobody in the pool has tells nothing."""
    target = knowledge.files[0].schema[attribute]
    levels = knowledge.level_count(attribute)
    counts, people = np.zeros((levels, len(MOVIES) * RATING_VALUES)), np.zeros(levels)
    for table in pool:
        column = table.schema[attribute]
        assert isinstance(target, Category)
        assert isinstance(column, Category)
        place = {level: code for code, level in enumerate(target.levels)}
        in_target = np.array([place.get(level, UNKNOWN) for level in column.levels])
        codes = in_target[table.codes[attribute]]
        known = codes != UNKNOWN
        ratings = indicators(columns_of(table, MOVIES)[known])
        counts += one_hot(codes[known], levels).T @ ratings
        people += np.bincount(codes[known], minlength=levels)
    shares = np.maximum(counts.sum(axis=0) / max(people.sum(), 1), _MIN_SHARE)
    prior = _PRIOR.get(attribute, _OTHER_PRIOR)
    ratios = (counts + prior * shares) / ((people[:, None] + prior) * shares)
    return np.asarray(np.log(ratios).reshape(levels, len(MOVIES), RATING_VALUES).transpose(1, 0, 2))
