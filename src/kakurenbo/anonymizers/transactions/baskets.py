"""Anonymizers that change whole baskets (a customer's month): swapped between customers, or made equal in groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kakurenbo.anonymizers.transactions.pseudonyms import Baskets, Ints, TransactionAnonymizer, rename
from kakurenbo.contracts import Release
from kakurenbo.datasets.transactions import delete_rows
from kakurenbo.parameters import parameter
from kakurenbo.tables import Table


@dataclass(frozen=True)
class SwapBaskets(TransactionAnonymizer):
    """Fill every customer's month with the basket of another customer of similar size.

    Within groups of k baskets of nearly equal size each slot gets the basket of another. A pseudonym lasts for the year. It
    follows the basket, so that what a pseudonym buys over the year stays together, or the customer. A slot with too many
    rows deletes some, and a basket with too many rows loses some.
    """

    k: int = parameter(20, "baskets of a month that swap with each other", low=2)
    pseudonym: str = parameter("basket", "whom a pseudonym follows over the year", choices=("basket", "customer"))

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        baskets = Baskets.of(table)
        slots, sources = [], []
        for group in similar_baskets(baskets, self.k, rng):
            slots.append(group)
            sources.append(np.roll(group, -1))
        slot, source = np.concatenate(slots), np.concatenate(sources)
        fits = np.minimum(baskets.sizes[slot], baskets.sizes[source])
        within = np.arange(fits.sum()) - np.repeat(np.cumsum(fits) - fits, fits)
        target = baskets.rows[np.repeat(baskets.start[slot], fits) + within]
        origin = baskets.rows[np.repeat(baskets.start[source], fits) + within]
        codes = {name: table.codes[name].copy() for name in table.schema.names}
        for name in ("date", "hours", "id_item", "price", "qty"):
            codes[name][target] = table.codes[name][origin]
        if self.pseudonym == "basket":
            codes["id_user"][target] = table.codes["id_user"][origin]
        left_over = np.ones(len(table), dtype=bool)
        left_over[target] = False
        swapped = delete_rows(Table(table.schema, codes, table.vocabularies), left_over)
        return Release.of(rename(swapped, swapped.codes["id_user"].astype(np.int64), rng))


@dataclass(frozen=True)
class ShareBaskets(TransactionAnonymizer):
    """k-anonymous baskets: the customers of a month, in groups of similar size, all show the same items.

    The items that most of the group bought fill the smallest basket of the group; rows beyond it are deleted.
    """

    k: int = parameter(3, "baskets of a month that show the same items", low=2)

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        baskets = Baskets.of(table)
        items = table.codes["id_item"].copy()
        doomed = np.zeros(len(table), dtype=bool)
        for group in similar_baskets(baskets, self.k, rng):
            shown = _common_items(table, baskets, group)
            for basket in group:
                rows = baskets[basket]
                doomed[rows[len(shown) :]] = True
                items[rows[: len(shown)]] = _placed(table.codes["id_item"][rows[: len(shown)]], shown)
        released = delete_rows(table.with_codes({"id_item": items}), doomed)
        return Release.of(rename(released, baskets.of_rows(len(table)), rng))


def similar_baskets(baskets: Baskets, k: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Groups of at least k baskets of one month, nearly equal in size, in random order; fewer where a month has fewer."""
    for found in baskets.by_month():
        found = found[np.lexsort((rng.random(len(found)), baskets.sizes[found]))]
        for group in np.array_split(found, max(1, len(found) // k)):
            yield rng.permutation(group)


def _common_items(table: Table, baskets: Baskets, group: Ints) -> Ints:
    """The items that most baskets of the group hold, as many as the smallest basket has rows; some twice where they are few."""
    smallest = int(baskets.sizes[group].min())
    held = np.concatenate([np.unique(table.codes["id_item"][baskets[basket]]) for basket in group])
    found, holders = np.unique(held, return_counts=True)
    ranked = found[np.argsort(-holders, kind="stable")]
    return np.resize(ranked, smallest).astype(np.int64)


def _placed(own: Ints, shown: Ints) -> Ints:
    """``shown`` in an order that leaves an item where the customer's row has it already."""
    place = np.full(len(own), -1, dtype=np.int64)
    _, first_own, first_shown = np.intersect1d(own, shown, return_indices=True)
    place[first_own] = first_shown
    rest = np.setdiff1d(np.arange(len(shown)), first_shown)
    place[place < 0] = rest
    return shown[place]
