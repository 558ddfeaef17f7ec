"""Our attack on a declared method: rehearse it on data whose truth is known, learn what its tables and rows are worth, attack.

Two-way tables of a repaired release lie between B's and chance. How much of a deviation was B's is a regression of n_B on the
released n_C, in bins of the expected frequency lambda: n_B ~ lambda, n_C - lambda, (n_C - lambda)^+; then by movie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.bayes import Bayes, matched, pair_evidence
from kakurenbo.attacks.reconstruction.crosstab_evidence import CrosstabEvidence, mean_table
from kakurenbo.attacks.reconstruction.knowledge import RatingsKnowledge
from kakurenbo.attacks.reconstruction.methods import Identification, Identifying
from kakurenbo.attacks.reconstruction.rehearsal import Rehearsal, rehearse
from kakurenbo.attacks.reconstruction.row_model import fit_row_model
from kakurenbo.attacks.reconstruction.weighing import known_weights
from kakurenbo.contest import Anonymizer
from kakurenbo.core.statistics import crosstab
from kakurenbo.data.ratings import ATTRIBUTES, MOVIES
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import parameter

Floats = NDArray[np.float64]

_BINS = 12
_LEAST_RATIO = 0.02
_LEAST_EXPECTED = 0.05
_MOST_TOLD = 3.0


@dataclass(frozen=True)
class ShadowRatings(Identifying):
    """Who a row is, by what rehearsals of the declared method teach of its tables and rows; each row of a once.

    The method is run on tables whose truth is known. How much of the released two-way tables was the original's, and what
    each kind of evidence is worth, is learned from them. Without a method this is ``bayes``.
    """

    reconstruction: str = parameter(
        "posterior", "how the hidden rating is found: row, or a reconstructing attack"
    )
    shadows: int = parameter(6, "rehearsals of the method", low=1, high=100)
    assumed: str = parameter(
        "", "anonymizer that is rehearsed where none is declared", none="word.as_bayes"
    )

    def identify(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> Identification:
        method = knowledge.declared or self._assumed()
        if method is None:
            return Bayes().identify(knowledge, rng)
        model = fit_row_model(knowledge)
        rehearsed = [
            rehearse(knowledge, method, model, stream) for stream in rng.spawn(self.shadows)
        ]
        shrinkage = tuple(Shrinkage.learned(rehearsed, attribute) for attribute in ATTRIBUTES)
        worth, tables = _worth(rehearsed, shrinkage), _tables(knowledge, shrinkage)
        real = pair_evidence(knowledge, tables, model, knowledge.attribute_codes)
        # Tables of other people were not rehearsed; they are logarithms of probabilities, worth 1.
        weights = np.concatenate((worth, np.ones(len(real) - len(worth))))
        return matched(knowledge, model, np.tensordot(weights, real, axes=1))

    def _assumed(self) -> Anonymizer | None:
        method = registry.build("anonymizers", self.assumed) if self.assumed else None
        assert method is None or isinstance(method, Anonymizer)
        return method


def _worth(rehearsed: Sequence[Rehearsal], shrinkage: Sequence[Shrinkage]) -> Floats:
    """Weights of the kinds of evidence in rehearsals, where every match is known."""
    evidence = [
        pair_evidence(
            one.knowledge,
            _tables(one.knowledge, shrinkage),
            fit_row_model(one.knowledge),
            one.knowledge.attribute_codes,
        )
        for one in rehearsed
    ]
    # Tables give logarithms of probabilities, worth 1; rows that are nobody's agree with people by chance, worth nothing.
    centre = np.array([*(1.0 for _ in ATTRIBUTES), 0.0])
    return known_weights(
        np.concatenate(evidence, axis=1), np.concatenate([one.people for one in rehearsed]), centre
    )


def _tables(knowledge: RatingsKnowledge, shrinkage: Sequence[Shrinkage]) -> CrosstabEvidence:
    parts = zip(ATTRIBUTES, shrinkage, strict=True)
    return CrosstabEvidence(
        tuple(learned.log_ratios(_released(knowledge, attribute)) for attribute, learned in parts)
    )


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """E[n_B | n_C] as a function of n_C and lambda, linear in each bin of lambda with a bend at lambda, and by movie.

    A repair that goes no further than it must treats some movies' tables and leaves the others as chance made them.

    Attributes
    ----------
    limits : array, shape (bins - 1,)
        Limits of lambda between the bins.
    slopes : array, shape (bins, 3)
        Coefficients of lambda, n_C - lambda and (n_C - lambda)^+.
    told : array, shape (movies,)
        What the deviations of E[n_B] from lambda are to be multiplied with, for each movie.
    """

    limits: Floats
    slopes: Floats
    told: Floats

    @classmethod
    def learned(cls, rehearsed: Sequence[Rehearsal], attribute: str) -> Shrinkage:
        """From what rehearsals released, and what they were made of."""
        n_c = np.stack(
            [_released(one.knowledge, attribute) for one in rehearsed]
        )  # (rehearsals, movies, levels, 6)
        n_b = np.stack(
            [[crosstab(one.original, attribute, movie) for movie in MOVIES] for one in rehearsed]
        ).astype(np.float64)
        expected = _expected(n_c)
        limits = np.quantile(expected[expected > 0], np.linspace(0, 1, _BINS + 1)[1:-1])
        bins = np.digitize(expected, limits)
        slopes = np.zeros((_BINS, 3))
        slopes[:, 0] = 1  # where nothing was seen, chance
        for each in np.unique(bins):
            inside = (bins == each) & (expected > 0)
            features = _features(n_c[inside], expected[inside])
            slopes[each] = np.linalg.lstsq(features, n_b[inside], rcond=None)[0]
        pooled = cls(limits, slopes, np.ones(len(MOVIES)))
        fitted = pooled.deviations(n_c, expected)
        precision = 1 / np.maximum(
            expected, _LEAST_EXPECTED
        )  # counts vary as much as is expected of them
        both = (precision * fitted * (n_b - expected)).sum(axis=(0, 2, 3))
        told = both / np.maximum((precision * fitted**2).sum(axis=(0, 2, 3)), 1e-9)
        return replace(pooled, told=np.clip(told, 0, _MOST_TOLD))

    def deviations(self, n_c: Floats, expected: Floats) -> Floats:
        """E[n_B] - lambda of released tables, shape (..., movies, levels, 6)."""
        fitted = (_features(n_c, expected) * self.slopes[np.digitize(expected, self.limits)]).sum(
            axis=-1
        )
        return np.asarray(self.told[:, None, None] * (fitted - expected))

    def log_ratios(self, tables: Floats) -> Floats:
        """log E[n_B] / lambda of the released tables of all movies, shape (movies, levels, 6)."""
        expected = _expected(tables)
        added = self.deviations(tables, expected)
        ratios = 1 + np.divide(added, expected, out=np.zeros_like(added), where=expected > 0)
        return np.asarray(np.log(np.maximum(ratios, _LEAST_RATIO)))


def _released(knowledge: RatingsKnowledge, attribute: str) -> Floats:
    """The released tables of an attribute and every movie, shape (movies, levels, 6)."""
    return np.stack([mean_table(knowledge, attribute, movie) for movie in MOVIES])


def _expected(tables: Floats) -> Floats:
    """lambda: the frequencies of independent columns."""
    by_level, by_value = tables.sum(axis=-1, keepdims=True), tables.sum(axis=-2, keepdims=True)
    return np.asarray(by_level * by_value / tables.sum(axis=(-2, -1), keepdims=True))


def _features(n_c: Floats, expected: Floats) -> Floats:
    return np.stack((expected, n_c - expected, np.maximum(n_c - expected, 0)), axis=-1)
