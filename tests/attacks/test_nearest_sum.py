"""`nearest --metric sum`: the distance of the figure of amic2020's rules, against a plain loop over all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from kakurenbo.attacks.membership import MembershipKnowledge, nearest_rows
from kakurenbo.attacks.membership.nearest import Nearest
from kakurenbo.core import Category, Integer, Schema, Table
from kakurenbo.data.adult import embedded_adult

FIGURE = Schema(
    [
        Integer("age", 17, 90),
        Category("sex", ("Female", "Male")),
        Category("income", (">50K", "<=50K")),
    ]
)


@pytest.mark.parametrize(
    ("released", "synthetic", "distance"),
    [
        ((37, "Male", "<=50K"), (43, "Male", "<=50K"), 6),
        ((44, "Female", ">50K"), (39, "Male", ">50K"), 6),
        ((28, "Female", "<=50K"), (52, "Female", ">50K"), 25),
        ((37, "Male", "<=50K"), (39, "Male", ">50K"), 3),
        ((37, "Male", "<=50K"), (52, "Female", ">50K"), 17),
    ],
)
def test_differences_and_differing_categories_are_added(
    released: tuple[object, ...], synthetic: tuple[object, ...], distance: int
) -> None:
    found = nearest_rows(
        Table.from_rows(FIGURE, [synthetic]), Table.from_rows(FIGURE, [released]), power=1
    )
    assert found.squares.tolist() == [distance]


def test_the_rows_of_the_figure_have_its_distances_from_the_first_released_row() -> None:
    """6, 2 + 1 = 3 and 15 + 2 = 17: the figure compares 37, Male, <=50K with three rows of B."""
    base = Table.from_rows(
        FIGURE, [(43, "Male", "<=50K"), (39, "Male", ">50K"), (52, "Female", ">50K")]
    )
    query = Table.from_rows(FIGURE, [(37, "Male", "<=50K")])
    distances = [int(nearest_rows(base.take([row]), query, power=1).squares[0]) for row in range(3)]
    assert distances == [6, 3, 17]
    assert nearest_rows(base, query, power=1).rows.tolist() == [1]
    squares = [int(nearest_rows(base.take([row]), query).squares[0]) for row in range(3)]
    assert squares == [36, 5, 227], "squared Euclidean distance, as the text says"


@pytest.mark.parametrize("power", [1, 2])
def test_the_search_agrees_with_all_pairs(power: int) -> None:
    people = embedded_adult().train
    base, queries = people.take(np.arange(0, 3000)), people.take(np.arange(5000, 5200))
    found = nearest_rows(base, queries, power=power)
    distance = np.zeros((len(queries), len(base)), dtype=np.int64)
    for column in people.schema:
        a, b = queries.codes[column.name].astype(np.int64), base.codes[column.name].astype(np.int64)
        gap = np.abs(a[:, None] - b[None, :])
        distance += gap**power if isinstance(column, Integer) else gap != 0
    assert found.rows.tolist() == distance.argmin(axis=1).tolist()
    assert found.squares.tolist() == distance.min(axis=1).tolist()


def test_a_query_outside_the_range_of_the_base_finds_its_nearest_row() -> None:
    base = Table.from_rows(FIGURE, [(40, "Male", ">50K"), (41, "Female", ">50K")])
    queries = Table.from_rows(FIGURE, [(90, "Male", ">50K"), (17, "Female", ">50K")])
    found = nearest_rows(base, queries, power=1)
    assert found.rows.tolist() == [0, 0]
    assert found.squares.tolist() == [50, 24]


def test_the_attack_takes_the_metric() -> None:
    people = embedded_adult().train
    knowledge = MembershipKnowledge(
        people.take(np.arange(2000)), people.take(np.arange(1000, 1300)), 100, None, None
    )
    for metric in ("rules", "onehot", "sum"):
        guess = Nearest(metric=metric)(knowledge, np.random.default_rng(1))
        assert len(set(guess.rows.tolist())) == 100
        assert np.isin(guess.rows, np.arange(1000, 1300)).mean() > 0.9, (
            "released as they are, at distance 0"
        )
