"""Anonymizers of transactions (darc2019) and what they share: baskets, fresh pseudonyms, permutations within a month.

A step changes rows in place and marks deleted ones "DEL"; it takes whatever stands in ``id_user`` for the user, so steps
compose. Monthly pseudonyms are the base of all: the rulebook adds them where a release still names customers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.contracts import Anonymizer, Release, has_columns
from kakurenbo.datasets.transactions import DELETED, SCHEMA, Calendar, kept, months, with_users
from kakurenbo.parameters import parameter
from kakurenbo.tables import Schema, Table

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TransactionAnonymizer(Anonymizer):
    """Base of the anonymizers of transactions."""

    @classmethod
    def accepts(cls, schema: Schema) -> bool:
        return has_columns(schema, SCHEMA)


@dataclass(frozen=True)
class Pseudonyms(TransactionAnonymizer):
    """A fresh random pseudonym per user and month, or per user for the whole year."""

    period: str = parameter("month", "how long a pseudonym lasts", choices=("month", "year"))

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        owner = table.codes["id_user"].astype(np.int64)
        if self.period == "month":
            owner = owner * Calendar.of(table).months + months(table)
        return Release.of(rename(table, owner, rng))


def rename(table: Table, owner: Ints, rng: np.random.Generator) -> Table:
    """Give the kept rows of each owner one fresh pseudonym; names are of equal length and in random order."""
    alive = kept(table)
    _, number = np.unique(owner[alive], return_inverse=True)
    count = int(number.max()) + 1 if len(number) else 0
    names = pl.Series([f"P{number:0{len(str(max(1, count - 1)))}d}" for number in range(count)], dtype=pl.String)
    users = np.full(len(table), DELETED, dtype=object)
    users[alive] = names.gather(rng.permutation(count)[number]).to_numpy()
    return with_users(table, pl.Series("id_user", users, dtype=pl.String))


@dataclass(frozen=True, eq=False)
class Baskets:
    """The kept rows grouped by user and month.

    Attributes
    ----------
    rows : array, shape (kept rows,)
        Row numbers, basket by basket; file order within a basket.
    start : array, shape (baskets + 1,)
        Where each basket begins in ``rows``.
    user, month : arrays, shape (baskets,)
    """

    rows: Ints
    start: Ints
    user: Ints
    month: Ints

    @classmethod
    def of(cls, table: Table) -> Baskets:
        alive = np.flatnonzero(kept(table))
        key = months(table)[alive].astype(np.int64) * (len(table.vocabularies["id_user"]) + 1) + table.codes["id_user"][alive]
        order = np.argsort(key, kind="stable")
        found, first = np.unique(key[order], return_index=True)
        month, user = np.divmod(found, len(table.vocabularies["id_user"]) + 1)
        return cls(alive[order], np.append(first, len(order)), user, month)

    def __len__(self) -> int:
        return len(self.user)

    @property
    def sizes(self) -> Ints:
        """Rows of each basket."""
        return np.diff(self.start)

    def by_month(self) -> Iterator[Ints]:
        """The baskets of each month that has some."""
        for month in np.unique(self.month):
            yield np.flatnonzero(self.month == month)

    def of_rows(self, row_count: int) -> Ints:
        """Basket of each row of the table; -1 for a deleted row."""
        basket = np.full(row_count, -1, dtype=np.int64)
        basket[self.rows] = np.repeat(np.arange(len(self)), self.sizes)
        return basket

    def __getitem__(self, basket: int) -> Ints:
        return self.rows[self.start[basket] : self.start[basket + 1]]


def shuffled_within(groups: Ints, rng: np.random.Generator) -> Ints:
    """A permutation p of 0..n-1 that keeps every place in its group: groups[p] equals groups."""
    order = np.lexsort((rng.random(len(groups)), groups))
    permutation = np.empty(len(groups), dtype=np.int64)
    permutation[np.argsort(groups, kind="stable")] = order
    return permutation


def changed(table: Table, columns: dict[str, NDArray[Any]]) -> Release:
    """A release of the table with other codes in some columns."""
    return Release.of(table.with_codes(columns))
