"""Sinkhorn's scaling: from scores of all pairs to the chances of each pair in a match of one to
one.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floating = TypeVar("Floating", np.float32, np.float64)


def balanced(scores: NDArray[Floating], rounds: int) -> NDArray[Floating]:
    """Scale exp(scores) so that rows sum to 1 and columns sum alike, shape as given.

    It approximates the chance of each pair in a random match in which a match is the likelier the
    higher its scores are.

    Examples -------- >>> balanced(np.log([[1.0, 1.0], [1.0, 3.0]]), rounds=50).round(3).tolist()  #
    (.634 / .366)^2 = 3 [[0.634, 0.366], [0.366, 0.634]]
    """
    # Far below the best of a row nothing can win any more; cut there, as denormal numbers are slow.
    farthest = -30.0 if scores.dtype.itemsize == 4 else -230.0
    smallest = np.finfo(scores.dtype).tiny ** 0.8
    pairs: NDArray[Floating] = scores - scores.max(axis=1, keepdims=True)
    np.maximum(pairs, scores.dtype.type(farthest), out=pairs)
    np.exp(pairs, out=pairs)
    rows = np.ones(len(pairs), dtype=scores.dtype)
    columns = np.ones(pairs.shape[1], dtype=scores.dtype)
    share = scores.dtype.type(len(pairs) / pairs.shape[1])
    for _ in range(rounds):
        columns = share / np.maximum(rows @ pairs, smallest)
        rows = 1 / np.maximum(pairs @ columns, smallest)
    pairs *= rows[:, None]
    pairs *= columns[None, :]
    return pairs
