"""Tables, schemas and moments: a small algebra."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from kakurenbo.core import Category, Decimal, Integer, Moments, Schema, Table, Text, dummy_names
from kakurenbo.core.errors import ParameterError

SCHEMA = Schema([Integer("age", 17, 90), Category("sex", ("Female", "Male"))])
TABLE = Table.from_rows(SCHEMA, [(20, "Male"), (30, "Female"), (40, "Male")])


def test_a_table_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        TABLE.codes["age"][0] = 1
    with pytest.raises(TypeError):
        TABLE.codes["age"] = np.zeros(3)  # type: ignore[index]


def test_changing_the_array_a_table_was_made_of_does_not_change_the_table() -> None:
    codes = np.zeros(2, dtype=np.int8)
    table = Table(Schema([Category("sex", ("Female", "Male"))]), {"sex": codes})
    codes[0] = 1
    assert table.codes["sex"].tolist() == [0, 0]


def test_codes_outside_the_domain_are_refused_even_where_they_would_wrap_around() -> None:
    for code in (-1, 2, 256):
        with pytest.raises(ParameterError, match="from 0 to 1"):
            Table(Schema([Category("sex", ("Female", "Male"))]), {"sex": np.array([code])})


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(ParameterError, match="one length"):
        Table(SCHEMA, {"age": np.zeros(2, int), "sex": np.zeros(3, int)})


def test_a_schema_refuses_a_name_twice_and_names_the_known_columns() -> None:
    with pytest.raises(ParameterError):
        Schema([Integer("a", 0, 1), Integer("a", 0, 1)])
    with pytest.raises(ParameterError, match="age, sex"):
        SCHEMA.select(["height"])


def test_rows_are_taken_in_the_given_order() -> None:
    assert TABLE.take([2, 0]).rows() == [(40, "Male"), (20, "Male")]
    assert TABLE.take(np.array([False, True, False])).rows() == [(30, "Female")]
    assert len(TABLE.take([])) == 0


def test_the_numeric_view_keeps_numbers_and_spreads_categories() -> None:
    assert TABLE.dummies().tolist() == [[20, 0, 1], [30, 1, 0], [40, 0, 1]]
    assert TABLE.dummies(drop_first=True, names=["sex"]).tolist() == [[1], [0], [1]]
    assert dummy_names(SCHEMA) == (("age", None), ("sex", "Female"), ("sex", "Male"))


def test_keys_are_equal_exactly_for_equal_rows_however_many_combinations_there_are() -> None:
    wide = Schema([Integer(f"c{index}", 0, 9_999) for index in range(6)])
    table = Table.from_rows(
        wide, [(1, 2, 3, 4, 5, 6), (1, 2, 3, 4, 5, 7), (1, 2, 3, 4, 5, 6), (0, 2, 3, 4, 5, 6)]
    )
    keys = table.keys().tolist()
    assert keys[0] == keys[2]
    assert len(set(keys)) == 3
    assert len(set(table.keys(["c1"]).tolist())) == 1


def test_keys_take_decimals_and_texts_too() -> None:
    table = Table.from_rows(
        Schema([Decimal("price"), Text("who")]), [(1.5, "a"), (1.5, "b"), (1.5, "a")]
    )
    keys = table.keys().tolist()
    assert keys[0] == keys[2] != keys[1]


def test_stacking_merges_the_vocabularies_of_texts() -> None:
    schema = Schema([Text("who")])
    stacked = Table.stack(
        [Table.from_rows(schema, [("b",)]), Table.from_rows(schema, [("a",), ("b",)])]
    )
    assert stacked.values("who").tolist() == ["b", "a", "b"]
    assert stacked.vocabularies["who"] == ("a", "b")


def test_tables_travel_between_processes() -> None:
    again = pickle.loads(pickle.dumps(TABLE))
    assert again == TABLE
    assert again.digest() == TABLE.digest()


def test_moments_are_those_of_numpy() -> None:
    rng = np.random.default_rng(1)
    table = Table(SCHEMA, {"age": rng.integers(0, 74, 500), "sex": rng.integers(0, 2, 500)})
    moments = Moments.of(table)
    assert np.allclose(moments.mean, table.dummies().mean(axis=0), atol=1e-12)
    assert np.allclose(moments.covariance, np.cov(table.dummies(), rowvar=False), atol=1e-10)
    assert np.allclose(moments.correlation, np.corrcoef(table.dummies(), rowvar=False), atol=1e-12)


def test_a_constant_column_has_correlation_0() -> None:
    table = Table.from_rows(SCHEMA, [(20, "Male"), (30, "Male")])
    correlation = Moments.of(table).correlation
    assert correlation[0, 0] == pytest.approx(1)
    assert (correlation[1:] == 0).all()


def test_moments_do_not_depend_on_the_order_of_rows() -> None:
    rng = np.random.default_rng(2)
    table = Table(SCHEMA, {"age": rng.integers(0, 74, 70_000), "sex": rng.integers(0, 2, 70_000)})
    shuffled = table.take(rng.permutation(len(table)))
    assert (Moments.of(table).covariance == Moments.of(shuffled).covariance).all()
