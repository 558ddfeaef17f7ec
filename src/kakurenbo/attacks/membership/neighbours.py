"""Exact nearest rows between tables of integers and categories, found by the structure of the columns.

The two widest integer columns span a grid. A compiled loop visits its cells in rings of growing distance, compares packed
categories, and stops when no farther ring can hold a row as near as the best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.membership.packing import SQUARED, Frame, Grid, Lanes, PackedRows
from kakurenbo.core import Category, Integer, Table
from kakurenbo.core.errors import ParameterError

_LARGEST_SQUARE = 2**62


class Neighbours(NamedTuple):
    """For each query row its nearest row.

    Attributes
    ----------
    rows : array of int64, shape (m,)
        Row number of the base; the lowest of those equally near.
    squares : array of int64, shape (m,)
        Squared distance to it; with ``power=1`` the sum of differences.
    """

    rows: NDArray[np.int64]
    squares: NDArray[np.int64]


def nearest_rows(
    base: Table, queries: Table, *, mismatch_weight: int = 1, power: int = 2
) -> Neighbours:
    """The nearest row of ``base`` for every row of ``queries``, ties by the lowest row number.

    Distance = sum over integer columns of |difference|^``power`` + ``mismatch_weight`` * number of categories that differ.

    Parameters
    ----------
    base : Table, n rows
        At least one row, of integers and categories.
    queries : Table, m rows
        Of the same schema.
    mismatch_weight : int
        1 by the rules of amic2020; 2 is the geometry of unscaled one-hot columns.
    power : int
        2 for squared Euclidean distances; 1 for the sum of differences.

    Notes
    -----
    In the worst case, where the grid tells no rows apart, all pairs of distinct rows are compared; memory stays linear.

    Examples
    --------
    >>> from kakurenbo.core import Category, Integer, Schema
    >>> schema = Schema([Integer("age", 17, 90), Category("sex", ("Female", "Male"))])
    >>> base = Table.from_rows(schema, [(20, "Male"), (30, "Male"), (32, "Female")])
    >>> nearest_rows(base, Table.from_rows(schema, [(31, "Female"), (22, "Female")]))
    Neighbours(rows=array([2, 0]), squares=array([1, 5]))
    """
    if queries.schema != base.schema:
        raise ParameterError("queries", f"a table of the columns {base.schema}", queries.schema)
    if not len(base):
        raise ParameterError("base", "a table of at least one row", "none")
    _check_columns(base, queries, mismatch_weight)
    from kakurenbo.attacks.membership.ring_search import search

    lanes, frame, packed, order, grid = base.derived(_laid_out, _laid_out)
    if power != SQUARED:
        grid = grid.with_power(power)
    sought = PackedRows.of(queries, frame, lanes)
    return Neighbours(
        *search(packed, order, grid, sought, np.int64(mismatch_weight), np.int64(power), lanes)
    )


def _laid_out(base: Table) -> tuple[Lanes, Frame, PackedRows, NDArray[np.int64], Grid]:
    """The base in the order of its grid, for any queries."""
    lanes, frame = Lanes.of(base.schema), Frame.of(base)
    packed = PackedRows.of(base, frame, lanes)
    grid, order = Grid.of(frame, packed)
    return lanes, frame, packed.take(order), order, grid


def _check_columns(base: Table, queries: Table, mismatch_weight: int) -> None:
    if mismatch_weight < 1:
        raise ParameterError("mismatch_weight", "a whole number of at least 1", mismatch_weight)
    largest = 0
    for column in base.schema:
        if isinstance(column, Integer):
            # What occurs counts, not the domain: a range may be given far wider than its values.
            ends = [
                end for table in (base, queries) if len(table) for end in _ends(table, column.name)
            ]
            largest += (max(ends) - min(ends)) ** 2
        elif isinstance(column, Category):
            largest += mismatch_weight
        else:
            raise ParameterError("base", "a table of integers and categories", column.name)
    if largest > _LARGEST_SQUARE:
        raise ParameterError(
            "base", "integer columns whose squared differences fit into 62 bits", base.schema
        )


def _ends(table: Table, name: str) -> tuple[int, int]:
    return int(table.codes[name].min()), int(table.codes[name].max())
