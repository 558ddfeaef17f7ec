"""Anonymizers that change rows of transactions one by one: deletion, dates, prices and quantities, items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.anonymizers.transactions.pseudonyms import Baskets, Ints, TransactionAnonymizer, changed, shuffled_within
from kakurenbo.contracts import Release
from kakurenbo.datasets.transactions import Calendar, delete_rows, kept, months
from kakurenbo.parameters import parameter
from kakurenbo.tables import Integer, Table


@dataclass(frozen=True)
class Delete(TransactionAnonymizer):
    """Delete a share of the rows: at random, the rarest items first, or from the largest baskets first.

    Every user keeps at least one row.
    """

    share: float = parameter(0.1, "share of the rows that is deleted", low=0, high=0.49)
    which: str = parameter("random", "which rows go first", choices=("random", "rare_items", "outlying_customers"))

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        alive = np.flatnonzero(kept(table))
        rows = alive[rng.permutation(len(alive))]
        # The first row of each user in random order stays.
        _, spared = np.unique(table.codes["id_user"][rows], return_index=True)
        candidates = np.delete(rows, spared)
        candidates = candidates[np.argsort(-self._unease(table)[candidates], kind="stable")]
        doomed = np.zeros(len(table), dtype=bool)
        doomed[candidates[: int(self.share * len(table))]] = True
        return Release.of(delete_rows(table, doomed))

    def _unease(self, table: Table) -> NDArray[np.float64]:
        """How early a row is deleted; rows alike go in random order."""
        if self.which == "rare_items":
            items = table.codes["id_item"]
            return -np.bincount(items)[items].astype(np.float64)
        if self.which == "outlying_customers":
            baskets = Baskets.of(table)
            return np.append(baskets.sizes, 0)[baskets.of_rows(len(table))].astype(np.float64)
        return np.zeros(len(table))


@dataclass(frozen=True)
class Dates(TransactionAnonymizer):
    """Move dates within their month: by noise, or by shuffling them among all rows of the month."""

    method: str = parameter("shuffle", "how dates move", choices=("noise", "shuffle"))
    days: float = parameter(3.0, "standard deviation of the noise, in days", low=0, high=31)

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        alive = kept(table)
        date, month = table.codes["date"].astype(np.int64), months(table)
        if self.method == "shuffle":
            rows = np.flatnonzero(alive)
            date[rows] = date[rows[shuffled_within(month[rows].astype(np.int64), rng)]]
        else:
            moved = date + np.rint(rng.normal(0, self.days, len(date))).astype(np.int64)
            calendar = Calendar.of(table)
            first = calendar.month_start[month].astype(np.int64)
            date = np.clip(moved, first, first + calendar.month_length[month] - 1)
        return changed(table, {"date": date})


@dataclass(frozen=True)
class Values(TransactionAnonymizer):
    """Multiply prices and quantities by random factors around 1, as often above it as below."""

    price: float = parameter(0.1, "standard deviation of the log of the price factor", low=0, high=3)
    qty: float = parameter(0.3, "standard deviation of the log of the quantity factor", low=0, high=3)

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        column = table.schema["qty"]
        assert isinstance(column, Integer)
        price = table.codes["price"] * np.exp(rng.normal(0, self.price, len(table)))
        qty = np.maximum(1, np.rint(table.values("qty") * np.exp(rng.normal(0, self.qty, len(table)))))
        qty = np.minimum(qty, column.high)
        # Exact values where no noise was asked for: rounding would change them.
        new_price = np.maximum(0.01, price.round(2)) if self.price else table.codes["price"]
        new_qty = qty.astype(np.int64) - column.low if self.qty else table.codes["qty"]
        return changed(table, {"price": new_price, "qty": new_qty})


@dataclass(frozen=True)
class SwapItems(TransactionAnonymizer):
    """Permute the items of some rows among the rows of their month, within classes of similar price or popularity."""

    share: float = parameter(0.2, "share of the rows that take part", low=0, high=1)
    within: str = parameter("popularity", "what swapped items have in common", choices=("month", "price", "popularity"))
    classes: int = parameter(10, "number of price or popularity classes", low=1, high=1000)

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        rows = np.flatnonzero(kept(table) & (rng.random(len(table)) < self.share))
        group = months(table)[rows].astype(np.int64) * self.classes + self._item_classes(table)[table.codes["id_item"][rows]]
        items = table.codes["id_item"].copy()
        items[rows] = items[rows[shuffled_within(group, rng)]]
        return changed(table, {"id_item": items})

    def _item_classes(self, table: Table) -> Ints:
        """Class of each item of the vocabulary; classes hold about equally many rows."""
        items = table.codes["id_item"]
        counts = np.bincount(items, minlength=len(table.vocabularies["id_item"]))
        if self.within == "month":
            return np.zeros(len(counts), dtype=np.int64)
        prices = np.bincount(items, table.codes["price"], minlength=len(counts)) / np.maximum(counts, 1)
        order = np.argsort(prices if self.within == "price" else counts, kind="stable")
        passed = np.cumsum(counts[order]) - counts[order]
        found = np.empty(len(counts), dtype=np.int64)
        found[order] = passed * self.classes // max(1, int(counts.sum()))
        return found
