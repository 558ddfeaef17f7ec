"""Steps of pwscup2021: rows are trimmed, numbers blurred, lonely records thinned out and near ones swapped, as each says."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from kakurenbo.anonymizers.pipeline import Pipeline
from kakurenbo.anonymizers.tables.columns import Bottom, Laplace, Top
from kakurenbo.anonymizers.tables.randomized_response import RandomizedResponse
from kakurenbo.anonymizers.tables.suppression import SuppressRare, Thin
from kakurenbo.anonymizers.tables.swap import SwapNear
from kakurenbo.core import Category, Decimal, Integer, Schema, Table
from kakurenbo.data import health as nhanes
from kakurenbo.measures.records import within_distance
from kakurenbo.measures.regression import logistic_regression
from kakurenbo.methods import registry
from kakurenbo.rulebooks.pwscup2021.data import generated_table
from kakurenbo.rulebooks.pwscup2021.release import COMPARED
from kakurenbo.rulebooks.pwscup2021.utility import unique_share


@cache
def people() -> Table:
    return generated_table(nhanes.embedded_statistics(), 1000, np.random.default_rng(1))


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_each_step_says_which_rows_it_kept_and_a_pipeline_says_it_of_its_input() -> None:
    table = people()
    steps = "top:column=age;above=75|rr:p=0.5;columns=qm|bottom:column=bmi;below=20|kanony:k=5;columns=race;mar"
    release = Pipeline(steps=steps)(table, rng())
    assert release.rows is not None
    assert release.table.values("age").tolist() == table.values("age")[release.rows].tolist()
    assert (table.values("age")[release.rows] <= 75).all()
    assert (table.values("bmi")[release.rows] >= 20).all()
    assert Pipeline(steps="rr:columns=qm")(table, rng()).rows is None


def test_top_and_bottom_keep_the_limit_itself() -> None:
    table = Table.from_rows(Schema([Decimal("bmi")]), [(19.9,), (20.0,), (50.0,), (50.1,)])
    assert Top(column="bmi", above=50)(table, rng()).rows.tolist() == [0, 1, 2]  # type: ignore[union-attr]
    assert Bottom(column="bmi", below=20)(table, rng()).rows.tolist() == [1, 2, 3]  # type: ignore[union-attr]


def test_dp_adds_laplace_noise_cuts_decimals_off_and_stays_in_range() -> None:
    ages = Laplace(epsilon=1.0)(people(), rng()).table.values("age")
    assert (ages == np.trunc(ages)).all()
    moved = Laplace(column="bmi", epsilon=2.0, whole=False)(people(), rng()).table.values(
        "bmi"
    ) - people().values("bmi")
    assert np.abs(moved).mean() == pytest.approx(0.5, rel=0.1)
    counted = Table.from_rows(Schema([Integer("age", 20, 25)]), [(20,), (25,)] * 50)
    noisy = Laplace(epsilon=0.1)(counted, rng()).table.values("age")
    assert noisy.min() == 20
    assert noisy.max() == 25


@pytest.mark.parametrize(
    "method",
    [Top(column="race"), Bottom(column="race"), Laplace(column="race"), Top(column="height")],
)
def test_a_column_that_is_no_number_or_not_there_does_not_fit(method: Top) -> None:
    assert method.unfit(nhanes.SCHEMA)


def test_rr_redraws_every_column_with_a_list_of_values_and_refuses_others_by_name() -> None:
    release = RandomizedResponse(p=0.0)(people(), rng()).table
    assert (release.values("bmi") == people().values("bmi")).all()
    assert (release.values("race") != people().values("race")).mean() > 0.5
    assert "no list of values" in str(RandomizedResponse(columns=("bmi",)).unfit(nhanes.SCHEMA))
    assert not SuppressRare(columns=("race", "bmi")).unfit(nhanes.SCHEMA)


def test_thin_leaves_few_records_of_a_kind_and_the_regression_as_it_was() -> None:
    release = Thin(unique=0.5, columns=COMPARED)(people(), rng())
    assert unique_share(release.table, 1000).value <= 0.5
    before, after = (
        logistic_regression(table, "dia", ("gen", "age", "bmi", "dep", "pir"))
        for table in (people(), release.table)
    )
    assert before is not None
    assert after is not None
    assert after.odds_ratios == pytest.approx(before.odds_ratios, abs=0.1)
    at_random = people().take(np.sort(rng().permutation(1000)[: len(release.table)]))
    shares = [
        np.abs(table.values("age").mean() - people().values("age").mean())
        for table in (release.table, at_random)
    ]
    assert shares[0] < max(0.5, shares[1])


def test_where_few_stand_alone_nobody_is_deleted() -> None:
    table = Table.from_rows(
        Schema([Category("sex", ("F", "M")), Integer("sick", 0, 1)]),
        [("F", 0), ("F", 1), ("M", 0)] * 4,
    )
    assert len(Thin()(table, rng()).table) == 12


def test_swapped_records_are_those_of_the_table_and_each_is_within_reach_of_the_row_it_came_to() -> (
    None
):
    release = SwapNear(reach=4, cells=4)(people(), rng())
    assert release.rows is None
    assert sorted(release.table.rows()) == sorted(people().rows())
    assert within_distance(people(), release.table, 4, 4).diagonal().all()
    assert (
        np.array(release.table.rows(), dtype=object) != np.array(people().rows(), dtype=object)
    ).any(axis=1).mean() > 0.9


def test_who_has_nobody_near_keeps_the_own_record() -> None:
    table = Table.from_rows(Schema([Decimal("age")]), [(10.0,), (11.0,), (50.0,), (90.0,)])
    assert SwapNear(reach=2)(table, rng()).table.rows() == [(11.0,), (10.0,), (50.0,), (90.0,)]
    one = table.take([0])
    assert SwapNear()(one, rng()).table.rows() == one.rows()


def test_every_step_is_found_by_its_name() -> None:
    for text in ("top", "bottom", "kanony:columns=race", "rr", "dp", "thin", "swap_near"):
        assert not registry.build("anonymizers", text).unfit(nhanes.SCHEMA)
