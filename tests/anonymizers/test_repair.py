"""`repair`, `tree_repair` and `hideout`: what swaps change exactly, what they leave, and how little the defence tells."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest

from kakurenbo.anonymizers.pipeline import Pipeline
from kakurenbo.anonymizers.tables.hideout import MomentMatching
from kakurenbo.anonymizers.tables.hideout_targets import (
    DirectionBasis,
    move_within_budget,
    round_to_counts,
    round_with_moments,
    with_histograms,
)
from kakurenbo.anonymizers.tables.repair import Repair, TreeRepair, rearrange, swap_towards
from kakurenbo.anonymizers.tables.synthetic import draw_population, shares_of
from kakurenbo.contest import Release
from kakurenbo.core import Category, Integer, Moments, Schema, Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.data.adult import SCHEMA as CENSUS
from kakurenbo.data.adult import embedded_adult
from kakurenbo.measures.covariance import covariance_utility
from kakurenbo.measures.histogram import histogram_utility
from kakurenbo.measures.trees import TreeTask, tree_utility

SMALL = Schema(
    [
        Integer("age", 5, 9),
        Category("job", tuple("abc")),
        Integer("hours", 0, 3),
        Category("rich", ("no", "yes")),
    ]
)
BIRDS = Schema(
    [Integer("grams", -5, 2**40), Category("colour", tuple("rgb")), Integer("ring", 7, 7)]
)


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def small(rows: int, seed: int) -> Table:
    draw = np.random.default_rng(seed)
    age = draw.integers(0, 5, rows)
    job = np.clip(age // 2 + draw.integers(0, 2, rows), 0, 2)
    return Table(
        SMALL,
        {
            "age": age,
            "job": job,
            "hours": draw.integers(0, 4, rows),
            "rich": draw.random(rows) < age / 5,
        },
    )


@cache
def census(rows: int, seed: int) -> Table:
    people = embedded_adult().train
    return people.take(np.random.default_rng(seed).permutation(len(people))[:rows])


def test_swaps_bring_covariances_to_a_target_and_stop_at_the_bound() -> None:
    table, target = small(60, 1), Moments.of(small(60, 2)).covariance

    def error(bound: float) -> float:
        released = rearrange(table, swap_towards(table, target, rng(), bound=bound, tries=2000))
        return float(np.abs(Moments.of(released).covariance - target).sum())

    before = float(np.abs(Moments.of(table).covariance - target).sum())
    least = error(0.0)
    assert least < before / 2
    bound = (before + least) / 2
    assert bound / 2 < error(bound) <= bound + 1e-9, "no swap after the bound is reached"


def test_swaps_leave_every_histogram_and_stop_at_the_bound() -> None:
    original, permuted = census(2000, 1), Pipeline("permute")(census(2000, 1), rng()).table
    release = Repair(vcm=0.2).after(original, Release.of(permuted), rng()).table
    for name in CENSUS.names:
        assert release.frequencies(name).tolist() == original.frequencies(name).tolist()
    reached = covariance_utility(Moments.of(original), Moments.of(release)).value
    assert 0.2 <= reached < 0.21, "no closer than it must"
    assert covariance_utility(Moments.of(original), Moments.of(permuted)).value < 0.02


def test_a_pipeline_repairs_towards_what_it_was_given_and_alone_a_repair_changes_nothing() -> None:
    table = small(500, 3)
    assert Repair()(table, rng()).table == table
    release = Pipeline("permute|repair:vcm=2")(table, rng()).table
    assert covariance_utility(Moments.of(table), Moments.of(release)).value >= 2


def test_the_target_need_not_be_anybodys_moments() -> None:
    table = small(400, 4)
    target = Moments.of(table).covariance.copy()
    target[0, 4] = target[4, 0] = 0.0  # age and hours
    places = swap_towards(table, target, rng(), tries=400_000)
    freed = Moments.of(rearrange(table, places)).covariance
    assert np.abs(freed - target).sum() < 0.05


def test_ten_thousand_rows_are_repaired_to_vcm_04_within_two_seconds() -> None:
    original = census(10_000, 5)
    Repair(tries=1).after(
        original, Release.of(original), rng()
    )  # compiled, or read from where that is kept
    permuted = Pipeline("permute")(original, rng())
    begin = time.thread_time()
    release = Repair(vcm=0.4).after(original, permuted, rng()).table
    assert time.thread_time() - begin <= 2
    assert covariance_utility(Moments.of(original), Moments.of(release)).value >= 0.4


def test_wide_columns_are_repaired_by_rank_and_keep_their_own_values() -> None:
    draw = np.random.default_rng(6)
    birds = Table(
        BIRDS,
        {
            "grams": np.sort(draw.integers(0, 2**40, 300)),
            "colour": np.arange(300) // 100,
            "ring": np.zeros(300),
        },
    )
    release = Pipeline("permute|repair:vcm=1")(birds, rng()).table
    assert sorted(release.codes["grams"]) == sorted(birds.codes["grams"])
    assert np.corrcoef(release.codes["grams"], release.codes["colour"])[0, 1] > 0.9


def test_labels_are_swapped_between_rows_that_both_contradict_the_originals_tree() -> None:
    schema = Schema([Integer("age", 0, 9), Category("rich", ("no", "yes"))])
    original = Table.from_rows(schema, [(age, "yes" if age > 4 else "no") for age in range(10)] * 3)
    flipped = original.with_codes({"rich": 1 - original.codes["rich"]})
    some = TreeRepair(pairs=4).after(original, Release.of(flipped), rng()).table
    assert (some.codes["rich"] == original.codes["rich"]).sum() == 8
    assert TreeRepair().after(original, Release.of(flipped), rng()).table == original
    assert TreeRepair()(original, rng()).table == original, "its own tree contradicts nobody"


def test_a_tree_grown_on_what_was_repaired_judges_as_the_originals() -> None:
    original = census(4000, 1)
    noisy = Pipeline("rrp:p=0.5;columns=income")(original, rng())
    task = TreeTask("income", "<=50K", 5)
    before = tree_utility(task, original, noisy.table, original).value
    release = (
        TreeRepair(label="income", level="<=50K", pairs=300).after(original, noisy, rng()).table
    )
    assert tree_utility(task, original, release, original).value > before
    assert release.frequencies("income").tolist() == noisy.table.frequencies("income").tolist()
    told = task.predict(task.grow(original), noisy.table)
    changed = np.flatnonzero(release.codes["income"] != noisy.table.codes["income"])
    assert len(changed) == 600
    assert (told[changed] != task.truth(noisy.table)[changed]).all()


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        (TreeRepair(label="age"), "column 'age' holds numbers, not words"),
        (TreeRepair(label="job", level="z"), "column 'job' has no level 'z'; there are a, b, c"),
        (TreeRepair(label="foo"), "there is no column 'foo'; there are age, job, hours, rich"),
    ],
)
def test_what_a_tree_cannot_tell_is_said_before_anything_runs(
    method: TreeRepair, reason: str
) -> None:
    assert str(method.unfit(SMALL)) == reason
    with pytest.raises(ParameterError):
        method(small(10, 1), rng())
    assert not TreeRepair.accepts(Schema([Integer("age", 0, 9)]))


# -- histograms to order -----------------------------------------------------------------------------------------------


def test_frequencies_move_towards_the_samples_by_as_little_evidence_as_the_budget_needs() -> None:
    public, own = np.array([5000.0, 4000.0, 990.0, 10.0]), np.array([5100.0, 3900.0, 980.0, 20.0])
    moved = move_within_budget(public, own, 110)
    assert np.abs(own - moved).sum() == pytest.approx(110, abs=0.01)
    assert abs(moved[3] - 10) < 1, "a rare value would tell most, and stays"
    assert move_within_budget(public, own, 300) is public


def test_whole_frequencies_have_the_mean_and_the_variance_that_are_wanted() -> None:
    column = Integer("hours", 1, 99)
    spread = np.exp(-((np.arange(99) - 39) ** 2) / 200)
    counts = round_with_moments(column, spread, 10_000, 40.5, 120.0)
    values = np.repeat(np.arange(1, 100), counts)
    assert len(values) == 10_000
    assert values.mean() == pytest.approx(40.5, abs=0.002)
    assert values.var(ddof=1) == pytest.approx(120.0, abs=0.02)


def test_a_table_gets_the_histograms_by_few_changes() -> None:
    table = small(300, 1)
    wanted = {
        name: round_to_counts(small(300, 2).frequencies(name).astype(float), 300)
        for name in SMALL.names
    }
    made = with_histograms(table, wanted, rng())
    for name in SMALL.names:
        assert made.frequencies(name).tolist() == wanted[name].tolist()
        moved = int(np.maximum(table.frequencies(name) - wanted[name], 0).sum())
        assert (made.codes[name] != table.codes[name]).sum() == moved


# -- the defence -------------------------------------------------------------------------------------------------------


def test_the_more_combinations_are_copied_the_closer_is_what_to_expect() -> None:
    people = small(20_000, 1)
    outlook = DirectionBasis.of(people, 500, 0.1, 50, rng())
    sample = people.take(np.arange(500))
    errors = []
    for count in (0, 4, 8, len(outlook.into)):
        covariance, shares = outlook.expect(sample, count)
        errors.append(np.abs(covariance - Moments.of(sample).covariance).sum())
        assert shares.sum() == pytest.approx(len(SMALL), abs=1e-6)
    assert np.abs(outlook.expect(sample, 0)[0] - Moments.of(people).covariance).max() == 0, (
        "nothing of the sample"
    )
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0] / 50
    assert errors[2] < errors[0] / 2


def test_other_people_are_those_of_the_generator_whose_sample_it_is() -> None:
    assert (
        np.abs(
            shares_of(draw_population(census(1000, 1), "auto", rng()))
            - shares_of(embedded_adult().train)
        ).sum()
        < 0.6
    )
    odd = census(300, 1).with_codes(
        {name: np.zeros(300) for name in ("sex", "education", "workclass", "occupation")}
    )
    assert draw_population(odd, "auto", rng()).frequencies("sex")[1] == 0, (
        "like nothing public: an estimate from the sample"
    )


@pytest.mark.slow
def test_hideout_holds_the_thresholds_it_was_given() -> None:
    sample = census(2000, 2)
    released = MomentMatching(vcm=0.12)(sample, rng()).table
    assert covariance_utility(Moments.of(sample), Moments.of(released)).value >= 0.12
    assert histogram_utility(sample, released).value >= 0.99
    assert len(released) == 2000
    shared = np.isin(released.keys(), sample.keys()).mean()
    assert shared < 0.5, "records of other people"


def test_hideout_takes_any_finite_schema() -> None:
    draw = np.random.default_rng(6)
    grams = np.where(draw.random(400) < 0.9, draw.integers(0, 50_000, 400), 2**40)
    birds = Table(
        BIRDS, {"grams": grams, "colour": draw.integers(0, 3, 400), "ring": np.zeros(400)}
    )
    for method in (MomentMatching(), MomentMatching(round="main")):
        assert str(method.unfit(BIRDS)) == ""
        first, second = method(birds, rng()).table, method(birds, rng()).table
        assert first == second
        assert first.schema == BIRDS
        assert len(first) == 400
        assert set(first.codes["grams"]) <= set(grams.tolist())
    assert len(MomentMatching()(birds.take([0]), rng()).table) == 0, "one record cannot hide"
