"""Decision trees as scikit-learn grows them with ``random_state=0``: the same questions in the same order, from counts.

Features are whole numbers, nearly all of them 0 or 1, so that counting a node's rows by value tells every split at once. The
library itself takes longer to load than to measure a release. Where splits are equally good, the one whose feature is visited
first wins; features are visited in the order that the library's generator draws them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_LARGEST = 0x7FFFFFFF  # of the library's generator
_WORDS = 1 << 32  # numbers of 32 bits, in which it works
LEAF = -1
_NO_QUESTION = (LEAF, float("nan"))


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
        while (inner := self.children_left[nodes] != LEAF).any():
            at = nodes[inner]
            left = rows[inner, self.feature[at]] <= self.threshold[at]
            nodes[inner] = np.where(left, self.children_left[at], self.children_right[at])
        return self.positive[nodes]


@dataclass(frozen=True)
class _Task:
    """Rows of a node that is still to be split; where it stands is a parent and one of its sides, nowhere for the root."""

    rows: NDArray[np.int64]
    depth: int
    constant_features: int
    place: tuple[int, int] | None = None


def grow(features: NDArray[np.float32], truth: NDArray[np.int8], max_depth: int) -> Tree:
    """A tree on rows of shape (n, d) of whole numbers, and whether each is positive, of shape (n,)."""
    visits, counter = _Visits(features.shape[1]), _Counter(features, truth)
    nodes: list[tuple[int, float, bool]] = []
    children: list[list[int]] = []
    waiting = [_Task(np.arange(len(features)), 0, 0)]
    while waiting:
        task = waiting.pop()
        number = len(nodes)
        if task.place is not None:
            parent, side = task.place
            children[parent][side] = number
        count, positives = len(task.rows), int(truth[task.rows].sum())
        found = None
        if task.depth < max_depth and 0 < positives < count:
            splits = counter.best_splits(task.rows)
            feature, constants = visits.best(splits.gain, task.constant_features)
            if feature is not None:
                found = feature, float(splits.threshold[feature])
        nodes.append((*(found or _NO_QUESTION), 2 * positives > count))
        children.append([LEAF, LEAF])
        if found:
            left = features[task.rows, found[0]] <= found[1]
            for side in (1, 0):  # the left one is split first
                below = task.rows[left if side == 0 else ~left]
                waiting.append(_Task(below, task.depth + 1, constants, (number, side)))
    feature_of, threshold, positive = zip(*nodes, strict=True)
    sides = np.array(children, dtype=np.int64)
    return Tree(sides[:, 0], sides[:, 1], np.array(feature_of), np.array(threshold), np.array(positive))


@dataclass(frozen=True)
class _Splits:
    """Splits side by side, arrays of one length; in those of a node a feature without any has the gain -inf."""

    gain: NDArray[np.float64]
    threshold: NDArray[np.float64]

    @classmethod
    def none(cls, count: int) -> _Splits:
        return cls(np.full(count, -np.inf), np.full(count, np.nan))


class _Counter:
    """Counts the rows of a node by value, and judges every split of every feature from the counts."""

    def __init__(self, features: NDArray[np.float32], truth: NDArray[np.int8]) -> None:
        is_binary = (features == features.astype(np.bool_)).all(axis=0)
        self._width, self._truth = features.shape[1], truth
        self._binary, self._numbers = np.flatnonzero(is_binary), np.flatnonzero(~is_binary)
        self._row, self._column = np.nonzero(features[:, self._binary])  # where the ones stand
        self._values = [np.unique(features[:, number].astype(np.float64), return_inverse=True) for number in self._numbers]

    def best_splits(self, rows: NDArray[np.int64]) -> _Splits:
        """Per feature the split of least impurity, the lowest of equals; arrays of shape (d,)."""
        best, truth = _Splits.none(self._width), self._truth[rows]
        count, yes = len(rows), int(truth.sum())
        ones, ones_yes = self._ones(rows), self._ones(rows[truth == 1])
        varying = (ones > 0) & (ones < count)
        left, left_yes = count - ones[varying], yes - ones_yes[varying]
        best.gain[self._binary[varying]] = _gain(left, left_yes, count, yes)
        best.threshold[self._binary] = 0.5
        for number, (values, places) in zip(self._numbers, self._values, strict=True):
            below, below_yes, there = _below(places[rows], truth, len(values))
            if len(there) > 1:
                thresholds = values[there[:-1]] / 2 + values[there[1:]] / 2
                gain = _gain(below, below_yes, count, yes)
                first = int(gain.argmax())
                best.gain[number], best.threshold[number] = gain[first], thresholds[first]
        return best

    def _ones(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """How many of these rows have a 1 in each binary feature; counted, as a product would wait for other threads."""
        chosen = np.zeros(len(self._truth), dtype=np.bool_)
        chosen[rows] = True
        return np.bincount(self._column[chosen[self._row]], minlength=len(self._binary)).astype(np.float64)


def _below(
    places: NDArray[np.int64], truth: NDArray[np.int8], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Rows, and positive ones, up to each value that occurs but the last; and which values occur."""
    found = np.bincount(places, minlength=count)
    found_yes = np.bincount(places, weights=truth, minlength=count)
    there = np.flatnonzero(found).astype(np.int64)
    below, below_yes = np.cumsum(found[there])[:-1], np.cumsum(found_yes[there])[:-1]
    return below.astype(np.float64), below_yes.astype(np.float64), there


def _gain(left: NDArray[np.float64], left_yes: NDArray[np.float64], rows: int, yes: int) -> NDArray[np.float64]:
    """How good splits are that put so many rows, and so many positive ones, to the left; arithmetic in the library's order.

    The library also refuses a split that is worse than none by more than the machine epsilon: rounding of counts is less.
    """
    right, right_yes = rows - left, yes - left_yes
    return -right * _gini(right - right_yes, right_yes) - left * _gini(left - left_yes, left_yes)


def _gini(no: NDArray[np.float64], yes: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 - p^2 - q^2, with the rounding of the library: equal splits must stay equal."""
    count = no + yes
    return 1.0 - (no * no + yes * yes) / (count * count)


class _Visits:
    """The order in which features are visited, node by node; known constants of a node are those of its parent and its own."""

    def __init__(self, width: int) -> None:
        self._features = list(range(width))
        self._constants: list[int] = []
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
        self._constants[known:] = features[known : known + found]
        return best, known + found

    def _draw(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high - 1`` by the library's xorshift of 32 bits."""
        state = self._state
        state ^= (state << 13) % _WORDS
        state ^= state >> 17
        state ^= (state << 5) % _WORDS
        self._state = state
        return low + state % (_LARGEST + 1) % (high - low)
