"""Compiled loops of the attacks, apart so that Numba is loaded only when an attack runs.

Sums run in a fixed order, so that every machine gives the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kakurenbo.core.compiling import compiled

_FARTHEST = np.iinfo(np.int64).max
_NO_GAP = 3_037_000_499  # the largest gap whose square is a number of 64 bits
_SMALL = 1e-8  # a share x whose odds x / (1 - x) are x itself, but for the last bits
_SURE = 1e-12  # of the total: what is left for all other people where rounding leaves nothing


# -- nearest rows ------------------------------------------------------------------------------


@compiled
def find_nearest(
    index: Any, queries: Any, weight: Any, is_squared: Any
) -> Any:  # pragma: no cover - compiled
    """Return row number of, and distance to, the nearest row of the base for each query.

    Parameters
    ----------
    index : RowIndex
    queries : PackedRows
    weight : int
        What a category that differs adds to the distance.
    is_squared : bool
        Whether differences are squared, or added as they are.
    """
    count = len(queries.numbers)
    rows, distances = np.empty(count, np.int64), np.empty(count, np.int64)
    for query in range(count):
        best, best_row = _FARTHEST, _FARTHEST
        x, y = queries.numbers[query, 0], queries.numbers[query, 1]
        right = np.searchsorted(index.xs, x)
        left = right - 1
        while True:
            gap, column, left, right = _step(index.xs, 0, len(index.xs), left, right, x)
            of_column = gap * gap if is_squared else gap
            if gap == _NO_GAP or of_column > best:
                break
            start, stop = index.first_cell[column], index.first_cell[column + 1]
            above = start + np.searchsorted(index.ys[start:stop], y)
            below = above - 1
            while True:
                gap, cell, below, above = _step(index.ys, start, stop, below, above, y)
                least = of_column + (gap * gap if is_squared else gap)
                if gap == _NO_GAP or least > best:
                    break
                best, best_row = _search_cell(
                    index, queries, weight, is_squared, query, cell, least, best, best_row
                )
        rows[query], distances[query] = best_row, best
    return rows, distances


@compiled
def _step(
    values: Any, start: Any, stop: Any, below: Any, above: Any, value: Any
) -> Any:  # pragma: no cover - compiled
    """Return gap and place of the next value outwards, and the places to go on from."""
    gap_below = value - values[below] if below >= start else _NO_GAP
    gap_above = values[above] - value if above < stop else _NO_GAP
    if gap_below < gap_above:
        return gap_below, below, below - 1, above
    return gap_above, above, below, above + 1


@compiled
def _search_cell(
    index: Any,
    queries: Any,
    weight: Any,
    is_squared: Any,
    query: Any,
    cell: Any,
    least: Any,
    best: Any,
    best_row: Any,
) -> Any:  # pragma: no cover - compiled
    """Return the best distance and row after one cell, all of whose rows are at least so far
    away.
    """
    words, numbers = index.base
    word = queries.words[0, query]
    start, stop = index.first_row[cell], index.first_row[cell + 1]
    # The rows of the same first word first: often no other row can be as near any more.
    first = start + np.searchsorted(words[0, start:stop], word)
    for is_rest in range(2):
        if is_rest and least + weight > best:
            break
        for place in range(start if is_rest else first, stop):
            if not is_rest and words[0, place] != word:
                break
            distance = least + weight * _differing(words[0, place], word, index.lanes)
            if distance > best:
                continue
            for other in range(1, len(words)):
                differing = _differing(
                    words[other, place], queries.words[other, query], index.lanes
                )
                distance += weight * differing
            for column in range(2, numbers.shape[1]):
                gap = abs(numbers[place, column] - queries.numbers[query, column])
                distance += gap * gap if is_squared else gap
            if distance < best or (distance == best and index.rows[place] < best_row):
                best, best_row = distance, index.rows[place]
    return best, best_row


@compiled
def _differing(a: Any, b: Any, lanes: Any) -> Any:  # pragma: no cover - compiled
    """Count the lanes in which two words differ."""
    difference = a ^ b
    # The highest bit of a lane gets set exactly where the lane is not 0: it was, or the sum carries
    # into it.
    differs = (((difference & lanes.low) + lanes.low) | difference) & ~lanes.low
    # Each flag to the lowest bit of its lane; the product sums all lanes into the highest one.
    flags = differs >> (lanes.bits - np.uint64(1))
    return np.int64((flags * lanes.ones) >> (np.uint64(64) - lanes.bits))


# -- odds over all pairs -----------------------------------------------------------------------


@compiled
def add_odds(slots: Any, ends: Any, factors: Any, odds: Any) -> None:  # pragma: no cover - compiled
    """Add to the odds of each person, shape (n,), what some released rows give.

    Parameters
    ----------
    slots : array of uint32, shape (groups, n)
        In the order of the first group; unsigned, because Numba tests signed places for -1.
    ends : array of int64
        Behind the last person of each run of equal slots in the first group.
    factors : array, shape (m, factors)
    """
    groups, count = slots.shape
    likelihood = np.empty(count)
    for row in range(len(factors)):
        factor = factors[row]
        # Four sums side by side, because each addition has to wait for the one before it.
        sum_0 = sum_1 = sum_2 = sum_3 = 0.0
        begin = 0
        for end in ends:
            common, part = factor[slots[0, begin]], likelihood[begin:end]
            second, third = slots[1, begin:end], slots[2, begin:end]
            for b in range(len(part)):
                part[b] = common * factor[second[b]] * factor[third[b]]
            for group in range(3, groups):
                slot = slots[group, begin:end]
                for b in range(len(part)):
                    part[b] *= factor[slot[b]]
            fours = len(part) // 4 * 4
            for b in range(0, fours, 4):
                sum_0 += part[b]
                sum_1 += part[b + 1]
                sum_2 += part[b + 2]
                sum_3 += part[b + 3]
            for b in range(fours, len(part)):
                sum_0 += part[b]
            begin = end
        total = (sum_0 + sum_1) + (sum_2 + sum_3) if groups == 3 else likelihood.sum()
        if total > 0:
            scale = 1 / total
            for b in range(count):
                share = likelihood[b] * scale
                if share > _SMALL:
                    share /= max(1 - share, _SURE)
                odds[b] += share


# -- sparse features ---------------------------------------------------------------------------


@compiled
def add_products(places: Any, values: Any, products: Any) -> None:  # pragma: no cover - compiled
    """Add phi phi^T of every row, each two features once, on either side of the diagonal.

    Parameters
    ----------
    places : array of int32, shape (n, slots)
    values : array of float64, shape (n, slots)
    products : array of float64, shape (d, d)
        Added to.
    """
    slots = places.shape[1]
    for row in range(len(places)):
        for first in range(slots):
            place, value = places[row, first], values[row, first]
            if value != 0.0:
                for second in range(first, slots):
                    products[place, places[row, second]] += value * values[row, second]


@compiled
def weighted_sum(
    places: Any, values: Any, weights: Any, count: Any
) -> Any:  # pragma: no cover - compiled
    """Return the sum over rows of weight times phi, shape (count,)."""
    total = np.zeros(count)
    for row in range(len(places)):
        for slot in range(places.shape[1]):
            total[places[row, slot]] += weights[row] * values[row, slot]
    return total


@compiled
def dots(places: Any, values: Any, weights: Any) -> Any:  # pragma: no cover - compiled
    """Return phi^T weights of each row, shape (n,)."""
    products = np.zeros(len(places))
    for row in range(len(places)):
        total = 0.0
        for slot in range(places.shape[1]):
            total += weights[places[row, slot]] * values[row, slot]
        products[row] = total
    return products


# -- baskets -----------------------------------------------------------------------------------


@compiled
def nearest_buyers(
    released: Any, buyers: Any, weights: Any, count: int
) -> Any:  # pragma: no cover - compiled
    """Return for each owner who of ``count`` people has the largest product, the lowest of several;
    -1 where all are 0.

    ``released`` has the purchases of each owner, ``buyers`` the people of each purchase, both as
    (starts, entries), and ``weights`` what each entry of the two weighs.
    """
    best = np.full(len(released[0]) - 1, -1, dtype=np.int64)
    product, touched = np.zeros(count, dtype=np.float64), np.empty(count, dtype=np.int64)
    for owner in range(len(best)):
        met = 0
        for entry in range(released[0][owner], released[0][owner + 1]):
            purchase = released[1][entry]
            for place in range(buyers[0][purchase], buyers[0][purchase + 1]):
                person = buyers[1][place]
                if product[person] == 0:
                    touched[met] = person
                    met += 1
                product[person] += weights[0][entry] * weights[1][place]
        largest = 0.0
        for person in touched[:met]:
            if product[person] > largest or (product[person] == largest and person < best[owner]):
                largest, best[owner] = product[person], person
            product[person] = 0
    return best
