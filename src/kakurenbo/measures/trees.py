"""Decision-tree utility (amic2020, eq. 3): the predictions of a tree of the release against those of the original's tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contest import Score
from kakurenbo.core import Category, Table
from kakurenbo.core.arrays import Bools


@dataclass(frozen=True)
class TreeTask:
    """Binary question about a table: is ``target`` equal to ``positive``?"""

    target: str
    positive: str
    max_depth: int

    def matrix(self, table: Table) -> NDArray[np.float32]:
        """Return numbers, then categories with the first level dropped, without the target, shape (n, d)."""
        others = [column for column in table.schema if column.name != self.target]
        names = [c.name for c in sorted(others, key=lambda c: isinstance(c, Category))]
        if not names:
            return np.zeros((len(table), 1), dtype=np.float32)
        return table.dummies(drop_first=True, names=names, dtype=np.float32)

    def truth(self, table: Table) -> Bools:
        """Return whether each row is of the positive class, shape (n,)."""
        return np.asarray(table.values(self.target) == self.positive)

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
    truth, predicted = (task.predict(task.grow(table), test) for table in (original, released))
    missed, invented = int((truth & ~predicted).sum()), int((~truth & predicted).sum())
    limit = {"attribute": task.target, "value": task.positive}
    wrong = {"missed": missed, "invented": invented}
    return Score(f_measure(truth, predicted), limit=limit | wrong if missed or invented else {})


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
