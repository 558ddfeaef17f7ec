"""Tries left: resets across zones and turned clocks, to the second."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kakurenbo.proofs.quotas import Quota


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_a_day_in_tokyo_begins_at_three_in_the_afternoon_of_the_day_before_in_utc() -> None:
    quota = Quota(per_day=3)
    assert quota.day_of(utc("2024-10-01T14:59:59")) == (
        utc("2024-09-30T15:00"),
        utc("2024-10-01T15:00"),
    )
    assert quota.day_of(utc("2024-10-01T15:00")) == (
        utc("2024-10-01T15:00"),
        utc("2024-10-02T15:00"),
    )


def test_the_reset_hour_is_read_in_the_contests_zone() -> None:
    quota = Quota(per_day=1, reset_hour=9)
    assert quota.day_of(utc("2024-10-01T00:00"))[0] == utc("2024-10-01T00:00")
    assert quota.day_of(utc("2024-09-30T23:59:59"))[1] == utc("2024-10-01T00:00")


@pytest.mark.parametrize(
    ("moment", "hours"),
    [("2024-03-31T12:00", 23), ("2024-10-27T12:00", 25), ("2024-06-01T12:00", 24)],
)
def test_where_clocks_are_turned_a_day_has_23_or_25_hours(moment: str, hours: int) -> None:
    begins, ends = Quota(per_day=1, zone="Europe/Paris").day_of(utc(moment))
    assert ends - begins == timedelta(hours=hours)


def test_an_hour_that_is_skipped_is_a_reset_all_the_same() -> None:
    quota = Quota(per_day=1, reset_hour=2, zone="Europe/Paris")  # 2024-03-31 has no 02:00
    assert quota.day_of(utc("2024-03-31T00:59:59"))[1] == utc("2024-03-31T01:00")


@given(
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),
    st.sampled_from(
        [
            "Asia/Tokyo",
            "UTC",
            "Europe/Paris",
            "America/Sao_Paulo",
            "Australia/Lord_Howe",
            "Asia/Kathmandu",
        ]
    ),
    st.integers(0, 23),
)
def test_days_have_no_gap_and_no_overlap(moment: datetime, zone: str, hour: int) -> None:
    quota = Quota(per_day=1, zone=zone, reset_hour=hour)
    begins, ends = quota.day_of(moment)
    assert begins <= moment < ends
    assert quota.day_of(ends)[0] == ends
    assert quota.day_of(begins - timedelta(seconds=1))[1] == begins
    assert timedelta(hours=22) <= ends - begins <= timedelta(hours=26)


def test_the_last_try_of_the_day_says_when_the_next_one_comes() -> None:
    quota = Quota(in_all=4, per_day=2)
    tries = [utc("2024-10-01T01:00"), utc("2024-10-01T02:00")]
    left = quota.left(tries, utc("2024-10-01T03:00"))
    assert (left.count, left.again_at) == (0, utc("2024-10-01T15:00"))
    left = quota.left(tries, utc("2024-10-01T15:00"))
    assert (left.count, left.again_at) == (2, None)


def test_when_all_tries_are_used_there_is_no_next_one() -> None:
    tries = [utc("2024-10-01T01:00"), utc("2024-10-02T02:00")]
    left = Quota(in_all=2, per_day=2).left(tries, utc("2024-10-02T03:00"))
    assert (left.count, left.again_at, left.exhausted) == (0, None, True)


def test_a_day_that_begins_after_the_phase_brings_nothing() -> None:
    left = Quota(per_day=1).left([utc("2024-10-01T01:00")], utc("2024-10-01T03:00"))
    assert left.until(utc("2024-10-01T15:00:01")) == left
    over = left.until(utc("2024-10-01T15:00"))
    assert (over.count, over.again_at, over.resets_at) == (0, None, None)


def test_another_limit_leaves_the_fewer_and_one_that_never_comes_back_nothing_to_wait_for() -> None:
    left = Quota(per_day=2).left([utc("2024-10-01T01:00")], utc("2024-10-01T03:00"))
    assert [left.at_most(count).count for count in (-1, 0, 1, 2)] == [0, 0, 1, 1]
    exhausted = Quota(per_day=1).left([utc("2024-10-01T01:00")], utc("2024-10-01T03:00"))
    assert exhausted.again_at is not None
    assert exhausted.at_most(0).again_at is None
    assert exhausted.at_most(3) == exhausted
    assert Quota().left([], utc("2024-10-01T00:00")).at_most(2).count == 2


def test_without_limits_there_is_no_count() -> None:
    assert Quota().left([], utc("2024-10-01T00:00")).count is None
