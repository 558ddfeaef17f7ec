"""Which records of a table are one of a kind, and which are near each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from kakurenbo.core.arrays import Bools, Floats
from kakurenbo.core.schema import Category, Decimal
from kakurenbo.core.table import Table

_TEN = 10
_ROUNDING = 1e-9


def unique_records(table: Table, exact: Iterable[str], in_tens: Iterable[str]) -> Bools:
    """Return which records have a combination of cells that no other record has, shape (n,).

    Numbers ``in_tens`` are rounded to tens before they are compared, half to even: 15 to 20, 25 to 20.
    """
    keys = table.keys(exact)
    for name in in_tens:
        tens = np.rint(table.values(name) / _TEN).astype(np.int64)
        _, keys = np.unique(np.stack([keys, tens]), axis=1, return_inverse=True)
    _, group, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return np.asarray(counts[group] == 1)


def within_distance(some: Table, others: Table, reach: float, cells: int) -> Bools:
    """Return which records differ by at most ``reach`` in each decimal number and in at most ``cells`` other cells, (n, m)."""
    moved, changed = changes(some, others)
    return (moved <= reach) & (changed <= cells)


def changes(
    some: Table, others: Table, offsets: Mapping[str, float] | None = None
) -> tuple[Floats, NDArray[np.int8]]:
    """Return the largest difference of a decimal number, and the count of other cells that differ, of any two records, (n, m).

    ``offsets`` are added to the decimal numbers of the others before they are compared.
    """
    moved = np.zeros((len(some), len(others)))
    changed = np.zeros((len(some), len(others)), dtype=np.int8)
    for column in some.schema:
        if isinstance(column, Decimal):
            theirs = others.values(column.name) + (offsets or {}).get(column.name, 0.0)
            apart = np.abs(some.values(column.name)[:, None] - theirs[None, :])
            np.maximum(moved, apart - _ROUNDING, out=moved)
        else:
            changed += differing(some, others, column.name)
    return moved, changed


def differing(some: Table, others: Table, name: str) -> Bools:
    """Return which two records differ in a column, shape (n, m); each table may have other levels."""
    column, another = some.schema[name], others.schema[name]
    first, second = some.codes[name], others.codes[name]
    if isinstance(column, Category) and isinstance(another, Category):
        known = {word: code for code, word in enumerate(column.levels)}
        codes = [known.get(word, -1) for word in another.levels]
        first, second = first.astype(np.int16), np.array(codes, dtype=np.int16)[second]
    else:
        first, second = some.values(name), others.values(name)
    return np.asarray(first[:, None] != second[None, :])
