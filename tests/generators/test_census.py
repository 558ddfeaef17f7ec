"""Without imported files A and test.csv are drawn once and for all: no contest, round or seed changes them."""

from __future__ import annotations

import pytest

from kakurenbo.datasets.adult import COMPLETE_ROWS, adult_statistics, embedded_adult
from kakurenbo.generators import fidelity
from kakurenbo.generators.census import draw_embedded_rows


@pytest.mark.parametrize("part", COMPLETE_ROWS)
def test_the_embedded_rows_are_those_that_the_embedded_statistics_give(part: str) -> None:
    assert getattr(embedded_adult(), part) == draw_embedded_rows(part)


def test_the_embedded_rows_are_as_many_as_the_real_ones_and_have_their_moments() -> None:
    for part, table in (("train", embedded_adult().train), ("test", embedded_adult().test)):
        assert len(table) == COMPLETE_ROWS[part]
        assert fidelity(adult_statistics(part), table).covariance_sum < 2
