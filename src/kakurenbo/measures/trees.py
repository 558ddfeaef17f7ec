"""Decision-tree utility (amic2020, eq. 3): does a tree grown on the release judge people as one grown on the original does?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contracts import Score
from kakurenbo.measures.cart import LEAF, Tree, grow
from kakurenbo.tables import Category, Schema, Table, dummy_names


@dataclass(frozen=True)
class TreeTask:
    """A binary question about a table: is ``target`` equal to ``positive``?"""

    target: str
    positive: str
    max_depth: int

    def features(self, schema: Schema) -> tuple[str, ...]:
        """Numbers first, then the categories in table order, without the target."""
        numbers = [column.name for column in schema if not isinstance(column, Category)]
        categories = [column.name for column in schema if isinstance(column, Category) and column.name != self.target]
        return (*numbers, *categories)

    def matrix(self, table: Table) -> NDArray[np.float32]:
        """Features with the first level of each category dropped, shape (n, d); float32 as the trees work with."""
        return table.dummies(drop_first=True, names=self.features(table.schema), dtype=np.float32)

    def truth(self, table: Table) -> NDArray[np.int8]:
        """1 where the row is of the positive class, shape (n,)."""
        column = table.schema[self.target]
        assert isinstance(column, Category)
        truth: NDArray[np.int8] = (table.codes[self.target] == column.code(self.positive)).astype(np.int8)
        return truth


def tree_utility(task: TreeTask, original: Table, released: Table, test: Table) -> Score:
    """F-measure of the released tree's predictions with the original tree's as the truth, on the test rows.

    Both trees are those of scikit-learn with ``random_state=0``; 0/0 is 0. The figure for another positive class comes from
    trees of its own: where a leaf is split evenly, a tree decides for the class that it calls 0, so neither is the other's
    reverse.
    """
    ours, theirs = _grow(task, original), _grow(task, released)
    rows = task.matrix(test)
    truth, predicted = ours.predict(rows), theirs.predict(rows)
    missed, invented = int((truth & ~predicted).sum()), int((~truth & predicted).sum())
    limit: dict[str, object] = {}
    if missed or invented:
        names = dummy_names(original.schema, drop_first=True, names=task.features(original.schema))
        limit = {"attribute": task.target, "value": task.positive, "missed": missed, "invented": invented}
        limit |= _first_difference(ours, theirs, names)
    return Score(f_measure(truth, predicted), limit=limit)


def f_measure(truth: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> float:
    """2 recall precision / (recall + precision) = 2 TP / (2 TP + FP + FN); 0/0 is 0.

    Examples
    --------
    >>> f_measure(np.array([True, True, False]), np.array([True, False, False]))  # 2 / (2 + 0 + 1)
    0.6666666666666666
    """
    hits = int((truth & predicted).sum())
    wrong = int((truth ^ predicted).sum())
    return 2 * hits / (2 * hits + wrong) if hits else 0.0


def _grow(task: TreeTask, table: Table) -> Tree:
    return grow(task.matrix(table), task.truth(table), task.max_depth)


def _first_difference(ours: Tree, theirs: Tree, names: Sequence[tuple[str, str | None]]) -> dict[str, object]:
    """Where the two trees first ask different questions, going down level by level."""
    front, depth = [(0, 0)], 0
    while front:
        for left, right in front:
            asked, answered = _question(ours, left, names), _question(theirs, right, names)
            if asked != answered:
                return {"depth": depth, "original_asks": asked, "release_asks": answered}
        children = [
            (getattr(ours, side)[left], getattr(theirs, side)[right])
            for left, right in front
            for side in ("children_left", "children_right")
        ]
        front, depth = [(left, right) for left, right in children if left != LEAF], depth + 1
    return {}


def _question(tree: Tree, node: int, names: Sequence[tuple[str, str | None]]) -> str:
    if tree.children_left[node] == LEAF:
        return "nothing (a leaf)"
    name, level = names[tree.feature[node]]
    return f"{name}={level}" if level is not None else f"{name} <= {tree.threshold[node]:g}"
