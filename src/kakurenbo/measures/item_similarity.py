"""Item-to-item similarity of collaborative filtering, and the distance of two tables in it (darc2019, rule 10a).

The matrices M and M' are never held: one pass over the pairs of items that users really bought sums up |M - M'| row by row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from kakurenbo.core import Codes
from kakurenbo.core.arrays import Bools, Floats
from kakurenbo.core.compiling import compiled

Mask = Bools


class ItemMatrix:
    """r_{x,i}: quantity of item i bought by user x, summed; only where it is not 0.

    Attributes
    ----------
    by_user : csr_array, shape (users, items)
        Items of a user ascending.
    item_start, item_places : arrays of int
        Per item, the places in ``by_user`` of the scores of those who bought it, by user.
    """

    def __init__(self, by_user: Any) -> None:
        by_user.sum_duplicates()
        by_user.eliminate_zeros()
        self.by_user = by_user
        self.item_places = np.argsort(by_user.indices, kind="stable")
        items = np.arange(by_user.shape[1] + 1)
        self.item_start = np.searchsorted(by_user.indices[self.item_places], items)

    @classmethod
    def of(
        cls, users: Codes, items: Codes, quantities: NDArray[Any], item_count: int
    ) -> ItemMatrix:
        """Sum up the rows of a table: codes of users and items, and the quantity of each row."""
        shape = (int(users.max(initial=-1)) + 1, item_count)
        entries = (np.asarray(quantities, dtype=np.float64), (users, items))
        return cls(sparse.coo_array(entries, shape=shape).tocsr())

    @property
    def scores(self) -> Floats:
        """Return all r_{x,i} that are not 0."""
        data: Floats = self.by_user.data
        return data

    def below(self, limit: float) -> ItemMatrix:
        """Set scores of ``limit`` or more to zero (E2)."""
        low = self.by_user.copy()
        low.data = np.where(low.data < limit, low.data, 0.0)
        return ItemMatrix(low)

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Return what the compiled loops read: the end of the user and the item of each score, the scores, items, norms."""
        csr = self.by_user
        # Unsigned numbers spare the loops the question whether an index counts from the end.
        user_ends = np.repeat(csr.indptr[1:], np.diff(csr.indptr))
        parts = (user_ends, csr.indices, self.item_start, self.item_places)
        ends, items, start, places = (part.astype(np.uint32) for part in parts)
        return ends, items, csr.data, start, places, self.norms()

    def norms(self) -> Floats:
        """Return sqrt(sum_x r_xi^2) of each item over all users, shape (items,)."""
        items = self.by_user.shape[1]
        return np.sqrt(np.bincount(self.by_user.indices, self.scores**2, minlength=items))


class SimilarityDistance(NamedTuple):
    """dist(M, M') over all items, and over the chosen ones of each table with all others zeroed."""

    overall: float
    chosen: float


def similarity_distance(
    original: ItemMatrix, released: ItemMatrix, chosen: tuple[Mask, Mask], *, copurchasers: bool
) -> SimilarityDistance:
    """dist = sum |M - M'| / sum M of the cosine similarities of items: 0 where both are empty, infinite where only M is.

    Parameters
    ----------
    original, released : ItemMatrix
        Of the same items.
    chosen : pair of bool arrays, shape (items,)
        Items that are not zeroed in M and in M' for the second figure.
    copurchasers : bool
        Whether norms are sums over U_ij, the users who bought both items (the rules), or over all users (plain cosine).
    """
    sums = _sum_up(original.arrays(), released.arrays(), *chosen, copurchasers)
    distances = []
    for column in (0, 2):
        difference, total = float(sums[:, column].sum()), float(sums[:, column + 1].sum())
        empty = float("inf") if difference else 0.0
        distances.append(difference / total if total > 0 else empty)
    return SimilarityDistance(*distances)


@compiled
def _sum_up(
    original: Any, released: Any, chosen: Any, chosen_released: Any, copurchasers: bool
) -> Any:  # pragma: no cover
    """Return per item i the sums over j >= i, doubled off the diagonal, of |M - M'| and M: all items, then the chosen ones.

    The matrices are symmetric, so half of each is enough. Each row is summed in one order, whoever runs it.
    """
    items = len(chosen)
    sums = np.zeros((items, 4))
    sums_before, sums_after = np.zeros((items, 3)), np.zeros((items, 3))
    for i in range(items):
        _add_pairs(original, i, sums_before)
        _add_pairs(released, i, sums_after)
        difference = total = chosen_difference = chosen_total = 0.0
        watched = chosen[i] or chosen_released[i]
        for j in range(i, items):
            if sums_before[j, 1] == 0.0 and sums_after[j, 1] == 0.0:
                continue
            before = _similarity(sums_before, original[5], i, j, copurchasers)
            after = _similarity(sums_after, released[5], i, j, copurchasers)
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
    """Add sums over U_ij of r_xi r_xj, r_xi^2 and r_xj^2 to row j of ``pairs``, for all j >= i."""
    user_end, user_items, scores, item_start, item_places, _ = side
    for number in range(item_start[i], item_start[i + 1]):
        place = item_places[number]
        score_i = scores[place]
        square = score_i * score_i
        for other in range(place, user_end[place]):
            j, score = user_items[other], scores[other]
            pairs[j, 0] += score_i * score
            pairs[j, 1] += square
            pairs[j, 2] += score * score


@compiled
def _similarity(
    pairs: Any, norms: Any, i: int, j: int, copurchasers: bool
) -> Any:  # pragma: no cover
    """Return M_ij from the sums over U_ij, and wipe these for the next item; 0 where nobody bought both."""
    if pairs[j, 1] == 0.0:
        return 0.0
    size = np.sqrt(pairs[j, 1] * pairs[j, 2]) if copurchasers else norms[i] * norms[j]
    similarity = pairs[j, 0] / size
    pairs[j, 0] = pairs[j, 1] = pairs[j, 2] = 0.0
    return similarity


def top_list_distance(first: Mask, second: Mask) -> float:
    """Return the Jaccard distance of two lists of items."""
    union = int((first | second).sum())
    return 1 - int((first & second).sum()) / union if union else 0.0
