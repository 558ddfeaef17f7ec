"""The compiled loop of ``nearest_rows``: cells of a grid in rings of growing distance, rows of a cell by packed categories.

Kept apart so that Numba is loaded only when a search is run. Whole numbers throughout: no result hangs on the machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kakurenbo.core.compiling import compiled

FARTHEST = np.iinfo(np.int64).max


@compiled
def search(
    base: Any, rows: Any, grid: Any, queries: Any, weight: Any, power: Any, lanes: Any
) -> Any:  # pragma: no cover - compiled
    """Nearest row of the base for each query, ties by the lowest row number.

    Parameters
    ----------
    base, queries : PackedRows
    rows : array of int64, shape (n,)
        Row number of each position of the base.
    grid : Grid
    weight : int
        What a category mismatch adds to the distance.
    power : int
        2 to square differences, 1 to add them as they are.
    lanes : Lanes

    Returns
    -------
    rows, squares : arrays of int64, shape (m,)
    """
    count = len(queries.places)
    found_rows, found_squares = np.empty(count, np.int64), np.empty(count, np.int64)
    for query in range(count):
        best, best_row = FARTHEST, FARTHEST
        x, y = queries.places[query, 0], queries.places[query, 1]
        home_x, home_y = home(x, grid.axes[0]), home(y, grid.axes[1])
        # A query outside the grid looks from the cell at its edge; how far it is outside comes on top of every ring.
        outside = raised_gap(x, grid.axes[0], 0, grid.axes[0, 2], power) + raised_gap(
            y, grid.axes[1], 0, grid.axes[1, 2], power
        )
        for ring in range(len(grid.bounds)):
            if grid.bounds[ring] + outside > best:
                break
            step_x, step_y = grid.steps[ring, 0], grid.steps[ring, 1]
            for cell_x in range(home_x - step_x, home_x + step_x + 1, max(1, 2 * step_x)):
                for cell_y in range(home_y - step_y, home_y + step_y + 1, max(1, 2 * step_y)):
                    if 0 <= cell_x < grid.axes[0, 2] and 0 <= cell_y < grid.axes[1, 2]:
                        best, best_row = search_cell(
                            base,
                            rows,
                            grid,
                            queries,
                            weight,
                            power,
                            lanes,
                            query,
                            cell_x,
                            cell_y,
                            best,
                            best_row,
                        )
        found_rows[query], found_squares[query] = best_row, best
    return found_rows, found_squares


@compiled
def search_cell(
    base: Any,
    rows: Any,
    grid: Any,
    queries: Any,
    weight: Any,
    power: Any,
    lanes: Any,
    query: Any,
    cell_x: Any,
    cell_y: Any,
    best: Any,
    best_row: Any,
) -> Any:  # pragma: no cover - compiled
    """Best square and row so far, after one cell."""
    cell = cell_x * grid.axes[1, 2] + cell_y
    start, stop = grid.starts[cell], grid.starts[cell + 1]
    if start == stop:
        return best, best_row
    gap_x = raised_gap(queries.places[query, 0], grid.axes[0], cell_x, 1, power)
    gap_y = raised_gap(queries.places[query, 1], grid.axes[1], cell_y, 1, power)
    bound = gap_x + gap_y
    if bound > best:
        return best, best_row
    # Where a cell is one value wide, its gap is the difference itself; else the column is among the numbers.
    known = (gap_x if grid.axes[0, 1] == 1 else 0) + (gap_y if grid.axes[1, 1] == 1 else 0)
    # The rows of the same first word first: often no other row of the cell can be as near any more.
    same = first_at_least(base.words[0], start, stop, queries.words[0, query])
    same_stop = same
    while same_stop < stop and base.words[0, same_stop] == queries.words[0, query]:
        same_stop += 1
    best, best_row = scan(
        base,
        rows,
        queries,
        weight,
        power,
        lanes,
        query,
        same,
        same_stop,
        bound,
        known,
        best,
        best_row,
    )
    if bound + weight <= best:
        best, best_row = scan(
            base,
            rows,
            queries,
            weight,
            power,
            lanes,
            query,
            start,
            stop,
            bound,
            known,
            best,
            best_row,
        )
    return best, best_row


@compiled
def scan(
    base: Any,
    rows: Any,
    queries: Any,
    weight: Any,
    power: Any,
    lanes: Any,
    query: Any,
    start: Any,
    stop: Any,
    bound: Any,
    known: Any,
    best: Any,
    best_row: Any,
) -> Any:  # pragma: no cover - compiled
    """Best square and row so far, after the base rows at ``start`` to ``stop``."""
    first_words, word = base.words[0], queries.words[0, query]
    for position in range(start, stop):
        mismatch = mismatches(first_words[position], word, lanes)
        if bound + weight * mismatch > best:
            continue
        for other in range(1, base.words.shape[0]):
            mismatch += mismatches(base.words[other, position], queries.words[other, query], lanes)
        square = known + weight * mismatch
        for column in range(base.numbers.shape[1]):
            difference = base.numbers[position, column] - queries.numbers[query, column]
            square += difference * difference if power == 2 else abs(difference)
        if square < best or (square == best and rows[position] < best_row):
            best, best_row = square, rows[position]
    return best, best_row


@compiled
def mismatches(a: Any, b: Any, lanes: Any) -> Any:  # pragma: no cover - compiled
    """How many lanes of two words differ."""
    difference = a ^ b
    # The highest bit of a lane gets set exactly where the lane is not 0: it was, or the sum carries into it.
    differs = (((difference & lanes.low) + lanes.low) | difference) & ~lanes.low
    # Each flag to the lowest bit of its lane; the product sums all lanes into the highest one.
    return np.int64(
        ((differs >> (lanes.bits - np.uint64(1))) * lanes.ones) >> (np.uint64(64) - lanes.bits)
    )


@compiled
def home(value: Any, axis: Any) -> Any:  # pragma: no cover - compiled
    """The cell of a value along an axis, at the edge for a value outside."""
    return min(max((value - axis[0]) // axis[1], 0), axis[2] - 1)


@compiled
def raised_gap(
    value: Any, axis: Any, cell: Any, cells: Any, power: Any
) -> Any:  # pragma: no cover - compiled
    """Distance of a value to the nearest value of some cells along an axis, raised to a power of 1 or 2."""
    first = axis[0] + cell * axis[1]
    gap = max(first - value, value - (first + cells * axis[1] - 1), 0)
    return gap * gap if power == 2 else gap


@compiled
def first_at_least(
    words: Any, start: Any, stop: Any, word: Any
) -> Any:  # pragma: no cover - compiled
    """Position of the first of the sorted ``words[start:stop]`` that is not below ``word``, else ``stop``."""
    while start < stop:
        middle = (start + stop) // 2
        if words[middle] < word:
            start = middle + 1
        else:
            stop = middle
    return start
