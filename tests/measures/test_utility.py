"""The utility measures of amic2020: worked examples, properties, and the reference values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kakurenbo.core import Category, Integer, Moments, Schema, Table
from kakurenbo.data.adult import SCHEMA as CENSUS
from kakurenbo.measures.covariance import correlation_difference, covariance_utility
from kakurenbo.measures.histogram import histogram_error, histogram_utility
from kakurenbo.measures.privacy import delta_presence, k_anonymity
from kakurenbo.measures.trees import TreeTask, f_measure, tree_utility

SCHEMA = Schema([Integer("age", 17, 90), Category("sex", ("Female", "Male"))])
C = Table.from_rows(SCHEMA, [(20, "Male"), (20, "Male"), (30, "Female"), (40, "Female")])
D = Table.from_rows(SCHEMA, [(20, "Male"), (21, "Male"), (30, "Male"), (40, "Female")])


def random_census(rng: np.random.Generator, rows: int) -> Table:
    """Census rows in which everything depends a little on age."""
    age = rng.integers(0, 74, rows)
    return Table(
        CENSUS,
        {
            column.name: (age + rng.integers(0, column.size or 1, rows)) % (column.size or 1)
            for column in CENSUS
        },
    )


def test_histogram_counts_every_value_of_every_attribute() -> None:
    # age: 20 loses one, 21 wins one; sex: Female loses one, Male wins one: 4 / (2 * 4 records * 2 attributes)
    score = histogram_utility(C, D)
    assert score.value == 1 - 4 / 16
    assert score.parts == {"age": 2, "sex": 2}
    assert score.limit == {"attribute": "age", "value": "20", "records": -1}


def test_a_different_record_count_costs_histogram_utility() -> None:
    doubled = Table.stack([C, C])
    assert histogram_utility(C, doubled).value == 1 - 8 / 16


def test_histogram_error_of_the_main_round_is_the_worst_attribute() -> None:
    # each attribute: 2 / (2 * 4 records)
    assert histogram_error(C, D).parts == {"age": 0.25, "sex": 0.25}
    assert histogram_error(C, D).value == 0.25


def test_covariance_utility_is_the_inverse_of_the_summed_differences() -> None:
    # C: var(age) 275/3, cov(age, Female) 5, var 1/3. D: var(age) 80.25 * ..., computed by hand with numpy's definition
    difference = np.abs(np.cov(D.dummies(), rowvar=False) - np.cov(C.dummies(), rowvar=False))
    assert covariance_utility(Moments.of(C), Moments.of(D), 1).value == pytest.approx(
        1 / difference.sum(), abs=1e-12
    )
    assert covariance_utility(Moments.of(C), Moments.of(D), 2).value == pytest.approx(
        1 / difference.sum(axis=1).max(), abs=1e-12
    )


def test_covariance_utility_by_hand() -> None:
    schema = Schema([Integer("x", 0, 9)])
    before, after = Table.from_rows(schema, [(0,), (2,)]), Table.from_rows(schema, [(0,), (4,)])
    # variances with ddof 1: 2 and 8
    score = covariance_utility(Moments.of(before), Moments.of(after))
    assert score.value == pytest.approx(1 / 6)
    assert score.limit == {"pair": ["x", "x"], "difference": pytest.approx(6)}


def test_correlation_difference_is_the_worst_pair_of_distinct_columns() -> None:
    difference = np.abs(
        np.corrcoef(D.dummies(), rowvar=False) - np.corrcoef(C.dummies(), rowvar=False)
    )
    score = correlation_difference(Moments.of(C), Moments.of(D))
    assert score.value == pytest.approx(difference.max(), abs=1e-12)
    assert not score.higher_is_better
    assert score.limit["pair"][0] == "age"


def test_correlation_of_a_column_that_becomes_constant_counts_as_0() -> None:
    constant = Table.from_rows(SCHEMA, [(20, "Male"), (20, "Male"), (30, "Male"), (40, "Male")])
    expected = abs(np.corrcoef(C.dummies(), rowvar=False)[0, 1])
    score = correlation_difference(Moments.of(C), Moments.of(constant))
    assert score.value == pytest.approx(max(expected, 1.0))  # Female and Male: from -1 to 0


def test_identity_scores_histogram_1_and_vcm_infinite_whatever_the_row_order() -> None:
    rng = np.random.default_rng(3)
    sample = random_census(rng, 500)
    same = sample.take(rng.permutation(500))
    assert histogram_utility(sample, same).value == 1
    assert histogram_utility(sample, same).limit == {}
    for edition in (1, 2):
        assert covariance_utility(Moments.of(sample), Moments.of(same), edition).value == math.inf
    assert correlation_difference(Moments.of(sample), Moments.of(same)).value == 0
    for level in ("<=50K", ">50K"):
        score = tree_utility(TreeTask("income", level, 5), sample, same, sample)
        assert score.value == 1
        assert score.limit == {}


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.data())
def test_f_measure_is_that_of_precision_and_recall(truth: list[bool], data: st.DataObject) -> None:
    predicted = data.draw(st.lists(st.booleans(), min_size=len(truth), max_size=len(truth)))
    hits = sum(t and p for t, p in zip(truth, predicted, strict=True))
    expected = 0.0
    if hits:
        precision, recall = hits / sum(predicted), hits / sum(truth)
        expected = 2 * precision * recall / (precision + recall)
    assert f_measure(np.array(truth), np.array(predicted)) == pytest.approx(expected)


def test_f_measure_of_nothing_is_0() -> None:
    assert f_measure(np.array([False]), np.array([False])) == 0


def test_an_evenly_split_leaf_is_never_of_the_positive_class_whichever_that_is() -> None:
    schema = Schema([Integer("age", 17, 90), Category("income", (">50K", "<=50K"))])
    even = Table.from_rows(schema, [(20, ">50K"), (20, "<=50K")])
    for level in ("<=50K", ">50K"):
        assert tree_utility(TreeTask("income", level, 5), even, even, even).value == 0, (
            "nobody is predicted: 0/0"
        )


def test_trees_say_where_they_first_differ() -> None:
    schema = Schema(
        [
            Integer("age", 17, 90),
            Category("sex", ("Female", "Male")),
            Category("income", (">50K", "<=50K")),
        ]
    )
    by_age = Table.from_rows(
        schema,
        [
            (20, "Male", "<=50K"),
            (60, "Male", ">50K"),
            (21, "Female", "<=50K"),
            (61, "Female", ">50K"),
        ],
    )
    by_sex = Table.from_rows(
        schema,
        [
            (20, "Male", "<=50K"),
            (60, "Male", "<=50K"),
            (20, "Female", ">50K"),
            (60, "Female", ">50K"),
        ],
    )
    score = tree_utility(TreeTask("income", "<=50K", 5), by_age, by_sex, by_age)
    # by age: rows 0 and 2 are <=50K; by sex: rows 0 and 1: one hit, one missed, one invented: 2 / (2 + 2)
    assert score.value == 0.5
    assert score.limit == {
        "attribute": "income",
        "value": "<=50K",
        "missed": 1,
        "invented": 1,
    }


def test_tree_features_are_numbers_then_dummies_without_the_first_level() -> None:
    task = TreeTask("income", "<=50K", 5)
    table = random_census(np.random.default_rng(0), 3)
    matrix = task.matrix(table)
    # 2 numbers + (8 + 16 + 7 + 14 + 6 + 2) levels - 6 first levels
    assert matrix.shape == (3, 2 + 53 - 6)
    assert matrix[:, 0].tolist() == table.values("age").tolist()
    assert matrix[:, 1].tolist() == table.values("hours-per-week").tolist()


def test_more_noise_never_helps_beyond_tolerance() -> None:
    rng = np.random.default_rng(4)
    sample = random_census(rng, 4_000)
    values = []
    for share in (0.0, 0.1, 0.3, 0.9):
        noisy = {
            name: np.where(
                rng.random(len(codes)) < share,
                rng.integers(0, CENSUS[name].size or 1, len(codes)),
                codes,
            )
            for name, codes in sample.codes.items()
        }
        released = sample.with_codes(noisy)
        values.append(
            (
                histogram_utility(sample, released).value,
                -correlation_difference(Moments.of(sample), Moments.of(released)).value,
            )
        )
    for before, after in itertools.pairwise(values):
        assert after[0] <= before[0] + 0.02
        assert after[1] <= before[1] + 0.02


def test_k_is_the_smallest_group() -> None:
    assert k_anonymity(C) == 1
    assert k_anonymity(C, ["sex"]) == 2
    assert k_anonymity(C.take([])) == 0


def test_delta_presence_is_the_share_of_equal_rows() -> None:
    # (20, Male) is twice in C and once in D; (30, Female) is not in D; (40, Female) is in both once.
    assert delta_presence(C, D) == (0.0, 1.0)
    assert delta_presence(C, C.take([0, 2, 3])) == (0.5, 1.0)
    assert delta_presence(C.take([0, 1]), C.take([0])) == (0.5, 0.5)
