"""Two-way tables: absolute errors of all pairs (pwscup2024), shares of cells against one target column (pwscup2021's rate)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from kakurenbo.contest import Score
from kakurenbo.core import Category, Table
from kakurenbo.core.arrays import Floats, Ints
from kakurenbo.core.statistics import Pair, crosstab_errors

Cell = tuple[str, str, str]
"""Variable, its level, and the value of the target column."""


def compared_pairs(columns: Sequence[str], exempt: Sequence[str]) -> list[Pair]:
    """Return every pair of columns that is not made of two exempt ones (the attributes), in column order.

    Examples
    --------
    >>> compared_pairs(["Gender", "Age", "260"], exempt=["Gender", "Age"])
    [('Gender', '260'), ('Age', '260')]
    """
    return [pair for pair in combinations(columns, 2) if not set(pair) <= set(exempt)]


def crosstab_utility(original: Table, released: Table, exempt: Sequence[str] = ()) -> Score:
    """U_j = 100 (1 - max e / 2n) of one file, e the absolute error of a pair's two-way table and n the rows (10,000).

    Pairs of two ``exempt`` columns do not count.
    """
    pairs = compared_pairs(original.schema.names, exempt)
    if not pairs:
        return Score(100.0)
    errors = crosstab_errors(original, released, pairs)
    worst = int(errors.argmax())
    error = int(errors[worst])
    limit = {"pair": list(pairs[worst]), "error": error} if error else {}
    return Score(50 * (2 * len(original) - error) / len(original), limit=limit)


def least_utility(scores: Sequence[Score]) -> Score:
    """U = min_j U_j, limited by the file that has it."""
    file, least = min(enumerate(scores), key=lambda pair: pair[1].value)
    return Score(least.value, limit={"file": file, **least.limit} if least.limit else {})


@dataclass(frozen=True)
class Bins:
    """Intervals of a number, open on the left, by ascending edges: values are clipped to the first and the last.

    What lies at or below the first edge after clipping falls in none.
    """

    edges: tuple[float, ...]
    labels: tuple[str, ...]

    @classmethod
    def between(cls, *edges: float) -> Bins:
        """Return bins that are called by their ends.

        Examples
        --------
        >>> Bins.between(19, 44, 80).labels
        ('(19, 44]', '(44, 80]')
        """
        return cls(edges, tuple(f"({low:g}, {high:g}]" for low, high in pairwise(edges)))

    def codes(self, values: Floats) -> Ints:
        """Return the interval of every value, shape (n,); -1 for none."""
        clipped = np.clip(values, self.edges[0], self.edges[-1])
        return np.searchsorted(np.asarray(self.edges), clipped, side="left").astype(np.int64) - 1


@dataclass(frozen=True, eq=False)
class CellCounts:
    """Counts of every level that occurs (every bin of a number) with every value of the target that occurs."""

    rows: int
    counts: Mapping[Cell, int]


def cell_counts(
    table: Table, target: str, variables: Sequence[str], bins: Mapping[str, Bins]
) -> CellCounts:
    """Count the cells of each variable against the target; ``bins`` are those of the variables that are numbers."""
    values, outcome = np.unique(table.values(target), return_inverse=True)
    counts: dict[Cell, int] = {}
    for name in variables:
        if name in bins:
            codes = bins[name].codes(table.values(name).astype(np.float64))
            labels = bins[name].labels
        else:
            column = table.schema[name]
            assert isinstance(column, Category)
            codes, labels = table.codes[name].astype(np.int64), column.levels
        joint = codes[codes >= 0] * len(values) + outcome[codes >= 0]
        table_counts = np.bincount(joint, minlength=len(labels) * len(values))
        for label, row in zip(labels, table_counts.reshape(len(labels), -1), strict=True):
            if name in bins or row.any():
                for value, count in zip(values.tolist(), row.tolist(), strict=True):
                    counts[name, label, f"{value:g}"] = count
    return CellCounts(len(table), counts)


def share_difference(before: CellCounts, after: CellCounts, *, count_absent: bool = True) -> Score:
    """Largest |share before - share after| over all cells, with the mean, and the same of counts, as parts.

    With ``count_absent`` a cell that one table does not have is empty there; else it is passed over.
    """
    first, second = before.counts, after.counts
    cells = sorted(first.keys() | second.keys() if count_absent else first.keys() & second.keys())
    if not cells:
        return Score(0.0, higher_is_better=False)
    counts = np.array([(first.get(cell, 0), second.get(cell, 0)) for cell in cells], dtype=float)
    changes = np.abs(counts[:, 0] - counts[:, 1])
    shares = np.abs(counts[:, 0] / before.rows - counts[:, 1] / after.rows)
    largest, cell = float(shares.max()), cells[int(shares.argmax())]
    limit = dict(zip(("variable", "level", "target"), cell, strict=True)) if largest else {}
    parts = {"mean": shares.mean(), "max_count": changes.max(), "mean_count": changes.mean()}
    parts = {name: float(value) for name, value in parts.items()}
    return Score(largest, higher_is_better=False, limit=limit, parts=parts)
