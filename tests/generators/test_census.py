"""Without imported files A and test.csv are drawn once and for all: no contest, round or seed changes them."""

from __future__ import annotations

from kakurenbo.datasets.adult import COMPLETE_ROWS, adult_statistics
from kakurenbo.generators import fidelity
from kakurenbo.generators.census import embedded_adult


def test_the_embedded_rows_are_the_same_every_time_they_are_drawn() -> None:
    first = embedded_adult()
    assert embedded_adult() is first
    embedded_adult.cache_clear()
    assert embedded_adult() == first


def test_the_embedded_rows_are_as_many_as_the_real_ones_and_have_their_moments() -> None:
    for part, table in (("train", embedded_adult().train), ("test", embedded_adult().test)):
        assert len(table) == COMPLETE_ROWS[part]
        assert fidelity(adult_statistics(part), table).covariance_sum < 2
