"""Attacks that compare all pairs of a month: TF-IDF, Fellegi-Sunter on every field, and rhythm without looking at items.

Each may be solved one to one, and where pseudonyms recur their months are weighed together.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from kakurenbo.attacks.reidentification import ReidentificationGuess, ReidentificationKnowledge
from kakurenbo.attacks.reidentification.likelihood import (
    FIELDS,
    estimate_retention,
    link_scores,
    month_to_learn_from,
)
from kakurenbo.attacks.reidentification.matching import (
    Scores,
    assigned_three,
    best_three,
    write_month,
)
from kakurenbo.attacks.reidentification.monthly import Month, months_of
from kakurenbo.contest import Attack
from kakurenbo.core.errors import ParameterError
from kakurenbo.methods.parameters import parameter

Scorer = Callable[[Month], Scores]
_FIELDS_HELP = (
    "what to compare, of item, date, price, qty, size, prices, quantities; the first leads"
)
SHARPNESS = 50.0
_CANDIDATES = 250  # pairs per customer and month that other months get to know of
_ABSENCE = 2.0  # evidence against a pair when only one of the two is there in a month


@dataclass(frozen=True)
class PairwiseAttack(Attack[ReidentificationKnowledge, ReidentificationGuess]):
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
        if not months:
            return guess
        ranked = ranked_months(
            months, self.scorer(months), one_to_one=self.one_to_one, link_months=self.link_months
        )
        for month, places in ranked:
            write_month(guess, month, places)
        return guess

    @abstractmethod
    def scorer(self, months: Sequence[Month]) -> Scorer:
        """A function from a month to its scores, log likelihoods or something like them, customers by pseudonyms."""


@dataclass(frozen=True)
class TfIdf(PairwiseAttack):
    """Cosine of the item vectors of a month, rare items weighing more (TF-IDF)."""

    sharpness: float = parameter(
        SHARPNESS, "how many units of log likelihood a cosine of 1 stands for", low=1, high=1000
    )

    def scorer(self, months: Sequence[Month]) -> Scorer:
        return tf_idf_scorer(self.sharpness)


@dataclass(frozen=True)
class FellegiSunter(PairwiseAttack):
    """Log likelihood ratio of items, dates, prices, quantities and basket size, each weighed by how much of it was kept.

    ``prices`` and ``quantities`` are those of a basket in ascending order: they tell people apart under noise, too.
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


# -- any months, whatever table they come from ---------------------------------------------------------------------------


def ranked_months(
    months: Sequence[Month], score: Scorer, *, one_to_one: bool = True, link_months: bool = True
) -> Iterator[tuple[Month, NDArray[np.int64]]]:
    """Each month with three places among its pseudonyms for every customer, best first, shape (customers, 3)."""
    year = _Year.of(months, score) if link_months and _recurring(months) else None
    for month in months:
        scores = score(month)
        if year is not None:
            scores += year.evidence(month)
        yield month, assigned_three(scores) if one_to_one else best_three(scores)


def tf_idf_scorer(sharpness: float = SHARPNESS) -> Scorer:
    """Scores by the field ``item``: a cosine of 1 stands for so many units of log likelihood."""
    return lambda month: np.float32(sharpness) * _cosines(month)


def fellegi_sunter_scorer(months: Sequence[Month], fields: Sequence[str]) -> Scorer:
    """Scores by these fields, each weighed by how much of it was kept in a month; the first leads."""
    retention = estimate_retention(month_to_learn_from(months), fields)
    return lambda month: link_scores(month, fields, retention)


def _cosines(month: Month) -> Scores:
    sides = month.counts("item")
    holders = np.bincount(sides[1].indices, minlength=sides[1].shape[1])
    rarity = np.log((1 + sides[1].shape[0]) / (1 + holders)).astype(np.float32)
    for side in sides:
        side.data = (1 + np.log(side.data)) * rarity[side.indices]
        norms = np.sqrt(np.asarray((side * side).sum(axis=1)).ravel())
        side.data = side.data / np.repeat(np.maximum(norms, 1e-12), np.diff(side.indptr)).astype(
            np.float32
        )
    return np.asarray((sides[0] @ sides[1].T).toarray(), dtype=np.float32)


# -- months together --------------------------------------------------------------------------------------------------


def _recurring(months: Sequence[Month]) -> bool:
    """Whether pseudonyms are seen in more than one month."""
    seen = np.concatenate([month.released.owners for month in months])
    return len(np.unique(seen)) < len(seen)


@dataclass(frozen=True, eq=False)
class _Year:
    """What all months say of a pair: the best candidates of each month, and who is there when.

    Only the candidates are kept, so that a year needs no more memory than a month.
    """

    candidates: Any  # sparse, shape (customers, pseudonyms): evidence above the weakest candidate, summed over months
    monthly: dict[int, Any]  # the part of it that each month gave
    customers_there: NDArray[np.float32]  # (customers, months), 0/1
    pseudonyms_there: NDArray[np.float32]  # (pseudonyms, months), 0/1

    @classmethod
    def of(cls, months: Sequence[Month], score: Scorer) -> _Year:
        shape = tuple(
            1 + max(int(getattr(month, side).owners.max()) for month in months)
            for side in ("original", "released")
        )
        there = [np.zeros((size, 1 + months[-1].number), dtype=np.float32) for size in shape]
        monthly = {}
        for month in months:
            there[0][month.original.owners, month.number] = 1
            there[1][month.released.owners, month.number] = 1
            monthly[month.number] = _best_candidates(month, score(month), shape)
        return cls(sum(monthly.values()).tocsr(), monthly, there[0], there[1])

    def evidence(self, month: Month) -> Scores:
        """What the other months say of the pairs of this one."""
        others = (self.candidates - self.monthly[month.number]).tocsr()
        customers, pseudonyms = month.original.owners, month.released.owners
        ours, theirs = self.customers_there[customers], self.pseudonyms_there[pseudonyms]
        together = ours @ theirs.T
        apart = ours.sum(axis=1)[:, None] + theirs.sum(axis=1)[None, :] - 2 * together
        found: Scores = others[customers][:, pseudonyms].toarray() - np.float32(_ABSENCE) * apart
        return found


def _best_candidates(month: Month, scores: Scores, shape: tuple[int, ...]) -> Any:
    count = min(_CANDIDATES, scores.shape[1])
    places = np.argpartition(-scores, count - 1, axis=1)[:, :count]
    values = np.take_along_axis(scores, places, axis=1)
    values = values - values.min(axis=1, keepdims=True)
    rows = np.repeat(month.original.owners, count)
    entries = (values.ravel().astype(np.float32), (rows, month.released.owners[places.ravel()]))
    return sparse.coo_array(entries, shape=shape).tocsr()
