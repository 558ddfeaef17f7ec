"""How far single records were changed: pwscup2021's ``Iloss``; dates, prices and deletions of darc2019 (rules 10b and 10c)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kakurenbo.contest import Score
from kakurenbo.core import Table
from kakurenbo.core.arrays import Bools, Floats, Ints
from kakurenbo.core.errors import ParameterError
from kakurenbo.data.transactions import price_changes

DAYS = 31


def record_change(
    original: Table, released: Table, numbers: Sequence[str], others: Sequence[str]
) -> Score:
    """Largest change of a record: of one of its numbers, or the count of its other cells that changed.

    Both tables have the same records in the same order.
    """
    if len(original) != len(released):
        raise ParameterError("released", f"a table of {len(original):,} rows", len(released))
    if not len(original):
        return Score(0.0, higher_is_better=False)
    # Without the rounding 31.7 and 27.7 would be a little more than 4 apart.
    changes = {
        name: np.abs(released.values(name) - original.values(name)).astype(np.float64).round(9)
        for name in numbers
    }
    changes["cells"] = np.zeros(len(original))
    for name in others:
        changes["cells"] += released.values(name) != original.values(name)
    most = {name: float(values.max()) for name, values in changes.items()}
    worst = max(most, key=lambda name: most[name])
    limit = {"column": worst, "row": int(changes[worst].argmax())} if most[worst] else {}
    parts = {**most, **{f"mean_{name}": float(values.mean()) for name, values in changes.items()}}
    return Score(most[worst], higher_is_better=False, limit=limit, parts=parts)


def date_change(original: Ints, released: Ints, kept: Bools) -> float:
    """E4: mean |days(T) - days(A)| / 31 over the rows of T; deleted rows add nothing."""
    days = np.abs(released.astype(np.int64) - original)[kept].sum()
    return float(days) / (DAYS * len(kept)) if len(kept) else 0.0


def price_change(original: Floats, released: Floats, kept: Bools) -> float:
    """E5: mean of ``price_changes`` over the rows of T; deleted rows add nothing."""
    changes = price_changes(original[kept], released[kept])
    return float(changes.sum()) / len(kept) if len(kept) else 0.0


def deleted_share(kept: Bools) -> float:
    """E6: fraction of the rows of T that are deleted."""
    return float((~kept).mean()) if len(kept) else 0.0
