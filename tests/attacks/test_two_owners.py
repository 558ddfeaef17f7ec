"""Releases in which a pseudonym shows one customer's purchases in the place of another; and whose purchases a row tells."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from kakurenbo.anonymizers.pipeline import Pipeline
from kakurenbo.attacks.reidentification import ReidentificationKnowledge
from kakurenbo.attacks.reidentification.months import months_of
from kakurenbo.attacks.reidentification.pairwise import FellegiSunter, Profile, Rhythm
from kakurenbo.attacks.reidentification.purchases import shown_customers, true_purchases
from kakurenbo.attacks.reidentification.two_owners import SecondOwner, SourcedMonth
from kakurenbo.core import Table
from kakurenbo.core.rng import stream
from kakurenbo.data.shop import simulate_shop
from kakurenbo.data.transactions import SCHEMA
from kakurenbo.rulebooks.darc2019 import Darc2019, Handout
from kakurenbo.rulebooks.darc2019.matrices import answer_of
from kakurenbo.rulebooks.darc2019.scores import reid
from kakurenbo.rulebooks.darc2019.utility import buyer_share


def table(*lines: str) -> Table:
    return Table.from_rows(SCHEMA, [line.split(",") for line in lines])


T = table(
    "x,2010/12/01,08:00,A,1.5,6",
    "x,2010/12/02,08:00,B,1.5,7",
    "y,2010/12/01,08:00,C,2.5,6",
    "y,2010/12/09,08:00,D,2.5,6",
    "z,2010/12/01,08:00,A,2.5,6",
    "z,2010/12/09,08:00,E,2.5,6",
)


def released(*cells: tuple[str, str]) -> Table:
    """A(T) with these pseudonyms and items in the rows of T."""
    rows = zip(T.texts("date"), T.texts("price"), cells, strict=True)
    return table(*(f"{name},{date},08:00,{item},{price},1" for date, price, (name, item) in rows))


# -- buyer --------------------------------------------------------------------------------------------------------------


def test_a_pseudonym_is_linked_to_the_customer_whose_purchases_it_shows() -> None:
    shown = released(("p", "C"), ("p", "D"), ("q", "A"), ("q", "B"), ("r", "A"), ("r", "E"))
    linked = shown_customers(T, shown, monthly=False)
    assert [T.vocabularies["id_user"][code] for code in linked] == ["y", "y", "x", "x", "z", "z"]
    assert true_purchases(T, shown, linked).all()


def test_true_histories_under_swapped_names_tell_every_buyer() -> None:
    assert (
        buyer_share(
            T, released(("p", "C"), ("p", "D"), ("q", "A"), ("q", "B"), ("r", "A"), ("r", "E"))
        )
        == 1
    )


def test_a_row_tells_its_buyer_by_its_place_or_by_what_it_shows() -> None:
    """p and q show one purchase of y's and one of z's each; the linked one of the two bought one of the rows and owns none."""
    shown = released(("p", "D"), ("p", "E"), ("DEL", "C"), ("DEL", "D"), ("DEL", "A"), ("DEL", "E"))
    assert buyer_share(T, shown) == 0.5
    shown = released(("p", "A"), ("p", "E"), ("DEL", "C"), ("DEL", "D"), ("DEL", "A"), ("DEL", "E"))
    assert buyer_share(T, shown) == 1  # z bought both in that month, wherever they stand


def test_what_nobody_bought_in_that_month_tells_nothing() -> None:
    shown = table("p,2011/01/01,08:00,A,1,1")
    assert shown_customers(T, shown, monthly=True).tolist() == [-1]
    assert not true_purchases(T, shown, np.array([-1])).any()


def test_a_pseudonym_that_shows_somebody_else_in_each_month_is_linked_month_by_month() -> None:
    lines = [
        f"{name},2011/{month:02d}/01,08:00,{name}{month},1,1"
        for month in (1, 2, 3)
        for name in "xyz"
    ]
    original = table(*lines)
    wheel = table(
        *(
            f"p{(place + place // 3) % 3},{line.partition(',')[2]}"
            for place, line in enumerate(lines)
        )
    )
    assert (
        shown_customers(original, wheel, monthly=True).tolist()
        == original.codes["id_user"].tolist()
    )
    assert buyer_share(original, wheel) == 1


def test_measure_reports_the_share_beside_the_baselines() -> None:
    measured = Darc2019().measure(Handout("01", T), released(*zip("ppqqrr", "ABCDAE", strict=True)))
    assert measured.scores["buyer"].value == 1
    assert "buyer" not in measured.thresholds


# -- two owners ---------------------------------------------------------------------------------------------------------


@cache
def shop() -> Table:
    return simulate_shop(stream(1, "attacked shop"), customers=400)


@cache
def attacked(steps: str) -> tuple[ReidentificationKnowledge, object]:
    release = Darc2019().anonymize(Handout("01", shop()), Pipeline(steps), stream(2, steps)).table
    answer, rows = answer_of(shop(), release)
    return ReidentificationKnowledge(
        shop(), rows.take(stream(3, steps).permutation(len(rows)))
    ), answer


def rate(attack: object, steps: str) -> float:
    known, answer = attacked(steps)
    return reid(answer, attack(known, stream(4, "attack")), "aicrowd")  # type: ignore[operator, arg-type]


@pytest.mark.parametrize("steps", ["swap_baskets:k=10", "crowds:smallest=10"])
def test_two_owners_finds_more_of_swapped_baskets_than_any_attack_that_looks_for_one(
    steps: str,
) -> None:
    others = [
        rate(attack, steps)
        for attack in (FellegiSunter(), Profile(), Rhythm(), Rhythm(link_months=False))
    ]
    assert rate(SecondOwner(), steps) > max(others) + 0.03


def test_a_basket_that_was_cut_points_to_a_slot_of_its_size() -> None:
    """p shows two of y's three rows: its slot has two; q shows all two of x's: its slot has two at least."""
    lines = ["x,1", "x,2", "y,3", "y,4", "y,5", "z,6", "z,7"]
    original = table(
        *(
            f"{name},2010/12/01,08:00,{item},1,1"
            for name, item in (line.split(",") for line in lines)
        )
    )
    shown = table(
        *(
            f"{name},2010/12/01,08:00,{item},1,1"
            for name, item in ("p3", "p4", "q1", "q2", "r6", "r7")
        )
    )
    (month,) = months_of(ReidentificationKnowledge(original, shown))
    scores = SourcedMonth(month, np.array([1, 0, 2])).size_scores(
        10, 0.02
    )  # p is y's, q is x's, r is z's
    assert scores[0, 0] > scores[1, 0] + 3  # of p's slots x fits, y does not
    assert abs(scores[0, 1] - scores[1, 1]) < 1  # q says little


def test_nobody_is_taken_for_their_own_slot() -> None:
    known, _ = attacked("swap_baskets:k=10")
    guess = SecondOwner()(known, stream(4, "attack"))
    linked = shown_customers(known.original, known.released, monthly=False)
    source = np.full(len(known.pseudonyms), -1)
    source[known.released.codes["id_user"]] = linked
    first = guess.cells[:, :, 0]
    customers = np.nonzero(first >= 0)[0]
    assert (source[first[first >= 0]] != customers).mean() > 0.99


def test_where_nothing_is_shown_nothing_is_guessed() -> None:
    known = ReidentificationKnowledge(T, table("p,2011/07/01,08:00,A,1.5,6"))
    assert (SecondOwner()(known, stream(4, "attack")).cells == -1).all()
