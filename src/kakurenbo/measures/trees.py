"""Decision-tree utility (amic2020, eq. 3): the predictions of a tree of the release against those of the original's tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contest import Score
from kakurenbo.core import Category, Schema, Table, dummy_names
from kakurenbo.core.arrays import Bools

LEAF = -1


@dataclass(frozen=True)
class TreeTask:
    """A binary question about a table: is ``target`` equal to ``positive``?"""

    target: str
    positive: str
    max_depth: int

    def features(self, schema: Schema) -> tuple[str, ...]:
        """Return the numbers, then the categories in table order, without the target."""
        others = [column for column in schema if column.name != self.target]
        return tuple(c.name for c in sorted(others, key=lambda c: isinstance(c, Category)))

    def matrix(self, table: Table) -> NDArray[np.float32]:
        """Return the features with the first level of each category dropped, shape (n, d)."""
        names = self.features(table.schema)
        if not names:
            return np.zeros((len(table), 1), dtype=np.float32)
        return table.dummies(drop_first=True, names=names, dtype=np.float32)

    def truth(self, table: Table) -> Bools:
        """Return whether each row is of the positive class, shape (n,)."""
        column = table.schema[self.target]
        assert isinstance(column, Category)
        return np.asarray(table.codes[self.target] == column.code(self.positive))

    def grow(self, table: Table) -> Any:
        """Return scikit-learn's tree of a table."""
        from sklearn.tree import DecisionTreeClassifier  # slow to load: only trees pay for it

        tree = DecisionTreeClassifier(random_state=0, max_depth=self.max_depth)
        return tree.fit(self.matrix(table), self.truth(table))

    def predict(self, tree: Any, table: Table) -> Bools:
        """Return whether a tree takes each row for positive, shape (n,)."""
        return np.asarray(tree.predict(self.matrix(table)), dtype=np.bool_)


def tree_utility(task: TreeTask, original: Table, released: Table, test: Table) -> Score:
    """F-measure of the released tree's predictions with the original tree's as truth, on the test rows.

    Ties in a leaf go to class 0, so the score of one class does not follow from that of the other.
    """
    ours, theirs = task.grow(original), task.grow(released)
    truth, predicted = task.predict(ours, test), task.predict(theirs, test)
    missed, invented = int((truth & ~predicted).sum()), int((~truth & predicted).sum())
    limit: dict[str, object] = {}
    if missed or invented:
        names = dummy_names(original.schema, drop_first=True, names=task.features(original.schema))
        limit = {"attribute": task.target, "value": task.positive}
        limit |= {"missed": missed, "invented": invented}
        limit |= _first_difference(ours.tree_, theirs.tree_, names)
    return Score(f_measure(truth, predicted), limit=limit)


def f_measure(truth: Bools, predicted: Bools) -> float:
    """2 TP / (2 TP + FP + FN), the harmonic mean of recall and precision; 0/0 is 0.

    Examples
    --------
    >>> f_measure(np.array([True, True, False]), np.array([True, False, False]))  # 2 / (2 + 0 + 1)
    0.6666666666666666
    """
    hits = int((truth & predicted).sum())
    wrong = int((truth ^ predicted).sum())
    return 2 * hits / (2 * hits + wrong) if hits else 0.0


def _first_difference(
    ours: Any, theirs: Any, names: Sequence[tuple[str, str | None]]
) -> dict[str, object]:
    """Find where two trees first ask different questions, going down level by level."""

    def question(tree: Any, node: int) -> str:
        if tree.children_left[node] == LEAF:
            return "nothing (a leaf)"
        name, level = names[tree.feature[node]]
        return f"{name} <= {tree.threshold[node]:g}" if level is None else f"{name}={level}"

    front, depth = [(0, 0)], 0
    while front:
        children = []
        for left, right in front:
            before, after = question(ours, left), question(theirs, right)
            if before != after:
                return {"depth": depth, "original_asks": before, "release_asks": after}
            if ours.children_left[left] != LEAF:
                children.append((ours.children_left[left], theirs.children_left[right]))
                children.append((ours.children_right[left], theirs.children_right[right]))
        front, depth = children, depth + 1
    return {}
