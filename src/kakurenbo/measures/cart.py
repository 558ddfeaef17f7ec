"""Decision trees as scikit-learn grows them with ``random_state=0``: the same questions in the same order, from counts.

Features are whole numbers, nearly all of them 0 or 1, so that counting a node's rows by value tells every split at once. The
library itself takes longer to load than to measure a release. Where splits are equally good, the one whose feature is visited
first wins; features are visited in the order that the library's generator draws them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LARGEST = 0x7FFFFFFF  # of the library's generator
_EPSILON = float(np.finfo(np.float64).eps)
_LEAF = -1


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree; node 0 is the root, and children of a leaf are -1.

    Attributes
    ----------
    children_left, children_right, feature : array of int64, shape (nodes,)
    threshold : array of float64, shape (nodes,)
        Rows whose feature is at most this go left.
    positive : array of bool, shape (nodes,)
        Whether more than half of a node's rows are positive.
    """

    children_left: NDArray[np.int64]
    children_right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    positive: NDArray[np.bool_]

    def predict(self, rows: NDArray[np.float32]) -> NDArray[np.bool_]:
        """The class of each row of shape (n, d): that of the leaf it falls into."""
        nodes = np.zeros(len(rows), dtype=np.int64)
        while (inner := self.children_left[nodes] != _LEAF).any():
            at = nodes[inner]
            left = rows[inner, self.feature[at]] <= self.threshold[at]
            nodes[inner] = np.where(left, self.children_left[at], self.children_right[at])
        return self.positive[nodes]


@dataclass(frozen=True)
class _Task:
    """Rows of a node that is still to be split, below a parent on one of its sides."""

    rows: NDArray[np.int64]
    depth: int
    parent: int
    side: int
    constant_features: int


def grow(features: NDArray[np.float32], truth: NDArray[np.int8], max_depth: int) -> Tree:
    """A tree on rows of shape (n, d) of whole numbers, and whether each is positive, of shape (n,)."""
    visits, counter = _Visits(features.shape[1]), _Counter(features, truth)
    nodes: list[tuple[int, float, bool]] = []
    children: list[list[int]] = []
    waiting = [_Task(np.arange(len(features)), 0, _LEAF, 0, 0)]
    while waiting:
        task = waiting.pop()
        number = len(nodes)
        if task.parent != _LEAF:
            children[task.parent][task.side] = number
        count, positives = len(task.rows), int(truth[task.rows].sum())
        impurity = float(_gini(np.float64(count - positives), np.float64(positives)))
        found = None
        if task.depth < max_depth and count >= 2 and impurity > _EPSILON:
            splits = counter.best_splits(task.rows)
            feature, constants = visits.best(splits.gain, task.constant_features)
            if feature is not None and _improves(splits, feature, impurity, len(features), count):
                found = feature, float(splits.threshold[feature])
        nodes.append((found[0] if found else _LEAF, found[1] if found else 0.0, 2 * positives > count))
        children.append([_LEAF, _LEAF])
        if found:
            left = features[task.rows, found[0]] <= found[1]
            for side in (1, 0):  # the left one is split first
                below = task.rows[left if side == 0 else ~left]
                waiting.append(_Task(below, task.depth + 1, number, side, constants))
    feature_of, threshold, positive = zip(*nodes, strict=True)
    sides = np.array(children, dtype=np.int64)
    return Tree(sides[:, 0], sides[:, 1], np.array(feature_of), np.array(threshold), np.array(positive))


@dataclass(frozen=True, eq=False)
class _Splits:
    """Splits side by side, arrays of one length; in those of a node a feature without any has the gain -inf."""

    gain: NDArray[np.float64]
    threshold: NDArray[np.float64]
    left: NDArray[np.float64]
    left_impurity: NDArray[np.float64]
    right_impurity: NDArray[np.float64]

    @classmethod
    def none(cls, count: int) -> _Splits:
        return cls(np.full(count, -np.inf), *(np.zeros(count) for _ in range(4)))

    @classmethod
    def of(cls, threshold: NDArray[np.float64], left: NDArray[Any], left_yes: NDArray[Any], rows: int, yes: int) -> _Splits:
        """Splits that put so many rows, and so many positive ones, to the left; arithmetic in the library's order."""
        right, right_yes = rows - left, yes - left_yes
        left_impurity, right_impurity = _gini(left - left_yes, left_yes), _gini(right - right_yes, right_yes)
        return cls(-right * right_impurity - left * left_impurity, threshold, left, left_impurity, right_impurity)

    def put(self, places: NDArray[np.int64], others: _Splits, chosen: slice = slice(None)) -> None:
        """Take over some of the others."""
        for name in ("gain", "threshold", "left", "left_impurity", "right_impurity"):
            getattr(self, name)[places] = getattr(others, name)[chosen]


class _Counter:
    """Counts the rows of a node by value, and judges every split of every feature from the counts."""

    def __init__(self, features: NDArray[np.float32], truth: NDArray[np.int8]) -> None:
        is_binary = (features.min(axis=0) >= 0) & (features.max(axis=0) <= 1)
        self._width, self._truth = features.shape[1], truth
        self._binary, self._numbers = np.flatnonzero(is_binary), np.flatnonzero(~is_binary)
        self._ones = features[:, self._binary]
        self._values = [np.unique(features[:, number].astype(np.float64), return_inverse=True) for number in self._numbers]

    def best_splits(self, rows: NDArray[np.int64]) -> _Splits:
        """Per feature the split of least impurity, the lowest of equals; arrays of shape (d,)."""
        best, truth = _Splits.none(self._width), self._truth[rows]
        count, yes = len(rows), int(truth.sum())
        weights = np.zeros((2, len(self._truth)), dtype=np.float32)
        weights[0, rows], weights[1, rows] = 1, truth
        ones, ones_yes = (weights @ self._ones).astype(np.float64)  # (2, n) @ (n, d') -> (2, d'), exact below 2^24
        varying = (ones > 0) & (ones < count)
        left, left_yes = count - ones[varying], yes - ones_yes[varying]
        best.put(self._binary[varying], _Splits.of(np.full(len(left), 0.5), left, left_yes, count, yes))
        for number, (values, places) in zip(self._numbers, self._values, strict=True):
            below, below_yes, there = _below(places[rows], truth, len(values))
            if len(there) > 1:
                thresholds = values[there[:-1]] / 2 + values[there[1:]] / 2
                splits = _Splits.of(thresholds, below, below_yes, count, yes)
                first = int(splits.gain.argmax())
                best.put(np.array([number]), splits, slice(first, first + 1))
        return best


def _below(
    places: NDArray[np.int64], truth: NDArray[np.int8], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Rows, and positive ones, up to each value that occurs but the last; and which values occur."""
    found = np.bincount(places, minlength=count)
    found_yes = np.bincount(places, weights=truth, minlength=count)
    there = np.flatnonzero(found).astype(np.int64)
    below, below_yes = np.cumsum(found[there])[:-1], np.cumsum(found_yes[there])[:-1]
    return below.astype(np.float64), below_yes.astype(np.float64), there


def _gini(no: NDArray[np.float64] | np.float64, yes: NDArray[np.float64] | np.float64) -> NDArray[np.float64]:
    """1 - p^2 - q^2, with the rounding of the library: equal splits must stay equal."""
    count = no + yes
    return np.asarray(1.0 - (no * no + yes * yes) / (count * count))


def _improves(splits: _Splits, feature: int, impurity: float, count: int, rows: int) -> bool:
    """The library does not split where rounding makes a split worse than none."""
    left = float(splits.left[feature])
    right = rows - left
    gained = (
        impurity - right / rows * float(splits.right_impurity[feature]) - left / rows * float(splits.left_impurity[feature])
    )
    return rows / count * gained + _EPSILON >= 0


class _Visits:
    """The order in which features are visited, node by node; known constants of a node are those of its parent and its own."""

    def __init__(self, width: int) -> None:
        self._features = list(range(width))
        self._constants = [0] * width
        self._state = int(np.random.RandomState(0).randint(0, _LARGEST))

    def best(self, gain: NDArray[np.float64], known: int) -> tuple[int | None, int]:
        """The feature with the greatest gain, the first visited of equals, and how many constant ones are known then."""
        features, unvisited = self._features, len(self._features)
        found, drawn = 0, 0
        best: int | None = None
        while unvisited > known + found:
            at = self._draw(drawn, unvisited - found)
            if at < known:
                features[drawn], features[at] = features[at], features[drawn]
                drawn += 1
                continue
            at += found
            feature = features[at]
            if gain[feature] == -np.inf:
                features[at], features[known + found] = features[known + found], features[at]
                found += 1
                continue
            unvisited -= 1
            features[unvisited], features[at] = features[at], features[unvisited]
            if best is None or gain[feature] > gain[best]:
                best = feature
        features[:known] = self._constants[:known]
        self._constants[known : known + found] = features[known : known + found]
        return best, known + found

    def _draw(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high - 1`` by the library's xorshift of 32 bits."""
        state = self._state
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
        self._state = state
        return low + state % (_LARGEST + 1) % (high - low)
