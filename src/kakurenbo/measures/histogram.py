"""Histogram utility: how far the absolute frequencies of single values move (amic2020, eq. 1 and the main round's rule)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contracts import Score
from kakurenbo.tables import Table


def histogram_utility(original: Table, released: Table) -> Score:
    """U = 1 - sum |X^D - X^C| / (2 * records(C) * attributes(C)), over every value of every attribute.

    Absolute frequencies: a release with another number of records loses utility for that alone.

    Examples
    --------
    >>> from kakurenbo.tables import Category, Schema
    >>> schema = Schema([Category("sex", ("Female", "Male"))])
    >>> before, after = (Table.from_texts(schema, {"sex": column}) for column in (["Male"] * 4, ["Male"] * 3 + ["Female"]))
    >>> histogram_utility(before, after).value  # 1 - (1 + 1) / (2 * 4 * 1)
    0.75
    """
    differences = _differences(original, released)
    total = sum(int(np.abs(difference).sum()) for difference in differences.values())
    value = 1 - total / (2 * len(original) * len(original.schema))
    parts = {name: float(np.abs(difference).sum()) for name, difference in differences.items()}
    return Score(value, limit=_worst_value(original, differences, max(parts, key=lambda name: parts[name])), parts=parts)


def histogram_error(original: Table, released: Table) -> Score:
    """The largest error of one attribute, sum |X^D - X^C| / (2 * records(C)); the main round allows 3 %."""
    differences = _differences(original, released)
    parts = {name: int(np.abs(difference).sum()) / (2 * len(original)) for name, difference in differences.items()}
    worst = max(parts, key=lambda name: parts[name])
    return Score(parts[worst], higher_is_better=False, limit=_worst_value(original, differences, worst), parts=parts)


def _differences(original: Table, released: Table) -> dict[str, NDArray[np.int64]]:
    return {name: released.frequencies(name) - original.frequencies(name) for name in original.schema.names}


def _worst_value(original: Table, differences: dict[str, NDArray[np.int64]], attribute: str) -> dict[str, object]:
    """The value of the worst attribute whose frequency moved most; nothing where none moved."""
    difference = differences[attribute]
    code = int(np.abs(difference).argmax())
    if difference[code] == 0:
        return {}
    value = original.schema[attribute].values(np.array([code]))[0]
    return {"attribute": attribute, "value": str(value), "records": int(difference[code])}
