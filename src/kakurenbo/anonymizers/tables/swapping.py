"""Values change places between rows: whole columns at random (`permute`), or a share of the cells, near in rank (`swap`).

Every histogram stays exactly as it was; what goes is how the columns hang together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contracts import Anonymizer, Release, unknown_column
from kakurenbo.parameters import parameter
from kakurenbo.tables import Category, Codes, Decimal, Integer, Schema, Table


@dataclass(frozen=True)
class _ColumnByColumn(Anonymizer):
    """A method that moves the values of each chosen column by itself."""

    columns: tuple[str, ...] | None = parameter(None, "columns whose values move", none="all columns")

    @classmethod
    def accepts(cls, schema: Schema) -> bool:
        """Tables of numbers and categories."""
        return all(isinstance(column, Category | Integer | Decimal) for column in schema)

    def unfit(self, schema: Schema) -> str:
        return super().unfit(schema) or unknown_column(schema, self.columns)

    def _names(self, table: Table) -> tuple[str, ...]:
        return table.schema.names if self.columns is None else table.schema.select(self.columns).names


@dataclass(frozen=True)
class Permute(_ColumnByColumn):
    """Permute each column independently of the others: the histograms stay, everything between columns goes.

    Examples
    --------
    >>> table = Table.from_rows(Schema([Integer("age", 0, 9), Integer("size", 0, 9)]), [(n, n) for n in range(10)])
    >>> permuted = Permute()(table, np.random.default_rng(0)).table
    >>> sorted(permuted.values("age")) == sorted(table.values("age")), permuted == table
    (True, False)
    """

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        return Release.of(table.with_codes({name: rng.permutation(table.codes[name]) for name in self._names(table)}))


@dataclass(frozen=True)
class Swap(_ColumnByColumn):
    """Swap a share of each column's cells between pairs of rows; of numbers, only between rows that are near in rank.

    Examples
    --------
    >>> table = Table.from_rows(Schema([Integer("age", 0, 99)]), [(n,) for n in range(100)])
    >>> swapped = Swap(share=1.0, reach=0.05)(table, np.random.default_rng(0)).table
    >>> int(np.abs(swapped.values("age") - table.values("age")).max()) < 5
    True
    """

    share: float = parameter(0.2, "share of the cells of a column that are swapped", low=0, high=1)
    reach: float | None = parameter(
        None, "how far apart in rank two numbers that are swapped may be, as a share of the rows", low=0, high=1, none="any two"
    )

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        changed = {}
        for name in self._names(table):
            codes = table.codes[name]
            ordered = self.reach is not None and not isinstance(table.schema[name], Category)
            blocks = _rank_blocks(codes, self.reach or 0.0, rng) if ordered else np.zeros(len(codes), dtype=np.int64)
            changed[name] = _swapped(codes, blocks, round(self.share * len(codes)), rng)
        return Release.of(table.with_codes(changed))


def _rank_blocks(codes: Codes, reach: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """The block of each row, shape (n,): ranks in one block differ by less than the reach. Where blocks end is random."""
    width = max(1, math.floor(reach * len(codes)))
    ranks = np.empty(len(codes), dtype=np.int64)
    ranks[np.lexsort((rng.random(len(codes)), codes))] = np.arange(len(codes))
    blocks: NDArray[np.int64] = (ranks + rng.integers(width)) // width
    return blocks


def _swapped(codes: Codes, blocks: NDArray[np.int64], count: int, rng: np.random.Generator) -> Codes:
    """The column after ``count`` cells, chosen at random, were paired within their blocks and swapped; an odd one stays."""
    chosen = rng.permutation(len(codes))[:count]
    chosen = chosen[np.argsort(blocks[chosen], kind="stable")]
    starts = np.flatnonzero(np.r_[True, blocks[chosen][1:] != blocks[chosen][:-1]]) if len(chosen) else np.zeros(0, np.int64)
    place = np.arange(len(chosen)) - np.repeat(starts, np.diff(np.r_[starts, len(chosen)]))
    first = np.flatnonzero(place % 2 == 0)
    first = first[first + 1 < len(chosen)]
    first = first[blocks[chosen[first]] == blocks[chosen[first + 1]]]
    left, right = chosen[first], chosen[first + 1]
    swapped = codes.copy()
    swapped[left], swapped[right] = codes[right], codes[left]
    return swapped
