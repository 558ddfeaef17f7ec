"""One month of T beside one month of S, with everything counted: what all comparisons of baskets start from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from kakurenbo.attacks.reidentification import ReidentificationKnowledge
from kakurenbo.core import Table
from kakurenbo.data.transactions import Calendar, item_codes, months, prices

Matrix = Any  # scipy.sparse.csr_array


@dataclass(frozen=True)
class Vector:
    """Which values of a basket are put in ascending order, and how noisy they are thought to be.

    Attributes
    ----------
    field : str
        Of :attr:`Side.values`.
    sigma : float
        Standard deviation of the noise on the log of a value.
    counted : bool
        Whether they are counts, which may be 0, and not amounts.
    """

    field: str
    sigma: float
    counted: bool


VECTORS: Mapping[str, Vector] = MappingProxyType(
    {"prices": Vector("price", 0.15, counted=False), "quantities": Vector("qty", 0.4, counted=True)}
)
"""The sorted vectors of a shop."""


@dataclass(frozen=True, eq=False)
class Side:
    """The rows of one month in one of the two tables, grouped by owner (customer or pseudonym).

    Attributes
    ----------
    owners : array of int, shape (k,)
        Codes of the owners, ascending.
    owner : array of int, shape (rows,)
        Position in ``owners`` of each row.
    values : mapping of field to array, shape (rows,)
        Of each row, comparable between the two sides; of a shop ``item``, ``date``, ``price`` and ``qty``.
    """

    owners: NDArray[np.int64]
    owner: NDArray[np.int64]
    values: dict[str, NDArray[Any]]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Rows of each owner, shape (k,)."""
        return np.bincount(self.owner, minlength=len(self.owners))

    def counts(self, field: str, vocabulary: NDArray[Any] | int) -> Matrix:
        """How often each owner has each value, shape (k, values); a size instead of values where codes are dense."""
        values = self.values[field]
        if isinstance(vocabulary, int):
            size = vocabulary
        else:
            size, values = len(vocabulary), np.searchsorted(vocabulary, values)
        entries = (np.ones(len(values), dtype=np.float32), (self.owner, values))
        counted = sparse.coo_array(entries, shape=(len(self.owners), size)).tocsr()
        counted.sum_duplicates()
        return counted


@dataclass(frozen=True, eq=False)
class Month:
    """One month, or another period: customers of T against pseudonyms of S.

    ``items`` is how many codes the field ``item`` has, where there is one.
    """

    number: int
    original: Side
    released: Side
    items: int
    vectors: Mapping[str, Vector] = field(default_factory=lambda: VECTORS)

    def counts(self, field: str) -> tuple[Matrix, Matrix]:
        """Counts of a field on both sides over one vocabulary, shapes (customers, v) and (pseudonyms, v)."""
        vocabulary: NDArray[Any] | int = self.items
        if field != "item":
            vocabulary = np.unique(
                np.concatenate([self.original.values[field], self.released.values[field]])
            )
        return self.original.counts(field, vocabulary), self.released.counts(field, vocabulary)

    def with_customers(self, count: int) -> Month:
        """The same month with only some of its customers, evenly spaced, against all pseudonyms."""
        chosen = np.unique(np.linspace(0, len(self.original.owners) - 1, count).astype(np.int64))
        position = np.full(len(self.original.owners), -1, dtype=np.int64)
        position[chosen] = np.arange(len(chosen))
        rows = position[self.original.owner] >= 0
        values = {field: values[rows] for field, values in self.original.values.items()}
        side = Side(self.original.owners[chosen], position[self.original.owner[rows]], values)
        return replace(self, original=side)

    def item_sets(self) -> tuple[Matrix, Matrix]:
        """Who has which item at all, as 0/1 matrices."""
        sides = self.counts("item")
        for side in sides:
            side.data = np.ones_like(side.data)
        return sides


def months_of(knowledge: ReidentificationKnowledge) -> Iterator[Month]:
    """The months in which both tables have rows."""
    vocabulary = knowledge.original.vocabularies["id_item"]
    sides = [_by_month(table, vocabulary) for table in (knowledge.original, knowledge.released)]
    for number in range(knowledge.calendar.months):
        original, released = sides[0](number), sides[1](number)
        if len(original.owners) and len(released.owners):
            yield Month(number, original, released, len(vocabulary) + 1)


def _by_month(table: Table, vocabulary: tuple[str, ...]) -> Any:
    month = months(table)
    order = np.argsort(month, kind="stable")
    starts = np.searchsorted(month[order], np.arange(Calendar.of(table).months + 1))
    # An item that T does not have gets the place after the last.
    items = np.where((items := item_codes(table, vocabulary)) < 0, len(vocabulary), items)
    columns = {
        "item": items,
        "date": table.codes["date"],
        "price": prices(table),
        "qty": table.values("qty"),
    }

    def side(number: int) -> Side:
        rows = order[starts[number] : starts[number + 1]]
        owners, owner = np.unique(table.codes["id_user"][rows], return_inverse=True)
        return Side(owners, owner, {field: column[rows] for field, column in columns.items()})

    return side
