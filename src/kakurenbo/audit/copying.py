"""Whole rows that were copied, among rows that are nobody's: the few people whom a generator learned by heart.

A released row is taken for a copy of somebody of the pool with a probability that is estimated from all of them (EM), else for
one as common as it is. Nothing here knows who is a member.
"""

from __future__ import annotations

import numpy as np

from kakurenbo.audit.density import log_densities
from kakurenbo.audit.encoding import Coded, Codes, Floats
from kakurenbo.audit.rows import row_keys
from kakurenbo.audit.tracing import released_form

_ITERATIONS = 30
_LEAST, _LOG_LEAST = 1e-300, -690.0


def copy_odds(coded: Coded, pool: Codes, known: Codes) -> Floats:
    """The odds that each person's whole row was copied, and came about in no other way, summed over released rows, shape (n,).

    Parameters
    ----------
    known : array of int32, shape (j, columns)
        People by whom it is estimated how common a row is: one that nobody else has is not taken for impossible.
    """
    sizes = [column.released for column in coded.columns]
    shown, everybody = released_form(coded, pool), released_form(coded, known)
    people, released = row_keys(shown, coded.release)
    count = int(max(people.max(), released.max())) + 1
    alike, seen = np.bincount(people, minlength=count), np.bincount(released, minlength=count)
    common, own = (
        np.exp(np.maximum(log_densities(everybody, rows, sizes), _LOG_LEAST))
        for rows in (coded.release, shown)
    )
    share = share_of(alike[released] / len(pool), common)
    others = share * (alike[people] - 1) / len(pool) + (1 - share) * own
    return np.asarray(seen[people] * share / len(pool) / np.maximum(others, _LEAST))


def share_of(these: Floats, others: Floats) -> float:
    """The share of rows of one kind among two, by how likely each kind makes each row (EM)."""
    share = 0.5
    for _ in range(_ITERATIONS):
        share = float(
            (share * these / np.maximum(share * these + (1 - share) * others, _LEAST)).mean()
        )
    return share
