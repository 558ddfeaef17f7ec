"""Shadows, surrogates and the champion; and that no attack sees what is not there."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import pytest

from kakurenbo.anonymizers.tables.randomized_response import (
    ProportionalResponse,
    RandomizedResponse,
)
from kakurenbo.anonymizers.tables.synthetic import Synthetic
from kakurenbo.attacks.membership import (
    BestOfShadows,
    MembershipAttack,
    MembershipKnowledge,
    Tracing,
)
from kakurenbo.attacks.membership.moments import PopulationModel
from kakurenbo.attacks.membership.shadows import Calibration, draw_shadows, surrogate
from kakurenbo.contest import Anonymizer, Release
from kakurenbo.core import Category, Integer, Schema, Table
from kakurenbo.core.rng import stream
from kakurenbo.methods import registry

pytestmark = pytest.mark.slow

SIZES = {"age": 60, "hours": 50, "work": 8, "school": 16, "home": 6, "class": 3}


def crowd(rows: int, seed: int) -> Table:
    """People of columns that hang together."""
    rng = stream(seed, "crowd")
    schema = Schema(
        Integer(name, 1, size) if size >= 30 else Category(name, tuple(map(str, range(size))))
        for name, size in SIZES.items()
    )
    common = rng.normal(size=rows)
    scores = {name: 0.7 * common + 0.7 * rng.normal(size=rows) for name in SIZES}
    return Table(
        schema,
        {
            name: np.clip((scores[name] + 2.5) / 5 * size, 0, size - 1).astype(int)
            for name, size in SIZES.items()
        },
    )


def contest(
    method: Anonymizer, seed: int, *, declared: bool = False
) -> tuple[MembershipKnowledge, np.ndarray]:
    """3,000 people, of whom 300 were anonymized, and who they are."""
    population, rng = crowd(3_000, seed), stream(seed, "contest")
    members = rng.permutation(3_000)[:300]
    release = method(population.take(members), rng).table
    return MembershipKnowledge(
        population, release, 100, declared=method if declared else None
    ), members


def test_shadows_are_releases_of_own_samples_by_the_declared_method() -> None:
    knowledge, _ = contest(RandomizedResponse(p=1.0), 1, declared=True)
    first, second = draw_shadows(knowledge, 2, stream(1, "shadows"))
    for shadow in (first, second):
        assert shadow.knowledge.population is knowledge.population
        assert shadow.knowledge.release == knowledge.population.take(shadow.members), (
            "p = 1 keeps every cell"
        )
    assert len(np.intersect1d(first.members, second.members)) < 100
    again = draw_shadows(knowledge, 2, stream(1, "shadows"))
    assert (again[1].members == second.members).all()
    assert again[1].knowledge.release == second.knowledge.release


@pytest.mark.parametrize(
    ("method", "rows_in_b", "dependence"),
    [
        (ProportionalResponse(p=1.0), 1.0, 1.0),
        (ProportionalResponse(p=0.2), None, 0.1),
        (Synthetic(), None, 1.0),
    ],
)
def test_without_a_declared_method_a_surrogate_makes_releases_that_look_the_same(
    method: Anonymizer, rows_in_b: float | None, dependence: float
) -> None:
    knowledge, _ = contest(method, 2)
    made = surrogate(knowledge, stream(2, "surrogate"))(crowd(300, 5), stream(3, "made"))
    before, after = (
        np.corrcoef(table.codes["school"], table.codes["work"])[0, 1]
        for table in (knowledge.population, made)
    )
    assert after / before == pytest.approx(dependence, abs=0.25)
    if rows_in_b is not None:
        assert sorted(made.rows()) == sorted(crowd(300, 5).rows())


@pytest.mark.parametrize(
    ("method", "least"), [(Synthetic(), 25), (ProportionalResponse(p=0.7), 45)]
)
def test_the_champion_finds_by_itself_what_applies(method: Anonymizer, least: int) -> None:
    found = []
    for seed in range(2):
        knowledge, members = contest(method, seed)
        found.append(
            np.isin(
                BestOfShadows(shadows=2)(knowledge, stream(seed, "champion")).rows, members
            ).sum()
        )
    assert np.mean(found) > least


@dataclass(frozen=True)
class HalfKept(Anonymizer):
    """Of two columns only what half of the rows say, a third one up, and every column in an order of its own."""

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        codes = {name: column.copy() for name, column in table.codes.items()}
        for name in ("work", "school"):
            other = crowd(len(table), int(rng.integers(10**6))).codes[name]
            half = rng.permutation(len(table))[: len(table) // 2]
            codes[name][half] = other[half]
        codes["home"] = np.minimum(codes["home"] + 1, SIZES["home"] - 1)
        return Release.of(
            table.with_codes({name: rng.permutation(column) for name, column in codes.items()})
        )


def test_shadows_show_what_a_method_keeps_of_each_column() -> None:
    knowledge, _ = contest(HalfKept(), 3, declared=True)
    model = PopulationModel.of(knowledge, pairs=False)
    calibration = Calibration.of(model, draw_shadows(knowledge, 40, stream(3, "shadows")))
    worth = dict(
        zip(
            SIZES,
            (calibration.worth[model.features.owners == slot][0] for slot in range(len(SIZES))),
            strict=True,
        )
    )
    assert worth["age"] == pytest.approx(1)
    assert worth["work"] == pytest.approx(0.5, abs=0.1)
    assert worth["school"] == pytest.approx(0.5, abs=0.1)
    # Every home is one up, so nobody is left in the first: `middle` is where an average sample ends up.
    homes = model.features.owners == list(SIZES).index("home")
    assert calibration.middle[homes][0] == pytest.approx(0, abs=1e-3)
    assert calibration.noise[model.features.owners == 0] == pytest.approx(0, abs=1e-6)


def test_calibrated_tracing_finds_members_where_the_release_is_no_sample() -> None:
    plain, calibrated = [], []
    for seed in range(4):
        knowledge, members = contest(HalfKept(), seed, declared=True)
        for found, attack in ((plain, Tracing(features="all")), (calibrated, Tracing(shadows=8))):
            found.append(np.isin(attack(knowledge, stream(seed, "tracing")).rows, members).sum())
    assert np.mean(calibrated) > np.mean(plain) + 5


SLOW_DRAWS = 40 if os.environ.get("KAKURENBO_SOAK") else 4
QUICK = [
    "blind", "nearest", "likelihood", "likelihood:histograms=true", "kernel", "tracing", "tracing:features=all",
]  # fmt: skip


@pytest.mark.parametrize(
    ("attack", "draws"),
    [
        *((name, 40) for name in QUICK),
        *((name, SLOW_DRAWS) for name in ("tracing:shadows=4", "champion:shadows=2")),
    ],
)
def test_no_attack_sees_what_is_not_there(attack: str, draws: int) -> None:
    """D has nothing to do with C; at full size: `python -m benchmarks.membership_hits --releases fresh --draws 40`."""
    method: MembershipAttack = registry.build("attacks", attack)
    population = crowd(3_000, 0)
    found = []
    for seed in range(draws):
        members = stream(seed, "nobody").permutation(3_000)[:300]
        guess = method(
            MembershipKnowledge(population, crowd(300, 1_000 + seed), 100), stream(seed, attack)
        )
        found.append(np.isin(guess.rows, members).sum())
    # Hypergeometric: 10 on average, with a standard deviation of 2.8 per draw.
    assert np.mean(found) <= (12 if draws == 40 else 15)
