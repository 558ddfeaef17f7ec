"""Whose purchases a pseudonym shows: the customer whose (item, month) vector is nearest, rare
purchases weighing more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reidentification.months import count_pairs, rare_cosine_vectors
from kakurenbo.core import Table
from kakurenbo.data.transactions import Calendar, item_codes, months

Ints = NDArray[np.int64]


def shown_customers(original: Table, released: Table, *, monthly: bool) -> Ints:
    """Return the customer whose purchases each row's pseudonym shows best: arg max of the TF-IDF
    cosine over (item, month).

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
    from kakurenbo.attacks.records.loops import nearest_buyers

    width = _width(original)
    counts, numbers = [], []
    for table in (original, released):
        owners = table.codes["id_user"].astype(np.int64)
        if monthly:
            owners = owners * Calendar.of(table).months + months(table)
        distinct, number = np.unique(owners, return_inverse=True)
        purchase = _purchases(table, original)
        known = purchase >= 0
        counts.append(count_pairs(number[known], purchase[known], (len(distinct), width)))
        numbers.append(number)
    ours, theirs = counts
    customer, owner = numbers
    buyers = 1 + np.bincount(ours.indices, minlength=width)
    rarity = np.log((1 + ours.shape[0]) / buyers).astype(np.float32)
    theirs, across = rare_cosine_vectors(theirs, rarity), rare_cosine_vectors(ours, rarity).tocsc()
    best = nearest_buyers(
        (theirs.indptr, theirs.indices),
        (across.indptr, across.indices),
        (theirs.data, across.data),
        ours.shape[0],
    )
    code = np.empty(ours.shape[0], dtype=np.int64)
    code[customer] = original.codes["id_user"]
    return np.where(best < 0, -1, code[best])[owner]


def true_purchases(original: Table, released: Table, linked: Ints) -> NDArray[np.bool_]:
    """Return whether the customer that a row of S is linked to bought its item in that month, shape
    (rows of S,).
    """
    width = _width(original)
    owners = original.codes["id_user"].astype(np.int64)
    shown = _purchases(released, original)
    facts = np.where((linked < 0) | (shown < 0), -1, linked * width + shown)
    return np.isin(facts, owners * width + _purchases(original, original))


def _width(original: Table) -> int:
    return Calendar.of(original).months * len(original.vocabularies["id_item"])


def _purchases(table: Table, original: Table) -> Ints:
    """Return what each row says was bought and when, as one number: month and item of T; -1 for
    another item, shape (n,).
    """
    items = original.vocabularies["id_item"]
    codes = item_codes(table, items).astype(np.int64)
    return np.where(codes < 0, -1, months(table).astype(np.int64) * len(items) + codes)
