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
    sides = []
    for side in (original, released):
        matrix = side.by_user
        sides.append(
            (
                matrix.indptr.astype(np.int64),
                matrix.indices.astype(np.int64),
                matrix.data,
                side.item_start,
                side.item_places,
                side.norms(),
            )
        )
    sums = _sum_up(*sides, *chosen, copurchasers)
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
    items = len(original[3]) - 1
    sums = np.zeros((items, 4))
    product, first, second = np.zeros((2, items)), np.zeros((2, items)), np.zeros((2, items))
    for i in range(items):
        for side in range(2):
            user_start, user_items, scores, item_start, item_places, _ = original if side == 0 else released
            for place in item_places[item_start[i] : item_start[i + 1]]:
                user = np.searchsorted(user_start, place, side="right") - 1
                own = scores[place]
                for other in range(place, user_start[user + 1]):
                    j = user_items[other]
                    product[side, j] += own * scores[other]
                    first[side, j] += own * own
                    second[side, j] += scores[other] * scores[other]
        for j in range(i, items):
            values = np.zeros(2)
            for side in range(2):
                if first[side, j] > 0:
                    norms = original[5] if side == 0 else released[5]
                    size = np.sqrt(first[side, j] * second[side, j]) if copurchasers else norms[i] * norms[j]
                    values[side] = product[side, j] / size
                    product[side, j] = first[side, j] = second[side, j] = 0.0
            weight = 1.0 if i == j else 2.0
            sums[i, 0] += weight * abs(values[0] - values[1])
            sums[i, 1] += weight * values[0]
            ours = values[0] if chosen[i] and chosen[j] else 0.0
            theirs = values[1] if chosen_released[i] and chosen_released[j] else 0.0
            sums[i, 2] += weight * abs(ours - theirs)
            sums[i, 3] += weight * ours
    return sums


def top_items(items: Codes, item_count: int, places: int) -> Mask:
    """The items with most rows, ties by item code (codes are positions in the sorted item list), shape (items,)."""
    counts = np.bincount(items, minlength=item_count)
    order = np.argsort(-counts, kind="stable")[:places]
    found = np.zeros(item_count, dtype=bool)
    found[order[counts[order] > 0]] = True
    return found


def top_list_distance(first: Mask, second: Mask) -> float:
    """Jaccard distance of two lists of items."""
    union = int((first | second).sum())
    return 1 - int((first & second).sum()) / union if union else 0.0
