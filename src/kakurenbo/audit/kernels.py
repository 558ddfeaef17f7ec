"""The compiled loops over released rows and people; apart, so that Numba is loaded only when they are run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.core.compiling import compiled

TILE = 128  # released rows that are looked up together: enough for wide registers, few enough to stay in a fast cache
_TINY = 1e-300


@compiled
def multiply_tile(
    tile: Any, matrix: Any, values: Any, codes: Any
) -> None:  # pragma: no cover - compiled
    """Multiply each value's place by what the rows of the tile give it.

    Parameters
    ----------
    tile : array of float64, shape (k, TILE)
        Changed.
    matrix : array of float64, shape (size, released)
    values : array of uint32, shape (k,)
    codes : array of uint32, shape (TILE,)
        Of the released rows.
    """
    for place in range(len(values)):
        given, made = matrix[values[place]], tile[place]
        for row in range(TILE):
            made[row] *= given[codes[row]]


@compiled
def add_tile(
    tile: Any, matrix: Any, values: Any, codes: Any
) -> None:  # pragma: no cover - compiled
    """The same with sums."""
    for place in range(len(values)):
        given, made = matrix[values[place]], tile[place]
        for row in range(TILE):
            made[row] += given[codes[row]]


@compiled
def divide_tile(
    tile: Any, matrix: Any, values: Any, codes: Any
) -> None:  # pragma: no cover - compiled
    """The same with quotients."""
    for place in range(len(values)):
        given, made = matrix[values[place]], tile[place]
        for row in range(TILE):
            made[row] /= given[codes[row]]


@compiled
def _multiply(slots: Any, tile: Any, made: Any) -> None:  # pragma: no cover - compiled
    """Fill in the products of one person's places, shape (TILE,)."""
    first = tile[slots[0]]
    for row in range(TILE):
        made[row] = first[row]
    fours = 1 + (len(slots) - 1) // 4 * 4
    for group in range(1, fours, 4):
        one, two, three, four = (
            tile[slots[group]],
            tile[slots[group + 1]],
            tile[slots[group + 2]],
            tile[slots[group + 3]],
        )
        for row in range(TILE):
            made[row] *= one[row] * two[row] * three[row] * four[row]
    for group in range(fours, len(slots)):
        one = tile[slots[group]]
        for row in range(TILE):
            made[row] *= one[row]


@compiled
def _add_up(slots: Any, tile: Any, made: Any) -> None:  # pragma: no cover - compiled
    """The same with sums."""
    first = tile[slots[0]]
    for row in range(TILE):
        made[row] = first[row]
    fours = 1 + (len(slots) - 1) // 4 * 4
    for group in range(1, fours, 4):
        one, two, three, four = (
            tile[slots[group]],
            tile[slots[group + 1]],
            tile[slots[group + 2]],
            tile[slots[group + 3]],
        )
        for row in range(TILE):
            made[row] += one[row] + two[row] + three[row] + four[row]
    for group in range(fours, len(slots)):
        one = tile[slots[group]]
        for row in range(TILE):
            made[row] += one[row]


@compiled
def take_least(
    slots: Any, tile: Any, first: int, least: Any, nearest: Any
) -> None:  # pragma: no cover - compiled
    """Lower each person's least cost to that of the cheapest of the rows of a tile.

    Parameters
    ----------
    slots : array of uint32, shape (n, groups)
    tile : array of float64, shape (places, TILE)
        Costs.
    first : int
        The number of the first of these rows.
    least : array of float64, shape (n,)
        Lowered.
    nearest : array of int64, shape (n,)
        The row of the least cost.
    """
    total = np.empty(TILE)
    for person in range(len(slots)):
        _add_up(slots[person], tile, total)
        lowest, lower = least[person], 0
        for row in range(TILE):
            lower += total[row] < lowest
        if lower:
            for row in range(TILE):
                if total[row] < lowest:
                    lowest = total[row]
                    nearest[person] = first + row
            least[person] = lowest


@compiled
def fill_products(slots: Any, tile: Any, products: Any) -> None:  # pragma: no cover - compiled
    """Fill in P(released row | person) of every pair, shape (n, TILE)."""
    for person in range(len(slots)):
        _multiply(slots[person], tile, products[person])


@compiled
def sum_products(slots: Any, tile: Any, summed: Any) -> None:  # pragma: no cover - compiled
    """Add P(released row | person) of everybody to each row's sum, shape (TILE,)."""
    product = np.empty(TILE)
    for person in range(len(slots)):
        _multiply(slots[person], tile, product)
        for row in range(TILE):
            summed[row] += product[row]


@compiled
def add_votes(
    slots: Any, tile: Any, own: Any, ratios: Any, shown: Any, nothing: float, votes: Any, total: Any
) -> None:  # pragma: no cover - compiled
    """Let every released row vote for the values that it shows, with P(released row | person), for each person and column.

    Parameters
    ----------
    slots : array of uint32, shape (n, groups)
    tile : array of float64, shape (places, TILE)
    own : array of uint32, shape (n, sought)
        Where each person's ratios stand.
    ratios : array of float64, shape (r, TILE)
        What takes the column that is voted on out of the product, times the weight of the row.
    shown : array of uint32, shape (sought, TILE)
        The place of the value that each row shows among the votes.
    nothing : float
        A share of a person's votes so far: a row that adds no more than that to any column is passed over.
    votes : array of float64, shape (n, values of all columns)
        Added to.
    total : array of float64, shape (n, sought)
        The votes that each person has so far, raised.
    """
    product, most = np.empty(TILE), np.empty(TILE)
    for person in range(len(slots)):
        _multiply(slots[person], tile, product)
        most[:] = 0
        for column in range(len(shown)):
            ratio, scale = ratios[own[person, column]], 1 / max(total[person, column], _TINY)
            for row in range(TILE):
                share = ratio[row] * scale
                most[row] = share if share > most[row] else most[row]
        cast = votes[person]
        for row in range(TILE):
            if product[row] * most[row] > nothing:
                for column in range(len(shown)):
                    vote = product[row] * ratios[own[person, column], row]
                    cast[shown[column, row]] += vote
                    total[person, column] += vote


def how_many(keys: NDArray[np.int64], sought: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often each sought number occurs among the keys, shape of ``sought``."""
    bits = max(int(2 * len(sought)).bit_length(), 4)
    return np.asarray(_count_sought(keys, sought, bits))


@compiled
def _count_sought(keys: Any, sought: Any, bits: int) -> Any:  # pragma: no cover - compiled
    """Look the keys up in a hash table of what is sought: it is small, the keys are many.

    Parameters
    ----------
    keys, sought : arrays of int64
    bits : int
        Of a place in the table, so that at least half of it stays empty.
    """
    size = 1 << bits
    at = np.full(size, -1)
    counts = np.zeros(size, dtype=np.int64)
    held = np.empty(size, dtype=np.int64)
    for number in sought:
        place = _place(number, bits)
        while at[place] >= 0 and held[place] != number:
            place = (place + 1) & (size - 1)
        at[place], held[place] = 0, number
    for number in keys:
        place = _place(number, bits)
        while at[place] >= 0:
            if held[place] == number:
                counts[place] += 1
                break
            place = (place + 1) & (size - 1)
    found = np.empty(len(sought), dtype=np.int64)
    for row in range(len(sought)):
        place = _place(sought[row], bits)
        while held[place] != sought[row]:
            place = (place + 1) & (size - 1)
        found[row] = counts[place]
    return found


@compiled
def _place(number: int, bits: int) -> Any:  # pragma: no cover - compiled
    """Where a number stands in a table: the upper bits of its product with 2^64 over the golden ratio (Knuth)."""
    return np.int64((np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits))
