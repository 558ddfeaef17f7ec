"""`tracing` and the weights inside `champion`: formulas worked by hand, and what they find without any released row."""

from __future__ import annotations

import numpy as np
import pytest

from kakurenbo.attacks.membership import (
    Likelihood,
    MembershipAttack,
    MembershipKnowledge,
    Nearest,
    Tracing,
)
from kakurenbo.attacks.membership.features import PairFeatures
from kakurenbo.attacks.membership.moments import MeanShift, PopulationModel, subset_scores, tilt
from kakurenbo.core import Category, Decimal, Integer, Moments, Schema, Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.rng import stream
from kakurenbo.data.generators import GENERATORS

SEX = Schema([Category("sex", ("Female", "Male"))])


def dense(features: PairFeatures, table: Table) -> np.ndarray:
    rows = features.rows(table)
    matrix = np.zeros((len(table), features.count + 1))
    for slot in range(rows.places.shape[1]):
        matrix[np.arange(len(table)), rows.places[:, slot]] += rows.values[:, slot]
    return matrix[:, :-1]


# -- features ----------------------------------------------------------------------------------------------------------


def test_a_row_has_its_values_and_the_products_of_dummies_and_standardized_numbers() -> None:
    schema = Schema(
        [
            Integer("age", 1, 3),
            Integer("hours", 0, 1),
            Category("sex", ("F", "M")),
            Category("home", ("x", "y")),
        ]
    )
    rows = [(1, 0, "F", "x"), (3, 1, "M", "x"), (1, 0, "F", "x"), (3, 1, "M", "y")]
    table = Table.from_rows(schema, rows * 6)  # each of these six times, M with y as often
    features = PairFeatures(table, table)
    assert features.slots == (
        ("age",), ("hours",), ("sex",), ("home",),
        ("age", "hours"), ("age", "sex"), ("age", "home"), ("hours", "sex"), ("hours", "home"), ("sex", "home"),
    )  # fmt: skip
    # Ages 1 and 3, equally often, are -1 and 1; so are hours 0 and 1. y occurs six times, and so does M with either: too few.
    age, hours, sex, home = (1, 0, 0), (1, 0), (1, 0), (1, 0)
    assert dense(features, table)[0].tolist() == [
        *age,
        *hours,
        *sex,
        *home,
        1.0,
        -1.0,
        0.0,
        -1.0,
        -1.0,
        0.0,
        -1.0,
        1.0,
    ]


def test_means_dots_and_covariances_are_those_of_the_dense_matrix() -> None:
    rng = stream(1, "dense")
    schema = Schema(
        [
            Integer("age", 0, 30),
            Integer("yen", 0, 10**6),
            *(Category(c, tuple("abcd")) for c in "pqr"),
        ]
    )
    table = Table(
        schema,
        {column.name: rng.integers(0, column.size, 700) ** 2 // column.size for column in schema},
    )
    features = PairFeatures(table, table.take(np.arange(9)))
    rows, matrix, weights = (
        features.rows(table),
        dense(features, table),
        rng.normal(size=features.count),
    )
    assert rows.mean() == pytest.approx(matrix.mean(axis=0))
    assert rows.dot(weights) == pytest.approx(matrix @ weights)
    assert rows.parts(weights).sum(axis=1) == pytest.approx(matrix @ weights)
    assert rows.sums(weights[:1].repeat(700)) == pytest.approx(matrix.sum(axis=0) * weights[0])
    assert rows.covariance() == pytest.approx(np.cov(matrix.T, bias=True), abs=1e-12)


def test_many_columns_share_a_limited_number_of_features() -> None:
    rng = stream(2, "wide")
    schema = Schema([Category(f"c{i}", tuple(map(str, range(9)))) for i in range(30)])
    table = Table(schema, {column.name: rng.integers(0, 9, 900) for column in schema})
    features = PairFeatures(table, table)
    assert 270 < features.count <= 2_500
    assert PairFeatures(table, table, pairs=False).count == 270
    prices = Table(Schema([Decimal("price")]), {"price": np.array([1.5])})
    with pytest.raises(ParameterError, match="price"):
        Tracing()(MembershipKnowledge(prices, prices, 1), rng)


# -- formulas ----------------------------------------------------------------------------------------------------------


def test_tracing_is_the_whitened_deviation_by_hand() -> None:
    # One M of four: Sigma = 3/16 [[1, -1], [-1, 1]]. D has one M of two: m_D - m_B = (-1/4, 1/4), an eigenvector of Sigma with
    # value 3/8; noise 1 / 2 is added. So w = (-1/4, 1/4) / (3/8 + 1/2).
    population = Table.from_rows(SEX, [("Female",), ("Female",), ("Female",), ("Male",)])
    release = Table.from_rows(SEX, [("Female",), ("Male",)])
    scores = Tracing(features="all").scores(MembershipKnowledge(population, release, 1), stream(1))
    assert scores == pytest.approx(np.array([-1, -1, -1, 1]) / 4 / (3 / 8 + 1 / 2))


def test_the_tilt_gives_the_members_the_means_of_the_release() -> None:
    rng = stream(3, "entropy")
    schema = Schema(
        [Integer("age", 0, 9), Category("sex", ("F", "M")), Category("home", tuple("xyz"))]
    )
    population = Table(
        schema, {column.name: rng.integers(0, column.size, 2_000) for column in schema}
    )
    release = population.take(
        np.flatnonzero(rng.random(2_000) < 0.1 + 0.1 * (population.codes["age"] > 6))
    )
    knowledge = MembershipKnowledge(population, release, 1)
    model = PopulationModel.of(knowledge)
    rate = len(release) / 2_000
    weights = tilt(model, MeanShift.released(model, knowledge, "all", 0.01), rate)
    eta = model.rows.dot(weights)
    shifts = np.linspace(-8, 8, 4001)
    shift = shifts[np.argmin([abs((1 / (1 + np.exp(-eta - one))).mean() - rate) for one in shifts])]
    chance = 1 / (1 + np.exp(-eta - shift))
    expected = model.rows.sums(chance) / chance.sum()
    assert expected == pytest.approx(model.features.rows(release).mean(), abs=2e-3)


def test_where_nothing_fits_every_row_is_alike() -> None:
    population = Table(SEX, {"sex": np.arange(1_000) % 2})
    release = Table(SEX, {"sex": np.zeros(100, dtype=int)})  # no sample of the population
    assert (Tracing().scores(MembershipKnowledge(population, release, 1), stream(1)) == 0).all()


def test_equal_rows_share_the_weight_of_their_value() -> None:
    # One M of four, one of the two released: women have weight 1/3 each, the man 1; the unit is 1/2 (1 - 1/2).
    population = Table.from_rows(SEX, [("Female",), ("Female",), ("Female",), ("Male",)])
    knowledge = MembershipKnowledge(population, Table.from_rows(SEX, [("Female",), ("Male",)]), 1)
    model = PopulationModel.of(knowledge)
    scores = subset_scores(model, MeanShift.released(model, knowledge, "all", 0.01), 0.5)
    assert scores[3] - scores[0] == pytest.approx((1 - 1 / 3) / 0.25, rel=1e-2)
    assert scores[:3] == pytest.approx(scores[0])


def test_weights_from_0_to_1_give_the_means_of_the_release() -> None:
    population, members = people(1, 0.9)
    knowledge = MembershipKnowledge(population, population.take(members), 100)
    model = PopulationModel.of(knowledge, pairs=False)
    rate = len(members) / len(population)
    scores = subset_scores(model, MeanShift.released(model, knowledge, "all", 0.3), rate)
    shifts = np.linspace(-1, 1, 4_001)
    lines = rate + rate * (1 - rate) * scores
    shift = shifts[np.argmin([abs(np.clip(lines + x, 0, 1).mean() - rate) for x in shifts])]
    weights = np.clip(lines + shift, 0, 1)
    assert (weights == 0).any(), "the limits matter"
    expected = model.rows.sums(weights) / weights.sum()
    assert expected == pytest.approx(model.features.rows(knowledge.release).mean(), abs=3e-3)


# -- what they find ----------------------------------------------------------------------------------------------------


def people(seed: int, common_share: float) -> tuple[Table, np.ndarray]:
    """5,000 people of eight columns that hang together, and who of them are the 500 members."""
    rng = stream(seed, "people")
    sizes = {
        "age": 60,
        "hours": 50,
        "work": 8,
        "school": 16,
        "home": 6,
        "class": 3,
        "town": 12,
        "sex": 2,
    }
    schema = Schema(
        Integer(name, 1, size) if size >= 30 else Category(name, tuple(map(str, range(size))))
        for name, size in sizes.items()
    )
    common = rng.normal(size=5_000)
    codes = {}
    for name, size in sizes.items():
        score = common_share * common + np.sqrt(1 - common_share**2) * rng.normal(size=5_000)
        codes[name] = np.clip((score + 2.5) / 5 * size, 0, size - 1).astype(int)
    return Table(schema, codes), rng.permutation(5_000)[:500]


def hits(attack: MembershipAttack, release: str, seeds: int) -> float:
    found = []
    for seed in range(seeds):
        population, members = people(seed, 0.5 if release == "synthetic" else 0.9)
        sample, rng = population.take(members), stream(seed, "release")
        if release == "synthetic":
            table = GENERATORS["moments"](Moments.of(sample), len(sample), rng)
        else:
            table = sample.with_codes(
                {name: rng.permutation(codes) for name, codes in sample.codes.items()}
            )
        guess = attack(MembershipKnowledge(population, table, 100), rng)
        found.append(np.isin(guess.rows, members).sum())
    return float(np.mean(found))


def test_they_find_members_where_no_row_is_released() -> None:
    blind = max(hits(Nearest(), "synthetic", 4), hits(Likelihood(), "synthetic", 4))
    assert hits(Tracing(), "synthetic", 4) > blind + 20


def test_permuted_columns_tell_by_their_histograms_and_their_pairs_are_not_believed() -> None:
    believing = hits(Tracing(features="all"), "permuted", 5)
    for attack in (
        Tracing(),
        Tracing(features="histograms"),
    ):
        assert hits(attack, "permuted", 5) > believing + 3
