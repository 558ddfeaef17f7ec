"""The attacks on membership: worked examples, the rules on distinct rows and ties, and likelihood against nearest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import hypergeom
from tests.reading import Read, attempt

from kakurenbo.attacks.membership import (
    Blind,
    Likelihood,
    MembershipGuess,
    MembershipKnowledge,
    Nearest,
    estimate_mechanism,
    membership_odds,
)
from kakurenbo.attacks.membership.likelihood import retention
from kakurenbo.contest import Attack, Mechanism
from kakurenbo.core import Category, Decimal, Integer, Schema, Source, Table, read_table
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.rng import stream
from kakurenbo.data.adult import SCHEMA

PEOPLE = Schema([Integer("age", 17, 90), Category("sex", ("Female", "Male"))])
SEX = Schema([Category("sex", ("Female", "Male"))])
RNG = stream(1, "tests")


def people(*rows: tuple[int, str]) -> Table:
    return Table.from_rows(PEOPLE, rows)


def named(
    attack: Attack[MembershipKnowledge, MembershipGuess],
    population: Table,
    release: Table,
    guesses: int,
) -> list[int]:
    return attack(MembershipKnowledge(population, release, guesses), RNG).rows.tolist()


# -- knowledge and guess ----------------------------------------------------------------------------------------------


def test_a_guess_holds_distinct_rows_from_zero_and_cannot_be_changed() -> None:
    guess = MembershipGuess([5, 0, 3])
    assert guess.rows.tolist() == [5, 0, 3]
    with pytest.raises(ValueError, match="read-only"):
        guess.rows[0] = 1
    for wrong, told in (
        ([1, 1], "distinct row numbers from 0; got 1"),
        ([-1, 2], "got -1"),
        ([[1, 2]], "a list of row numbers"),
    ):
        with pytest.raises(ParameterError, match=told):
            MembershipGuess(wrong)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("rows", "got"),
    [
        ([1, np.nan], "nan"),
        (np.full(5000, np.inf), "inf"),
        ([0.5], "0.5"),
        (["x" * 5000], "'x+'"),
        ([1e300], "1e[+]300"),
    ],
)
def test_a_guess_that_holds_no_whole_numbers_is_told_in_one_short_sentence(
    rows: object, got: str
) -> None:
    with pytest.raises(
        ParameterError, match=f"^parameter 'rows' must be whole numbers; got {got}$"
    ) as told:
        MembershipGuess(rows)  # type: ignore[arg-type]
    assert len(str(told.value)) < 100
    assert MembershipGuess(np.array([2.0, 1.0])).rows.tolist() == [2, 1]


def test_knowledge_needs_one_schema_a_release_and_enough_rows_to_name() -> None:
    population = people((20, "Male"), (30, "Male"))
    with pytest.raises(ParameterError, match="columns"):
        MembershipKnowledge(population, population.select(["age"]), 1)
    with pytest.raises(ParameterError, match="at least one row"):
        MembershipKnowledge(population, population.take([]), 1)
    for guesses in (0, 3):
        with pytest.raises(ParameterError, match="from 1 to 2"):
            MembershipKnowledge(population, population, guesses)


# -- nearest ----------------------------------------------------------------------------------------------------------


def test_the_rows_of_the_smallest_distances_are_named_nearest_first() -> None:
    population = people((20, "Male"), (30, "Male"), (40, "Male"), (50, "Male"))
    # Nearest rows and squared distances: 33 -> row 1 at 9; 41 -> row 2 at 1; 50 -> row 3 at 0.
    release = people((33, "Male"), (41, "Male"), (50, "Male"))
    assert named(Nearest(), population, release, 2) == [3, 2]
    assert named(Nearest(), population, release, 3) == [3, 2, 1]


def test_a_row_that_several_records_point_to_is_named_once_at_its_smallest_distance() -> None:
    population = people((20, "Male"), (30, "Male"), (60, "Male"))
    # Row 0 at 4 and 1, row 1 at 1, row 2 at 9.
    release = people((22, "Male"), (21, "Male"), (31, "Male"), (63, "Male"))
    assert named(Nearest(), population, release, 3) == [0, 1, 2]


def test_ties_are_broken_by_row_number() -> None:
    population = people((50, "Male"), (40, "Male"), (30, "Male"))
    assert named(Nearest(), population, people((31, "Male"), (41, "Male"), (51, "Male")), 2) == [
        0,
        1,
    ]


def test_too_few_rows_are_filled_up_with_those_nearest_to_any_record() -> None:
    population = people((20, "Male"), (37, "Female"), (30, "Male"), (33, "Male"), (35, "Male"))
    # Both records point to row 3. From the nearest record, row 0 is at 12^2, row 1 at 3^2 + 1, row 2 at 2^2, row 4 at 1.
    release = people((32, "Male"), (34, "Male"))
    assert named(Nearest(), population, release, 1) == [3]
    assert named(Nearest(), population, release, 5) == [3, 4, 2, 1, 0]


def test_the_one_hot_metric_weighs_a_category_mismatch_twice() -> None:
    population = people((30, "Male"), (31, "Female"))
    release = people((30, "Female"))
    assert named(Nearest(), population, release, 1) == [0]
    assert named(Nearest("onehot"), population, release, 1) == [1]
    with pytest.raises(ParameterError, match="one of rules, onehot"):
        Nearest("manhattan")


@pytest.mark.parametrize("case", ["rrp90", "swap20", "fresh_sample"])
def test_a_hundred_distinct_rows_are_named_on_the_reference(
    reference_data: Path, case: str
) -> None:
    population, _, _ = reference(reference_data)
    rows = named(Nearest(), population, reference_table(reference_data, f"D_{case}.csv.gz"), 100)
    assert len(set(rows)) == 100
    assert 0 <= min(rows) <= max(rows) < 100_000
    # All hundred are exact matches here, so ties by row number put them in order.
    assert rows == sorted(rows)


# -- blind ------------------------------------------------------------------------------------------------------------


def test_blind_hits_follow_the_hypergeometric_distribution() -> None:
    population = people((20, "Male")).take(np.zeros(1000, dtype=int))
    knowledge = MembershipKnowledge(population, population)
    chance = hypergeom(1000, 100, 100)
    guesses = [Blind()(knowledge, stream(seed, "blind")).rows for seed in range(400)]
    assert all(len(set(rows.tolist())) == 100 for rows in guesses)
    hits = np.array([(rows < 100).sum() for rows in guesses])
    assert abs(hits.mean() - 10) < 4 * chance.std() / 20
    low, high = chance.interval(0.95)
    assert ((hits >= low) & (hits <= high)).mean() > 0.93
    assert 0.7 < hits.var() / chance.var() < 1.3


def test_blind_never_looks_at_the_release() -> None:
    population = people(*((age, "Male") for age in range(20, 60)))
    one, other = (MembershipKnowledge(population, population.take([row]), 10) for row in (0, 39))
    assert Blind()(one, stream(7)).rows.tolist() == Blind()(other, stream(7)).rows.tolist()


# -- likelihood -------------------------------------------------------------------------------------------------------


def test_odds_of_a_row_are_its_likelihood_over_that_of_all_other_rows() -> None:
    population = Table.from_rows(SEX, [("Female",), ("Male",), ("Male",)])
    mechanism = Mechanism({"sex": np.array([[0.8, 0.2], [0.3, 0.7]])})
    # P(Female | b) = 0.8, 0.3, 0.3 and P(Male | b) = 0.2, 0.7, 0.7.
    one = membership_odds(population, Table.from_rows(SEX, [("Female",)]), mechanism)
    assert one == pytest.approx([0.8 / 0.6, 0.3 / 1.1, 0.3 / 1.1])
    two = membership_odds(population, Table.from_rows(SEX, [("Female",), ("Male",)]), mechanism)
    assert two == pytest.approx(
        [0.8 / 0.6 + 0.2 / 1.4, 0.3 / 1.1 + 0.7 / 0.9, 0.3 / 1.1 + 0.7 / 0.9]
    )


@pytest.mark.parametrize(("columns", "rows"), [(8, 40), (0, 40), (1, 500)])
def test_odds_over_many_columns_are_those_of_the_plain_product(columns: int, rows: int) -> None:
    rng = np.random.default_rng(3)
    schema = Schema(
        [*PEOPLE, *(Category(f"c{i}", tuple(map(str, range(17)))) for i in range(columns))]
    )
    tables = [
        Table(schema, {column.name: rng.integers(0, column.size, count) for column in schema})
        for count in (rows, 300)
    ]
    population, release = tables
    # Weights of very different sizes: of some records nearly all shares are small, of others none is.
    weights = {
        column.name: rng.random((column.size, column.size)) ** 12 + 1e-6 for column in schema
    }
    mechanism = Mechanism(
        {name: matrix / matrix.sum(axis=1, keepdims=True) for name, matrix in weights.items()}
    )
    likelihood = np.ones((len(release), len(population)))
    for name, matrix in mechanism.transitions.items():
        likelihood *= matrix[population.codes[name][None, :], release.codes[name][:, None]]
    others = np.stack([np.delete(likelihood, b, axis=1).sum(axis=1) for b in range(rows)], axis=1)
    odds, expected = (
        membership_odds(population, release, mechanism),
        (likelihood / others).sum(axis=0),
    )
    assert 1 / (1 + odds) == pytest.approx(1 / (1 + expected), rel=1e-6, abs=1e-11)


def test_a_column_without_transitions_is_released_as_it_is() -> None:
    population = people((20, "Male"), (20, "Female"), (30, "Female"))
    mechanism = Mechanism({"sex": np.array([[0.8, 0.2], [0.3, 0.7]])})
    odds = membership_odds(population, people((20, "Female"), (40, "Female")), mechanism)
    # Only rows of age 20 can have made the first record, none the second.
    assert odds == pytest.approx([0.3 / 0.8, 0.8 / 0.3, 0])


def test_a_rare_row_is_named_before_a_common_one_at_the_same_distance() -> None:
    # Both records match a row exactly, but eight neighbours could have made the first, too.
    population = people(
        *((40, "Male"),), *((41 + age % 4, "Male") for age in range(8)), (80, "Female")
    )
    release = people((40, "Male"), (80, "Female"))
    keep = {column.name: 0.6 * np.eye(column.size) + 0.4 / column.size for column in PEOPLE}
    knowledge = MembershipKnowledge(population, release, 1, Mechanism(keep))
    assert Nearest()(knowledge, RNG).rows.tolist() == [0]
    assert Likelihood()(knowledge, RNG).rows.tolist() == [9]


def test_a_distrusted_mechanism_is_not_used() -> None:
    population, release = small_contest("rr", 0.8, 4)[:2]
    swap = {column.name: np.roll(np.eye(column.size), 1, axis=1) for column in population.schema}
    lie = MembershipKnowledge(population, release, 20, Mechanism(swap))
    plain = MembershipKnowledge(population, release, 20)
    assert Likelihood(trust=False)(lie, RNG).rows.tolist() == Likelihood()(plain, RNG).rows.tolist()
    assert Likelihood()(lie, RNG).rows.tolist() != Likelihood()(plain, RNG).rows.tolist()


def test_a_mechanism_of_other_columns_or_sizes_and_endless_domains_are_refused() -> None:
    population = people((20, "Male"))
    for transitions in ({"height": np.eye(2)}, {"sex": np.eye(3)}):
        with pytest.raises(ParameterError, match=r"height|sex"):
            Likelihood()(
                MembershipKnowledge(population, population, 1, Mechanism(transitions)), RNG
            )
    prices = Table(Schema([Decimal("price")]), {"price": np.array([1.5])})
    with pytest.raises(ParameterError, match="price"):
        Likelihood()(MembershipKnowledge(prices, prices, 1), RNG)


@pytest.mark.parametrize("method", ["rr", "rrp"])
@pytest.mark.parametrize("p", [0.5, 0.9])
def test_retention_is_found_from_the_release_alone(method: str, p: float) -> None:
    population, release, _ = small_contest(method, p, 5)
    assert retention(population, release) == pytest.approx(
        np.full(len(population.schema), p), abs=0.1
    )
    mechanism = estimate_mechanism(population, release)
    for name, matrix in mechanism.transitions.items():
        after = population.frequencies(name) / len(population) @ matrix
        assert after == pytest.approx(release.frequencies(name) / len(release), abs=0.02)


def test_columns_that_are_alone_or_constant_are_estimated_without_harm() -> None:
    alone = Table.from_rows(SEX, [("Female",), ("Male",)])
    constant = people((20, "Male"), (20, "Male"))
    for table in (alone, constant):
        knowledge = MembershipKnowledge(table, table, 2)
        assert sorted(Likelihood()(knowledge, RNG).rows.tolist()) == [0, 1]


@pytest.mark.parametrize("method", ["rr", "rrp"])
def test_likelihood_names_more_members_than_nearest(method: str) -> None:
    population, release, members = small_contest(method, 0.6, 6)
    knowledge = MembershipKnowledge(population, release)
    by_likelihood, by_distance = (
        np.isin(attack(knowledge, RNG).rows, members).sum() for attack in (Likelihood(), Nearest())
    )
    assert by_likelihood > by_distance + 5


@pytest.mark.parametrize(
    ("method", "p", "ahead"),
    [("rr", 0.9, 0), ("rr", 0.7, 3), ("rr", 0.5, 8), ("rrp", 0.9, 0), ("rrp", 0.5, 25)],
)
@pytest.mark.parametrize("disclosed", [True, False])
def test_likelihood_beats_nearest_on_the_reference(
    reference_data: Path, method: str, p: float, ahead: int, disclosed: bool
) -> None:
    population, sample, members = reference(reference_data)
    release = randomized(sample, method, p, stream(8, method, str(p)))
    # A fifth of the records is enough to tell the attacks apart, and five times as fast.
    release, members = release.take(np.arange(0, len(release), 5)), members[::5]
    mechanism = declared(release, method, p) if disclosed else None
    knowledge = MembershipKnowledge(population, release, 100, mechanism)
    by_likelihood, by_distance = (
        np.isin(attack(knowledge, RNG).rows, members).sum() for attack in (Likelihood(), Nearest())
    )
    assert by_likelihood >= by_distance + ahead


# -- data -------------------------------------------------------------------------------------------------------------


def randomized(table: Table, method: str, p: float, rng: np.random.Generator) -> Table:
    """Keep each cell with probability p, else draw it uniformly (rr) or from the column (rrp)."""
    changed = {}
    for column in table.schema:
        codes = table.codes[column.name]
        assert column.size is not None
        drawn = (
            rng.integers(0, column.size, len(codes))
            if method == "rr"
            else rng.choice(codes, len(codes))
        )
        changed[column.name] = np.where(rng.random(len(codes)) < p, codes, drawn)
    return table.with_codes(changed)


def declared(release: Table, method: str, p: float) -> Mechanism:
    transitions = {}
    for column in release.schema:
        assert column.size is not None
        draws = (
            release.frequencies(column.name) / len(release)
            if method == "rrp"
            else np.full(column.size, 1 / column.size)
        )
        transitions[column.name] = p * np.eye(column.size) + (1 - p) * draws
    return Mechanism(transitions)


def small_contest(method: str, p: float, seed: int) -> tuple[Table, Table, np.ndarray]:
    """10,000 people of six columns that hang together, the release of 2,000 of them, and who they are."""
    rng = stream(seed, "people")
    sizes = {"age": 40, "hours": 30, "work": 8, "school": 12, "home": 5, "class": 3}
    schema = Schema(
        Integer(name, 1, size) if size >= 30 else Category(name, tuple(map(str, range(size))))
        for name, size in sizes.items()
    )
    common = rng.normal(size=10_000)
    codes = {}
    for name, size in sizes.items():
        score = 0.8 * common + 0.6 * rng.normal(size=10_000)
        codes[name] = np.clip((score + 2.5) / 5 * size, 0, size - 1).astype(int)
    population = Table(schema, codes)
    members = rng.choice(10_000, 2_000, replace=False)
    return population, randomized(population.take(members), method, p, rng), members


def reference_table(reference_data: Path, name: str) -> Table:
    table = attempt(read_table, Source.of(reference_data / "amic2020" / "reference" / name), SCHEMA)
    assert isinstance(table, Read)
    return table.value


def reference(reference_data: Path) -> tuple[Table, Table, np.ndarray]:
    answer = np.loadtxt(reference_data / "amic2020" / "reference" / "answer.index", dtype=np.int64)
    return (
        reference_table(reference_data, "B.csv.gz"),
        reference_table(reference_data, "C.csv.gz"),
        answer,
    )


# -- any finite schema -------------------------------------------------------------------------------------------------

BIRDS = Schema(
    [
        Integer("grams", -5, 2_000_000),
        Integer("eggs", 0, 9),
        Category("colour", tuple("rgb")),
        Integer("ring", 7, 7),
    ]
)


@pytest.mark.parametrize("guesses", [1, 7, 40])
@pytest.mark.parametrize(
    "attack", [Nearest(), Nearest(metric="onehot"), Likelihood(), Likelihood(trust=False), Blind()]
)
def test_attacks_play_any_finite_schema_and_any_number_of_guesses(
    attack: Attack[MembershipKnowledge, MembershipGuess], guesses: int
) -> None:
    rng = np.random.default_rng(3)
    population = Table(BIRDS, {column.name: rng.integers(0, column.size, 300) for column in BIRDS})
    members = rng.permutation(300)[:60]
    rows = named(attack, population, population.take(members), guesses)
    assert len(rows) == guesses
    if not isinstance(attack, Blind):
        assert set(rows) <= set(members.tolist()), "released as they are, members are found"


def test_likelihood_tells_wide_values_apart_whatever_the_range() -> None:
    """More values occur than groups are made: the members are still named, with a disclosed mechanism or without."""
    rng = np.random.default_rng(4)
    schema = Schema([Integer("yen", -(2**40), 2**40), Category("town", tuple("abcd"))])
    population = Table(
        schema, {"yen": rng.integers(0, 2**41, 3000), "town": rng.integers(0, 4, 3000)}
    )
    members = np.arange(50)
    release = population.take(members)
    for mechanism in (None, Mechanism({"town": np.full((4, 4), 0.05) + 0.8 * np.eye(4)})):
        guess = Likelihood()(MembershipKnowledge(population, release, 20, mechanism), rng)
        assert np.isin(guess.rows, members).sum() >= 15
