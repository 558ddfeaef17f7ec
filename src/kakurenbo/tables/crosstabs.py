"""Two-way frequency tables of many column pairs at once, and how far those of two tables are apart."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.errors import ParameterError
from kakurenbo.tables.table import Table

Pair = tuple[str, str]
_BUNDLE_VALUES = 64  # two bundles then share a table of at most 4,096 cells: small beside 10,000 rows


def crosstab(table: Table, first: str, second: str) -> NDArray[np.int64]:
    """Absolute frequencies of the value pairs of two columns, shape (size of first, size of second)."""
    sizes = _sizes(table, (first, second))
    joint = table.codes[first].astype(np.intp) * sizes[second] + table.codes[second]
    return np.bincount(joint, minlength=sizes[first] * sizes[second]).reshape(sizes[first], sizes[second])


def crosstab_errors(original: Table, released: Table, pairs: Sequence[Pair]) -> NDArray[np.int64]:
    """e = sum over cells |freq in original - freq in released|, one per pair, shape (len(pairs),).

    Both tables have the same schema, so a cell that occurs in one of them only counts with frequency 0 in the other.

    Examples
    --------
    >>> from kakurenbo.tables import Integer, Schema
    >>> schema = Schema([Integer("x", 0, 1), Integer("y", 0, 1)])
    >>> before, after = (Table.from_rows(schema, rows) for rows in ([(0, 0), (1, 1)], [(0, 0), (1, 0)]))
    >>> crosstab_errors(before, after, [("x", "y")]).tolist()  # (1, 1) lost one, (1, 0) gained one
    [2]
    """
    if original.schema != released.schema:
        raise ParameterError("released", "a table of the original's columns and values", released.schema.names)
    names = tuple(dict.fromkeys(name for pair in pairs for name in pair))
    sizes = _sizes(original, names)
    bundles = _bundles(names, sizes)
    joined = [(_joined(original, bundle, sizes), _joined(released, bundle, sizes)) for bundle in bundles]
    # Tables of one shape and one set of wanted margins are summed out together: few calls, long arrays.
    alike: dict[tuple[Any, ...], list[tuple[tuple[int, ...], NDArray[np.int64]]]] = defaultdict(list)
    for (first, second), entries in _wanted(pairs, bundles).items():
        shape = tuple(sizes[name] for name in (bundles[first] + bundles[second] if first != second else bundles[first]))
        others = math.prod(sizes[name] for name in bundles[second])
        before, after = (
            own if first == second else own * others + other for own, other in zip(joined[first], joined[second], strict=True)
        )
        differences = np.bincount(before, minlength=math.prod(shape))
        differences -= np.bincount(after, minlength=math.prod(shape))
        indices, *axes = zip(*entries, strict=True)
        alike[(shape, *axes)].append((indices, differences))
    errors = np.empty(len(pairs), dtype=np.int64)
    for (shape, *axes), tables in alike.items():
        stacked = np.stack([table for _, table in tables]).reshape(-1, *shape)
        for place, kept in enumerate(zip(*axes, strict=True)):
            summed_out = tuple(axis + 1 for axis in range(len(shape)) if axis not in kept)
            margins = np.abs(stacked.sum(axis=summed_out)).reshape(len(tables), -1).sum(axis=1)
            errors[[indices[place] for indices, _ in tables]] = margins
    return errors


def _wanted(pairs: Sequence[Pair], bundles: Sequence[tuple[str, ...]]) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
    """For every two bundles the pairs to read off their joint table: (place in ``pairs``, axis of one, axis of the other)."""
    home = {name: (number, axis) for number, bundle in enumerate(bundles) for axis, name in enumerate(bundle)}
    wanted: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)
    for index, pair in enumerate(pairs):
        (first, axis), (second, other_axis) = sorted(home[name] for name in pair)
        offset = len(bundles[first]) if first != second else 0
        wanted[first, second].append((index, axis, offset + other_axis))
    return wanted


def _bundles(names: Sequence[str], sizes: dict[str, int]) -> list[tuple[str, ...]]:
    """Neighbouring columns joined as long as their value combinations stay few: one count then serves several pairs."""
    bundles: list[tuple[str, ...]] = []
    values = 0
    for name in names:
        if bundles and values * sizes[name] <= _BUNDLE_VALUES:
            bundles[-1] += (name,)
            values *= sizes[name]
        else:
            bundles.append((name,))
            values = sizes[name]
    return bundles


def _joined(table: Table, bundle: tuple[str, ...], sizes: dict[str, int]) -> NDArray[np.intp]:
    """One code per row for the values of a bundle, shape (n,)."""
    joined = table.codes[bundle[0]].astype(np.intp)
    for name in bundle[1:]:
        joined = joined * sizes[name] + table.codes[name]
    return joined


def _sizes(table: Table, names: Sequence[str]) -> dict[str, int]:
    sizes = {name: table.schema[name].size for name in names}
    for name, size in sizes.items():
        if size is None:
            raise ParameterError("pairs", "pairs of columns with a finite domain", name)
    return {name: size for name, size in sizes.items() if size is not None}
