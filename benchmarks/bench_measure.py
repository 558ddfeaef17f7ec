"""All utility figures of a release, against the four decision trees alone that they contain."""

from __future__ import annotations

from sklearn.tree import DecisionTreeClassifier

from benchmarks.common import Row, best_of, row
from kakurenbo.anonymizers.tables.randomized_response import ProportionalResponse
from kakurenbo.core import Table
from kakurenbo.core.rng import stream
from kakurenbo.data.adult import adult_statistics
from kakurenbo.data.generators import GENERATORS
from kakurenbo.measures.trees import TreeTask
from kakurenbo.rulebooks.amic2020 import Amic2020, Handout, Questionnaire, Submission

TASKS = (TreeTask("relationship", "Husband", 3), TreeTask("income", "<=50K", 5))


def run() -> list[Row]:
    draw = GENERATORS["moments"]
    sample = draw(adult_statistics("train"), 10_000, stream(1, "bench", "sample"))
    test = draw(adult_statistics("test"), 15_060, stream(1, "bench", "test"))
    released = ProportionalResponse(p=0.9)(sample, stream(1, "bench", "release")).table

    def fresh(table: Table) -> Table:
        return Table(table.schema, table.codes)  # nothing remembered from an earlier round

    def measure() -> None:
        Amic2020().measure(
            Handout("01", fresh(sample), fresh(test)), Submission(fresh(released), Questionnaire())
        )

    prepared = [
        (task, task.matrix(table), task.truth(table), task.matrix(test))
        for task in TASKS
        for table in (sample, released)
    ]

    def trees() -> None:
        for task, features, truth, rows in prepared:
            DecisionTreeClassifier(random_state=0, max_depth=task.max_depth).fit(
                features, truth
            ).predict(rows)

    measure(), trees()
    return [
        row(
            "measure 10,000 records",
            best_of(7, measure),
            "its four trees alone",
            best_of(7, trees),
            "ratio ≤ 3",
        )
    ]
