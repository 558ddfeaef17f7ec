"""Item-to-item similarity of collaborative filtering, and the distance of two tables in it (darc2019, rule 10a).

The matrices M and M' are never held: one pass over the pairs of items that users really bought sums up |M - M'| row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from kakurenbo.compiling import compiled
from kakurenbo.tables import Codes

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Purchases:
    """r_{x,i}: quantity of item i bought by user x, summed; only where it is not 0.

    Attributes
    ----------
    by_user : csr_array, shape (users, items)
        Items of a user ascending.
    item_start, item_places : arrays of int
        Per item, the places in ``by_user`` of the scores of those who bought it, by user.
    """

    by_user: Any
    item_start: NDArray[np.int64]
    item_places: NDArray[np.int64]

    @classmethod
    def of(cls, users: Codes, items: Codes, quantities: NDArray[Any], item_count: int) -> Purchases:
        """From the rows of a table: codes of users and items, and the quantity of each row."""
        count = int(users.max()) + 1 if len(users) else 0
        entries = (np.asarray(quantities, dtype=np.float64), (users, items))
        return cls._indexed(sparse.coo_array(entries, shape=(count, item_count)).tocsr())

    @classmethod
    def _indexed(cls, scores: Any) -> Purchases:
        scores.sum_duplicates()
        scores.eliminate_zeros()
        places = np.argsort(scores.indices, kind="stable")
        start = np.searchsorted(scores.indices[places], np.arange(scores.shape[1] + 1))
        return cls(scores, start.astype(np.int64), places.astype(np.int64))

    @property
    def scores(self) -> Floats:
        """All r_{x,i} that are not 0."""
        data: Floats = self.by_user.data
        return data

    def below(self, limit: float) -> Purchases:
        """Scores of ``limit`` or more set to zero (E2)."""
        low = self.by_user.copy()
        low.data = np.where(low.data < limit, low.data, 0.0)
        return self._indexed(low)

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What the compiled loops read: the end of the user and the item of each score, the scores, items, norms."""
        # Unsigned numbers spare the loops the question whether an index counts from the end.
        ends = np.repeat(self.by_user.indptr[1:], np.diff(self.by_user.indptr)).astype(np.uint32)
        items, start, places = (part.astype(np.uint32) for part in (self.by_user.indices, self.item_start, self.item_places))
        return ends, items, self.scores, start, places, self.norms()

    def norms(self) -> Floats:
        """sqrt(sum_x r_xi^2) of each item over all users, shape (items,)."""
        return np.sqrt(np.bincount(self.by_user.indices, self.scores**2, minlength=self.by_user.shape[1]))


@dataclass(frozen=True)
class Distance:
    """dist(M, M') over all items, and over the chosen ones of each table with all others zeroed."""

    overall: float
    chosen: float


def similarity_distance(original: Purchases, released: Purchases, chosen: tuple[Mask, Mask], *, copurchasers: bool) -> Distance:
    """dist = sum |M - M'| / sum M of the cosine similarities of items.

    Parameters
    ----------
    original, released : Purchases
        Of the same items.
    chosen : pair of bool arrays, shape (items,)
        Items that are not zeroed in M and in M' for the second figure.
    copurchasers : bool
        Whether norms are sums over U_ij, the users who bought both items (the rules), or over all users (plain cosine).
    """
    sums = _sum_up(original.arrays(), released.arrays(), *chosen, copurchasers)
    return Distance(_ratio(sums[:, 0].sum(), sums[:, 1].sum()), _ratio(sums[:, 2].sum(), sums[:, 3].sum()))


def _ratio(difference: float, total: float) -> float:
    """0 where both matrices are empty, infinite where only M is."""
    if total > 0:
        return float(difference / total)
    return 0.0 if difference == 0 else float("inf")


@compiled
def _sum_up(original: Any, released: Any, chosen: Any, chosen_released: Any, copurchasers: bool) -> Any:  # pragma: no cover
    """Per item i the sums over j >= i, doubled off the diagonal, of |M - M'| and M: all items, then the chosen ones.

    The matrices are symmetric, so half of each is enough. Each row is summed in one order, whoever runs it.
    """
    items = len(chosen)
    sums = np.zeros((items, 4))
    ours, theirs = np.zeros((items, 3)), np.zeros((items, 3))
    for i in range(items):
        _add_pairs(original, i, ours)
        _add_pairs(released, i, theirs)
        difference = total = chosen_difference = chosen_total = 0.0
        watched = chosen[i] or chosen_released[i]
        for j in range(i, items):
            if ours[j, 1] == 0.0 and theirs[j, 1] == 0.0:
                continue
            before = _similarity(ours, original[5], i, j, copurchasers)
            after = _similarity(theirs, released[5], i, j, copurchasers)
            weight = 1.0 if i == j else 2.0
            difference += weight * abs(before - after)
            total += weight * before
            if watched:
                before = before if chosen[i] and chosen[j] else 0.0
                after = after if chosen_released[i] and chosen_released[j] else 0.0
                chosen_difference += weight * abs(before - after)
                chosen_total += weight * before
        sums[i] = difference, total, chosen_difference, chosen_total
    return sums


@compiled
def _add_pairs(side: Any, i: int, pairs: Any) -> None:  # pragma: no cover
    """Sums over U_ij of r_xi r_xj, r_xi^2 and r_xj^2 into row j of ``pairs``, for all j >= i."""
    user_end, user_items, scores, item_start, item_places, _ = side
    for number in range(item_start[i], item_start[i + 1]):
        place = item_places[number]
        own = scores[place]
        square = own * own
        for other in range(place, user_end[place]):
            j, score = user_items[other], scores[other]
            pairs[j, 0] += own * score
            pairs[j, 1] += square
            pairs[j, 2] += score * score


@compiled
def _similarity(pairs: Any, norms: Any, i: int, j: int, copurchasers: bool) -> Any:  # pragma: no cover
    """M_ij from the sums over U_ij, which are wiped for the next item; 0 where nobody bought both."""
    if pairs[j, 1] == 0.0:
        return 0.0
    size = np.sqrt(pairs[j, 1] * pairs[j, 2]) if copurchasers else norms[i] * norms[j]
    found = pairs[j, 0] / size
    pairs[j, 0] = pairs[j, 1] = pairs[j, 2] = 0.0
    return found


def top_list_distance(first: Mask, second: Mask) -> float:
    """Jaccard distance of two lists of items."""
    union = int((first | second).sum())
    return 1 - int((first & second).sum()) / union if union else 0.0
