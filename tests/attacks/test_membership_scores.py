"""What every membership attack promises of its scores: one per row of B, the highest named, whatever the order of B."""

from __future__ import annotations

import numpy as np
import pytest

from kakurenbo.attacks.membership import MembershipAttack, MembershipKnowledge
from kakurenbo.core import Category, Integer, Schema, Table
from kakurenbo.core.rng import stream
from kakurenbo.methods import registry

TOWN = Schema(
    [
        Integer("age", 17, 90),
        Integer("hours", 1, 99),
        Category("sex", ("Female", "Male")),
        Category("work", tuple("abcde")),
    ]
)
MEMBERSHIP = [
    name
    for name in registry.names("attacks")
    if issubclass(registry.load("attacks", name), MembershipAttack)
]


def attack_named(name: str) -> MembershipAttack:
    attack = registry.load("attacks", name)()
    assert isinstance(attack, MembershipAttack)
    return attack


def town(rows: int, seed: int) -> Table:
    """Distinct rows of columns that hang together."""
    rng = stream(seed, "town")
    common = rng.normal(size=4 * rows)
    codes = {}
    for column in TOWN:
        assert column.size is not None
        score = 0.7 * common + 0.7 * rng.normal(size=4 * rows)
        codes[column.name] = np.clip((score + 2.5) / 5 * column.size, 0, column.size - 1).astype(
            int
        )
    table = Table(TOWN, codes)
    _, first = np.unique(table.keys(), return_index=True)
    return table.take(rng.permutation(first)[:rows])


def known(seed: int, guesses: int = 20) -> MembershipKnowledge:
    population = town(600, seed)
    members = stream(seed, "members").permutation(600)[:90]
    release = population.take(members)
    moved = np.where(stream(seed, "moved").random(90) < 0.5, release.codes["work"], 0)
    return MembershipKnowledge(population, release.with_codes({"work": moved}), guesses)


def test_the_built_in_membership_attacks_are_there() -> None:
    assert {"blind", "nearest", "likelihood"} <= set(MEMBERSHIP)


@pytest.mark.parametrize("name", MEMBERSHIP)
def test_the_rows_of_the_highest_scores_are_named_ties_by_row_number(name: str) -> None:
    knowledge = known(1)
    scores = attack_named(name).scores(knowledge, stream(2, name))
    assert scores.dtype == np.float64
    assert scores.shape == (600,)
    assert np.isfinite(scores).all()
    by_score = sorted(range(600), key=lambda row: (-scores[row], row))[:20]
    assert attack_named(name)(knowledge, stream(2, name)).rows.tolist() == by_score


# What draws rows of B at random, by their numbers, draws others where these stand elsewhere.
@pytest.mark.parametrize("name", [name for name in MEMBERSHIP if name not in ("blind", "champion")])
def test_scores_follow_the_rows_wherever_these_stand(name: str) -> None:
    knowledge = known(3)
    order = stream(4, "order").permutation(600)
    turned = MembershipKnowledge(
        knowledge.population.take(order), knowledge.release, knowledge.guesses
    )
    scores, others = (
        attack_named(name).scores(one, stream(2, name)) for one in (knowledge, turned)
    )
    # Which of two rows at the same distance `nearest` takes hangs on their numbers; no other score does.
    same = np.isclose(scores[order], others, rtol=1e-6, atol=1e-9).mean()
    assert same > 0.85 if name == "nearest" else same == 1
