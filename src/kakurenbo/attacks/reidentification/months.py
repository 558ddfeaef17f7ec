"""One month of T beside one month of S, with everything counted: what all comparisons of baskets
start from.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reidentification.types import ReidentificationKnowledge
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


VECTORS: Mapping[str, Vector] = {
    "prices": Vector("price", 0.15, counted=False),
    "quantities": Vector("qty", 0.4, counted=True),
}


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
        Of each row, comparable between the two sides; of a shop ``item``, ``date``, ``price`` and
        ``qty``.
    """

    owners: NDArray[np.int64]
    owner: NDArray[np.int64]
    values: dict[str, NDArray[Any]]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Rows of each owner, shape (k,)."""
        return np.bincount(self.owner, minlength=len(self.owners))


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
        """Count how often each owner has each value, shapes (customers, v) and (pseudonyms, v)."""
        size, codes = self.items, (self.original.values[field], self.released.values[field])
        if field != "item":
            vocabulary, numbers = np.unique(np.concatenate(codes), return_inverse=True)
            size = len(vocabulary)
            codes = numbers[: len(codes[0])], numbers[len(codes[0]) :]
        original, released = (
            count_pairs(side.owner, values, (len(side.owners), size))
            for side, values in zip((self.original, self.released), codes, strict=True)
        )
        return original, released

    def with_customers(self, count: int) -> Month:
        """Return the same month with only some of its customers, evenly spaced, against all
        pseudonyms.
        """
        chosen = np.unique(np.linspace(0, len(self.original.owners) - 1, count).astype(np.int64))
        position = np.full(len(self.original.owners), -1, dtype=np.int64)
        position[chosen] = np.arange(len(chosen))
        rows = position[self.original.owner] >= 0
        values = {field: values[rows] for field, values in self.original.values.items()}
        side = Side(self.original.owners[chosen], position[self.original.owner[rows]], values)
        return replace(self, original=side)

    def item_sets(self) -> tuple[Matrix, Matrix]:
        """Return who has which item at all, as 0/1 matrices."""
        sides = self.counts("item")
        for side in sides:
            side.data = np.ones_like(side.data)
        return sides


def count_pairs(rows: NDArray[Any], columns: NDArray[Any], shape: tuple[int, int]) -> Matrix:
    """Count how often each pair of a row and a column occurs."""
    from scipy.sparse import coo_array

    counts = coo_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape).tocsr()
    counts.sum_duplicates()
    return counts


def rare_cosine_vectors(counts: Matrix, rarity: NDArray[np.float32]) -> Matrix:
    """Turn counts into unit vectors, damped and weighed by the rarity of their columns (TF-IDF)."""
    counts.data = (1 + np.log(counts.data)) * rarity[counts.indices]
    return unit_vectors(counts)


def unit_vectors(counts: Matrix) -> Matrix:
    """Scale rows in place so that their squares sum to 1."""
    norms = np.sqrt(np.asarray((counts * counts).sum(axis=1)).ravel())
    lengths = np.repeat(np.maximum(norms, 1e-12), np.diff(counts.indptr))
    counts.data = (counts.data / lengths).astype(np.float32)
    return counts


def months_of(knowledge: ReidentificationKnowledge) -> Iterator[Month]:
    """Yield the months in which both tables have rows."""
    vocabulary = knowledge.original.vocabularies["id_item"]
    originals = _monthly_sides(knowledge.original, vocabulary)
    released = _monthly_sides(knowledge.released, vocabulary)
    for number, (ours, theirs) in enumerate(zip(originals, released, strict=True)):
        if len(ours.owners) and len(theirs.owners):
            yield Month(number, ours, theirs, len(vocabulary) + 1)


def _monthly_sides(table: Table, vocabulary: tuple[str, ...]) -> Iterator[Side]:
    month = months(table)
    order = np.argsort(month, kind="stable")
    starts = np.searchsorted(month[order], np.arange(Calendar.of(table).months + 1))
    items = item_codes(table, vocabulary)
    columns = {
        # An item that T does not have gets the place after the last.
        "item": np.where(items < 0, len(vocabulary), items),
        "date": table.codes["date"],
        "price": prices(table),
        "qty": table.values("qty"),
    }
    for first, last in itertools.pairwise(starts):
        rows = order[first:last]
        owners, owner = np.unique(table.codes["id_user"][rows], return_inverse=True)
        yield Side(owners, owner, {field: column[rows] for field, column in columns.items()})
