"""Our attack on a declared method: rehearse it on data whose truth is known, learn what its tables and rows are worth, attack.

Two-way tables of a repaired release lie between B's and chance. How much of a deviation was B's is a regression of n_B on the
released n_C, in bins of the expected frequency lambda: n_B ~ lambda, n_C - lambda, (n_C - lambda)^+.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo import registry
from kakurenbo.attacks.reconstruction.bayes import Bayes, matched, pair_evidence
from kakurenbo.attacks.reconstruction.crosstab_evidence import CrosstabEvidence, mean_table
from kakurenbo.attacks.reconstruction.knowledge import RatingsKnowledge
from kakurenbo.attacks.reconstruction.methods import Identification, Identifying
from kakurenbo.attacks.reconstruction.rehearsal import Rehearsal, rehearse
from kakurenbo.attacks.reconstruction.row_model import fit_row_model
from kakurenbo.attacks.reconstruction.weighing import known_weights
from kakurenbo.contracts import Anonymizer
from kakurenbo.datasets.ratings import ATTRIBUTES, MOVIES
from kakurenbo.parameters import parameter
from kakurenbo.tables.crosstabs import crosstab

Floats = NDArray[np.float64]

_BINS = 12
_LEAST_RATIO = 0.02


@dataclass(frozen=True)
class ShadowRatings(Identifying):
    """Who a row is, by what rehearsals of the declared method teach of its tables and rows; each row of a once.

    The method is run on tables whose truth is known. How much of the released two-way tables was the original's, and what
    each kind of evidence is worth, is learned from them. Without a method this is ``bayes``.
    """

    reconstruction: str = parameter("posterior", "how the hidden rating is found: row, or a reconstructing attack")
    shadows: int = parameter(3, "rehearsals of the method", low=1, high=100)
    assumed: str = parameter("", "anonymizer that is rehearsed where none is declared", none="none: as bayes does it")

    def identify(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> Identification:
        method = knowledge.declared or self._assumed()
        if method is None:
            return Bayes().identify(knowledge, rng)
        model = fit_row_model(knowledge)
        rehearsed = [rehearse(knowledge, method, model, stream) for stream in rng.spawn(self.shadows)]
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
            one.knowledge, _tables(one.knowledge, shrinkage), fit_row_model(one.knowledge), one.knowledge.attribute_codes
        )
        for one in rehearsed
    ]
    return known_weights(np.concatenate(evidence, axis=1), np.concatenate([one.people for one in rehearsed]))


def _tables(knowledge: RatingsKnowledge, shrinkage: Sequence[Shrinkage]) -> CrosstabEvidence:
    return CrosstabEvidence(
        tuple(
            np.stack([learned.log_ratios(mean_table(knowledge, attribute, movie)) for movie in MOVIES])
            for attribute, learned in zip(ATTRIBUTES, shrinkage, strict=True)
        )
    )


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """E[n_B | n_C] as a function of n_C and lambda, linear in each bin of lambda with a bend at lambda.

    Attributes
    ----------
    limits : array, shape (bins - 1,)
        Limits of lambda between the bins.
    slopes : array, shape (bins, 3)
        Coefficients of lambda, n_C - lambda and (n_C - lambda)^+.
    """

    limits: Floats
    slopes: Floats

    @classmethod
    def learned(cls, rehearsed: Sequence[Rehearsal], attribute: str) -> Shrinkage:
        """From what rehearsals released, and what they were made of."""
        released, true = [], []
        for one in rehearsed:
            for movie in MOVIES:
                released.append(mean_table(one.knowledge, attribute, movie))
                true.append(crosstab(one.original, attribute, movie).astype(np.float64))
        n_c, n_b = np.stack(released), np.stack(true)
        expected = np.stack([_expected(table) for table in released])
        limits = np.quantile(expected[expected > 0], np.linspace(0, 1, _BINS + 1)[1:-1])
        bins = np.digitize(expected, limits)
        slopes = np.zeros((_BINS, 3))
        slopes[:, 0] = 1  # where nothing was seen, chance
        for each in np.unique(bins):
            inside = (bins == each) & (expected > 0)
            features = _features(n_c[inside], expected[inside])
            slopes[each] = np.linalg.lstsq(features, n_b[inside], rcond=None)[0]
        return cls(limits, slopes)

    def log_ratios(self, table: Floats) -> Floats:
        """log E[n_B] / lambda of a released table, shape (levels, 6)."""
        expected = _expected(table)
        fitted = (_features(table, expected) * self.slopes[np.digitize(expected, self.limits)]).sum(axis=-1)
        ratios = np.divide(fitted, expected, out=np.ones_like(fitted), where=expected > 0)
        return np.asarray(np.log(np.maximum(ratios, _LEAST_RATIO)))


def _expected(table: Floats) -> Floats:
    """lambda: the frequencies of independent columns."""
    return np.asarray(np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum())


def _features(n_c: Floats, expected: Floats) -> Floats:
    return np.stack((expected, n_c - expected, np.maximum(n_c - expected, 0)), axis=-1)
