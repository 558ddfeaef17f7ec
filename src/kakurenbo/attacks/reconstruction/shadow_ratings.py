"""Our attack on a declared method: rehearse it on data whose truth is known, learn what its tables
and rows are worth, attack.

Two-way tables of a repaired release lie between B's and chance. How much of a deviation was B's is
a regression of n_B on the released n_C, in bins of the expected frequency lambda: n_B ~ lambda, n_C
- lambda, (n_C - lambda)^+; then by movie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.bayes import Bayes, known_weights, match
from kakurenbo.attacks.reconstruction.evidence import (
    CrosstabEvidence,
    expected_counts,
    pair_evidence,
    released_tables,
)
from kakurenbo.attacks.reconstruction.row_model import RowModel, fit_row_model
from kakurenbo.attacks.reconstruction.types import (
    RATING_VALUES,
    Identification,
    Identifying,
    RatingsKnowledge,
    columns_of,
    starred_schema,
)
from kakurenbo.contest import Anonymizer, Mechanism
from kakurenbo.core import Schema, Table
from kakurenbo.core.statistics import crosstab
from kakurenbo.data import ratings
from kakurenbo.data.ratings import ATTRIBUTES, MOVIES
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import parameter

Floats = NDArray[np.float64]

_BINS = 12
_MIN_RATIO = 0.02
_MIN_EXPECTED = 0.05
_MAX_FACTOR = 3.0


@dataclass(frozen=True)
class ShadowRatings(Identifying):
    """Who a row is, by what rehearsals of the declared method teach of its tables and rows; each row of a once.

    The method is run on tables whose truth is known. How much of the released two-way tables was
    the original's, and what each kind of evidence is worth, is learned from them. Without a method
    this is ``bayes``.
    """

    reconstruction: str = parameter(
        "posterior", "how the hidden rating is found: row, or a reconstructing attack"
    )
    shadows: int = parameter(6, "rehearsals of the method", low=1, high=100)
    assumed: str = parameter(
        "", "anonymizer that is rehearsed where none is declared", none="word.as_bayes"
    )

    def identify(self, knowledge: RatingsKnowledge, rng: np.random.Generator) -> Identification:
        method = knowledge.declared
        if method is None and self.assumed:
            method = registry.build("anonymizers", self.assumed)
        if method is None:
            return Bayes().identify(knowledge, rng)
        model = fit_row_model(knowledge)
        rehearsals = [rehearse(knowledge, method, model, each) for each in rng.spawn(self.shadows)]
        shrinkages = [Shrinkage.learned(rehearsals, attribute) for attribute in ATTRIBUTES]
        evidence = []
        for rehearsal in rehearsals:
            known = rehearsal.knowledge
            tables = _shrunk_tables(known, shrinkages)
            evidence.append(
                pair_evidence(known, tables, fit_row_model(known), known.attribute_codes)
            )
        people = np.concatenate([rehearsal.people for rehearsal in rehearsals])
        # Tables give logarithms of probabilities, worth 1; rows that are nobody's agree with people
        # by chance, worth nothing.
        centre = np.array([*(1.0 for _ in ATTRIBUTES), 0.0])
        worth = known_weights(np.concatenate(evidence, axis=1), people, centre)
        tables = _shrunk_tables(knowledge, shrinkages)
        real = pair_evidence(knowledge, tables, model, knowledge.attribute_codes)
        # Tables of other people were not rehearsed; they are logarithms of probabilities, worth 1.
        weights = np.concatenate((worth, np.ones(len(real) - len(worth))))
        return match(knowledge, model, np.tensordot(weights, real, axes=1))


# -- rehearsals --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """A release under attack of which everything is known.

    Attributes
    ----------
    original : Table
    knowledge : RatingsKnowledge
    people : array, shape (k,)
        The row of a that each row of b belongs to.
    """

    original: Table
    knowledge: RatingsKnowledge
    people: NDArray[np.int64]


def rehearse(
    knowledge: RatingsKnowledge, method: Anonymizer, model: RowModel, rng: np.random.Generator
) -> Rehearsal:
    """Run a method on a table made of the release, and draw as many people as the target has.

    The table has the released ratings, and beside each row of them the attributes of another: every
    value as often as in the target, ratings that go together as far as they do in it, and
    attributes that have nothing to do with them. What its release tells of it is what the target's
    release tells of B. The noise of its cells is that of the target, which ``model`` has found: it
    need not be fitted again.
    """
    first = {name: knowledge.files[ratings.files_with(name)[0]] for name in ATTRIBUTES + MOVIES}
    others = rng.permutation(len(knowledge.files[0]))
    codes = {name: file.codes[name] for name, file in first.items()}
    codes |= {name: codes[name][others] for name in ATTRIBUTES}
    original = Table(Schema(file.schema[name] for name, file in first.items()), codes)
    tables = method(original, rng).tables
    files = tables if ratings.is_split(tables) else ratings.split(tables[0])
    count = len(knowledge.ratings)
    rows, order = rng.choice(len(original), count, replace=False), rng.permutation(count)
    codes_of_b = columns_of(original.take(rows[order]), MOVIES)
    codes_of_b[np.arange(count), rng.integers(len(MOVIES), size=count)] = RATING_VALUES
    starred = Table(starred_schema(), dict(zip(MOVIES, codes_of_b.T, strict=True)))
    people = original.take(rows).select(ATTRIBUTES)
    known = RatingsKnowledge(people, starred, files, Mechanism(model.transitions))
    return Rehearsal(original, known, order.astype(np.int64))


# -- how much of a released table was the original's -------------------------------------------


@dataclass(frozen=True, eq=False)
class Shrinkage:
    """E[n_B | n_C] as a function of n_C and lambda, linear in each bin of lambda with a bend at
    lambda, and by movie.

    A repair that goes no further than it must treats some movies' tables and leaves the others as
    chance made them.

    Attributes
    ----------
    limits : array, shape (bins - 1,)
        Limits of lambda between the bins.
    slopes : array, shape (bins, 3)
        Coefficients of lambda, n_C - lambda and (n_C - lambda)^+.
    factors : array, shape (movies,)
        What the deviations of E[n_B] from lambda are to be multiplied with, for each movie.
    """

    limits: Floats
    slopes: Floats
    factors: Floats

    @classmethod
    def learned(cls, rehearsals: Sequence[Rehearsal], attribute: str) -> Shrinkage:
        """Learn from what rehearsals released, and what they were made of."""
        # (rehearsals, movies, levels, 6)
        n_c = np.stack([_mean_tables(rehearsal.knowledge, attribute) for rehearsal in rehearsals])
        originals = [rehearsal.original for rehearsal in rehearsals]
        tables = [[crosstab(table, attribute, movie) for movie in MOVIES] for table in originals]
        n_b = np.array(tables, dtype=np.float64)
        expected = expected_counts(n_c)
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
        precision = 1 / np.maximum(expected, _MIN_EXPECTED)  # counts vary as much as is expected
        both = (precision * fitted * (n_b - expected)).sum(axis=(0, 2, 3))
        factors = both / np.maximum((precision * fitted**2).sum(axis=(0, 2, 3)), 1e-9)
        return replace(pooled, factors=np.clip(factors, 0, _MAX_FACTOR))

    def deviations(self, n_c: Floats, expected: Floats) -> Floats:
        """Return E[n_B] - lambda of released tables, shape (..., movies, levels, 6)."""
        slopes = self.slopes[np.digitize(expected, self.limits)]
        fitted = (_features(n_c, expected) * slopes).sum(axis=-1)
        return np.asarray(self.factors[:, None, None] * (fitted - expected))

    def log_ratios(self, tables: Floats) -> Floats:
        """Return log E[n_B] / lambda of the released tables of all movies, shape (movies, levels,
        6).
        """
        expected = expected_counts(tables)
        added = self.deviations(tables, expected)
        ratios = 1 + np.divide(added, expected, out=np.zeros_like(added), where=expected > 0)
        return np.asarray(np.log(np.maximum(ratios, _MIN_RATIO)))


def _features(n_c: Floats, expected: Floats) -> Floats:
    return np.stack((expected, n_c - expected, np.maximum(n_c - expected, 0)), axis=-1)


def _mean_tables(knowledge: RatingsKnowledge, attribute: str) -> Floats:
    """Return the released tables of an attribute and every movie, shape (movies, levels, 6)."""
    tables = [released_tables(knowledge, attribute, movie) for movie in MOVIES]
    return np.stack([of_files.mean(axis=0) for of_files in tables])


def _shrunk_tables(
    knowledge: RatingsKnowledge, shrinkages: Sequence[Shrinkage]
) -> CrosstabEvidence:
    parts = zip(ATTRIBUTES, shrinkages, strict=True)
    return CrosstabEvidence(
        tuple(each.log_ratios(_mean_tables(knowledge, name)) for name, each in parts)
    )
