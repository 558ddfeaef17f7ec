"""Shares of the cells of two-way tables (pwscup2021's ``rate``): every variable against one target column."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contracts import Score
from kakurenbo.tables import Category, Table

Cell = tuple[str, str, str]
"""Variable, its level, and the value of the target column."""


@dataclass(frozen=True)
class Bins:
    """Intervals of a number, open on the left: what lies at or below the first edge after clipping falls in none.

    Attributes
    ----------
    edges : tuple of float
        Ascending; values are clipped to the first and the last of them.
    labels : tuple of str
        One for each interval.
    """

    edges: tuple[float, ...]
    labels: tuple[str, ...]

    @classmethod
    def between(cls, *edges: float) -> Bins:
        """Bins that are called by their ends.

        Examples
        --------
        >>> Bins.between(19, 44, 80).labels
        ('(19, 44]', '(44, 80]')
        """
        return cls(edges, tuple(f"({low:g}, {high:g}]" for low, high in itertools.pairwise(edges)))

    def codes(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The interval of every value, shape (n,); -1 for none."""
        clipped = np.clip(values, self.edges[0], self.edges[-1])
        return np.searchsorted(np.asarray(self.edges), clipped, side="left").astype(np.int64) - 1


@dataclass(frozen=True, eq=False)
class CellCounts:
    """The cells of all two-way tables of one table.

    Attributes
    ----------
    rows : int
    counts : mapping of Cell to int
        Every level that occurs (every bin of a number) with every value of the target that occurs.
    """

    rows: int
    counts: Mapping[Cell, int]


def cell_counts(table: Table, target: str, variables: Sequence[str], bins: Mapping[str, Bins]) -> CellCounts:
    """Count the cells of each variable against the target; ``bins`` are those of the variables that are numbers."""
    values, outcome = np.unique(table.values(target), return_inverse=True)
    outcomes = [f"{value:g}" for value in values.tolist()]
    counts: dict[Cell, int] = {}
    for name in variables:
        codes, labels, everywhere = _levels(table, name, bins)
        found = np.bincount(codes[codes >= 0] * len(values) + outcome[codes >= 0], minlength=len(labels) * len(values))
        by_label = found.reshape(len(labels), len(values))
        for label, row in zip(labels, by_label.tolist(), strict=True):
            if everywhere or any(row):
                counts |= {(name, label, value): count for value, count in zip(outcomes, row, strict=True)}
    return CellCounts(len(table), counts)


def _levels(table: Table, name: str, bins: Mapping[str, Bins]) -> tuple[NDArray[np.int64], tuple[str, ...], bool]:
    column = table.schema[name]
    if name in bins:
        return bins[name].codes(table.values(name).astype(np.float64)), bins[name].labels, True
    assert isinstance(column, Category)
    return table.codes[name].astype(np.int64), column.levels, False


def share_difference(before: CellCounts, after: CellCounts, *, count_absent: bool = True) -> Score:
    """The largest |share before - share after| over all cells; the mean, and the same of counts, are told beside it.

    Parameters
    ----------
    before, after : CellCounts
    count_absent : bool
        Whether a cell that one table does not have is empty there; else it is passed over, as if it did not matter.
    """
    known = before.counts.keys() | after.counts.keys() if count_absent else before.counts.keys() & after.counts.keys()
    cells = sorted(known)
    counts = np.array([(before.counts.get(cell, 0), after.counts.get(cell, 0)) for cell in cells], dtype=np.float64)
    if not len(cells):
        return Score(0.0, higher_is_better=False)
    shares = np.abs(counts[:, 0] / before.rows - counts[:, 1] / after.rows)
    numbers = np.abs(counts[:, 0] - counts[:, 1])
    worst = int(shares.argmax())
    parts = {"mean": float(shares.mean()), "max_count": float(numbers.max()), "mean_count": float(numbers.mean())}
    variable, level, outcome = cells[worst]
    limit = {"variable": variable, "level": level, "target": outcome} if shares[worst] else {}
    return Score(float(shares[worst]), higher_is_better=False, limit=limit, parts=parts)
