"""The combined anonymizers: purchases dealt in crowds whose members all show one date, one price list and one basket size.

Everything that is released of a slot comes from the basket that was moved into it or from the whole crowd. So who in the
crowd the slot belongs to cannot be told, and three guesses earn 2 cells per crowd on average. ``Crowds`` moves whole baskets,
and pseudonyms follow them over the year: item similarity hardly changes, and whoever reads a pseudonym's purchases knows whose
they are. ``MixedCrowds`` hides that, too, and pays with item similarity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from kakurenbo.anonymizers.transactions.pseudonyms import Baskets, Ints, TransactionAnonymizer, rename
from kakurenbo.contracts import Release
from kakurenbo.datasets.transactions import delete_rows, price_changes, top_items
from kakurenbo.parameters import parameter
from kakurenbo.tables import Integer, Table

Floats = NDArray[np.float64]
_LARGEST = 200  # customers of a crowd per date class: enough to hide in
_TOP_SHARE = 0.05  # of the items: E3 looks at them alone
_NOON = 12 * 60  # the time of day is released for nobody


@dataclass(frozen=True)
class Crowds(TransactionAnonymizer):
    """Swap baskets in crowds that share date, prices and basket size; tuned for a low score.

    The customers of a month are cut by basket size into crowds so that few rows have to be deleted to make sizes equal, and
    each of these by date. A row costs less the nearer it is to the crowd's date and price list, so each slot keeps the rows
    that fit best.
    """

    smallest: int = parameter(5, "fewest customers of a crowd", low=2)
    crowd_price: float = parameter(4.0, "how many mean baskets may be deleted to save one class of sizes", low=0)
    date_classes: int = parameter(2, "crowds that one class of basket sizes is cut into by date", low=1)
    margin: float = parameter(0.09, "share of every basket that may be deleted because it does not fit", low=0, high=0.4)

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        baskets = Baskets.of(table)
        column = table.schema["qty"]
        assert isinstance(column, Integer)
        worth = _ItemWorth.of(table)
        codes = {name: table.codes[name].copy() for name in table.schema.names}
        codes["hours"][:] = _NOON
        doomed, owner = np.ones(len(table), dtype=bool), np.zeros(len(table), dtype=np.int64)
        for crowd in self._crowds(table, baskets, rng):
            size = max(1, int(np.ceil(baskets.sizes[crowd].min() * (1 - self.margin))))
            slots, prices = _fitting_rows([table.codes["price"][baskets[member]] for member in crowd], size)
            date = int(np.median(table.codes["date"][np.concatenate([baskets[member] for member in crowd])]))
            for member, places, (shown, own) in zip(crowd, slots, self._dealt(baskets, crowd, rng), strict=True):
                items, quantities = worth.goods(table, shown, size)
                rows = baskets[member][places[: len(items)]]
                doomed[rows] = False
                owner[rows] = own
                codes["date"][rows] = date
                codes["id_item"][rows] = items
                codes["price"][rows] = prices[: len(items)]
                codes["qty"][rows] = quantities - column.low
        released = delete_rows(Table(table.schema, codes, table.vocabularies), doomed)
        return Release.of(rename(released, owner, rng))

    def _dealt(self, baskets: Baskets, crowd: Ints, rng: np.random.Generator) -> Iterator[tuple[Ints, int]]:
        """For each slot of a crowd the rows whose purchases it shows, and the number of its pseudonym: the next one's."""
        return ((baskets[source], int(baskets.user[source])) for source in np.roll(crowd, -1))

    def _crowds(self, table: Table, baskets: Baskets, rng: np.random.Generator) -> Iterator[Ints]:
        """Groups of baskets of one month, in random order."""
        mean_date = np.add.reduceat(table.codes["date"][baskets.rows].astype(np.float64), baskets.start[:-1]) / baskets.sizes
        price = self.crowd_price * float(baskets.sizes.mean())
        for found in baskets.by_month():
            found = found[np.lexsort((rng.random(len(found)), -baskets.sizes[found]))]
            ends = cut_by_size(baskets.sizes[found], self.smallest * self.date_classes, _LARGEST * self.date_classes, price)
            for part in np.split(found, ends[:-1]):
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
    date_classes: int = parameter(1, "crowds that one class of basket sizes is cut into by date", low=1)
    margin: float = parameter(0.0, "share of every basket that may be deleted because it does not fit", low=0, high=0.4)
    pool: int = parameter(10, "baskets whose rows are pooled and dealt out in turn", low=2)

    def _dealt(self, baskets: Baskets, crowd: Ints, rng: np.random.Generator) -> Iterator[tuple[Ints, int]]:
        shown: list[Ints] = []
        for pool in np.array_split(crowd, max(1, len(crowd) // self.pool)):
            rows = np.concatenate([rng.permutation(baskets[member]) for member in pool])
            shown += [rows[place :: len(pool)] for place in range(len(pool))]
        # A slot of the crowd is the same for no two pseudonyms of any month, so its basket can number the pseudonym.
        return ((shown[place], int(member)) for member, place in zip(crowd, rng.permutation(len(crowd)), strict=True))


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
        cost = best[starts] + (passed[end] - passed[starts]) - (end - starts) * sizes[end - 1] + price
        before[end], best[end] = starts[cost.argmin()], cost.min()
    ends = [count]
    while before[ends[0]] > 0:
        ends.insert(0, int(before[ends[0]]))
    return ends


def _fitting_rows(prices: list[Floats], size: int) -> tuple[list[Ints], Floats]:
    """A common price list of ``size`` entries, ascending, and for each member the row that takes each place of it.

    The list starts as quantiles of all prices; each entry then becomes the price among those matched to it that is nearest
    to all of them, as E5 counts.
    """
    pooled = np.sort(np.concatenate(prices))
    shown = pooled[((np.arange(size) + 0.5) * len(pooled) / size).astype(np.int64)]
    matched = np.array([own[_matched(own, shown)] for own in prices])  # (members, size)
    distances = price_changes(matched[:, None, :], matched[None, :, :]).sum(axis=1)
    shown = np.sort(matched[distances.argmin(axis=0), np.arange(size)])
    return [_matched(own, shown) for own in prices], shown


def _matched(own: Floats, shown: Floats) -> Ints:
    """For each place of the list the row of the member that is matched to it at the least total change of price."""
    rows, places = linear_sum_assignment(price_changes(own[:, None], shown[None, :]))
    found = np.empty(len(shown), dtype=np.int64)
    found[places] = rows
    return found


@dataclass(frozen=True, eq=False)
class _ItemWorth:
    """How much the similarity measures would miss a purchase: its share in the item's norm, top items before all others."""

    norm: Floats
    top: NDArray[np.bool_]

    @classmethod
    def of(cls, table: Table) -> _ItemWorth:
        count = len(table.vocabularies["id_item"])
        key = table.codes["id_user"].astype(np.int64) * count + table.codes["id_item"]
        pairs, number = np.unique(key, return_inverse=True)
        scores = np.bincount(number, table.values("qty"))
        norm = np.sqrt(np.bincount(pairs % count, scores**2, minlength=count))
        top = top_items(table.codes["id_item"], count, max(1, int(_TOP_SHARE * count)))
        return cls(np.maximum(norm, 1e-12), top)

    def goods(self, table: Table, rows: Ints, size: int) -> tuple[Ints, Ints]:
        """Items and quantities of a basket in at most ``size`` rows, cheapest first, to go with an ascending price list.

        Rows of one item are summed, the least worthy items are dropped, and the largest quantities are halved to fill up.
        """
        items, number = np.unique(table.codes["id_item"][rows], return_inverse=True)
        quantities = np.bincount(number, table.values("qty")[rows]).astype(np.int64)
        prices = np.bincount(number, table.codes["price"][rows]) / np.bincount(number)
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
