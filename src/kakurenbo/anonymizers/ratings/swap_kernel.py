"""The hot loop of `even_tables`: trade ratings between two rows of a block, which leaves the block's own tables as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.anonymizers.ratings.repair_kernel import CrosstabState
from kakurenbo.compiling import compiled

_PARTNERS = 6  # rows of the same block that a cell tries to trade with


def trade_within(state: CrosstabState, blocks: NDArray[np.int64], bound: int, rng: np.random.Generator) -> bool:
    """One sweep over all cells; whether all errors are within ``bound`` now.

    Parameters
    ----------
    state : CrosstabState
        Changed in place.
    blocks : array, shape (rows,)
        The block of each row. A column that is constant in every block keeps all its two-way tables.
    bound : int
        Only tables whose error is above it count.
    rng : Generator
    """
    order = rng.permutation(len(blocks))
    members = np.argsort(blocks, kind="stable")
    ends = np.cumsum(np.bincount(blocks))
    begins = np.concatenate(([0], ends[:-1]))
    return bool(
        _trade(
            state.codes,
            state.cells,
            state.offsets,
            state.strides,
            state.errors,
            order,
            members,
            begins[blocks],
            (ends - begins)[blocks],
            bound,
            rng,
        )
    )


@compiled
def _trade(
    codes: Any,
    cells: Any,
    offsets: Any,
    strides: Any,
    errors: Any,
    order: Any,
    members: Any,
    begins: Any,
    sizes: Any,
    bound: int,
    rng: Any,
) -> bool:
    columns = codes.shape[0]
    for step in range(len(order)):
        row = order[step]
        if sizes[row] < 2:
            continue
        for column in range(columns):
            if errors[column].max() <= bound:
                continue
            best, best_change = -1, 0
            for _ in range(_PARTNERS):
                partner = members[begins[row] + int(rng.random() * sizes[row])]
                if codes[column, partner] == codes[column, row]:
                    continue
                change = _change(codes, cells, offsets, strides, errors, column, row, partner, bound)
                if change < best_change:
                    best, best_change = partner, change
            if best >= 0:
                _exchange(codes, cells, offsets, strides, errors, column, row, best)
        if step % 100 == 0 and errors.max() <= bound:
            return True
    return bool(errors.max() <= bound)


@compiled
def _change(
    codes: Any, cells: Any, offsets: Any, strides: Any, errors: Any, column: int, row: int, partner: int, bound: int
) -> int:
    """What trading the cells of two rows adds to the errors of the tables that are above the bound."""
    change = 0
    mine, yours = codes[column, row], codes[column, partner]
    for other in range(codes.shape[0]):
        offset = offsets[column, other]
        if other == column or offset < 0 or codes[other, row] == codes[other, partner]:
            continue
        if errors[column, other] <= bound:
            continue
        step, beside = strides[column, other], strides[other, column]
        here, there = offset + codes[other, row] * beside, offset + codes[other, partner] * beside
        for cell, sign in (
            (here + mine * step, -1),
            (here + yours * step, 1),
            (there + yours * step, -1),
            (there + mine * step, 1),
        ):
            change += abs(cells[cell] + sign) - abs(cells[cell])
    return change


@compiled
def _exchange(codes: Any, cells: Any, offsets: Any, strides: Any, errors: Any, column: int, row: int, partner: int) -> None:
    mine, yours = codes[column, row], codes[column, partner]
    for other in range(codes.shape[0]):
        offset = offsets[column, other]
        if other == column or offset < 0 or codes[other, row] == codes[other, partner]:
            continue
        step, beside = strides[column, other], strides[other, column]
        here, there = offset + codes[other, row] * beside, offset + codes[other, partner] * beside
        change = 0
        for cell, sign in (
            (here + mine * step, -1),
            (here + yours * step, 1),
            (there + yours * step, -1),
            (there + mine * step, 1),
        ):
            change += abs(cells[cell] + sign) - abs(cells[cell])
            cells[cell] += sign
        errors[column, other] += change
        errors[other, column] += change
    codes[column, row], codes[column, partner] = yours, mine
