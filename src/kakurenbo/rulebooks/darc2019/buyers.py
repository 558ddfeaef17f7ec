"""``buyer``: whether the rows of a release still tell who bought what, under whatever name.

F goes by the place of a row and E1 to E3 by pseudonym; nothing in the rules ties the two. So a release that shows true
histories under swapped names has a low reid and a low U, though everybody's purchases can be read in it. This figure tells
that; it counts for nothing.
"""

from __future__ import annotations

from kakurenbo.attacks.reidentification.purchases import shown_customers, true_purchases
from kakurenbo.core import Table
from kakurenbo.data.transactions import kept


def buyer_share(original: Table, released: Table) -> float:
    """Share of the released rows whose real buyer is found by content, from 0 to 1.

    A pseudonym is linked to the customer whose purchases it shows, once for all its months and once in each month for itself;
    the higher share counts. The real buyers of a row are the customer of this row of T, and whoever bought the item that it
    shows in that month.

    Parameters
    ----------
    original : Table
        T.
    released : Table
        A(T): its rows are those of T in their order, deleted ones included.
    """
    alive = kept(released)
    rows = released.take(alive)
    shares = []
    for monthly in (False, True):
        linked = shown_customers(original, rows, monthly=monthly)
        found = (linked == original.codes["id_user"][alive]) | true_purchases(
            original, rows, linked
        )
        shares.append(float(found.mean()) if len(found) else 0.0)
    return max(shares)
