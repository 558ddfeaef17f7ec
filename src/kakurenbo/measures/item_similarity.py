"""Item-to-item similarity of collaborative filtering, and the distance of two such matrices (darc2019, rule 10a).

Everything is sparse products of the user-by-item matrix R: the cost grows with the pairs of items that users really bought.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from kakurenbo.tables import Codes

Matrix = Any  # scipy.sparse.csr_array of float64


def purchases(users: Codes, items: Codes, quantities: NDArray[Any], item_count: int) -> Matrix:
    """r_{x,i}: quantity of item i bought by user x, summed; shape (users, ``item_count``), zeros not stored."""
    count = int(users.max()) + 1 if len(users) else 0
    entries = (np.asarray(quantities, dtype=np.float64), (users, items))
    matrix = sparse.coo_array(entries, shape=(count, item_count)).tocsr()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def cosine_similarity(scores: Matrix) -> Matrix:
    """M_ij = sum_x r_xi r_xj / (|r_i| |r_j|), norms over all users; shape (items, items)."""
    norms = np.sqrt(np.asarray(scores.multiply(scores).sum(axis=0)).ravel())
    scaled = scores.copy()
    scaled.data = scaled.data / norms[scaled.indices]
    return (scaled.T @ scaled).tocsr()


def copurchaser_similarity(scores: Matrix) -> Matrix:
    """M_ij of the rules: the cosine with all three sums over U_ij, the users who bought both items."""
    products = (scores.T @ scores).tocsr()
    bought = scores.copy()
    bought.data = np.ones_like(bought.data)
    # N_ij = sum_{x in U_ij} r_xi^2; its transpose holds the other norm at the same places.
    squares = (scores.multiply(scores).tocsr().T @ bought).tocsr()
    for matrix in (products, squares):
        matrix.sort_indices()
    mirrored = squares.T.tocsr()
    mirrored.sort_indices()
    products.data = products.data / np.sqrt(squares.data * mirrored.data)
    return products


def matrix_distance(original: Matrix, released: Matrix) -> float:
    """dist(M, M') = sum |M - M'| / sum M; 0 where both are empty, infinite where only M is."""
    total, difference = float(original.sum()), float(abs(original - released).sum())
    if total > 0:
        return difference / total
    return 0.0 if difference == 0 else float("inf")


def keep_below(scores: Matrix, limit: float) -> Matrix:
    """Scores of ``limit`` or more set to zero (E2)."""
    low = scores.copy()
    low.data = np.where(low.data < limit, low.data, 0.0)
    low.eliminate_zeros()
    return low


def keep_items(scores: Matrix, items: NDArray[np.int64]) -> Matrix:
    """Scores of all other items set to zero (E3); same shape."""
    wanted = np.zeros(scores.shape[1], dtype=bool)
    wanted[items] = True
    chosen = scores.copy()
    chosen.data = np.where(wanted[chosen.indices], chosen.data, 0.0)
    chosen.eliminate_zeros()
    return chosen


def top_items(items: Codes, item_count: int, places: int) -> NDArray[np.int64]:
    """The items with most rows, ties by item code (codes are positions in the sorted item list)."""
    counts = np.bincount(items, minlength=item_count)
    order = np.argsort(-counts, kind="stable")[:places]
    return order[counts[order] > 0]


def top_list_distance(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Jaccard distance of two lists of items."""
    union = np.union1d(first, second)
    return 1 - len(np.intersect1d(first, second)) / len(union) if len(union) else 0.0
