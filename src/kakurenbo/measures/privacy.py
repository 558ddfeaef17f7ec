"""Privacy claims that can be computed from the tables themselves: k-anonymity and delta-presence."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kakurenbo.tables import Table


def k_anonymity(table: Table, names: Iterable[str] | None = None) -> int:
    """Size of the smallest group of rows that are equal on ``names`` (all columns by default); 0 for no rows.

    Examples
    --------
    >>> from kakurenbo.tables import Category, Schema
    >>> k_anonymity(Table.from_texts(Schema([Category("sex", ("F", "M"))]), {"sex": ["F", "F", "M"]}))
    1
    """
    _, counts = np.unique(table.keys(names), return_counts=True)
    return int(counts.min()) if len(counts) else 0


def delta_presence(population: Table, released: Table) -> tuple[float, float]:
    """Smallest and largest chance that a row of the population is in the release, seen from equal rows.

    For a row with value v it is min(1, rows equal to v in the release / rows equal to v in the population).

    Returns
    -------
    (float, float)
        delta_min and delta_max of (delta_min, delta_max)-presence.
    """
    # Keys of one table are only comparable among themselves, so both are numbered together.
    keys = Table.stack([population, released]).keys()
    distinct, number = np.unique(keys, return_inverse=True)
    ours, theirs = number[: len(population)], number[len(population) :]
    in_population, in_release = (np.bincount(numbers, minlength=len(distinct)) for numbers in (ours, theirs))
    present = in_release[ours] / in_population[ours]
    return float(min(1.0, present.min())), float(min(1.0, present.max()))
