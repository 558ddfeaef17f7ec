"""What trees answer, and what a tree does with nodes that need no further question."""

from __future__ import annotations

import subprocess
import sys

from kakurenbo.core import Category, Integer, Schema, Table
from kakurenbo.measures.trees import TreeTask, tree_utility

SCHEMA = Schema(
    [Integer("age", 0, 99), Integer("hours", 0, 99), Category("income", ("low", "high"))]
)
TASK = TreeTask("income", "high", 2)


def people(*rows: tuple[int, int, str]) -> Table:
    return Table.from_rows(SCHEMA, rows)


def test_trees_that_ask_the_same_and_answer_otherwise_differ_in_no_question() -> None:
    original, released = (
        people((20, 0, "low"), (60, 0, "high")),
        people((20, 0, "high"), (60, 0, "low")),
    )
    score = tree_utility(TASK, original, released, original)
    assert score.value == 0
    assert score.limit == {"attribute": "income", "value": "high", "missed": 1, "invented": 1}


def test_a_leaf_that_is_split_evenly_decides_for_no() -> None:
    even = people((20, 0, "low"), (20, 0, "high"))
    assert TASK.predict(TASK.grow(even), even).tolist() == [False, False]


def test_a_tree_on_one_class_knows_no_other() -> None:
    rich = people((20, 0, "high"), (60, 0, "high"))
    assert TASK.predict(TASK.grow(rich), people((40, 0, "low"))).tolist() == [True]
    assert TASK.grow(rich).tree_.node_count == 1


def test_a_row_that_stands_on_the_threshold_goes_left() -> None:
    """40 and 50 are told apart at 45."""
    tree = TASK.grow(people((40, 0, "low"), (50, 0, "high")))
    tested = people((45, 0, "low"), (46, 0, "low"))
    assert TASK.predict(tree, tested).tolist() == [False, True]


def test_a_table_whose_only_column_is_the_label_has_one_leaf() -> None:
    table = people((20, 0, "low"), (60, 0, "low"), (60, 0, "high")).select(["income"])
    assert TASK.predict(TASK.grow(table), table).tolist() == [False] * 3


def test_the_trees_are_loaded_by_those_who_measure_them() -> None:
    program = "import sys, kakurenbo.rulebooks.amic2020; print('sklearn' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert told.stdout.strip() == "False", told.stderr
