"""The attack that tries the declared method on T itself and learns what evidence is worth."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from kakurenbo.anonymizers.pipeline import Pipeline
from kakurenbo.attacks.reidentification import ReidentificationKnowledge
from kakurenbo.attacks.reidentification.shadow import ShadowShop, learned_weights, shadow_release
from kakurenbo.contest import Anonymizer
from kakurenbo.core import Table
from kakurenbo.core.rng import stream
from kakurenbo.data.shop import simulate_shop
from kakurenbo.data.transactions import SCHEMA
from kakurenbo.methods import registry
from kakurenbo.rulebooks.darc2019 import Darc2019, Handout
from kakurenbo.rulebooks.darc2019.matrices import answer_of
from kakurenbo.rulebooks.darc2019.scores import reid


@cache
def shop() -> Table:
    return simulate_shop(stream(1, "attacked shop"), customers=300)


@cache
def attacked(steps: str) -> tuple[ReidentificationKnowledge, object]:
    release = Darc2019().anonymize(Handout("01", shop()), Pipeline(steps), stream(2, steps)).table
    answer, rows = answer_of(shop(), release)
    return ReidentificationKnowledge(
        shop(), rows.take(stream(3, steps).permutation(len(rows)))
    ), answer


def rate(attack: ShadowShop, steps: str, declared: str | None) -> float:
    known, answer = attacked(steps)
    method: Anonymizer | None = (
        None if declared is None else registry.build("anonymizers", declared)
    )
    return reid(answer, attack(replace(known, declared=method), stream(4, "attack")), "aicrowd")  # type: ignore[arg-type]


def test_weights_make_the_true_pair_the_likeliest() -> None:
    """The first kind tells the truth, the second the opposite, the third nothing, and the fourth is the same for all."""
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 1, (200, 10, 3))
    noise[:, 0] += [2, -2, 0]
    weights = learned_weights(np.concatenate([noise, np.ones((200, 10, 1))], axis=2))
    assert weights[0] > 1
    assert weights[1] < -1
    assert abs(weights[2]) < 0.4
    assert weights[3] == 0


@pytest.mark.parametrize("steps", ["", "crowds:smallest=3"])
def test_a_shadow_is_t_under_the_method_with_every_pseudonym_known(steps: str) -> None:
    known, truth = shadow_release(shop(), Pipeline(steps), stream(5, "shadow"))
    assert known.original is shop()
    assert not set(known.pseudonyms) & set(known.customers)
    assert truth.shape == (len(known.customers), known.calendar.months)
    named = truth[truth >= 0]
    assert len(named) == len(
        np.unique(named + 10**6 * np.nonzero(truth >= 0)[1])
    )  # nobody shares one in a month
    assert set(named) == set(range(len(known.pseudonyms)))


def test_whoever_knows_the_method_learns_that_purchases_are_not_the_slots_own() -> None:
    steps = "swap_baskets:k=5"
    knowing, guessing = rate(ShadowShop(), steps, steps), rate(ShadowShop(), steps, None)
    assert (
        knowing > guessing + 0.1
    )  # a surrogate that leaves baskets where they were leads to the source


def test_everybody_is_found_behind_noise() -> None:
    steps = "swap_items:share=0.5|dates|values"
    assert rate(ShadowShop(), steps, f"pipeline:steps={steps}") > 0.97


def test_the_same_stream_gives_the_same_guess() -> None:
    known, _ = attacked("swap_baskets:k=5")
    attack = ShadowShop(learn_months=1, learn_customers=50)
    first, second = (attack(known, stream(4, "attack")) for _ in range(2))
    assert (first.cells == second.cells).all()


def test_where_nothing_is_shown_nothing_is_guessed() -> None:
    row = ["p", "2011/07/01", "08:00", "A", "1.5", "6"]
    original = Table.from_rows(SCHEMA, [["x", "2010/12/01", "08:00", "A", "1.5", "6"]])
    known = ReidentificationKnowledge(original, Table.from_rows(SCHEMA, [row]))
    assert (ShadowShop()(known, stream(4, "attack")).cells == -1).all()


def test_the_rulebook_hands_the_declared_method_on() -> None:
    from kakurenbo.core import Source, table_bytes

    known, _ = attacked("swap_baskets:k=5")
    files = [
        Source("T.csv", table_bytes(known.original, header=True)),
        Source("S_01.csv", table_bytes(known.released, header=True)),
    ]
    method = registry.build("anonymizers", "crowds")
    assert Darc2019().read_knowledge(files, method).declared == method  # type: ignore[union-attr]
