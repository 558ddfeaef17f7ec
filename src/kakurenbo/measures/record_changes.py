"""How far single records were changed (pwscup2021's ``Iloss``)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kakurenbo.contracts import Score
from kakurenbo.errors import ParameterError
from kakurenbo.tables import Table


def record_change(original: Table, released: Table, numbers: Sequence[str], others: Sequence[str]) -> Score:
    """The largest change of a record: of one of its numbers, or the count of its other cells that changed.

    Parameters
    ----------
    original, released : Table
        The same records in the same order.
    numbers, others : sequence of str
        Columns whose change is a difference, and columns in which a cell is changed or not.
    """
    if len(original) != len(released):
        raise ParameterError("released", f"a table of {len(original):,} rows", len(released))
    if not len(original):
        return Score(0.0, higher_is_better=False)
    # Without the rounding 31.7 and 27.7 would be a little more than 4 apart.
    changes = {name: np.abs(released.values(name) - original.values(name)).astype(np.float64).round(9) for name in numbers}
    changed = np.zeros(len(original))
    for name in others:
        changed += released.values(name) != original.values(name)
    changes["cells"] = changed
    most = {name: float(values.max()) for name, values in changes.items()}
    worst = max(most, key=lambda name: most[name])
    limit = {"column": worst, "row": int(changes[worst].argmax())} if most[worst] else {}
    parts = {**most, **{f"mean_{name}": float(values.mean()) for name, values in changes.items()}}
    return Score(most[worst], higher_is_better=False, limit=limit, parts=parts)
