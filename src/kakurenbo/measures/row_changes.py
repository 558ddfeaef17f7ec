"""How far the rows of A(T) are from those of T (darc2019, rules 10b and 10c): dates, prices, deletions.

A(T) has the rows of T in their order. Deleted rows add nothing and stay in the denominator.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kakurenbo.datasets.transactions import price_changes

DAYS = 31


def date_change(original: NDArray[np.int64], released: NDArray[np.int64], kept: NDArray[np.bool_]) -> float:
    """E4: mean |days(T) - days(A)| / 31 over the rows of T; days count from any fixed day."""
    days = np.abs(released.astype(np.int64) - original)[kept].sum()
    return float(days) / (DAYS * len(kept)) if len(kept) else 0.0


def price_change(original: NDArray[np.float64], released: NDArray[np.float64], kept: NDArray[np.bool_]) -> float:
    """E5: mean of ``price_changes`` over the rows of T."""
    changes = price_changes(original[kept], released[kept])
    return float(changes.sum()) / len(kept) if len(kept) else 0.0


def deleted_share(kept: NDArray[np.bool_]) -> float:
    """E6: fraction of the rows of T that are deleted."""
    return float((~kept).mean()) if len(kept) else 0.0
