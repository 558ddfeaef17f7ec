"""Anonymizers of transactions (darc2019) that change rows one by one: pseudonyms, deletion, dates, amounts, items.

A step changes rows in place and marks deleted ones "DEL"; it takes whatever stands in ``id_user`` for the user, so steps
compose. Monthly pseudonyms are the base of all: the rulebook adds them where a release still names customers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from kakurenbo.anonymizers.tables.swap import shuffle_within
from kakurenbo.contest import Anonymizer, Release, has_columns
from kakurenbo.core import Integer, Schema, Table
from kakurenbo.core.arrays import Ints, Rng
from kakurenbo.data.transactions import (
    DELETED,
    SCHEMA,
    Calendar,
    delete_rows,
    kept,
    months,
    with_users,
)
from kakurenbo.methods.parameters import parameter


class TransactionAnonymizer(Anonymizer):
    """Base of the anonymizers of transactions."""

    @classmethod
    def accepts(cls, schema: Schema) -> bool:
        return has_columns(schema, SCHEMA)


def user_months(table: Table) -> Ints:
    """Number the months of each user, shape (n,): by month, then by user."""
    users = len(table.vocabularies["id_user"]) + 1
    return months(table).astype(np.int64) * users + table.codes["id_user"]


def rename(table: Table, owner: Ints, rng: Rng) -> Table:
    """Give the kept rows of each owner one fresh pseudonym; names are of equal length and in random order."""
    alive = kept(table)
    _, number = np.unique(owner[alive], return_inverse=True)
    count = int(number.max(initial=-1)) + 1
    digits = len(str(max(1, count - 1)))
    names = pl.Series([f"P{number:0{digits}d}" for number in range(count)], dtype=pl.String)
    users = np.full(len(table), DELETED, dtype=object)
    users[alive] = names.gather(rng.permutation(count)[number]).to_numpy()
    return with_users(table, pl.Series("id_user", users, dtype=pl.String))


@dataclass(frozen=True)
class Pseudonyms(TransactionAnonymizer):
    """A fresh random pseudonym per user and month, or per user for the whole year."""

    period: str = parameter("month", "how long a pseudonym lasts", choices=("month", "year"))

    def __call__(self, table: Table, rng: Rng) -> Release:
        owner = table.codes["id_user"].astype(np.int64)
        if self.period == "month":
            owner = owner * Calendar.of(table).months + months(table)
        return Release.of(rename(table, owner, rng))


@dataclass(frozen=True)
class Delete(TransactionAnonymizer):
    """Delete a share of the rows: at random, the rarest items first, or from the largest baskets first.

    Every user keeps at least one row.
    """

    share: float = parameter(0.1, "share of the rows that is deleted", low=0, high=0.49)
    which: str = parameter(
        "random", "which rows go first", choices=("random", "rare_items", "outlying_customers")
    )

    def __call__(self, table: Table, rng: Rng) -> Release:
        alive = np.flatnonzero(kept(table))
        rows = alive[rng.permutation(len(alive))]
        # The first row of each user in random order stays.
        _, spared = np.unique(table.codes["id_user"][rows], return_index=True)
        candidates = np.delete(rows, spared)
        # Rows with small counts go first; rows alike go in random order.
        counts = np.zeros(len(table), dtype=np.int64)
        if self.which == "rare_items":
            items = table.codes["id_item"]
            counts = np.bincount(items)[items]
        elif self.which == "outlying_customers":
            _, basket, sizes = np.unique(
                user_months(table)[alive], return_inverse=True, return_counts=True
            )
            counts[alive] = -sizes[basket]
        candidates = candidates[np.argsort(counts[candidates], kind="stable")]
        doomed = np.zeros(len(table), dtype=bool)
        doomed[candidates[: int(self.share * len(table))]] = True
        return Release.of(delete_rows(table, doomed))


@dataclass(frozen=True)
class Dates(TransactionAnonymizer):
    """Move dates within their month: by noise, or by shuffling them among all rows of the month."""

    method: str = parameter("shuffle", "how dates move", choices=("noise", "shuffle"))
    days: float = parameter(3.0, "standard deviation of the noise, in days", low=0, high=31)

    def __call__(self, table: Table, rng: Rng) -> Release:
        date, month = table.codes["date"].astype(np.int64), months(table)
        if self.method == "shuffle":
            rows = np.flatnonzero(kept(table))
            date[rows] = date[rows[shuffle_within(month[rows].astype(np.int64), rng)]]
        else:
            date += np.rint(rng.normal(0, self.days, len(date))).astype(np.int64)
            calendar = Calendar.of(table)
            first = calendar.month_start[month].astype(np.int64)
            date = np.clip(date, first, first + calendar.month_length[month] - 1)
        return Release.of(table.with_codes({"date": date}))


@dataclass(frozen=True)
class Values(TransactionAnonymizer):
    """Multiply prices and quantities by random factors around 1, as often above it as below."""

    price: float = parameter(
        0.1, "standard deviation of the log of the price factor", low=0, high=3
    )
    qty: float = parameter(
        0.3, "standard deviation of the log of the quantity factor", low=0, high=3
    )

    def __call__(self, table: Table, rng: Rng) -> Release:
        column, changed = table.schema["qty"], {}
        assert isinstance(column, Integer)
        price = table.codes["price"] * np.exp(rng.normal(0, self.price, len(table)))
        qty = np.rint(table.values("qty") * np.exp(rng.normal(0, self.qty, len(table))))
        # Exact values where no noise was asked for: rounding would change them.
        if self.price:
            changed["price"] = np.maximum(0.01, price.round(2))
        if self.qty:
            changed["qty"] = np.clip(qty, 1, column.high).astype(np.int64) - column.low
        return Release.of(table.with_codes(changed))


@dataclass(frozen=True)
class SwapItems(TransactionAnonymizer):
    """Permute the items of some rows among the rows of their month, within classes of similar price or popularity."""

    share: float = parameter(0.2, "share of the rows that take part", low=0, high=1)
    within: str = parameter(
        "popularity", "what swapped items have in common", choices=("month", "price", "popularity")
    )
    classes: int = parameter(10, "number of price or popularity classes", low=1, high=1000)

    def __call__(self, table: Table, rng: Rng) -> Release:
        rows = np.flatnonzero(kept(table) & (rng.random(len(table)) < self.share))
        items = table.codes["id_item"].copy()
        # Class of each item of the vocabulary: classes hold about equally many rows.
        counts = np.bincount(items, minlength=len(table.vocabularies["id_item"]))
        classes = np.zeros(len(counts), dtype=np.int64)
        if self.within != "month":
            prices = np.bincount(items, table.codes["price"], minlength=len(counts))
            means = prices / np.maximum(counts, 1)
            order = np.argsort(means if self.within == "price" else counts, kind="stable")
            passed = np.cumsum(counts[order]) - counts[order]
            classes[order] = passed * self.classes // max(1, len(table))
        group = months(table)[rows].astype(np.int64) * self.classes + classes[items[rows]]
        items[rows] = items[rows[shuffle_within(group, rng)]]
        return Release.of(table.with_codes({"id_item": items}))
