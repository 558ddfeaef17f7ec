"""Whole rows as numbers: equal rows have equal numbers. Exact, and without sorting rows of many columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_MOST = 2**62
Keys = NDArray[np.int64]
Codes = NDArray[np.int32]


def row_keys(*tables: NDArray[np.int32] | NDArray[np.int64]) -> list[Keys]:
    """For tables of the same columns of codes, shape (n, columns) each, the number of every row, from 0 on, shape (n,) each.

    Examples
    --------
    >>> [keys.tolist() for keys in row_keys(np.array([[1, 2], [0, 5]]), np.array([[0, 5]]))]
    [[1, 0], [0]]
    """
    size, keys = 1, np.zeros(sum(map(len, tables)), dtype=np.int64)
    for place in range(tables[0].shape[1]):
        codes = np.concatenate([table[:, place] for table in tables])
        values = int(codes.max(initial=0)) + 1
        if size * values > _MOST:  # numbers of the rows so far are few; their keys need not be
            size, keys = _numbered(keys)
        keys = keys * values + codes
        size *= values
    _, keys = _numbered(keys)
    return list(np.split(keys, np.cumsum([len(table) for table in tables])[:-1]))


def _numbered(keys: Keys) -> tuple[int, Keys]:
    different, numbers = np.unique(keys, return_inverse=True)
    return len(different), numbers


def column_major(table: Codes) -> Codes:
    """The same table with each column in one piece of memory, as whoever goes through columns needs it."""
    return np.asfortranarray(table)


def joined(table: Codes, places: Sequence[int], sizes: Sequence[int]) -> Keys:
    """Some columns of a table as one, shape (n,)."""
    key = table[:, places[0]].astype(np.int64)
    for place in places[1:]:
        key *= sizes[place]
        key += table[:, place]
    return key
