"""Cross-tab utility of pwscup2024."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kakurenbo.contest import Score
from kakurenbo.core import Category, Integer, Schema, Table
from kakurenbo.core.statistics import crosstab, crosstab_errors
from kakurenbo.measures.crosstab import crosstab_utility, least_utility

SCHEMA = Schema(
    [
        Category("Gender", ("F", "M")),
        Category("Age", ("1", "18")),
        Integer("2", 0, 5),
        Integer("56", 0, 5),
    ]
)


def table(*rows: tuple[object, ...]) -> Table:
    return Table.from_rows(SCHEMA, rows)


def test_e_is_the_sum_over_cells_of_absolute_frequency_differences_and_u_100_times_1_minus_max_e_over_2n() -> (
    None
):
    before = table(("F", "1", 0, 3), ("M", "1", 1, 3), ("M", "18", 2, 3), ("F", "18", 3, 3))
    after = table(("F", "1", 0, 3), ("M", "1", 1, 3), ("M", "18", 2, 3), ("F", "18", 3, 4))
    # (2, 56): (3, 3) lost one row and (3, 4) gained one: e = 2, U = 100 (1 - 2 / 8)
    score = crosstab_utility(before, after, exempt=("Gender", "Age"))
    assert score.value == 75
    assert "56" in score.limit["pair"]
    assert score.limit["error"] == 2


def test_a_pair_of_two_attributes_does_not_count() -> None:
    before = table(("F", "1", 0, 0), ("M", "18", 0, 0))
    after = table(("F", "18", 0, 0), ("M", "1", 0, 0))
    assert crosstab_utility(before, after, exempt=("Gender", "Age")).value == 100
    assert crosstab_utility(before, after).value == 0


def test_u_is_the_least_of_the_files_with_its_limiting_pair() -> None:
    scores = [Score(90.0), Score(70.0, limit={"pair": ["Age", "2"], "error": 6}), Score(80.0)]
    assert least_utility(scores).value == 70
    assert least_utility(scores).limit == {"file": 1, "pair": ["Age", "2"], "error": 6}


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_all_pairs_at_once_are_the_same_as_one_table_after_the_other(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = (2, 7, 21, 30, 6, 6, 6, 6, 6)
    schema = Schema(Integer(f"c{index}", 0, size - 1) for index, size in enumerate(sizes))
    before, after = (
        Table(schema, {c.name: rng.integers(c.size, size=rows) for c in schema}) for _ in range(2)
    )
    pairs = [(a, b) for i, a in enumerate(schema.names) for b in schema.names[i + 1 :]]
    expected = [
        int(np.abs(crosstab(before, *pair) - crosstab(after, *pair)).sum()) for pair in pairs
    ]
    assert crosstab_errors(before, after, pairs).tolist() == expected
    assert crosstab_errors(before, after, pairs[::-1]).tolist() == expected[::-1]
