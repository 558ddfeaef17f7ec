"""`kernel`: worked by hand, and what it finds where values are near the members' own but seldom equal."""

from __future__ import annotations

import numpy as np
import pytest
from tests.attacks.test_tracing import people

from kakurenbo.attacks.membership import (
    Kernel,
    Likelihood,
    MembershipAttack,
    MembershipKnowledge,
    Nearest,
    Tracing,
)
from kakurenbo.core import Category, Decimal, Integer, Schema, Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.rng import stream


def test_a_category_is_kept_or_spread_over_all_values_alike() -> None:
    schema = Schema([Category("sex", ("Female", "Male"))])
    population = Table.from_rows(schema, [("Female",), ("Male",), ("Male",)])
    knowledge = MembershipKnowledge(population, Table.from_rows(schema, [("Female",)]), 1)
    # K = 0.8 + 0.1 for the same value and 0.1 for the other: odds of 0.9 / 0.2, and 0.1 / 1.0 for the men.
    scores = Kernel(mismatch=0.2).scores(knowledge, stream(1))
    assert scores == pytest.approx([-1 / (1 + 0.9 / 0.2), -1 / 1.1, -1 / 1.1], abs=1e-9)


def test_a_number_is_spread_around_its_value_in_standard_deviations() -> None:
    schema = Schema([Integer("age", 0, 2)])
    population = Table.from_rows(schema, [(0,), (2,)])  # standard deviation 1
    knowledge = MembershipKnowledge(population, Table.from_rows(schema, [(0,)]), 1)
    one, two = np.exp(-1 / 2), np.exp(-4 / 2)  # a bandwidth of 1, over the ages 0, 1 and 2
    same, other = (0.7 * near / (1 + one + two) + 0.1 for near in (1, two))
    scores = Kernel(bandwidth=1.0, mismatch=0.3).scores(knowledge, stream(1))
    assert scores == pytest.approx([-1 / (1 + same / other), -1 / (1 + other / same)], abs=1e-9)


def test_wide_and_constant_columns_take_part_and_endless_ones_are_refused() -> None:
    rng = stream(1, "wide")
    schema = Schema([Integer("yen", 0, 10**9), Integer("year", 0, 3)])
    population = Table(
        schema, {"yen": rng.integers(0, 10**9, 3_000), "year": np.ones(3_000, dtype=int)}
    )
    release = population.take(np.arange(300))
    noisy = release.with_codes(
        {"yen": np.clip(release.codes["yen"] + rng.integers(-50, 51, 300), 0, 10**9)}
    )
    guess = Kernel(bandwidth=0.001)(MembershipKnowledge(population, noisy, 100), rng)
    assert (guess.rows < 300).sum() > 25, "chance is 10; three values share a group"
    prices = Table(Schema([Decimal("price")]), {"price": np.array([1.5])})
    with pytest.raises(ParameterError, match="price"):
        Kernel()(MembershipKnowledge(prices, prices, 1), rng)


def moved(sample: Table, reach: int, rng: np.random.Generator) -> Table:
    """Every number moved by up to ``reach``, and a share of the categories exchanged."""
    codes = {}
    for column in sample.schema:
        own = sample.codes[column.name]
        if isinstance(column, Category):
            codes[column.name] = np.where(
                rng.random(len(own)) < reach / 15, rng.permutation(own), own
            )
        else:
            codes[column.name] = np.clip(
                own + rng.integers(-reach, reach + 1, len(own)), 0, (column.size or 0) - 1
            )
    return sample.with_codes(codes)


def hits(attack: MembershipAttack, reach: int, draws: int) -> float:
    found = []
    for seed in range(draws):
        population, members = people(seed, 0.7)
        rng = stream(seed, "moved")
        release = moved(population.take(members), reach, rng)
        found.append(
            np.isin(attack(MembershipKnowledge(population, release, 100), rng).rows, members).sum()
        )
    return float(np.mean(found))


@pytest.mark.parametrize(("reach", "more"), [(3, 20), (8, 10)])
def test_it_finds_members_whose_values_were_moved_where_no_other_attack_does(
    reach: int, more: int
) -> None:
    others = max(hits(attack, reach, 3) for attack in (Nearest(), Likelihood(), Tracing()))
    assert hits(Kernel(), reach, 3) > others + more
