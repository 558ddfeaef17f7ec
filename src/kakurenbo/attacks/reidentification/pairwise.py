"""Attacks that compare all pairs of a month: TF-IDF, Fellegi-Sunter on every field, and rhythm
without looking at items.

Each may be solved one to one, and where pseudonyms recur their months are weighed together.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reidentification.assignment import (
    Scores,
    assigned_three,
    best_three,
    write_month,
)
from kakurenbo.attacks.reidentification.evidence import (
    FIELDS,
    estimate_retention,
    link_scores,
    month_to_learn_from,
)
from kakurenbo.attacks.reidentification.months import Month, months_of, rare_cosine_vectors
from kakurenbo.attacks.reidentification.types import (
    ReidentificationAttack,
    ReidentificationGuess,
    ReidentificationKnowledge,
)
from kakurenbo.core.errors import ParameterError
from kakurenbo.methods.parameters import parameter

Scorer = Callable[[Month], Scores]
_FIELDS_HELP = (
    "what to compare, of item, date, price, qty, size, prices, quantities; the first leads"
)
_SHARPNESS = 50.0
_CANDIDATES = 250  # pairs per customer and month that other months get to know of
_ABSENCE = 2.0  # evidence against a pair when only one of the two buys in a month


@dataclass(frozen=True)
class PairwiseAttack(ReidentificationAttack):
    """Scores for all pairs of a month, and the three best pseudonyms per customer from them."""

    knowledge: ClassVar[type] = ReidentificationKnowledge
    one_to_one: bool = parameter(
        True, "give every pseudonym of a month to one customer, as pseudonyms usually are"
    )
    link_months: bool = parameter(
        True, "weigh the months of a pseudonym together where pseudonyms recur"
    )

    def __call__(
        self, knowledge: ReidentificationKnowledge, rng: np.random.Generator
    ) -> ReidentificationGuess:
        guess = ReidentificationGuess.blank(knowledge)
        months = list(months_of(knowledge))
        if months:
            score = self.scorer(months)
            for month, places in ranked_months(
                months, score, one_to_one=self.one_to_one, link_months=self.link_months
            ):
                write_month(guess, month, places)
        return guess

    @abstractmethod
    def scorer(self, months: Sequence[Month]) -> Scorer:
        """Return a function from a month to its scores, log likelihoods or the like, customers by
        pseudonyms.
        """


@dataclass(frozen=True)
class TfIdf(PairwiseAttack):
    """Cosine of the item vectors of a month, rare items weighing more (TF-IDF)."""

    sharpness: float = parameter(
        _SHARPNESS, "how many units of log likelihood a cosine of 1 stands for", low=1, high=1000
    )

    def scorer(self, months: Sequence[Month]) -> Scorer:
        return tf_idf_scorer(self.sharpness)


@dataclass(frozen=True)
class FellegiSunter(PairwiseAttack):
    """Log likelihood ratio of items, dates, prices, quantities and basket size, each weighed by how much of it was kept.

    ``prices`` and ``quantities`` are those of a basket in ascending order: they tell people apart
    under noise, too.
    """

    fields: tuple[str, ...] = parameter(FIELDS, _FIELDS_HELP)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.fields or not set(self.fields) <= set(FIELDS):
            raise ParameterError("fields", f"a list of {', '.join(FIELDS)}", ",".join(self.fields))

    def scorer(self, months: Sequence[Month]) -> Scorer:
        return fellegi_sunter_scorer(months, self.fields)


@dataclass(frozen=True)
class Profile(FellegiSunter):
    """Dates, prices and basket size of a month, whatever the items and the pseudonym's other months."""

    link_months: bool = parameter(
        False, "weigh the months of a pseudonym together where pseudonyms recur"
    )
    fields: tuple[str, ...] = parameter(("price", "date", "size"), _FIELDS_HELP)


@dataclass(frozen=True)
class Rhythm(FellegiSunter):
    """In which months a pseudonym buys, and how many rows: the counter to baskets that were swapped between customers."""

    fields: tuple[str, ...] = parameter(("size",), _FIELDS_HELP)


# -- any months, whatever table they come from -------------------------------------------------


def tf_idf_scorer(sharpness: float = _SHARPNESS) -> Scorer:
    """Score by the field ``item``: a cosine of 1 stands for so many units of log likelihood."""

    def score(month: Month) -> Scores:
        customers, pseudonyms = month.counts("item")
        holders = np.bincount(pseudonyms.indices, minlength=pseudonyms.shape[1])
        rarity = np.log((1 + pseudonyms.shape[0]) / (1 + holders)).astype(np.float32)
        ours, theirs = (rare_cosine_vectors(side, rarity) for side in (customers, pseudonyms))
        cosines = np.asarray((ours @ theirs.T).toarray(), dtype=np.float32)
        return np.float32(sharpness) * cosines

    return score


def fellegi_sunter_scorer(months: Sequence[Month], fields: Sequence[str]) -> Scorer:
    """Score by these fields, each weighed by how much of it was kept in a month; the first
    leads.
    """
    retention = estimate_retention(month_to_learn_from(months), fields)
    return lambda month: link_scores(month, fields, retention)


def ranked_months(
    months: Sequence[Month], score: Scorer, *, one_to_one: bool = True, link_months: bool = True
) -> Iterator[tuple[Month, NDArray[np.int64]]]:
    """Yield each month with three places among its pseudonyms for every customer, best first, shape
    (customers, 3).
    """
    pseudonyms = np.concatenate([month.released.owners for month in months])
    recurs = len(np.unique(pseudonyms)) < len(pseudonyms)
    year = _Year.of(months, score) if link_months and recurs else None
    for month in months:
        scores = score(month)
        if year is not None:
            scores += year.evidence(month)
        yield month, assigned_three(scores) if one_to_one else best_three(scores)


@dataclass(frozen=True, eq=False)
class _Year:
    """What all months say of a pair: the best candidates of each month, and who buys when.

    Only the candidates are kept, so that a year needs no more memory than a month.
    """

    # Evidence above the weakest candidate, summed over months; sparse, (customers, pseudonyms).
    candidates: Any
    monthly: dict[int, Any]  # the part of it that each month gave
    customers: NDArray[np.float32]  # who buys when, shape (customers, months), 0/1
    pseudonyms: NDArray[np.float32]  # the same of pseudonyms

    @classmethod
    def of(cls, months: Sequence[Month], score: Scorer) -> _Year:
        shape = (
            1 + max(int(month.original.owners.max()) for month in months),
            1 + max(int(month.released.owners.max()) for month in months),
        )
        customers, pseudonyms = (
            np.zeros((size, 1 + months[-1].number), dtype=np.float32) for size in shape
        )
        monthly = {}
        for month in months:
            customers[month.original.owners, month.number] = 1
            pseudonyms[month.released.owners, month.number] = 1
            monthly[month.number] = _best_candidates(month, score(month), shape)
        return cls(sum(monthly.values()).tocsr(), monthly, customers, pseudonyms)

    def evidence(self, month: Month) -> Scores:
        """Return what the other months say of the pairs of this one."""
        others = (self.candidates - self.monthly[month.number]).tocsr()
        customers, pseudonyms = month.original.owners, month.released.owners
        ours, theirs = self.customers[customers], self.pseudonyms[pseudonyms]
        together = ours @ theirs.T
        apart = ours.sum(axis=1)[:, None] + theirs.sum(axis=1)[None, :] - 2 * together
        candidates = others[customers][:, pseudonyms].toarray()
        return np.asarray(candidates - np.float32(_ABSENCE) * apart)


def _best_candidates(month: Month, scores: Scores, shape: tuple[int, int]) -> Any:
    from scipy.sparse import coo_array

    count = min(_CANDIDATES, scores.shape[1])
    places = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    values = np.take_along_axis(scores, places, axis=1)
    values = (values - values.min(axis=1, keepdims=True)).ravel().astype(np.float32)
    rows = np.repeat(month.original.owners, count)
    columns = month.released.owners[places.ravel()]
    return coo_array((values, (rows, columns)), shape=shape).tocsr()
