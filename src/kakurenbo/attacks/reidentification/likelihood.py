"""Record linkage after Fellegi and Sunter: how much likelier a pseudonym's rows are if they come from this customer.

A row of a basket keeps a value with probability rho, else the value is one of the month's at large; rho of each field is
estimated from S itself by EM, so that a field which was destroyed loses its weight and no mechanism needs to be known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaln

from kakurenbo.attacks.reidentification.matching import Scores
from kakurenbo.attacks.reidentification.monthly import VECTORS, Matrix, Month
from kakurenbo.attacks.reidentification.vectors import SortedVectors

FIELDS = ("item", "date", "price", "qty", "size", *VECTORS)
_START, _LOWEST, _HIGHEST = 0.5, 1e-3, 0.999
WORTHLESS = 0.02  # below this rho a field says nothing that is not noise
_ROUNDS, _STEPS = 3, 8
_DENSE = 256  # up to this many values a dense product is quicker
_STRAY = 0.05  # share of baskets whose size is off for another reason than deletion
_SAMPLE = 1000  # customers that rho is estimated on
_BLOCK = 2048


@dataclass(frozen=True, eq=False)
class Bag:
    """One field of one month as bags of values: counts of customers and pseudonyms, and each value's odds.

    ``ratio`` holds, at the places where a customer has a value, (share of the customer's rows) / (share of all rows of S).
    """

    pseudonyms: Matrix
    ratio: Matrix

    @classmethod
    def of(cls, month: Month, field: str) -> Bag:
        customers, pseudonyms = month.counts(field)
        everywhere = np.asarray(pseudonyms.sum(axis=0)).ravel() + 0.5
        ratio = customers.copy()
        own = np.repeat(month.original.sizes, np.diff(ratio.indptr))
        ratio.data = (ratio.data / own / (everywhere / everywhere.sum())[ratio.indices]).astype(
            np.float32
        )
        return cls(pseudonyms, ratio)

    def scores(self, rho: float) -> Scores:
        """log P(values | from this customer) - log P(values | anybody's), shape (customers, pseudonyms)."""
        total = np.zeros((self.ratio.shape[0], self.pseudonyms.shape[0]), dtype=np.float32)
        self.add_scores(total, rho)
        return total

    def add_scores(self, total: Scores, rho: float) -> None:
        """Add the scores to ``total``, some customers at a time: the product of a large month is as big as the month."""
        weights = self.ratio.copy()
        # A value of share q in S and s in the customer's rows: log((1 - rho) q + rho s) - log q. What the customer lacks gives
        # log(1 - rho), which is added for all values first.
        total += (
            np.float32(np.log1p(-rho))
            * np.asarray(self.pseudonyms.sum(axis=1), dtype=np.float32).ravel()
        )
        weights.data = np.log1p(np.float32(rho / (1 - rho)) * weights.data)
        across = self.pseudonyms.T.tocsr()
        dense = across.toarray() if weights.shape[1] <= _DENSE else None
        for start in range(0, len(total), _BLOCK):
            block = weights[start : start + _BLOCK]
            total[start : start + _BLOCK] += (
                (block @ across).toarray() if dense is None else block.toarray() @ dense
            )

    def kept_share(
        self, customers: NDArray[np.int64], pseudonyms: NDArray[np.int64], rho: float
    ) -> float:
        """EM estimate of rho on matched pairs: the mean posterior that a row's value was kept."""
        ratio, counts = self.ratio[customers], self.pseudonyms[pseudonyms]
        agreeing = counts.copy()
        agreeing.data = np.ones_like(agreeing.data)
        agreeing = (agreeing * ratio).tocsr()
        rows = (counts * (agreeing != 0)).tocsr()
        for matrix in (agreeing, rows):
            matrix.sort_indices()
        total = float(counts.sum())
        for _ in range(_STEPS):
            kept = rho * agreeing.data / (rho * agreeing.data + 1 - rho)
            rho = float(np.clip((kept * rows.data).sum() / total, _LOWEST, _HIGHEST))
        return rho


def evidence_of(month: Month, field: str) -> Bag | SortedVectors:
    """What a field of a month says: values that were kept as they were, or sorted vectors of noisy ones."""
    return SortedVectors.of(month, field) if field in month.vectors else Bag.of(month, field)


def size_scores(month: Month) -> Scores:
    """log P(rows of the pseudonym | customer) - log P(rows): each row of the customer survived deletion or not."""
    ours, theirs = month.original.sizes, month.released.sizes
    survival = min(1.0, theirs.sum() / ours.sum())
    n, k = (
        np.arange(ours.max() + 1)[:, None].astype(np.float64),
        np.arange(theirs.max() + 1)[None, :].astype(np.float64),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        lost = (
            np.where(n > k, (n - k) * np.log1p(-survival), 0.0)
            if survival < 1
            else np.where(n > k, -np.inf, 0.0)
        )
        binomial = (
            gammaln(n + 1)
            - gammaln(k + 1)
            - gammaln(np.maximum(n - k, 0) + 1)
            + k * np.log(survival)
            + lost
        )
    chance = np.where(k <= n, np.exp(binomial), 0.0)
    overall = np.bincount(theirs, minlength=k.shape[1]) / len(theirs)
    table = np.log(_STRAY + (1 - _STRAY) * chance / np.maximum(overall, 1e-12)).astype(np.float32)
    return np.asarray(table[ours[:, None], theirs[None, :]], dtype=np.float32)


def estimate_retention(month: Month, fields: Sequence[str]) -> dict[str, float]:
    """rho of each field. The first field finds its own matches; each further one is judged on the matches of those before it.

    A field must not choose the pairs it is judged on: agreement by chance would then look like agreement that was kept.
    """
    total = size_scores(month) if "size" in fields else np.zeros(_shape(month), dtype=np.float32)
    found: dict[str, float] = {}
    for field in (name for name in fields if name != "size"):
        evidence, rho = evidence_of(month, field), _START
        for _ in range(_ROUNDS if not found else 1):
            pairs = linear_sum_assignment(
                total if found else total + evidence.scores(rho), maximize=True
            )
            rho = evidence.kept_share(*pairs, rho)
        found[field] = rho
        if rho > WORTHLESS:
            evidence.add_scores(total, rho)
    return found


def link_scores(month: Month, fields: Sequence[str], retention: dict[str, float]) -> Scores:
    """Sum of the evidence of all fields, customers by pseudonyms."""
    total = size_scores(month) if "size" in fields else np.zeros(_shape(month), dtype=np.float32)
    for field, rho in retention.items():
        if rho > WORTHLESS:
            evidence_of(month, field).add_scores(total, rho)
    return total


def month_to_learn_from(months: Sequence[Month]) -> Month:
    """The largest month that is not too large to solve several times; else some customers of the smallest."""
    by_size = sorted(months, key=lambda month: len(month.original.owners))
    small = [month for month in by_size if len(month.original.owners) <= _SAMPLE]
    return small[-1] if small else by_size[0].with_customers(_SAMPLE)


def _shape(month: Month) -> tuple[int, int]:
    return len(month.original.owners), len(month.released.owners)
