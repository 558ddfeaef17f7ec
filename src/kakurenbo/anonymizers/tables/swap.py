"""Values change places between rows: `permute` whole columns, `swap` some cells, `swap_near` whole records of near rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kakurenbo.anonymizers.tables.columns import ColumnMethod
from kakurenbo.contest import Release
from kakurenbo.core import Category, Codes, Table
from kakurenbo.core.arrays import Ints, Rng
from kakurenbo.measures.records import within_distance
from kakurenbo.methods.parameters import parameter

_BLOCK = 512  # rows whose candidates are looked for at once
_CANDIDATES = 40  # that a row is offered at most, drawn at random


@dataclass(frozen=True)
class Permute(ColumnMethod):
    """Permute each column independently of the others: the histograms stay, everything between columns goes."""

    columns: tuple[str, ...] | None = parameter(
        None, "columns whose values move", none="word.all_columns"
    )

    def __call__(self, table: Table, rng: Rng) -> Release:
        names = self.names(table.schema)
        return Release.of(table.with_codes({n: rng.permutation(table.codes[n]) for n in names}))


@dataclass(frozen=True)
class Swap(ColumnMethod):
    """Swap a share of each column's cells between pairs of rows; of numbers, only between rows that are near in rank.

    Examples
    --------
    >>> from kakurenbo.core import Integer, Schema
    >>> table = Table.from_rows(Schema([Integer("age", 0, 99)]), [(n,) for n in range(100)])
    >>> swapped = Swap(share=1.0, reach=0.05)(table, np.random.default_rng(0)).table
    >>> int(np.abs(swapped.values("age") - table.values("age")).max()) < 5
    True
    """

    columns: tuple[str, ...] | None = parameter(
        None, "columns whose values move", none="word.all_columns"
    )
    share: float = parameter(0.2, "share of the cells of a column that are swapped", low=0, high=1)
    reach: float | None = parameter(
        None,
        "how far apart in rank two numbers that are swapped may be, as a share of the rows",
        low=0,
        high=1,
        none="word.any_two",
    )

    def __call__(self, table: Table, rng: Rng) -> Release:
        changed = {}
        for name in self.names(table.schema):
            codes = table.codes[name]
            blocks = np.zeros(len(codes), dtype=np.int64)
            if self.reach is not None and not isinstance(table.schema[name], Category):
                # Ranks in one block differ by less than the reach; where blocks end is random.
                width = max(1, math.floor(self.reach * len(codes)))
                blocks[np.lexsort((rng.random(len(codes)), codes))] = np.arange(len(codes))
                blocks = (blocks + rng.integers(width)) // width
            changed[name] = _swap_within(codes, blocks, round(self.share * len(codes)), rng)
        return Release.of(table.with_codes(changed))


def shuffle_within(groups: Ints, rng: Rng) -> Ints:
    """Return a random permutation p of 0..n-1 that keeps every place in its group: groups[p] equals groups."""
    permutation = np.empty(len(groups), dtype=np.int64)
    permutation[np.argsort(groups, kind="stable")] = np.lexsort((rng.random(len(groups)), groups))
    return permutation


def _swap_within(codes: Codes, blocks: Ints, count: int, rng: Rng) -> Codes:
    """Pair ``count`` cells, chosen at random, within their blocks and swap them; an odd one stays."""
    chosen = rng.permutation(len(codes))[:count]
    chosen = chosen[np.argsort(blocks[chosen], kind="stable")]
    block = blocks[chosen]
    place = np.arange(count) - np.searchsorted(block, block)
    first = np.flatnonzero((place[:-1] % 2 == 0) & (block[1:] == block[:-1]))
    left, right = chosen[first], chosen[first + 1]
    swapped = codes.copy()
    swapped[left], swapped[right] = codes[right], codes[left]
    return swapped


@dataclass(frozen=True)
class SwapNear(ColumnMethod):
    """Give every row the record of another row that is near: in each number, and in the count of other cells that differ.

    The records as such stay what they are, so no count, correlation or regression changes. Each row gets the record of one
    other row, drawn at random among those in reach; rows that nobody is near to keep their own.
    """

    reach: float = parameter(4.0, "largest change of a decimal number", low=0)
    cells: int = parameter(4, "most other cells of a row that change", low=0)

    def chosen(self) -> None:
        return None

    def __call__(self, table: Table, rng: Rng) -> Release:
        order = rng.permutation(len(table))
        rows = np.empty(len(table), dtype=np.int64)
        rows[order] = order[self._partners(table.take(order), rng)]
        return Release.of(table.take(rows))

    def _partners(self, table: Table, rng: Rng) -> Ints:
        """Return a permutation in which as many rows as possible get another row in reach, the rest themselves."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_bipartite_matching

        rows, columns = [], []
        for start in range(0, len(table), _BLOCK):
            block = np.arange(start, min(start + _BLOCK, len(table)))
            near = within_distance(table.take(block), table, self.reach, self.cells)
            near[np.arange(len(block)), block] = False
            lots = np.where(near, rng.random(near.shape), np.inf)
            drawn = np.argpartition(lots, min(_CANDIDATES, len(table) - 1), axis=1)[:, :_CANDIDATES]
            place, which = np.nonzero(np.isfinite(np.take_along_axis(lots, drawn, axis=1)))
            rows.append(block[place])
            columns.append(drawn[place, which])
        ends = (np.concatenate(rows), np.concatenate(columns))
        shape = (len(table), len(table))
        graph = csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=shape)
        partners = maximum_bipartite_matching(graph, perm_type="column").astype(np.int64)
        # Rows of a chain that begins at a row whose record nobody took keep their own records.
        for start in np.setdiff1d(np.arange(len(table)), partners).tolist():
            row = start
            while row >= 0:
                after = int(partners[row])
                partners[row] = row
                row = after
        return partners
