"""`subset`: worked by hand, its weights, and what it finds where few other subsets have the statistics of a release."""

from __future__ import annotations

import numpy as np
import pytest
from tests.attacks.test_tracing import people

from kakurenbo.attacks.membership import MembershipAttack, MembershipKnowledge, Subset, Tracing
from kakurenbo.attacks.membership.evidence import Ground, plain_evidence
from kakurenbo.attacks.membership.subset import weighed
from kakurenbo.core import Category, Schema, Table
from kakurenbo.core.rng import stream

SEX = Schema([Category("sex", ("Female", "Male"))])


def test_equal_rows_share_the_weight_of_their_value() -> None:
    # One M of four, one of the two released: women have weight 1/3 each, the man 1; the unit is 1/2 (1 - 1/2).
    population = Table.from_rows(SEX, [("Female",), ("Female",), ("Female",), ("Male",)])
    knowledge = MembershipKnowledge(population, Table.from_rows(SEX, [("Female",), ("Male",)]), 1)
    scores = Subset(features="all", rounding=0.01).scores(knowledge, stream(1))
    assert scores[3] - scores[0] == pytest.approx((1 - 1 / 3) / 0.25, rel=1e-2)
    assert scores[:3] == pytest.approx(scores[0])


def test_weights_from_0_to_1_give_the_means_of_the_release() -> None:
    population, members = people(1, 0.9)
    knowledge = MembershipKnowledge(population, population.take(members), 100)
    ground = Ground.of(knowledge, pairs=False)
    rate = len(members) / len(population)
    scores = weighed(ground, plain_evidence(ground, knowledge, "all", 0.3), rate)
    shifts = np.linspace(-1, 1, 4_001)
    lines = rate + rate * (1 - rate) * scores
    weights = np.clip(
        lines
        + shifts[np.argmin([abs(np.clip(lines + one, 0, 1).mean() - rate) for one in shifts])],
        0,
        1,
    )
    assert (weights == 0).any(), "the limits matter"
    expected = ground.population.sums(weights) / weights.sum()
    assert expected == pytest.approx(ground.features.rows(knowledge.release).mean(), abs=3e-3)


def found(attack: MembershipAttack, rows: int) -> float:
    """The share of members among the tenth of so many people that an attack names, where D keeps all statistics of it."""
    shares = []
    for seed in range(3):
        population = people(seed, 0.5)[0].take(np.arange(rows))
        members = stream(seed, "subset").permutation(rows)[: rows // 10]
        guess = attack(
            MembershipKnowledge(population, population.take(members), len(members)), stream(seed)
        )
        shares.append(np.isin(guess.rows, members).mean())
    return float(np.mean(shares))


def test_few_people_and_many_exact_statistics_leave_no_other_subset() -> None:
    assert found(Subset(features="all"), 500) > 0.95
    assert found(Subset(features="all"), 500) > found(Tracing(features="all"), 500) + 0.1
    assert found(Subset(features="all"), 5_000) < 0.7, "of many people there are many such subsets"
