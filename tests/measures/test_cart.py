"""Our decision trees are scikit-learn's: the same questions, the same answers, whatever is equal or constant."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from kakurenbo.measures.cart import grow


@pytest.mark.parametrize("seed", range(60))
def test_a_tree_is_the_one_that_scikit_learn_grows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, dummies, numbers = int(rng.integers(2, 300)), int(rng.integers(2, 25)), int(rng.integers(0, 3))
    features = np.column_stack(
        [rng.integers(17, 90, (rows, numbers)), rng.random((rows, dummies)) < rng.random(dummies) ** 2]
    ).astype(np.float32)
    features[:, -1] = features[:, -2]  # equally good splits: the order of visits decides
    truth = (rng.random(rows) < 0.2 + 0.5 * features[:, 0] / 90).astype(np.int8)
    depth = int(rng.integers(1, 7))
    ours, theirs = grow(features, truth, depth), DecisionTreeClassifier(random_state=0, max_depth=depth).fit(features, truth)
    inner = theirs.tree_.children_left >= 0
    np.testing.assert_array_equal(ours.children_left, theirs.tree_.children_left)
    np.testing.assert_array_equal(ours.children_right, theirs.tree_.children_right)
    np.testing.assert_array_equal(ours.feature[inner], theirs.tree_.feature[inner])
    np.testing.assert_array_equal(ours.threshold[inner], theirs.tree_.threshold[inner])
    np.testing.assert_array_equal(ours.predict(features), theirs.predict(features) == 1)


@pytest.mark.parametrize("seed", range(10))
def test_small_numbers_are_numbers_and_not_yes_or_no(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features = rng.integers(0, 3, (80, 3)).astype(np.float32)
    truth = (features.sum(axis=1) + rng.random(80) > 3.2).astype(np.int8)
    ours, theirs = grow(features, truth, 4), DecisionTreeClassifier(random_state=0, max_depth=4).fit(features, truth)
    inner = theirs.tree_.children_left >= 0
    np.testing.assert_array_equal(ours.feature[inner], theirs.tree_.feature[inner])
    np.testing.assert_array_equal(ours.threshold[inner], theirs.tree_.threshold[inner])
    assert 1.5 in ours.threshold[inner]


def test_a_leaf_that_is_split_evenly_decides_for_no() -> None:
    tree = grow(np.zeros((2, 1), dtype=np.float32), np.array([0, 1], dtype=np.int8), 3)
    assert tree.children_left.tolist() == [-1]
    assert tree.predict(np.zeros((1, 1), dtype=np.float32)).tolist() == [False]


def test_a_tree_on_one_class_knows_no_other() -> None:
    tree = grow(np.eye(3, dtype=np.float32), np.ones(3, dtype=np.int8), 3)
    assert tree.predict(np.eye(3, dtype=np.float32)).tolist() == [True] * 3
