"""A figure of the competition's evaluator of darc2019 that counted for nothing, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from kakurenbo.core import Table
from kakurenbo.data.transactions import kept
from kakurenbo.measures.item_similarity import ItemMatrix, similarity_distance


def disabled_e2(original: Table, released: Table) -> float:
    """Return what the evaluator's E2 would have been: scores below the median of T's scores, in each table."""
    before, after = purchases(original, slice(None)), purchases(released, kept(released))
    median = float(np.median(before.scores))
    items = np.ones(len(original.vocabularies["id_item"]), dtype=bool)
    small = before.below(median), after.below(median)
    return similarity_distance(*small, (items, items), copurchasers=False).overall


def purchases(table: Table, rows: Any) -> ItemMatrix:
    users, items = table.codes["id_user"][rows], table.codes["id_item"][rows]
    count = len(table.vocabularies["id_item"])
    return ItemMatrix.of(users, items, table.values("qty")[rows], count)
