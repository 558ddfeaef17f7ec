"""`permute`, `swap`, `top_bottom`, `microaggregate` and `mondrian`: what moves, what stays, what they claim."""

from __future__ import annotations

import numpy as np
import pytest

from kakurenbo.anonymizers.tables.columns import TopBottom
from kakurenbo.anonymizers.tables.microaggregation import Microaggregate, Mondrian, make_alike
from kakurenbo.anonymizers.tables.swap import Permute, Swap
from kakurenbo.contest import Anonymizer
from kakurenbo.core import Category, Decimal, Integer, Schema, Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.measures.privacy import k_anonymity

SCHEMA = Schema(
    [Integer("age", 17, 90), Category("job", ("a", "b", "c", "d")), Category("rich", ("no", "yes"))]
)
WIDE = Schema(
    [Integer("grams", -5, 2**40), Category("colour", tuple("rgb")), Integer("ring", 7, 7)]
)
ROWS = 1200


@pytest.fixture(scope="module")
def people() -> Table:
    rng = np.random.default_rng(5)
    age = rng.integers(0, 74, ROWS)
    job = np.clip(age // 20 + rng.integers(-1, 2, ROWS), 0, 3)
    return Table(SCHEMA, {"age": age, "job": job, "rich": rng.random(ROWS) < age / 100})


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def correlation(table: Table, first: str, second: str) -> float:
    return float(np.corrcoef(table.codes[first], table.codes[second])[0, 1])


@pytest.mark.parametrize("method", [Permute(), Swap(share=0.5), Swap(share=1.0, reach=0.02)])
def test_values_that_change_places_leave_every_histogram(people: Table, method: Anonymizer) -> None:
    release = method(people, rng()).table
    for name in SCHEMA.names:
        assert release.frequencies(name).tolist() == people.frequencies(name).tolist()
    assert release != people


def test_permuted_columns_know_nothing_of_each_other_and_others_stay(people: Table) -> None:
    assert (
        abs(correlation(Permute()(people, rng()).table, "age", "job"))
        < 0.1
        < correlation(people, "age", "job")
    )
    one = Permute(columns=("age",))(people, rng()).table
    assert one.codes["job"].tolist() == people.codes["job"].tolist()


def test_the_share_of_cells_is_swapped_and_no_more() -> None:
    table = Table(Schema([Integer("id", 0, 999)]), {"id": np.arange(1000)})
    moved = Swap(share=0.3)(table, rng()).table.codes["id"] != table.codes["id"]
    assert moved.sum() == 300
    assert Swap(share=0.0)(table, rng()).table == table
    assert (Swap(share=0.3)(table.take([0]), rng()).table) == table.take([0])


def test_numbers_are_swapped_within_reach_of_their_rank_and_words_with_anybody() -> None:
    schema = Schema([Integer("id", 0, 999), Category("word", tuple(f"w{n}" for n in range(1000)))])
    table = Table(schema, {"id": np.arange(1000), "word": np.arange(1000)})
    release = Swap(share=1.0, reach=0.05)(table, rng()).table
    apart = {
        name: np.abs(release.codes[name].astype(int) - np.arange(1000)) for name in schema.names
    }
    assert apart["id"].max() < 50
    assert (apart["id"] > 0).mean() > 0.9
    assert apart["word"].max() > 500


def test_top_and_bottom_coding_keeps_every_row_and_what_lies_between() -> None:
    table = Table.from_rows(
        Schema([Decimal("bmi"), Category("sex", ("F", "M"))]), [(float(n), "F") for n in range(100)]
    )
    release = TopBottom(top=0.1, bottom=0.05)(table, rng())
    assert release.rows is None
    assert release.table.values("bmi").tolist() == np.clip(np.arange(100.0), 5, 89).tolist()
    assert (
        str(TopBottom(columns=("sex",)).unfit(table.schema))
        == "column 'sex' holds words, not numbers"
    )
    assert not TopBottom.accepts(Schema([Category("sex", ("F", "M"))]))
    with pytest.raises(ParameterError, match="numbers"):
        TopBottom(columns=("sex",))(table, rng())


def test_a_group_is_told_by_its_lower_median_and_its_most_frequent_level() -> None:
    table = Table.from_rows(
        SCHEMA,
        [(20, "d", "no"), (30, "d", "no"), (40, "b", "yes"), (50, "b", "yes"), (90, "a", "no")],
    )
    alike = make_alike(table, ("age", "job"), np.array([4, 4, 4, 4, 2]), 1).table
    assert alike.rows() == [
        (30, "b", "no"),
        (30, "b", "no"),
        (30, "b", "yes"),
        (30, "b", "yes"),
        (90, "a", "no"),
    ]


@pytest.mark.parametrize("method", [Microaggregate(k=7), Mondrian(k=7)])
def test_k_is_claimed_and_holds(people: Table, method: Anonymizer) -> None:
    release = method(people, rng())
    assert release.claims == {"k": 7.0}
    assert k_anonymity(release.table) >= 7
    assert len(release.table) == ROWS
    assert np.abs(release.table.values("age") - people.values("age")).mean() < 5, (
        "groups are of near records"
    )
    assert method(people.take(np.arange(6)), rng()).claims == {}, "six rows are never seven alike"


def test_k_on_some_columns_is_not_claimed(people: Table) -> None:
    partly = Microaggregate(k=7, columns=("age", "job"))(people, rng())
    assert partly.claims == {}
    assert partly.table.codes["rich"].tolist() == people.codes["rich"].tolist()
    assert k_anonymity(partly.table.select(("age", "job"))) >= 7


def test_rows_that_are_all_the_same_are_still_put_into_groups_of_k() -> None:
    twins = Table(SCHEMA, {"age": np.zeros(20), "job": np.zeros(20), "rich": np.zeros(20)})
    assert Microaggregate(k=3)(twins, rng()).table == twins
    assert Mondrian(k=3)(twins, rng()).table == twins


def test_every_part_is_l_diverse_and_t_close(people: Table) -> None:
    plain = Mondrian(k=5, sensitive="job")(people, rng()).table
    diverse = Mondrian(k=5, l=2, t=0.55, sensitive="job")(people, rng())
    assert diverse.claims == {}, "the sensitive column makes records differ again"
    whole = people.frequencies("job") / ROWS
    assert not all(_holds(part, whole) for part in _parts(plain))
    assert all(_holds(part, whole) for part in _parts(diverse.table))
    assert len(_parts(diverse.table)) > 3
    assert diverse.table.codes["job"].tolist() == people.codes["job"].tolist()
    assert (
        str(Mondrian(l=2).unfit(SCHEMA))
        == "l and t are about a sensitive column; name one in sensitive"
    )


def _parts(table: Table) -> list[np.ndarray]:
    keys = table.keys(("age", "rich"))
    return [np.bincount(table.codes["job"][keys == key], minlength=4) for key in np.unique(keys)]


def _holds(part: np.ndarray, whole: np.ndarray) -> bool:
    return bool(
        (part > 0).sum() >= 2 and np.abs(part / part.sum() - whole).sum() / 2 <= 0.55 + 1e-12
    )


@pytest.mark.parametrize(
    "method",
    [Permute(), Swap(), Swap(reach=0.1), TopBottom(), Microaggregate(k=4), Mondrian(k=4)],
    ids=repr,
)
def test_they_take_any_finite_schema_and_the_same_stream_gives_the_same_table(
    method: Anonymizer,
) -> None:
    draw = np.random.default_rng(6)
    grams = np.where(draw.random(300) < 0.9, draw.integers(0, 50_000, 300), 2**40)
    birds = Table(WIDE, {"grams": grams, "colour": draw.integers(0, 3, 300), "ring": np.zeros(300)})
    assert str(method.unfit(WIDE)) == ""
    first, second = method(birds, rng()).table, method(birds, rng()).table
    assert first == second
    assert set(first.codes["grams"]) <= set(grams.tolist())
    assert len(first) == 300
