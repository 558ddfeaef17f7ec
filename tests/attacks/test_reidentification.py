"""Attacks on monthly pseudonyms: the baselines by hand, and what the stronger ones find where baselines do not."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from kakurenbo.anonymizers.pipeline import Pipeline
from kakurenbo.attacks.records.sinkhorn import balanced
from kakurenbo.attacks.reidentification import ReidentificationGuess, ReidentificationKnowledge
from kakurenbo.attacks.reidentification.assignment import assigned_three, best_three
from kakurenbo.attacks.reidentification.baselines import KeyMatch, Overlap
from kakurenbo.attacks.reidentification.evidence import (
    Bag,
    SortedVectors,
    estimate_retention,
    month_to_learn_from,
    size_scores,
)
from kakurenbo.attacks.reidentification.months import months_of
from kakurenbo.attacks.reidentification.pairwise import (
    FellegiSunter,
    PairwiseAttack,
    Profile,
    Rhythm,
    TfIdf,
)
from kakurenbo.core import Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.rng import stream
from kakurenbo.data.shop import simulate_shop
from kakurenbo.data.transactions import SCHEMA
from kakurenbo.rulebooks.darc2019 import Darc2019
from kakurenbo.rulebooks.darc2019.files import Handout
from kakurenbo.rulebooks.darc2019.matrices import answer_of
from kakurenbo.rulebooks.darc2019.scores import reid

RNG = np.random.default_rng(0)


def table(*lines: str) -> Table:
    return Table.from_rows(SCHEMA, [line.split(",") for line in lines])


def told(guess: ReidentificationGuess) -> dict[tuple[str, int], list[str]]:
    found = {}
    for customer, month in zip(*np.nonzero((guess.cells >= 0).any(axis=2)), strict=True):
        cell = guess.cells[customer, month]
        found[guess.customers[customer], int(month)] = [
            guess.pseudonyms[code] for code in cell if code >= 0
        ]
    return found


T = table(
    "x,2010/12/01,08:00,22693,1.5,6",
    "x,2010/12/02,08:00,22700,1.5,7",
    "y,2010/12/01,08:00,22694,2.5,6",
    "y,2011/01/05,08:00,22693,1.5,9",
)


def test_baseline_1_matches_date_and_quantity_and_the_last_row_of_s_wins() -> None:
    released = table("p,2010/12/01,08:00,22693,1.5,6", "q,2010/12/01,08:00,22694,2.5,6")
    assert told(KeyMatch(1)(ReidentificationKnowledge(T, released), RNG)) == {
        ("x", 0): ["q"],
        ("y", 0): ["q"],
    }


def test_the_last_row_of_t_wins_in_a_cell() -> None:
    released = table("p,2010/12/01,08:00,22693,1.5,6", "q,2010/12/02,08:00,22700,1.5,7")
    assert told(KeyMatch(1)(ReidentificationKnowledge(T, released), RNG))["x", 0] == ["q"]


def test_baselines_of_the_rules_look_at_two_characters_of_an_item_and_the_evaluator_at_all() -> (
    None
):
    released = table("p,2010/12/01,08:00,22999,1.5,6")
    known = ReidentificationKnowledge(T, released)
    assert told(KeyMatch(2)(known, RNG)) == {("x", 0): ["p"]}
    assert told(KeyMatch(2, "aicrowd")(known, RNG)) == {}


def test_only_the_evaluator_takes_a_pseudonym_of_another_month() -> None:
    known = ReidentificationKnowledge(T, table("p,2010/12/01,08:00,22693,1.5,6"))
    assert told(KeyMatch(2, "aicrowd")(known, RNG)) == {("x", 0): ["p"], ("y", 1): ["p"]}
    assert told(KeyMatch(2)(known, RNG)) == {("x", 0): ["p"]}


def test_baseline_6_looks_at_quantity_in_the_rules_and_at_price_in_the_evaluator() -> None:
    known = ReidentificationKnowledge(T, table("p,2010/12/01,08:00,22693,1.5,99"))
    assert told(KeyMatch(6)(known, RNG)) == {}
    assert told(KeyMatch(6, "aicrowd")(known, RNG)) == {("x", 0): ["p"]}


def test_baseline_7_ranks_by_shared_items_and_then_by_pseudonym() -> None:
    released = table(
        "b,2010/12/09,08:00,22693,1,1",
        "c,2010/12/09,08:00,22693,1,1",
        "c,2010/12/09,08:00,22700,1,1",
        "a,2010/12/09,08:00,22699,1,1",
        "d,2010/12/09,08:00,22698,1,1",
    )
    guess = told(Overlap()(ReidentificationKnowledge(T, released), RNG))
    assert guess["x", 0] == ["c", "b", "a"]
    assert guess["y", 0] == ["a", "b", "c"]
    assert ("y", 1) not in guess  # nobody is there in January


def test_the_evaluators_baseline_7_is_blind_on_the_last_day_of_2010() -> None:
    known = ReidentificationKnowledge(T, table("p,2010/12/31,08:00,22693,1,1"))
    assert told(Overlap("aicrowd")(known, RNG)) == {}
    assert ("x", 0) in told(Overlap()(known, RNG))


def test_three_best_columns_are_ranked_with_ties_by_column_and_gaps_where_there_are_fewer() -> None:
    scores = np.array([[1, 3, 3, 2], [0, 0, 0, 0]], dtype=np.float32)
    assert best_three(scores).tolist() == [[1, 2, 3], [0, 1, 2]]
    assert best_three(scores[:, :2]).tolist() == [[1, 0, -1], [0, 1, -1]]


def test_one_to_one_assignment_gives_a_pseudonym_away_once() -> None:
    scores = np.array([[5, 4, 0], [5, 0, 0], [0, 0, 1]], dtype=np.float32)
    assert assigned_three(scores)[:, 0].tolist() == [1, 0, 2]
    assert assigned_three(scores[:2]).shape == (2, 3)
    assert assigned_three(scores[:, :2])[:, 2].tolist() == [-1, -1, -1]


def test_balanced_scores_sum_alike_over_rows_and_columns() -> None:
    chance = balanced(np.random.default_rng(1).normal(0, 3, (5, 5)).astype(np.float32), 20)
    assert chance.sum(axis=1) == pytest.approx(np.ones(5), abs=1e-3)
    assert chance.sum(axis=0) == pytest.approx(np.ones(5), abs=1e-2)


# -- on a simulated shop ----------------------------------------------------------------------------------------------


@cache
def shop() -> Table:
    return simulate_shop(stream(1, "attacked shop"), customers=400)


@cache
def attacked(steps: str) -> tuple[ReidentificationKnowledge, object]:
    release = Darc2019().anonymize(Handout("01", shop()), Pipeline(steps), stream(2, steps)).table
    answer, rows = answer_of(shop(), release)
    order = stream(3, steps).permutation(len(rows))
    return ReidentificationKnowledge(shop(), rows.take(order)), answer


def rate(attack: object, steps: str) -> float:
    known, answer = attacked(steps)
    return reid(answer, attack(known, stream(4, "attack")), "rules")  # type: ignore[operator, arg-type]


NOISY = "swap_items:share=0.8|dates|values"


def test_retention_is_estimated_from_s_alone() -> None:
    known, _ = attacked(NOISY)
    months = list(months_of(known))
    found = estimate_retention(
        month_to_learn_from(months), ("item", "date", "price", "qty", "size")
    )
    assert found["item"] == pytest.approx(0.2, abs=0.08)
    assert found["date"] < 0.1
    assert found["price"] < 0.2
    known, _ = attacked("")
    found = estimate_retention(
        month_to_learn_from(list(months_of(known))), ("item", "date", "price", "qty", "size")
    )
    assert min(found.values()) > 0.8


def test_a_score_is_the_log_likelihood_ratio_of_the_rows() -> None:
    """p has items 1 and 2, x only item 1: with rho = 1/2 and shares (2.5 / 4) and (1.5 / 4) smoothed by half a row."""
    original = table("x,2010/12/01,08:00,1,1,1", "y,2010/12/01,08:00,2,1,1")
    released = table(
        "p,2010/12/01,08:00,1,1,1", "p,2010/12/01,08:00,2,1,1", "q,2010/12/01,08:00,1,1,1"
    )
    month = next(iter(months_of(ReidentificationKnowledge(original, released))))
    share = 2.5 / 4.5  # of item 1 in S; the place of unknown items is smoothed, too
    scores = Bag.of(month, "item").scores(0.5)
    assert scores[0, 0] == pytest.approx(np.log(0.5 + 0.5 / share) + np.log(0.5), rel=1e-5)
    assert scores[0, 1] == pytest.approx(np.log(0.5 + 0.5 / share), rel=1e-5)


def test_a_basket_of_the_same_size_fits_better_than_one_of_another() -> None:
    known, _ = attacked("")
    month = next(iter(months_of(known)))
    sizes = size_scores(month)
    equal = month.original.sizes[:, None] == month.released.sizes[None, :]
    assert sizes[equal].min() > sizes[~equal].max()


def test_a_sorted_vector_is_compared_value_by_value_and_against_everybody_of_its_size() -> None:
    """x has prices 1 and 4, y 1 and 1; p shows 4 and 1.2: far from y's second price, and so capped at 8."""
    original = table(
        *(
            f"{who},2010/12/01,08:00,A,{price},1"
            for who, price in (("x", 1), ("x", 4), ("y", 1), ("y", 1))
        )
    )
    released = table(
        *(f"p,2010/12/01,08:00,A,{price},1" for price in (4, 1.2)), "q,2010/12/01,08:00,A,1,1"
    )
    month = next(iter(months_of(ReidentificationKnowledge(original, released))))
    vectors = SortedVectors.of(month, "prices")
    first = np.log(1.2) ** 2 / (2 * 0.15**2)
    fit = np.exp([-first, -first - 8])
    assert vectors.log_ratio[:, 0] == pytest.approx(np.log(fit / fit.mean()), rel=1e-4)
    assert vectors.comparable.tolist() == [[True, False], [True, False]]  # q has one row
    ratio = fit[0] / fit.mean()
    assert vectors.scores(0.5)[0] == pytest.approx([np.log(0.5 + 0.5 * ratio), 0], rel=1e-4)


def test_how_many_vectors_were_kept_is_estimated_on_pairs_of_equal_size() -> None:
    known, _ = attacked("values:price=0.1,qty=0.3")
    month = month_to_learn_from(list(months_of(known)))
    for kind in ("prices", "quantities"):
        assert estimate_retention(month, ("item", kind))[kind] > 0.9
    known, _ = attacked("delete:share=0.3|values:price=3,qty=3")
    assert (
        estimate_retention(month_to_learn_from(list(months_of(known))), ("item", "prices"))[
            "prices"
        ]
        < 0.3
    )
    nobody = np.array([], dtype=np.int64)
    assert SortedVectors.of(month, "prices").kept_share(nobody, nobody, 0.5) == 0.001


def test_sorted_vectors_see_through_noise_that_leaves_no_value_as_it_was() -> None:
    steps, fields = (
        "swap_items:share=1,within=month|dates|values",
        ("item", "date", "price", "qty", "size"),
    )
    assert rate(FellegiSunter(), steps) > rate(FellegiSunter(fields=fields), steps) + 0.2


def test_fellegi_sunter_beats_every_baseline_under_heavy_noise() -> None:
    baselines = [
        rate(attack, NOISY)
        for attack in (*(KeyMatch(number) for number in range(1, 7)), Overlap(), TfIdf())
    ]
    assert rate(FellegiSunter(), NOISY) > max(baselines) + 0.05


def test_every_attack_finds_everybody_behind_pseudonyms_alone() -> None:
    for attack in (
        TfIdf(),
        TfIdf(one_to_one=False),
        FellegiSunter(),
        FellegiSunter(one_to_one=False),
        Profile(),
    ):
        assert rate(attack, "") > 0.97, attack


def test_one_to_one_assignment_finds_more() -> None:
    for attack in (FellegiSunter, TfIdf):
        assert rate(attack(), NOISY) > rate(attack(one_to_one=False), NOISY)
    assert rate(Overlap(one_to_one=True), NOISY) > rate(Overlap(), NOISY)


def test_a_month_that_is_too_large_to_solve_exactly_is_ranked_by_balanced_scores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kakurenbo.attacks.reidentification.assignment._MAX_EXACT", 5)
    monkeypatch.setattr("kakurenbo.attacks.reidentification.evidence._SAMPLE", 50)
    assert rate(FellegiSunter(), NOISY) > rate(FellegiSunter(one_to_one=False), NOISY)


def test_months_are_linked_where_pseudonyms_recur() -> None:
    steps = "monthly_pseudonyms:period=year|swap_items:share=0.9,within=month|dates|values:price=1,qty=1"
    assert rate(TfIdf(), steps) > rate(TfIdf(link_months=False), steps) + 0.1


def test_rhythm_sees_through_swapped_baskets_where_pseudonyms_follow_customers() -> None:
    steps = "swap_baskets:k=5,pseudonym=customer"
    assert rate(Rhythm(), steps) > 0.4
    assert rate(FellegiSunter(link_months=False), steps) < 0.1


def test_fields_are_among_those_that_can_be_compared() -> None:
    for fields in ((), ("colour",)):
        with pytest.raises(ParameterError, match="fields"):
            FellegiSunter(fields=fields)


def test_an_empty_overlap_of_months_gives_an_empty_guess() -> None:
    known = ReidentificationKnowledge(T, table("p,2011/07/01,08:00,22693,1.5,6"))
    attacks: tuple[PairwiseAttack, ...] = (TfIdf(), FellegiSunter())
    for attack in attacks:
        assert told(attack(known, RNG)) == {}
