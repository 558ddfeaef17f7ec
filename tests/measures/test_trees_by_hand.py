"""Where two trees first ask different questions, and what a tree does with nodes that need no further question."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from kakurenbo.measures.cart import LEAF, grow
from kakurenbo.measures.trees import TreeTask, tree_utility
from kakurenbo.tables import Category, Integer, Schema, Table

SCHEMA = Schema([Integer("age", 0, 99), Integer("hours", 0, 99), Category("income", ("low", "high"))])
TASK = TreeTask("income", "high", 2)


def people(*rows: tuple[int, int, str]) -> Table:
    return Table.from_rows(SCHEMA, rows)


def test_trees_that_ask_the_same_and_answer_otherwise_differ_in_no_question() -> None:
    original, released = people((20, 0, "low"), (60, 0, "high")), people((20, 0, "high"), (60, 0, "low"))
    score = tree_utility(TASK, original, released, original)
    assert score.value == 0
    assert score.limit == {"attribute": "income", "value": "high", "missed": 1, "invented": 1}


@pytest.mark.parametrize("swapped", [False, True])
def test_the_first_difference_may_stand_in_the_second_row_of_questions_on_either_side(swapped: bool) -> None:
    """Both ask for 40 years first: most of the old are rich. Then one asks on one side for 20 hours, the other for nothing."""

    def side(age: int, usual: str, other: str, exceptions: int) -> list[tuple[int, int, str]]:
        return [(age, 10, usual)] * 6 + [(age, 30, other)] * exceptions

    young, old = side(20, "low", "high", 0), side(60, "high", "low", 0)
    split_young, split_old = side(20, "low", "high", 2), side(60, "high", "low", 2)
    original, released = people(*young, *old), people(*(split_young + old if swapped else young + split_old))
    test = people((20, 30, "low"), (60, 30, "high"))
    limit = tree_utility(TASK, original, released, test).limit
    assert limit == {
        "attribute": "income",
        "value": "high",
        "missed": int(not swapped),
        "invented": int(swapped),
        "depth": 1,
        "original_asks": "nothing (a leaf)",
        "release_asks": "hours <= 20",
    }


def test_a_node_of_one_class_is_asked_nothing_more_and_one_row_of_another_class_is_enough_to_ask() -> None:
    ages = np.array([[20], [30], [40], [50]], dtype=np.float32)
    tree = grow(ages, np.array([0, 0, 0, 1], dtype=np.int8), 3)
    assert (tree.children_left.tolist(), tree.children_right.tolist()) == ([1, LEAF, LEAF], [2, LEAF, LEAF])
    assert tree.threshold[0] == 45
    assert tree.predict(ages).tolist() == [False, False, False, True]
    assert grow(ages, np.ones(4, dtype=np.int8), 3).children_left.tolist() == [LEAF]
    assert grow(ages, np.zeros(4, dtype=np.int8), 3).children_left.tolist() == [LEAF]
    assert DecisionTreeClassifier().fit(ages, [1, 1, 1, 1]).tree_.children_left[0] == LEAF


def test_a_tree_of_depth_0_asks_nothing() -> None:
    assert len(grow(np.eye(2, dtype=np.float32), np.array([0, 1], dtype=np.int8), 0).feature) == 1


@pytest.mark.parametrize("seed", range(12))
def test_values_around_0_and_questions_that_gain_nothing_are_those_of_scikit_learn(seed: int) -> None:
    """Features from -1 to 1, from 0 to 1 and of 0 and 2; the truth is a parity, which no single question tells anything of."""
    rng = np.random.default_rng(seed)
    features = np.array([(a, b, c, d) for a in (-1, 0, 1) for b in (0, 1) for c in (0, 2) for d in (0, 1)], dtype=np.float32)
    features = features[rng.permutation(len(features))].repeat(1 + seed % 3, axis=0)
    truth = (np.abs(features).sum(axis=1) // (1 + seed % 2) % 2 == 1).astype(np.int8)
    depth = 1 + seed % 5
    ours, theirs = grow(features, truth, depth), DecisionTreeClassifier(random_state=0, max_depth=depth).fit(features, truth)
    inner = theirs.tree_.children_left != LEAF
    np.testing.assert_array_equal(ours.children_left, theirs.tree_.children_left)
    np.testing.assert_array_equal(ours.feature[inner], theirs.tree_.feature[inner])
    np.testing.assert_array_equal(ours.threshold[inner], theirs.tree_.threshold[inner])
    np.testing.assert_array_equal(ours.predict(features), theirs.predict(features) == 1)


def test_trees_are_told_apart_as_things_since_their_arrays_have_no_single_answer_to_whether_they_are_equal() -> None:
    one, other = (grow(np.eye(2, dtype=np.float32), np.array([0, 1], dtype=np.int8), 1) for _ in range(2))
    assert {one: "first", other: "second"}[one] == "first"


def test_a_row_that_stands_on_the_threshold_goes_left() -> None:
    """40 and 50 are told apart at 45."""
    tree = grow(np.array([[40], [50]], dtype=np.float32), np.array([0, 1], dtype=np.int8), 1)
    assert tree.predict(np.array([[45], [46]], dtype=np.float32)).tolist() == [False, True]
