"""Covariance and correlation figures of tables that differ by little, by nothing, or have one column."""

from __future__ import annotations

import math

import pytest

from kakurenbo.core import Integer, Moments, Schema, Table
from kakurenbo.measures.covariance import correlation_difference, covariance_utility


def column(*values: int) -> Moments:
    return Moments.of(Table.from_rows(Schema([Integer("x", 0, 9)]), [(value,) for value in values]))


@pytest.mark.parametrize("edition", [1, 2])
def test_a_difference_below_1_is_more_than_none(edition: int) -> None:
    """Variances with ddof 1: of 0, 0, 0, 1 it is 1/4; the other table has none."""
    score = covariance_utility(column(0, 0, 0, 0), column(0, 0, 0, 1), edition)
    assert score.value == pytest.approx(4)
    assert score.limit == {"pair": ["x", "x"], "difference": pytest.approx(0.25)}


def test_tables_that_are_equal_are_limited_by_no_pair() -> None:
    same = column(1, 4, 7)
    assert (covariance_utility(same, same).value, covariance_utility(same, same).limit) == (
        math.inf,
        {},
    )
    assert correlation_difference(same, same).limit == {}


def test_one_column_has_no_pair_whose_correlation_could_differ() -> None:
    score = correlation_difference(column(1, 4, 7), column(1, 1, 9))
    assert (score.value, score.limit) == (0, {})


def test_a_difference_of_exactly_1_is_told() -> None:
    """Variances 2 of 0, 2 and 1 of 0, 1, 2."""
    assert covariance_utility(column(0, 2), column(0, 1, 2)).limit == {
        "pair": ["x", "x"],
        "difference": 1.0,
    }
