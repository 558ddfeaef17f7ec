"""Anonymizers of pwscup2024: each does what its sentence says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.pwscup2024 import BOOK, Handout, small_original

from kakurenbo.anonymizers.pipeline import Pipeline
from kakurenbo.anonymizers.ratings.crosstab_repair import (
    CrosstabRepair,
    CrosstabRepairFast,
    CrosstabState,
    overwrite_cell,
)
from kakurenbo.anonymizers.ratings.olh import OLH, PseudoOLH
from kakurenbo.anonymizers.ratings.split_files import (
    GroupShuffle,
    PermuteColumns,
    ShuffleRows,
    SwapCells,
)
from kakurenbo.contest import Release
from kakurenbo.core import Table, table_bytes
from kakurenbo.core.errors import KakurenboError, ParameterError
from kakurenbo.core.rng import stream
from kakurenbo.data import ratings
from kakurenbo.measures.crosstab import crosstab_utility, least_utility
from kakurenbo.methods import registry

RNG = np.random.default_rng


def released(text: str, seed: int = 1, original: Table | None = None) -> Release:
    handout = Handout("01", (original or small_original(),))
    return BOOK.anonymize(handout, registry.build("anonymizers", text), stream(seed, "test"))


def utility(release: Release, original: Table | None = None) -> float:
    splits = ratings.split(original or small_original())
    return least_utility(
        [
            crosstab_utility(b, c, ratings.ATTRIBUTES)
            for b, c in zip(splits, release.tables, strict=True)
        ]
    ).value


@pytest.mark.parametrize(("size", "epsilon"), [(2, 2.0), (7, 2.0), (495, 2.0), (6, 1.0)])
def test_pseudo_olh_keeps_with_e_eps_over_e_eps_plus_d_minus_1(size: int, epsilon: float) -> None:
    matrix = PseudoOLH()._transition(size, epsilon)
    assert matrix[0, 0] == pytest.approx(math.exp(epsilon) / (math.exp(epsilon) + size - 1))
    assert matrix[0, 1] == pytest.approx(1 / (math.exp(epsilon) + size - 1))
    assert matrix.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("method", [PseudoOLH(), OLH()])
@pytest.mark.parametrize(("size", "epsilon"), [(2, 2.0), (6, 1.0), (21, 2.0), (40, 3.0)])
def test_cells_turn_into_each_other_as_the_mechanism_says(
    method: OLH, size: int, epsilon: float
) -> None:
    codes = np.repeat(np.arange(size), 60_000 // size)
    drawn = method._randomized(codes, size, epsilon, RNG(5))
    expected = method._transition(size, epsilon)
    stayed = float((drawn == codes).mean())
    assert stayed == pytest.approx(expected[0, 0], abs=4 * math.sqrt(expected[0, 0] / len(codes)))
    assert np.bincount(drawn, minlength=size).min() > 0


def test_olh_is_less_likely_to_keep_a_value_than_pseudo_olh_when_there_are_few_values() -> None:
    assert OLH()._transition(2, 2.0)[0, 0] < PseudoOLH()._transition(2, 2.0)[0, 0]


def test_a_column_may_have_a_budget_of_its_own() -> None:
    release = released("pseudo_olh:epsilon=0,columns=260=50/Gender=50")
    original = ratings.split(small_original())[0]
    kept = {
        name: (release.tables[0].codes[name] == original.codes[name]).mean()
        for name in ("260", "Gender", "653")
    }
    assert kept["260"] == kept["Gender"] == 1
    assert kept["653"] < 0.3
    assert release.mechanism is not None
    assert release.mechanism.column_epsilon("260") == pytest.approx(50)


@pytest.mark.parametrize("text", ["260", "260=much", "no such column=1", "260=-1", "260=nan"])
def test_a_bad_budget_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="columns"):
        PseudoOLH(columns=text)


def test_perturbing_once_gives_the_same_cell_in_every_file_and_perturbing_each_does_not() -> None:
    once, each = released("pseudo_olh:per_file=false").tables, released("pseudo_olh").tables
    assert np.array_equal(once[0].codes["260"], once[1].codes["260"])
    assert not np.array_equal(each[0].codes["260"], each[1].codes["260"])


def test_rows_are_shuffled_differently_in_every_file_and_stay_whole() -> None:
    original = ratings.split(small_original())
    tables = released("shuffle_rows").tables
    for before, after in zip(original, tables, strict=True):
        assert sorted(before.keys().tolist()) == sorted(after.keys().tolist())
    assert not np.array_equal(tables[0].codes["ZIP-code"], tables[1].codes["ZIP-code"])
    assert not np.array_equal(tables[0].codes["ZIP-code"], original[0].codes["ZIP-code"])


def test_permuting_columns_keeps_how_often_values_occur() -> None:
    for before, after in zip(
        ratings.split(small_original()), released("permute_columns").tables, strict=True
    ):
        for name in before.schema.names:
            assert np.array_equal(before.frequencies(name), after.frequencies(name))


def test_ratings_are_shuffled_among_people_of_one_gender_and_age_and_attributes_stay() -> None:
    original = ratings.split(small_original())[0]
    after = released("group_shuffle").tables[0]
    for name in ratings.ATTRIBUTES:
        assert np.array_equal(original.codes[name], after.codes[name])
    groups = original.keys(("Gender", "Age"))
    for group in np.unique(groups):
        rows = groups == group
        assert sorted(original.codes["260"][rows]) == sorted(after.codes["260"][rows])
    assert not np.array_equal(original.codes["260"], after.codes["260"])
    with pytest.raises(ParameterError, match="groups"):
        GroupShuffle(groups=("260",))


def test_each_swap_exchanges_two_cells_of_one_column() -> None:
    original = ratings.split(small_original())[0]
    after = released("swap_cells:swaps=1").tables[0]
    changed = sum(
        int((original.codes[name] != after.codes[name]).sum()) for name in original.schema.names
    )
    assert changed in (0, 2)
    many = released("swap_cells:swaps=100").tables[0]
    changed = sum(
        int((original.codes[name] != many.codes[name]).sum()) for name in original.schema.names
    )
    assert 100 < changed <= 200


def test_one_round_of_the_posters_repair_overwrites_an_over_represented_pair_by_an_under_represented_one() -> (
    None
):
    original = ratings.split(small_original())[2]
    noisy = released("pseudo_olh").tables[2]
    before = CrosstabState.of(original, noisy, attribute_pairs=True)
    first, second = sorted(divmod(int(before.errors.argmax()), len(before.names)))
    repaired = CrosstabRepair(iterations=1)._treat_file(original, noisy, RNG(1))
    after = CrosstabState.of(original, repaired, attribute_pairs=True)
    # two cells of the table that had the largest error are one closer each
    assert after.errors[first, second] == before.errors[first, second] - 2
    assert int((after.codes != before.codes).any(axis=0).sum()) == 1


def test_the_posters_repair_takes_the_worst_of_all_common_columns_unless_only_scored_pairs_are_asked_for() -> (
    None
):
    original, noisy = ratings.split(small_original())[2], released("pseudo_olh").tables[2]
    compared = {
        pairs: CrosstabState.of(original, noisy, attribute_pairs=pairs == "all")
        for pairs in ("all", "scored")
    }
    age_by_zip = [original.schema.names.index(name) for name in ("Age", "ZIP-code")]
    assert compared["scored"].errors[*age_by_zip] == 0
    assert (
        compared["all"].errors.max()
        == compared["all"].errors[:4, :4].max()
        > compared["scored"].errors.max()
    )
    assert (
        compared["all"].utility
        == compared["scored"].utility
        == crosstab_utility(original, noisy, ratings.ATTRIBUTES).value
    )
    attributes = noisy.select(ratings.ATTRIBUTES)
    by_pairs = {
        pairs: CrosstabRepair(iterations=1, pairs=pairs)._treat_file(original, noisy, RNG(1))
        for pairs in compared
    }
    # the worst table of all is one of two attributes: the movies stay as they are
    movies = [name for name in original.schema.names if name not in ratings.ATTRIBUTES]
    assert by_pairs["all"].select(movies) == noisy.select(movies)
    assert by_pairs["all"].select(ratings.ATTRIBUTES) != attributes
    assert by_pairs["scored"].select(movies) != noisy.select(movies)
    assert CrosstabRepair() == CrosstabRepair(iterations=3000, rows=1, pairs="all", utility=100)


def test_a_round_overwrites_as_many_rows_of_the_worst_table_as_it_is_told_and_none_of_a_perfect_one() -> (
    None
):
    original, noisy = ratings.split(small_original())[2], released("pseudo_olh").tables[2]
    before = CrosstabState.of(original, noisy)
    first, second = sorted(divmod(int(before.errors.argmax()), len(before.names)))
    most = int(before.errors[first, second]) // 2
    for rows, overwritten in ((1, 1), (3, 3), (10_000, most)):
        repaired = CrosstabRepair(iterations=1, rows=rows, pairs="scored")._treat_file(
            original, noisy, RNG(1)
        )
        after = CrosstabState.of(original, repaired)
        assert after.errors[first, second] == before.errors[first, second] - 2 * overwritten
    assert CrosstabRepair()._treat_file(original, original, RNG(1)) == original


def test_the_posters_repair_stops_at_the_utility_it_is_asked_for() -> None:
    noisy = released("pseudo_olh")
    splits = ratings.split(small_original())
    aligned = released("pipeline:steps=pseudo_olh|crosstab_repair:utility=60;rows=1").tables
    for before, now, after in zip(splits, noisy.tables, aligned, strict=True):
        already, reached = (
            crosstab_utility(before, table, ratings.ATTRIBUTES).value for table in (now, after)
        )
        assert reached == already if already >= 60 else 60 <= reached < 61


def test_the_trace_of_a_repair_is_the_utility_of_every_file_after_every_round() -> None:
    noisy, repair = released("pseudo_olh"), CrosstabRepair(iterations=40, rows=10, utility=75)
    repaired = repair.after(small_original(), noisy, RNG(7))
    assert 1 < len(repaired.trace) <= 41
    for tables, utilities in (
        (noisy.tables, repaired.trace[0]),
        (repaired.tables, repaired.trace[-1]),
    ):
        measured = [
            crosstab_utility(b, c, ratings.ATTRIBUTES).value
            for b, c in zip(ratings.split(small_original()), tables, strict=True)
        ]
        assert measured == pytest.approx(list(utilities))


def test_incremental_errors_are_those_of_the_table() -> None:
    original, noisy = ratings.split(small_original())[4], released("pseudo_olh").tables[4]
    state = CrosstabState.of(original, noisy)
    rng = RNG(3)
    for _ in range(50):
        column = int(rng.integers(len(state.names)))
        row, value = int(rng.integers(len(original))), int(rng.integers(state.sizes[column]))
        overwrite_cell(state.arrays, column, row, value)
    again = CrosstabState.of(original, state.applied_to(noisy))
    assert np.array_equal(state.errors, again.errors)
    assert np.array_equal(state.cells, again.cells)


def test_both_repairs_raise_the_utility_and_ours_reaches_what_it_is_asked_for() -> None:
    noisy = utility(released("pseudo_olh"))
    assert (
        utility(released("pipeline:steps=pseudo_olh|crosstab_repair:iterations=300;rows=10"))
        > noisy + 3
    )
    for wanted in (80, 90):
        reached = utility(
            released(f"pipeline:steps=pseudo_olh|crosstab_repair_fast:utility={wanted}")
        )
        assert reached >= wanted


def test_just_enough_permutes_every_column_and_stops_at_the_utility_it_is_asked_for() -> None:
    reached = released("just_enough:utility=70")
    assert 70 <= utility(reached) < 72
    original = ratings.split(small_original())[1]
    kept = np.mean(
        [(reached.tables[1].codes[m] == original.codes[m]).mean() for m in ratings.SPLITS[1]]
    )
    assert kept < 0.35  # a sixth by chance, a little more by repair
    assert np.array_equal(reached.tables[0].codes["260"], reached.tables[1].codes["260"])


def test_annealing_accepts_changes_for_the_worse_and_still_reaches_the_utility() -> None:
    steps = "pipeline:steps=pseudo_olh|crosstab_repair_fast:utility=85"
    assert utility(released(steps + ";temperature=0.5")) >= 85
    assert table_bytes(released(steps + ";temperature=0.5").tables[0]) != table_bytes(
        released(steps).tables[0]
    )


def test_a_step_on_the_whole_table_is_refused_after_the_files_were_split() -> None:
    with pytest.raises(ParameterError, match="per_file"):
        released("pipeline:steps=shuffle_rows|permute_columns:per_file=false")


@pytest.mark.parametrize("steps", ["no_such_step", "pseudo_olh:epsilon=-1", "rr:p=2"])
def test_a_bad_step_is_refused_when_the_steps_are_named(steps: str) -> None:
    with pytest.raises(KakurenboError):
        Pipeline(steps=steps)


def test_the_mechanism_of_steps_is_known_as_long_as_cells_are_treated_by_themselves() -> None:
    known = released("pipeline:steps=pseudo_olh:epsilon=1|shuffle_rows|pseudo_olh:epsilon=1")
    single = PseudoOLH(epsilon=1)._transition(6, 1.0)
    assert known.mechanism is not None
    assert known.mechanism.transitions["260"] == pytest.approx(single @ single)
    assert released("pipeline:steps=pseudo_olh|crosstab_repair_fast").mechanism is None
    assert Pipeline(steps="shuffle_rows|swap_cells").mechanism(small_original()) is None


@pytest.mark.parametrize(
    "method", [ShuffleRows(), PermuteColumns(), SwapCells(), CrosstabRepairFast(), OLH()]
)
def test_names_are_left_out(method: ShuffleRows) -> None:
    for table in method(small_original(), RNG(1)).tables:
        assert ratings.NAME not in table.schema


@pytest.mark.parametrize("steps", ["rr", "pseudo_olh|delete", "monthly_pseudonyms"])
def test_steps_of_other_data_do_not_fit(steps: str) -> None:
    assert (
        str(Pipeline(steps).unfit(BOOK.schema))
        == f"step {steps.split('|')[-1]}: it takes tables of other columns"
    )
    assert str(Pipeline("pseudo_olh|shuffle_rows").unfit(BOOK.schema)) == ""
