"""Anonymizers that change whole baskets (a customer's month): swapped between customers, or dealt in crowds.

The members of a crowd all show one date, one price list and one basket size. Everything that is released of a slot comes from
the basket that was moved into it or from the whole crowd. So who in the crowd the slot belongs to cannot be told, and three
guesses earn 2 cells per crowd on average.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from kakurenbo.anonymizers.transactions.rows import (
    TransactionAnonymizer,
    rename,
    user_months,
)
from kakurenbo.contest import Release
from kakurenbo.core import Integer, Table
from kakurenbo.core.arrays import Floats, Ints, Rng
from kakurenbo.data.transactions import delete_rows, kept, price_changes, top_items
from kakurenbo.methods.parameters import parameter

_LARGEST = 200  # customers of a crowd per date class: enough to hide in
_TOP_SHARE = 0.05  # of the items: E3 looks at them alone
_NOON = 12 * 60  # the time of day is released for nobody


class Baskets:
    """The kept rows grouped by user and month, month by month.

    Attributes
    ----------
    rows : array, shape (kept rows,)
        Row numbers, basket by basket; file order within a basket.
    start : array, shape (baskets + 1,)
        Where each basket begins in ``rows``.
    user, month, sizes : arrays, shape (baskets,)
    """

    def __init__(self, table: Table) -> None:
        alive = np.flatnonzero(kept(table))
        key = user_months(table)[alive]
        self.rows: Ints = alive[np.argsort(key, kind="stable")]
        distinct, self.sizes = np.unique(key, return_counts=True)
        self.start: Ints = np.concatenate([[0], np.cumsum(self.sizes)])
        self.month, self.user = np.divmod(distinct, len(table.vocabularies["id_user"]) + 1)

    def __len__(self) -> int:
        return len(self.user)

    def __getitem__(self, basket: int) -> Ints:
        return self.rows[self.start[basket] : self.start[basket + 1]]

    def by_month(self, rng: Rng, order: int = 1) -> Iterator[Ints]:
        """Yield the baskets of each month that has some, by size in ascending (1) or descending (-1) order."""
        for month in np.unique(self.month):
            baskets = np.flatnonzero(self.month == month)
            yield baskets[np.lexsort((rng.random(len(baskets)), order * self.sizes[baskets]))]


@dataclass(frozen=True)
class SwapBaskets(TransactionAnonymizer):
    """Fill every customer's month with the basket of another customer of similar size.

    Within groups of k baskets of nearly equal size each slot gets the basket of another. A pseudonym lasts for the year. It
    follows the basket, so that what a pseudonym buys over the year stays together, or the customer. A slot with too many
    rows deletes some, and a basket with too many rows loses some.
    """

    k: int = parameter(20, "baskets of a month that swap with each other", low=2)
    pseudonym: str = parameter(
        "basket", "whom a pseudonym follows over the year", choices=("basket", "customer")
    )

    def __call__(self, table: Table, rng: Rng) -> Release:
        baskets, slots, sources = Baskets(table), [], []
        for same_month in baskets.by_month(rng):
            for group in np.array_split(same_month, max(1, len(same_month) // self.k)):
                slots.append(rng.permutation(group))
                sources.append(np.roll(slots[-1], -1))
        slot, source = np.concatenate(slots), np.concatenate(sources)
        fits = np.minimum(baskets.sizes[slot], baskets.sizes[source])
        within = np.arange(fits.sum()) - np.repeat(np.cumsum(fits) - fits, fits)
        target = baskets.rows[np.repeat(baskets.start[slot], fits) + within]
        origin = baskets.rows[np.repeat(baskets.start[source], fits) + within]
        moved = ["date", "hours", "id_item", "price", "qty"]
        moved += ["id_user"] if self.pseudonym == "basket" else []
        codes = {name: codes.copy() for name, codes in table.codes.items()}
        for name in moved:
            codes[name][target] = table.codes[name][origin]
        left_over = ~np.isin(np.arange(len(table)), target)
        swapped = delete_rows(Table(table.schema, codes, table.vocabularies), left_over)
        return Release.of(rename(swapped, swapped.codes["id_user"].astype(np.int64), rng))


@dataclass(frozen=True)
class Crowds(TransactionAnonymizer):
    """Swap baskets in crowds that share date, prices and basket size; tuned for a low score.

    The customers of a month are cut by basket size into crowds so that few rows have to be deleted to make sizes equal, and
    each of these by date. A row costs less the nearer it is to the crowd's date and price list, so each slot keeps the rows
    that fit best.
    """

    smallest: int = parameter(5, "fewest customers of a crowd", low=2)
    crowd_price: float = parameter(
        4.0, "how many mean baskets may be deleted to save one class of sizes", low=0
    )
    date_classes: int = parameter(
        2, "crowds that one class of basket sizes is cut into by date", low=1
    )
    margin: float = parameter(
        0.09, "share of every basket that may be deleted because it does not fit", low=0, high=0.4
    )

    def __call__(self, table: Table, rng: Rng) -> Release:
        baskets, goods = Baskets(table), _Goods(table)
        column = table.schema["qty"]
        assert isinstance(column, Integer)
        codes = {name: codes.copy() for name, codes in table.codes.items()}
        codes["hours"][:] = _NOON
        doomed, owner = np.ones(len(table), dtype=bool), np.zeros(len(table), dtype=np.int64)
        for crowd in self._crowds(table, baskets, rng):
            members = [baskets[member] for member in crowd]
            size = max(1, int(np.ceil(baskets.sizes[crowd].min() * (1 - self.margin))))
            places, prices = _match_prices([table.codes["price"][rows] for rows in members], size)
            date = int(np.median(table.codes["date"][np.concatenate(members)]))
            dealt = self._deal(baskets, crowd, rng)
            for slot, place, (origin, pseudonym) in zip(members, places, dealt, strict=True):
                items, quantities = goods.pack(origin, size)
                rows = slot[place[: len(items)]]
                doomed[rows] = False
                owner[rows] = pseudonym
                codes["date"][rows] = date
                codes["id_item"][rows] = items
                codes["price"][rows] = prices[: len(items)]
                codes["qty"][rows] = quantities - column.low
        released = delete_rows(Table(table.schema, codes, table.vocabularies), doomed)
        return Release.of(rename(released, owner, rng))

    def _deal(self, baskets: Baskets, crowd: Ints, rng: Rng) -> Iterator[tuple[Ints, int]]:
        """Yield for each slot of a crowd the rows whose purchases it shows, and its pseudonym's number: the next one's."""
        for source in np.roll(crowd, -1):
            yield baskets[source], int(baskets.user[source])

    def _crowds(self, table: Table, baskets: Baskets, rng: Rng) -> Iterator[Ints]:
        """Yield groups of baskets of one month, in random order."""
        dates = table.codes["date"][baskets.rows].astype(np.float64)
        mean_date = np.add.reduceat(dates, baskets.start[:-1]) / baskets.sizes
        price = self.crowd_price * float(baskets.sizes.mean())
        limits = self.smallest * self.date_classes, _LARGEST * self.date_classes
        for same_month in baskets.by_month(rng, -1):
            ends = cut_by_size(baskets.sizes[same_month], *limits, price)
            for part in np.split(same_month, ends[:-1]):
                part = part[np.argsort(mean_date[part], kind="stable")]
                classes = max(1, min(self.date_classes, len(part) // self.smallest))
                yield from (rng.permutation(crowd) for crowd in np.array_split(part, classes))


@dataclass(frozen=True)
class MixedCrowds(Crowds):
    """Crowds whose members show purchases of many: hides who bought what, and costs the similarity of items.

    The rows of some baskets of a crowd are pooled and dealt out in turn, so that what a pseudonym shows in a month comes from
    as many people as there are baskets in the pool; which slot of the crowd shows what is drawn. Pseudonyms last for a month.
    """

    smallest: int = parameter(10, "fewest customers of a crowd", low=2)
    date_classes: int = parameter(
        1, "crowds that one class of basket sizes is cut into by date", low=1
    )
    margin: float = parameter(
        0.0, "share of every basket that may be deleted because it does not fit", low=0, high=0.4
    )
    pool: int = parameter(10, "baskets whose rows are pooled and dealt out in turn", low=2)

    def _deal(self, baskets: Baskets, crowd: Ints, rng: Rng) -> Iterator[tuple[Ints, int]]:
        hands: list[Ints] = []
        for pool in np.array_split(crowd, max(1, len(crowd) // self.pool)):
            rows = np.concatenate([rng.permutation(baskets[member]) for member in pool])
            hands += [rows[place :: len(pool)] for place in range(len(pool))]
        # A slot of the crowd is the same for no two pseudonyms of any month, so its basket can number the pseudonym.
        for member, place in zip(crowd, rng.permutation(len(crowd)), strict=True):
            yield hands[place], int(member)


def cut_by_size(sizes: Ints, smallest: int, largest: int, price: float) -> list[int]:
    """Cut descending sizes into groups: fewest rows above each group's minimum, plus ``price`` per group.

    Returns
    -------
    list of int
        Where each group ends.

    Examples
    --------
    >>> cut_by_size(np.array([9, 9, 8, 2, 2, 1]), smallest=2, largest=6, price=1.0)
    [3, 6]
    """
    count = len(sizes)
    smallest = min(smallest, max(1, count // 2))
    passed = np.concatenate(([0], np.cumsum(sizes)))
    best, before = np.full(count + 1, np.inf), np.zeros(count + 1, dtype=np.int64)
    best[0] = 0
    for end in range(smallest, count + 1):
        starts = np.arange(max(0, end - max(largest, 2 * smallest)), end - smallest + 1)
        cost = best[starts] + (passed[end] - passed[starts])
        cost = cost - (end - starts) * sizes[end - 1] + price
        before[end], best[end] = starts[cost.argmin()], cost.min()
    ends = [count]
    while before[ends[0]] > 0:
        ends.insert(0, int(before[ends[0]]))
    return ends


def _match_prices(members: list[Floats], size: int) -> tuple[list[Ints], Floats]:
    """Return for each member the row that takes each place of a common price list, and the list, ascending.

    The list starts as quantiles of all prices; each entry then becomes the price among those matched to it that is nearest
    to all of them, as E5 counts.
    """

    def match(prices: Floats) -> Ints:
        rows, places = linear_sum_assignment(price_changes(prices[:, None], shown[None, :]))
        return rows[np.argsort(places)]

    pooled = np.sort(np.concatenate(members))
    shown = pooled[((np.arange(size) + 0.5) * len(pooled) / size).astype(np.int64)]
    matched = np.array([prices[match(prices)] for prices in members])  # (members, size)
    distances = price_changes(matched[:, None, :], matched[None, :, :]).sum(axis=1)
    shown = np.sort(matched[distances.argmin(axis=0), np.arange(size)])
    return [match(prices) for prices in members], shown


class _Goods:
    """What a basket shows where it has fewer rows than purchases: those that the similarity measures would miss most.

    A purchase counts by its share in the item's norm, top items before all others.
    """

    def __init__(self, table: Table) -> None:
        self.table, count = table, len(table.vocabularies["id_item"])
        key = table.codes["id_user"].astype(np.int64) * count + table.codes["id_item"]
        pairs, number = np.unique(key, return_inverse=True)
        scores = np.bincount(number, table.values("qty"))
        norm = np.sqrt(np.bincount(pairs % count, scores**2, minlength=count))
        self.norm = np.maximum(norm, 1e-12)
        self.top = top_items(table.codes["id_item"], count, max(1, int(_TOP_SHARE * count)))

    def pack(self, rows: Ints, size: int) -> tuple[Ints, Ints]:
        """Return items and quantities of a basket in at most ``size`` rows, cheapest first.

        Rows of one item are summed, the least worthy items are dropped, and the largest quantities are halved to fill up.
        """
        items, number = np.unique(self.table.codes["id_item"][rows], return_inverse=True)
        quantities = np.bincount(number, self.table.values("qty")[rows]).astype(np.int64)
        prices = np.bincount(number, self.table.codes["price"][rows]) / np.bincount(number)
        if len(items) > size:
            worth = quantities / self.norm[items] + self.top[items]
            chosen = np.argsort(-worth, kind="stable")[:size]
            items, quantities, prices = items[chosen], quantities[chosen], prices[chosen]
        while len(items) < size and quantities.max() > 1:
            largest = np.argsort(-quantities, kind="stable")[: size - len(items)]
            largest = largest[quantities[largest] > 1]
            half = quantities[largest] // 2
            quantities[largest] -= half
            items, prices = np.append(items, items[largest]), np.append(prices, prices[largest])
            quantities = np.append(quantities, half)
        order = np.argsort(prices, kind="stable")
        return items[order].astype(np.int64), quantities[order]
