"""What the two-way tables of attribute and rating tell of a pair (a, b), even where no row means a person any more.

Of the people with a's ZIP-code, a share has b's rating of a movie. Someone drawn from B has the pair (z, v) with
probability n_B[z, v] / n, so that log n_B[z, v] / lambda is the evidence of that pair over chance, with lambda the expected
frequency of independent columns. The release shows n_B through noise; files that repeat a table tell how strong it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.knowledge import UNKNOWN, RatingsKnowledge
from kakurenbo.core.statistics import crosstab
from kakurenbo.data.ratings import ATTRIBUTES, MOVIES, files_with

Floats = NDArray[np.float64]

_IDENTICAL = 0.99  # share of the variance that files have in common where they repeat one table
_UNTOLD = 0.5  # shrinkage where nothing tells how strong the noise is
_LEAST_RATIO = 0.02  # an empty cell of a noisy table does not exclude a pair


@dataclass(frozen=True, eq=False)
class CrosstabEvidence:
    """log E[n_B | released tables] / lambda of every attribute value, movie and rating.

    Attributes
    ----------
    tables : tuple of arrays, one per attribute, shape (movies, levels, 6)
    """

    tables: tuple[Floats, ...]

    @classmethod
    def of(cls, knowledge: RatingsKnowledge) -> CrosstabEvidence:
        return cls(tuple(np.stack(_evidence(knowledge, attribute)) for attribute in ATTRIBUTES))

    def scores(self, rating_codes: NDArray[np.int64], attribute_codes: NDArray[np.int64]) -> Floats:
        """Evidence of each attribute, summed over movies, shape (4, rows of b, people)."""
        given = np.where(rating_codes == UNKNOWN, 0, rating_codes)
        told = rating_codes != UNKNOWN
        total = []
        for position, tables in enumerate(self.tables):
            scores = np.zeros((len(rating_codes), len(attribute_codes)))
            for movie, table in enumerate(tables):
                evidence = table[attribute_codes[:, position]]  # (people, 6)
                scores += told[:, movie, None] * evidence[:, given[:, movie]].T
            total.append(scores)
        return np.stack(total)


def _evidence(knowledge: RatingsKnowledge, attribute: str) -> list[Floats]:
    ratios = {movie: _ratio_tables(knowledge, attribute, movie) for movie in MOVIES}
    signal, variance = _signal(ratios)
    evidence = []
    for movie in MOVIES:
        tables, _ = ratios[movie]
        shrinkage = _shrinkage(signal, variance, len(tables))
        evidence.append(
            np.log(np.maximum(1 + shrinkage * (np.mean(tables, axis=0) - 1), _LEAST_RATIO))
        )
    return evidence


def _shrinkage(signal: float, variance: float, tables: int) -> float:
    """How much of a deviation from chance in the mean of some tables is the original's."""
    if signal > _IDENTICAL * variance:
        return _UNTOLD  # copies of one table agree in their noise too, and tell nothing of how strong it is
    # The mean of q tables holds the signal and a q-th of the noise.
    return signal / max(signal + (variance - signal) / tables, 1e-12)


def _ratio_tables(
    knowledge: RatingsKnowledge, attribute: str, movie: str
) -> tuple[list[Floats], Floats]:
    """n / lambda of each file that has the movie, and the mean lambda; shape (levels, 6) each."""
    ratios, expectations = [], []
    for number in files_with(movie):
        counts = crosstab(knowledge.files[number], attribute, movie).astype(np.float64)
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
        ratios.append(np.divide(counts, expected, out=np.ones_like(counts), where=expected > 0))
        expectations.append(expected)
    return ratios, np.asarray(np.mean(expectations, axis=0))


def mean_table(knowledge: RatingsKnowledge, attribute: str, movie: str) -> Floats:
    """The mean over the files with the movie of their two-way tables, shape (levels, 6)."""
    counts = [crosstab(knowledge.files[number], attribute, movie) for number in files_with(movie)]
    return np.asarray(np.mean(counts, axis=0, dtype=np.float64))


def _signal(ratios: dict[str, tuple[list[Floats], Floats]]) -> tuple[float, float]:
    """What of the standardized deviations from independence the files have in common, and their whole variance."""
    common, own = [], []
    for tables, expected in ratios.values():
        deviations = [(table - 1) * np.sqrt(expected) for table in tables]
        own += [float((deviation**2).mean()) for deviation in deviations]
        common += [
            float((deviations[i] * deviations[j]).mean())
            for i in range(len(deviations))
            for j in range(i)
        ]
    return max(0.0, float(np.mean(common))), max(float(np.mean(own)), 1e-12)
