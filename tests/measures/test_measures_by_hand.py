"""Edges of the measures that the other files leave open, each small enough to be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kakurenbo.contest import Score
from kakurenbo.core import Category, Integer, Moments, Schema, Table
from kakurenbo.measures.covariance import correlation_difference, covariance_utility
from kakurenbo.measures.crosstab import compared_pairs, crosstab_utility, least_utility
from kakurenbo.measures.histogram import histogram_error
from kakurenbo.measures.item_similarity import ItemMatrix, similarity_distance, top_list_distance
from kakurenbo.measures.privacy import delta_presence
from kakurenbo.measures.record_changes import date_change, deleted_share, price_change
from kakurenbo.measures.trees import TreeTask, tree_utility

XY = Schema([Integer("x", 0, 9), Integer("y", 0, 9)])
NOTHING = np.zeros(0, dtype=np.int64)


def xy(*rows: tuple[int, int]) -> Table:
    return Table.from_rows(XY, rows)


def test_the_first_edition_sums_all_differences_and_is_the_one_unless_another_is_asked_for() -> (
    None
):
    """x: 0, 2; y: 0, 0 becomes 0, 4. With ddof 1 var(y) goes from 0 to 8 and cov(x, y) from 0 to 4, which stands twice."""
    before, after = Moments.of(xy((0, 0), (2, 0))), Moments.of(xy((0, 0), (2, 4)))
    score = covariance_utility(before, after)
    assert score.value == pytest.approx(1 / (8 + 4 + 4))
    assert covariance_utility(before, after, 2).value == pytest.approx(1 / (8 + 4))
    assert score.limit == {"pair": ["y", "y"], "difference": pytest.approx(8)}
    assert score.higher_is_better


def test_the_pair_that_limits_a_figure_is_two_columns_in_their_order() -> None:
    """x and y rise together in one table, in the other one falls: correlations 1 and -1."""
    score = correlation_difference(Moments.of(xy((0, 0), (2, 2))), Moments.of(xy((0, 2), (2, 0))))
    assert score.value == pytest.approx(2)
    assert score.limit == {"pair": ["x", "y"], "difference": pytest.approx(2)}


def test_the_error_of_a_histogram_is_better_when_it_is_lower_and_names_the_value_that_moved() -> (
    None
):
    """x: one of two rows moved from 2 to 3, (1 + 1) / (2 * 2); y did not."""
    score = histogram_error(xy((1, 5), (2, 5)), xy((1, 5), (3, 5)))
    assert (score.value, score.parts, score.higher_is_better) == (0.5, {"x": 0.5, "y": 0.0}, False)
    assert score.limit == {"attribute": "x", "value": "2", "records": -1}


def test_files_without_a_pair_to_compare_have_full_utility() -> None:
    schema = Schema([Category("Gender", ("F", "M")), Category("Age", ("1", "18"))])
    before, after = Table.from_rows(schema, [("F", "1")]), Table.from_rows(schema, [("M", "18")])
    score = crosstab_utility(before, after, exempt=("Gender", "Age"))
    assert (score.value, score.limit) == (100, {})


def test_equal_files_are_limited_by_nothing_and_the_first_of_equally_bad_files_is_named() -> None:
    assert crosstab_utility(xy((1, 2)), xy((1, 2))).limit == {}
    assert least_utility([Score(100.0), Score(100.0)]).limit == {}
    worst = Score(60.0, limit={"error": 8})
    assert least_utility([Score(70.0), worst, worst]).limit == {"file": 1, "error": 8}


def test_presence_is_never_more_than_certain() -> None:
    """A row that is once in the population and three times in the release is in it with probability 1, not 3."""
    assert delta_presence(xy((1, 1), (2, 2)), xy((1, 1), (1, 1), (1, 1), (2, 2), (2, 2))) == (
        1.0,
        1.0,
    )


def test_a_table_without_rows_did_not_change() -> None:
    kept = np.zeros(0, dtype=bool)
    assert date_change(NOTHING, NOTHING, kept) == 0
    assert price_change(NOTHING.astype(float), NOTHING.astype(float), kept) == 0
    assert deleted_share(kept) == 0


def test_dates_may_move_either_way() -> None:
    assert date_change(np.array([10, 10]), np.array([8, 13]), np.array([True, True])) == 5 / 31 / 2


def test_two_empty_lists_of_items_are_equal() -> None:
    assert top_list_distance(np.array([False]), np.array([False])) == 0
    assert top_list_distance(np.array([True]), np.array([False])) == 1


def test_similarities_of_tables_without_sales_are_equal_and_infinitely_far_from_those_with_some() -> (
    None
):
    everything = np.ones(2, dtype=bool)
    nobody = ItemMatrix.of(NOTHING, NOTHING, NOTHING, 2)
    somebody = ItemMatrix.of(np.array([0]), np.array([1]), np.array([3]), 2)
    assert (
        similarity_distance(nobody, nobody, (everything, everything), copurchasers=True).overall
        == 0
    )
    assert (
        similarity_distance(nobody, somebody, (everything, everything), copurchasers=True).overall
        == np.inf
    )
    assert (
        similarity_distance(somebody, nobody, (everything, everything), copurchasers=True).overall
        == 1
    )
    assert nobody.norms().tolist() == [0, 0]
    assert nobody.by_user.shape == (0, 2)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(-3, 3)), min_size=1, max_size=25
    )
)
def test_purchases_are_the_sums_of_quantities_of_a_user_and_an_item(
    rows: list[tuple[int, int, int]],
) -> None:
    users, items, quantities = (
        np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)
    )
    sums = np.zeros((4, 5))
    for user, item, quantity in rows:
        sums[user, item] += quantity
    found = ItemMatrix.of(users, items, quantities, 5)
    assert (found.by_user.toarray() == sums[: users.max() + 1]).all()
    assert (found.scores != 0).all(), "what was bought and returned was not bought"
    assert found.norms() == pytest.approx(np.sqrt((sums**2).sum(axis=0)))


def returns(*rows: tuple[int, int, int]) -> ItemMatrix:
    """Rows of (user, item, quantity) of three items; a negative quantity was brought back."""
    users, items, quantities = (
        np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)
    )
    return ItemMatrix.of(users, items, quantities, 3)


def cosines(table: ItemMatrix, chosen: np.ndarray) -> np.ndarray:
    """M by the formula of the rules, one pair of items after the other."""
    scores = table.by_user.toarray()
    found = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            a, b = scores[(scores[:, i] != 0) & (scores[:, j] != 0)][:, [i, j]].T
            if len(a) and chosen[i] and chosen[j]:
                found[i, j] = (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())
    return found


def test_a_similarity_of_0_leaves_nothing_behind_for_the_items_that_follow() -> None:
    """One user bought items 0 and 1, another bought 0 and brought 1 back: 1 - 1 = 0, and both diagonals are 1."""
    everything = np.ones(3, dtype=bool)
    cancelling = returns((0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, -1))
    assert cosines(cancelling, everything).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    apart = returns((0, 0, 1), (1, 1, 1))
    for first, second in ((cancelling, apart), (apart, cancelling)):
        assert (
            similarity_distance(first, second, (everything, everything), copurchasers=True).overall
            == 0
        )


sales = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from((-2, -1, 1, 2))),
    min_size=1,
    max_size=12,
).filter(lambda rows: returns(*rows).scores.size > 0)


@given(sales, sales, st.lists(st.booleans(), min_size=6, max_size=6))
def test_the_distance_is_that_of_the_formula_though_things_are_brought_back(
    first: list[tuple[int, int, int]], second: list[tuple[int, int, int]], flags: list[bool]
) -> None:
    before, after = returns(*first), returns(*second)
    chosen = np.array(flags[:3]), np.array(flags[3:])
    everything = np.ones(3, dtype=bool)
    found = similarity_distance(before, after, chosen, copurchasers=True)
    for value, (ours, theirs) in (
        (found.overall, (everything, everything)),
        (found.chosen, chosen),
    ):
        m, other = cosines(before, ours), cosines(after, theirs)
        difference, total = np.abs(m - other).sum(), m.sum()
        if total > 1e-9:
            assert value == pytest.approx(difference / total, abs=1e-9)


def test_purchases_are_told_apart_as_things_since_their_arrays_have_no_single_answer_to_whether_they_are_equal() -> (
    None
):
    one, other = returns((0, 0, 1)), returns((0, 0, 1))
    assert one != other
    assert {one: "first", other: "second"}[one] == "first"


def test_the_f_measure_is_about_the_positive_class_not_about_the_other() -> None:
    """The original calls ages up to 45 poor, the release those up to 25: it finds one of the three poor, and all rich.

    Poor: 2 * 1 / (2 * 1 + 2 missed); rich: 2 * 3 / (2 * 3 + 2 invented).
    """
    schema = Schema([Integer("age", 17, 90), Category("income", (">50K", "<=50K"))])

    def people(*rows: tuple[int, str]) -> Table:
        return Table.from_rows(schema, rows)

    original = people((20, "<=50K"), (40, "<=50K"), (50, ">50K"))
    released = people((20, "<=50K"), (30, ">50K"), (50, ">50K"))
    test = people(
        (20, "<=50K"), (38, "<=50K"), (39, "<=50K"), (60, ">50K"), (61, ">50K"), (62, ">50K")
    )
    poor, rich = TreeTask("income", "<=50K", 5), TreeTask("income", ">50K", 5)
    assert poor.truth(test).tolist() == [1, 1, 1, 0, 0, 0]
    assert tree_utility(poor, original, released, test).value == 2 / 4
    assert tree_utility(rich, original, released, test).value == 6 / 8
    limit = tree_utility(rich, original, released, test).limit
    assert (limit["missed"], limit["invented"]) == (0, 2)


def test_a_pair_is_compared_where_either_column_is_no_attribute() -> None:
    assert compared_pairs(["260", "Age", "Gender", "261"], exempt=["Age", "Gender"]) == [
        ("260", "Age"),
        ("260", "Gender"),
        ("260", "261"),
        ("Age", "261"),
        ("Gender", "261"),
    ]
