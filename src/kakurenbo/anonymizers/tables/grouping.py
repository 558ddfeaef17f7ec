"""What methods that make records alike share: how far records are apart, and the one record that stands for a group."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from kakurenbo.tables import Category, Codes, Table


def standard_view(table: Table, names: Iterable[str]) -> NDArray[np.float64]:
    """Numbers in units of their spread, categories as indicators over the root of 2, shape (n, d).

    Two records that differ in a category are 1 apart in it, as if they differed by one standard deviation of a number.
    """
    parts = []
    for name in names:
        column, codes = table.schema[name], table.codes[name]
        if isinstance(column, Category):
            there = np.unique(codes)
            parts.append((codes[:, None] == there) / np.sqrt(2))
        else:
            spread = codes.astype(np.float64).std()
            parts.append((codes.astype(np.float64) / (spread if spread > 0 else 1.0))[:, None])
    return np.ascontiguousarray(np.hstack(parts)) if parts else np.zeros((len(table), 0))


def rewritten(table: Table, names: Iterable[str], groups: NDArray[np.int64]) -> Table:
    """The table with the chosen columns of each group made alike, ``groups`` of shape (n,) numbering it.

    A number becomes the lower median of its group, a category the level that occurs most, the first of equals: values that
    stand in the group, so in the domain.
    """
    changed: dict[str, Codes] = {}
    for name in names:
        codes = table.codes[name]
        typical = _mode if isinstance(table.schema[name], Category) else _lower_median
        changed[name] = typical(codes, groups)
    return table.with_codes(changed)


def _lower_median(codes: Codes, groups: NDArray[np.int64]) -> Codes:
    order = np.lexsort((codes, groups))
    _, starts, member, counts = np.unique(groups[order], return_index=True, return_inverse=True, return_counts=True)
    result = np.empty_like(codes)
    result[order] = codes[order][(starts + (counts - 1) // 2)[member]]
    return result


def _mode(codes: Codes, groups: NDArray[np.int64]) -> Codes:
    _, member = np.unique(groups, return_inverse=True)
    size = int(codes.max(initial=0)) + 1
    cells, counts = np.unique(member * size + codes.astype(np.int64), return_counts=True)
    owner = cells // size
    # By group, the largest count first, the first level of equals: the first line of each group is its mode.
    order = np.lexsort((cells, -counts, owner))
    _, firsts = np.unique(owner[order], return_index=True)
    modes: Codes = (cells[order][firsts] % size)[member]
    return modes
