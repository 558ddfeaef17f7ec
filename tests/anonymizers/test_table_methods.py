"""`rr`, `rrp`, `kanony` and `synthetic`: what they do to cells, and what they claim."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kakurenbo.anonymizers.tables.randomized_response import ProportionalResponse, RandomizedResponse
from kakurenbo.anonymizers.tables.suppression import SuppressRare
from kakurenbo.anonymizers.tables.synthesis import Synthetic
from kakurenbo.contracts import Mechanism
from kakurenbo.errors import ParameterError
from kakurenbo.measures.privacy import k_anonymity
from kakurenbo.tables import Category, Integer, Schema, Table

SCHEMA = Schema([Integer("age", 17, 20), Category("sex", ("Female", "Male"))])
ROWS = 40_000


@pytest.fixture(scope="module")
def table() -> Table:
    rng = np.random.default_rng(5)
    return Table(SCHEMA, {"age": rng.choice(4, ROWS, p=[0.7, 0.1, 0.1, 0.1]), "sex": rng.choice(2, ROWS, p=[0.25, 0.75])})


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
    assert alike.frequencies("age") / ROWS == pytest.approx(table.frequencies("age") / ROWS, abs=0.01)


def test_the_mechanism_is_what_really_happens(table: Table) -> None:
    for method in (RandomizedResponse(p=0.5), ProportionalResponse(p=0.5)):
        release = method(table, np.random.default_rng(1))
        assert release.mechanism is not None
        before, after = table.codes["age"], release.table.codes["age"]
        observed = np.array([[(after[before == x] == y).mean() for y in range(4)] for x in range(4)])
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
    table = Table.from_texts(Schema([Category("sex", ("Female", "Male", "None"))]), {"sex": ["Female", "Male", "Male", "Male"]})
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
    assert k_anonymity(SuppressRare(k=50, columns=None)(table, np.random.default_rng(0)).table) >= 50


def test_unknown_columns_are_refused_with_the_known_ones(table: Table) -> None:
    for method in (SuppressRare(columns=("height",)), RandomizedResponse(columns=("height",))):
        with pytest.raises(ParameterError, match="age, sex"):
            method(table, np.random.default_rng(0))


@pytest.mark.parametrize("generator", ["moments", "omth17"])
def test_synthetic_gives_any_number_of_records(table: Table, generator: str) -> None:
    release = Synthetic(generator=generator, rows=123)(table, np.random.default_rng(0))
    assert len(release.table) == 123
    assert release.table.schema == SCHEMA
    assert len(Synthetic(generator=generator)(table.take(np.arange(500)), np.random.default_rng(0)).table) == 500
