"""`rr`, `rrp`, `kanony` and `synthetic`: what they do to cells, and what they claim."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kakurenbo.anonymizers.pipeline import Pipeline
from kakurenbo.anonymizers.tables.randomized_response import (
    ProportionalResponse,
    RandomizedResponse,
)
from kakurenbo.anonymizers.tables.suppression import SuppressRare
from kakurenbo.anonymizers.tables.synthetic import Synthetic
from kakurenbo.contest import Anonymizer, Mechanism
from kakurenbo.core import Category, Decimal, Integer, Schema, Table, Text
from kakurenbo.core.errors import ParameterError
from kakurenbo.measures.privacy import k_anonymity

SCHEMA = Schema([Integer("age", 17, 20), Category("sex", ("Female", "Male"))])
ROWS = 40_000


@pytest.fixture(scope="module")
def table() -> Table:
    rng = np.random.default_rng(5)
    return Table(
        SCHEMA,
        {
            "age": rng.choice(4, ROWS, p=[0.7, 0.1, 0.1, 0.1]),
            "sex": rng.choice(2, ROWS, p=[0.25, 0.75]),
        },
    )


def test_p_1_keeps_everything_and_claims_nothing(table: Table) -> None:
    release = RandomizedResponse(p=1.0)(table, np.random.default_rng(0))
    assert release.table == table
    assert release.claims == {}


def test_rr_keeps_a_cell_with_probability_p_or_by_drawing_it_again(table: Table) -> None:
    release = RandomizedResponse(p=0.6)(table, np.random.default_rng(0))
    for name, size in (("age", 4), ("sex", 2)):
        same = (release.table.codes[name] == table.codes[name]).mean()
        assert same == pytest.approx(0.6 + 0.4 / size, abs=0.01)


def test_rr_moves_the_histogram_to_uniform_and_rrp_leaves_it(table: Table) -> None:
    uniform = RandomizedResponse(p=0.0)(table, np.random.default_rng(0)).table
    alike = ProportionalResponse(p=0.0)(table, np.random.default_rng(0)).table
    assert uniform.frequencies("age") / ROWS == pytest.approx(np.full(4, 0.25), abs=0.01)
    assert alike.frequencies("age") / ROWS == pytest.approx(
        table.frequencies("age") / ROWS, abs=0.01
    )


def test_the_mechanism_is_what_really_happens(table: Table) -> None:
    for method in (RandomizedResponse(p=0.5), ProportionalResponse(p=0.5)):
        release = method(table, np.random.default_rng(1))
        assert release.mechanism is not None
        before, after = table.codes["age"], release.table.codes["age"]
        observed = np.array(
            [[(after[before == x] == y).mean() for y in range(4)] for x in range(4)]
        )
        assert observed == pytest.approx(release.mechanism.transitions["age"], abs=0.03)


def test_epsilon_of_randomized_response_adds_up_over_attributes(table: Table) -> None:
    release = RandomizedResponse(p=0.5)(table, np.random.default_rng(0))
    # age: ln((.5 + .125) / .125) = ln 5; sex: ln((.5 + .25) / .25) = ln 3
    assert release.claims["epsilon"] == pytest.approx(math.log(5) + math.log(3))


def test_epsilon_is_infinite_where_a_column_is_released_as_it_is(table: Table) -> None:
    release = RandomizedResponse(p=0.5, columns=("sex",))(table, np.random.default_rng(0))
    assert release.table.codes["age"].tolist() == table.codes["age"].tolist()
    assert release.mechanism is not None
    assert release.mechanism.epsilon(SCHEMA.names) == math.inf
    assert release.mechanism.column_epsilon("sex") == pytest.approx(math.log(3))
    assert release.claims == {}


def test_epsilon_of_rrp_is_that_of_its_rarest_value() -> None:
    table = Table.from_texts(
        Schema([Category("sex", ("Female", "Male", "None"))]),
        {"sex": ["Female", "Male", "Male", "Male"]},
    )
    mechanism = ProportionalResponse(p=0.5).mechanism(table)
    # Female is kept with .5 + .5 * .25 and reached from Male with .5 * .25; None does not occur, so it does not count.
    assert mechanism.column_epsilon("sex") == pytest.approx(math.log(0.625 / 0.125))
    assert Mechanism(mechanism.transitions).column_epsilon("sex") == math.inf


def test_a_mechanism_must_be_a_matrix_of_probabilities() -> None:
    with pytest.raises(ParameterError, match="sum to 1"):
        Mechanism({"sex": np.array([[0.5, 0.4], [0.5, 0.5]])})
    with pytest.raises(ParameterError, match="square"):
        Mechanism({"sex": np.array([[0.5, 0.5]])})


def test_kanony_drops_rare_combinations_and_keeps_the_order() -> None:
    table = Table.from_rows(SCHEMA, [(17, "Male"), (18, "Male"), (17, "Male"), (18, "Female")])
    release = SuppressRare(k=2, columns=("age", "sex"))(table, np.random.default_rng(0))
    assert release.table.rows() == [(17, "Male"), (17, "Male")]
    assert release.claims == {"k": 2.0}
    assert k_anonymity(release.table) == 2
    partly = SuppressRare(k=2, columns=("age",))(table, np.random.default_rng(0))
    assert len(partly.table) == 4
    assert partly.claims == {}, "k on some columns is not the questionnaire's k"


def test_kanony_on_all_columns(table: Table) -> None:
    assert (
        k_anonymity(SuppressRare(k=50, columns=None)(table, np.random.default_rng(0)).table) >= 50
    )


def test_unknown_columns_are_refused_with_the_known_ones(table: Table) -> None:
    for method in (SuppressRare(columns=("height",)), RandomizedResponse(columns=("height",))):
        with pytest.raises(ParameterError, match="age, sex"):
            method(table, np.random.default_rng(0))


@pytest.mark.parametrize("generator", ["moments", "omth17"])
def test_synthetic_gives_any_number_of_records(table: Table, generator: str) -> None:
    release = Synthetic(generator=generator, rows=123)(table, np.random.default_rng(0))
    assert len(release.table) == 123
    assert release.table.schema == SCHEMA
    assert (
        len(
            Synthetic(generator=generator)(
                table.take(np.arange(500)), np.random.default_rng(0)
            ).table
        )
        == 500
    )


# -- any finite schema -------------------------------------------------------------------------------------------------

BIRDS = Schema(
    [
        Integer("grams", -5, 2**40),
        Integer("eggs", 0, 9),
        Category("colour", tuple("rgb")),
        Integer("ring", 7, 7),
    ]
)
ANY_TABLE = [
    RandomizedResponse(p=0.5, columns=("eggs", "colour", "ring")),
    ProportionalResponse(p=0.5, columns=("eggs", "colour", "ring")),
    SuppressRare(columns=None, k=1),
    Synthetic(),
]


@pytest.fixture(scope="module")
def birds() -> Table:
    rng = np.random.default_rng(6)
    grams = np.where(rng.random(6000) < 0.9, rng.integers(0, 50_000, 6000), 2**40)
    return Table(
        BIRDS,
        {
            "grams": grams,
            "eggs": rng.integers(0, 4, 6000),
            "colour": rng.integers(0, 3, 6000),
            "ring": np.zeros(6000),
        },
    )


@pytest.mark.parametrize("method", ANY_TABLE)
def test_methods_of_tables_take_any_finite_schema(birds: Table, method: Anonymizer) -> None:
    assert method.accepts(BIRDS)
    assert str(method.unfit(BIRDS)) == ""
    release = method(birds, np.random.default_rng(0))
    assert release.table.schema == BIRDS
    assert len(release.table) == len(birds)


def test_a_domain_of_more_than_a_million_values_is_refused_by_name(birds: Table) -> None:
    for method in (RandomizedResponse(p=0.5), ProportionalResponse(p=0.5)):
        reason = "column 'grams' has more than 1,000,000 values; name others in columns"
        assert str(method.unfit(BIRDS)) == reason
        with pytest.raises(ParameterError, match="more than 1,000,000 values"):
            method(birds, np.random.default_rng(0))


def test_a_column_of_many_values_is_randomized_without_a_matrix() -> None:
    table = Table(Schema([Integer("yen", 0, 99_999)]), {"yen": np.arange(6000)})
    release = RandomizedResponse(p=0.5)(table, np.random.default_rng(0))
    assert (release.table.codes["yen"] > 50_000).mean() == pytest.approx(0.25, abs=0.02), (
        "half of the cells are drawn, half of those lie in the upper half"
    )
    assert release.mechanism is None, "100,000 x 100,000 transitions are not written down"
    assert release.claims == {}


def test_synthetic_keeps_the_shape_of_a_wide_column_and_gives_only_values_that_occur(
    birds: Table,
) -> None:
    made = Synthetic()(birds, np.random.default_rng(0)).table
    assert set(made.codes["grams"]) <= set(birds.codes["grams"])
    for share in (0.25, 0.5, 0.75):
        assert np.quantile(made.codes["grams"], share) == pytest.approx(
            np.quantile(birds.codes["grams"], share), rel=0.05
        )
    assert (made.codes["grams"] == 2**40).mean() == pytest.approx(
        (birds.codes["grams"] == 2**40).mean(), abs=0.005
    )


def test_a_column_that_is_not_there_is_told_before_anything_runs() -> None:
    reason = "there is no column 'foo'; there are grams, eggs, colour, ring"
    for method in (RandomizedResponse(columns=("eggs", "foo")), SuppressRare(columns=("foo",))):
        assert str(method.unfit(BIRDS)) == reason
    assert str(Pipeline("synthetic|rr:columns=foo").unfit(BIRDS)) == f"step rr: {reason}"
    assert str(Pipeline("synthetic|rr:columns=eggs").unfit(BIRDS)) == ""
    assert (
        str(Pipeline("synthetic|monthly_pseudonyms").unfit(BIRDS))
        == "step monthly_pseudonyms: it takes tables of other columns"
    )
    assert not Synthetic.accepts(Schema([*BIRDS, Text("name")]))
    assert str(Synthetic().unfit(Schema([Decimal("price")]))) == "it takes tables of other columns"
