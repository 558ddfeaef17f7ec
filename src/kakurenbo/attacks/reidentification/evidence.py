"""Record linkage after Fellegi and Sunter: how much likelier a pseudonym's rows are if they come
from this customer.

A row of a basket keeps a value with probability rho, else the value is one of the month's at large;
rho of each field is estimated from S itself by EM, so that a field which was destroyed loses its
weight and no mechanism needs to be known.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reidentification.assignment import Scores
from kakurenbo.attacks.reidentification.months import VECTORS, Matrix, Month, Side, Vector

FIELDS = ("item", "date", "price", "qty", "size", *VECTORS)
_START, _MIN_RHO, _MAX_RHO = 0.5, 1e-3, 0.999
_WORTHLESS = 0.02  # below this rho a field says nothing that is not noise
_ROUNDS, _STEPS = 3, 8
_DENSE = 256  # up to this many values a dense product is quicker
_STRAY = 0.05  # share of baskets whose size is off for another reason than deletion
_SAMPLE = 1000  # customers that rho is estimated on
_BLOCK, _VECTOR_BLOCK = 2048, 512  # customers that are compared at a time
_FARTHEST = 8.0  # one value of a vector that is off altogether costs this much, not everything
_MIN_PRICE = 1e-6  # prices that are not positive have no log

Ints = NDArray[np.int64]


class FieldEvidence(ABC):
    """What one field of one month says of all pairs."""

    @abstractmethod
    def add_scores(self, total: Scores, rho: float) -> None:
        """Add log P(values | from this customer) - log P(values | anybody's), shape (customers,
        pseudonyms).
        """

    @abstractmethod
    def kept_share(self, customers: Ints, pseudonyms: Ints, rho: float) -> float:
        """Estimate rho by EM on matched pairs."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Customers and pseudonyms."""

    def scores(self, rho: float) -> Scores:
        """Return the scores alone, shape (customers, pseudonyms)."""
        total = np.zeros(self.shape, dtype=np.float32)
        self.add_scores(total, rho)
        return total


@dataclass(frozen=True, eq=False)
class Bag(FieldEvidence):
    """A field as bags of values: counts of pseudonyms, and each value's odds.

    ``ratio`` holds, at the places where a customer has a value, (share of the customer's rows) /
    (share of all rows of S).
    """

    pseudonyms: Matrix
    ratio: Matrix

    @classmethod
    def of(cls, month: Month, field: str) -> Bag:
        ratio, pseudonyms = month.counts(field)
        everywhere = np.asarray(pseudonyms.sum(axis=0)).ravel() + 0.5
        rows = np.repeat(month.original.sizes, np.diff(ratio.indptr))
        shares = (everywhere / everywhere.sum())[ratio.indices]
        ratio.data = (ratio.data / rows / shares).astype(np.float32)
        return cls(pseudonyms, ratio)

    @property
    def shape(self) -> tuple[int, int]:
        return self.ratio.shape[0], self.pseudonyms.shape[0]

    def add_scores(self, total: Scores, rho: float) -> None:
        # A value of share q in S and s in the customer's rows: log((1 - rho) q + rho s) - log q.
        # What the customer lacks gives
        # log(1 - rho), which is added for all values first.
        sizes = np.asarray(self.pseudonyms.sum(axis=1), dtype=np.float32).ravel()
        total += np.float32(np.log1p(-rho)) * sizes
        weights = self.ratio.copy()
        weights.data = np.log1p(np.float32(rho / (1 - rho)) * weights.data)
        across = self.pseudonyms.T.tocsr()
        dense = across.toarray() if weights.shape[1] <= _DENSE else None
        for start in range(0, len(total), _BLOCK):  # the product of a large month is as big as that
            block = weights[start : start + _BLOCK]
            if dense is None:
                total[start : start + _BLOCK] += (block @ across).toarray()
            else:
                total[start : start + _BLOCK] += block.toarray() @ dense

    def kept_share(self, customers: Ints, pseudonyms: Ints, rho: float) -> float:
        """Return the mean posterior that a row's value was kept."""
        counts = self.pseudonyms[pseudonyms]
        agreeing = counts.copy()
        agreeing.data = np.ones_like(agreeing.data)
        agreeing = (agreeing * self.ratio[customers]).tocsr()
        rows = (counts * (agreeing != 0)).tocsr()
        for matrix in (agreeing, rows):
            matrix.sort_indices()
        total = float(counts.sum())
        for _ in range(_STEPS):
            kept = rho * agreeing.data / (rho * agreeing.data + 1 - rho)
            rho = float(np.clip((kept * rows.data).sum() / total, _MIN_RHO, _MAX_RHO))
        return rho


@dataclass(frozen=True, eq=False)
class SortedVectors(FieldEvidence):
    """Prices, or quantities, of a basket in ascending order, against those of a basket of the same
    size.

    Noise on every value hardly moves the k-th smallest of them, so sorted vectors still tell people
    apart where no value was left as it was; items are not looked at, so that swapping these does
    not help.

    Attributes
    ----------
    log_ratio : array, shape (customers, pseudonyms)
        log P(vector of the pseudonym | noise on the customer's) - log P(it | noise on anybody's of
        the same size).
    comparable : array of bool, shape (customers, pseudonyms)
        Whether the two baskets have the same size; the others say nothing of each other.
    """

    log_ratio: Scores
    comparable: NDArray[np.bool_]

    @classmethod
    def of(cls, month: Month, kind: str) -> SortedVectors:
        sides, vector = (month.original, month.released), month.vectors[kind]
        logs = [_sorted_logs(side, vector) for side in sides]
        starts = [np.cumsum(side.sizes) - side.sizes for side in sides]
        comparable = month.original.sizes[:, None] == month.released.sizes[None, :]
        ratio = np.zeros(comparable.shape, dtype=np.float32)
        for size in np.intersect1d(month.original.sizes, month.released.sizes):
            owners = [np.flatnonzero(side.sizes == size) for side in sides]
            ours, theirs = (
                values[start[chosen][:, None] + np.arange(size)]
                for values, start, chosen in zip(logs, starts, owners, strict=True)
            )
            fit = _fit(ours, theirs, vector.sigma)
            best = fit.max(axis=0)
            # Whose it may be otherwise: the mean over everybody whose basket has this size.
            anybody = np.log(np.exp(fit - best).mean(axis=0))
            ratio[np.ix_(*owners)] = fit - best - anybody
        return cls(ratio, comparable)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.log_ratio), self.log_ratio.shape[1]

    def add_scores(self, total: Scores, rho: float) -> None:
        """Add log((1 - rho) + rho ratio): the vector is the customer's with probability rho, else
        anybody's.
        """
        scores = np.log1p(np.float32(rho) * np.expm1(self.log_ratio))
        total += np.where(self.comparable, scores, np.float32(0))

    def kept_share(self, customers: Ints, pseudonyms: Ints, rho: float) -> float:
        """Estimate rho on pairs of equal size; the lowest where there are none."""
        comparable = self.comparable[customers, pseudonyms]
        ratio = np.exp(self.log_ratio[customers, pseudonyms][comparable].astype(np.float64))
        if not len(ratio):
            return _MIN_RHO
        for _ in range(_STEPS):
            kept = rho * ratio / (rho * ratio + 1 - rho)
            rho = float(np.clip(kept.mean(), _MIN_RHO, _MAX_RHO))
        return rho


def _sorted_logs(side: Side, vector: Vector) -> NDArray[np.float32]:
    """Return the logs of each owner's values in ascending order, one owner after the other."""
    values = side.values[vector.field].astype(np.float64)
    logs = np.log1p(values.clip(0)) if vector.counted else np.log(values.clip(_MIN_PRICE))
    return np.asarray(logs[np.lexsort((logs, side.owner))], dtype=np.float32)


def _fit(ours: NDArray[np.float32], theirs: NDArray[np.float32], sigma: float) -> Scores:
    """Return - sum_k min(8, (log p_(k) - log p'_(k))^2 / 2 sigma^2), shape (customers,
    pseudonyms).
    """
    total = np.zeros((len(ours), len(theirs)), dtype=np.float32)
    scale = np.float32(1 / (np.sqrt(2) * sigma))
    for place in range(ours.shape[1]):
        for start in range(0, len(ours), _VECTOR_BLOCK):
            block = slice(start, start + _VECTOR_BLOCK)
            apart = (ours[block, place, None] - theirs[None, :, place]) * scale
            total[block] -= np.minimum(apart * apart, np.float32(_FARTHEST))
    return total


def field_evidence(month: Month, field: str) -> FieldEvidence:
    """Return what a field says: values that were kept as they were, or sorted vectors of noisy
    ones.
    """
    return SortedVectors.of(month, field) if field in month.vectors else Bag.of(month, field)


def size_scores(month: Month) -> Scores:
    """Return log P(rows of the pseudonym | customer) - log P(rows): each row of the customer
    survived deletion or not.
    """
    from scipy.special import gammaln

    ours, theirs = month.original.sizes, month.released.sizes
    survival = min(1.0, theirs.sum() / ours.sum())
    n = np.arange(ours.max() + 1)[:, None].astype(np.float64)
    k = np.arange(theirs.max() + 1)[None, :].astype(np.float64)
    log_loss = np.log1p(-survival) if survival < 1 else -np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        lost = np.where(n > k, (n - k) * log_loss, 0.0)
        ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(np.maximum(n - k, 0) + 1)
        chance = np.where(k <= n, np.exp(ways + k * np.log(survival) + lost), 0.0)
    overall = np.bincount(theirs, minlength=k.shape[1]) / len(theirs)
    table = np.log(_STRAY + (1 - _STRAY) * chance / np.maximum(overall, 1e-12)).astype(np.float32)
    return np.asarray(table[ours[:, None], theirs[None, :]], dtype=np.float32)


def _first_scores(month: Month, fields: Sequence[str]) -> Scores:
    if "size" in fields:
        return size_scores(month)
    return np.zeros((len(month.original.owners), len(month.released.owners)), dtype=np.float32)


def estimate_retention(month: Month, fields: Sequence[str]) -> dict[str, float]:
    """Estimate rho of each field: the first finds its own matches, each further one is judged on
    those of fields before it.

    A field must not choose the pairs it is judged on: agreement by chance would then look like
    agreement that was kept.
    """
    from scipy.optimize import linear_sum_assignment

    total = _first_scores(month, fields)
    retention: dict[str, float] = {}
    for field in (name for name in fields if name != "size"):
        evidence, rho, is_first = field_evidence(month, field), _START, not retention
        for _ in range(_ROUNDS if is_first else 1):
            scores = total + evidence.scores(rho) if is_first else total
            rho = evidence.kept_share(*linear_sum_assignment(scores, maximize=True), rho)
        retention[field] = rho
        if rho > _WORTHLESS:
            evidence.add_scores(total, rho)
    return retention


def link_scores(month: Month, fields: Sequence[str], retention: dict[str, float]) -> Scores:
    """Sum the evidence of all fields, customers by pseudonyms."""
    total = _first_scores(month, fields)
    for field, rho in retention.items():
        if rho > _WORTHLESS:
            field_evidence(month, field).add_scores(total, rho)
    return total


def month_to_learn_from(months: Sequence[Month]) -> Month:
    """Return the largest month that is not too large to solve several times; else some customers of
    the smallest.
    """
    by_size = sorted(months, key=lambda month: len(month.original.owners))
    small = [month for month in by_size if len(month.original.owners) <= _SAMPLE]
    return small[-1] if small else by_size[0].with_customers(_SAMPLE)
