"""Histogram utility: how far the absolute frequencies of single values move (amic2020, eq. 1 and the main round's rule)."""

from __future__ import annotations

import numpy as np

from kakurenbo.contest import Score
from kakurenbo.core import Table


def histogram_utility(original: Table, released: Table) -> Score:
    """U = 1 - sum |X^D - X^C| / (2 * records(C) * attributes(C)), over every value of every attribute.

    Absolute frequencies: a release with another number of records loses utility for that alone.

    Examples
    --------
    >>> from kakurenbo.core import Category, Schema
    >>> schema = Schema([Category("sex", ("Female", "Male"))])
    >>> before, after = (Table.from_texts(schema, {"sex": column}) for column in (["Male"] * 4, ["Male"] * 3 + ["Female"]))
    >>> histogram_utility(before, after).value  # 1 - (1 + 1) / (2 * 4 * 1)
    0.75
    """
    distances, limit = _changes(original, released)
    value = 1 - sum(distances.values()) / (2 * len(original) * len(distances))
    parts = {name: float(distance) for name, distance in distances.items()}
    return Score(value, limit=limit, parts=parts)


def histogram_error(original: Table, released: Table) -> Score:
    """Largest error of one attribute, sum |X^D - X^C| / (2 * records(C)); the main round allows 3 %."""
    distances, limit = _changes(original, released)
    errors = {name: distance / (2 * len(original)) for name, distance in distances.items()}
    return Score(max(errors.values()), higher_is_better=False, limit=limit, parts=errors)


def _changes(original: Table, released: Table) -> tuple[dict[str, int], dict[str, object]]:
    """Return sum |X^D - X^C| of each attribute, and the value that changed most in the worst attribute."""
    names = original.schema.names
    changes = {name: released.frequencies(name) - original.frequencies(name) for name in names}
    distances = {name: int(np.abs(change).sum()) for name, change in changes.items()}
    worst = max(names, key=lambda name: distances[name])
    if not distances[worst]:
        return distances, {}
    code = int(np.abs(changes[worst]).argmax())
    value = str(original.schema[worst].values(np.array([code]))[0])
    return distances, {"attribute": worst, "value": value, "records": int(changes[worst][code])}
