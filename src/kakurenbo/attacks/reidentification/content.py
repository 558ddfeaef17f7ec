"""Whose purchases a pseudonym shows: the customer whose (item, month) vector is nearest, rare purchases weighing more."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from kakurenbo.core import Table
from kakurenbo.core.compiling import compiled
from kakurenbo.data.transactions import Calendar, item_codes, months

Ints = NDArray[np.int64]


def purchases(table: Table, items: tuple[str, ...]) -> Ints:
    """What each row says was bought and when, as one number: month and item of ``items``; -1 for another item, shape (n,)."""
    codes = item_codes(table, items).astype(np.int64)
    return np.where(codes < 0, -1, months(table).astype(np.int64) * len(items) + codes)


def shown_customers(original: Table, released: Table, *, monthly: bool) -> Ints:
    """The customer whose purchases each row's pseudonym shows best: arg max of the TF-IDF cosine over (item, month).

    Parameters
    ----------
    original, released : Table
        T, and rows of S in any order.
    monthly : bool
        Whether a pseudonym is linked in each month for itself, or once with all that it shows.

    Returns
    -------
    array of int64, shape (rows of S,)
        Codes of customers of T; -1 where nothing that is shown was bought by anybody in that month.
    """
    items = original.vocabularies["id_item"]
    width = Calendar.of(original).months * len(items)
    (ours, customer), (theirs, owner) = (
        _counts(_owners(table, monthly=monthly), purchases(table, items), width)
        for table in (original, released)
    )
    rarity = np.log((1 + ours.shape[0]) / (1 + np.bincount(ours.indices, minlength=width))).astype(
        np.float32
    )
    theirs, across = _weighted(theirs, rarity), _weighted(ours, rarity).tocsc()
    best = _nearest(
        (theirs.indptr, theirs.indices),
        (across.indptr, across.indices),
        (theirs.data, across.data),
        ours.shape[0],
    )
    who = np.empty(ours.shape[0], dtype=np.int64)
    who[customer] = original.codes["id_user"]
    return np.where(best < 0, -1, who[best])[owner]


def true_purchases(original: Table, released: Table, linked: Ints) -> NDArray[np.bool_]:
    """Whether the customer that a row of S is linked to bought the item that it shows in that month, shape (rows of S,)."""
    items = original.vocabularies["id_item"]
    width = Calendar.of(original).months * len(items)
    bought = np.unique(
        original.codes["id_user"].astype(np.int64) * width + purchases(original, items)
    )
    shown = purchases(released, items)
    facts = np.where((linked < 0) | (shown < 0), -1, linked * width + shown)
    return np.asarray(bought[np.minimum(np.searchsorted(bought, facts), len(bought) - 1)] == facts)


def _owners(table: Table, *, monthly: bool) -> Ints:
    user = table.codes["id_user"].astype(np.int64)
    return user * Calendar.of(table).months + months(table) if monthly else user


def _counts(owner: Ints, purchase: Ints, width: int) -> tuple[Any, Ints]:
    """How often each owner bought what, shape (owners, width), and the row of that matrix for each row of the table."""
    found, number = np.unique(owner, return_inverse=True)
    known = purchase >= 0
    entries = (np.ones(int(known.sum()), dtype=np.float32), (number[known], purchase[known]))
    counted = sparse.coo_array(entries, shape=(len(found), width)).tocsr()
    counted.sum_duplicates()
    return counted, number


def _weighted(counts: Any, rarity: NDArray[np.float32]) -> Any:
    """Counts as unit vectors, damped and weighed by rarity."""
    counts.data = (1 + np.log(counts.data)) * rarity[counts.indices]
    norms = np.sqrt(np.asarray((counts * counts).sum(axis=1)).ravel())
    counts.data = (
        counts.data / np.repeat(np.maximum(norms, 1e-12), np.diff(counts.indptr))
    ).astype(np.float32)
    return counts


@compiled
def _nearest(theirs: Any, across: Any, weights: Any, count: int) -> Any:  # pragma: no cover
    """For each owner who of ``count`` people has the largest product, the lowest of several; -1 where all are 0.

    ``theirs`` has the purchases of each owner, ``across`` the people of each purchase, both as (starts, entries), and
    ``weights`` what each entry of the two weighs.
    """
    best = np.full(len(theirs[0]) - 1, -1, dtype=np.int64)
    product, touched = np.zeros(count, dtype=np.float64), np.empty(count, dtype=np.int64)
    for owner in range(len(best)):
        met = 0
        for entry in range(theirs[0][owner], theirs[0][owner + 1]):
            purchase = theirs[1][entry]
            for place in range(across[0][purchase], across[0][purchase + 1]):
                person = across[1][place]
                if product[person] == 0:
                    touched[met] = person
                    met += 1
                product[person] += weights[0][entry] * weights[1][place]
        largest = 0.0
        for person in touched[:met]:
            if product[person] > largest or (product[person] == largest and person < best[owner]):
                largest, best[owner] = product[person], person
            product[person] = 0
    return best
