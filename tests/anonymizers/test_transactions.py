"""Anonymizers of transactions: what each changes, what it leaves, and that they compose."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kakurenbo.anonymizers.pipeline import Pipeline
from kakurenbo.anonymizers.tables.swap import shuffle_within
from kakurenbo.anonymizers.transactions.baskets import (
    Crowds,
    MixedCrowds,
    SwapBaskets,
    cut_by_size,
)
from kakurenbo.anonymizers.transactions.rows import (
    Dates,
    Delete,
    Pseudonyms,
    SwapItems,
    Values,
    user_months,
)
from kakurenbo.contest import Anonymizer
from kakurenbo.core import Table
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.core.rng import stream
from kakurenbo.data.shop import simulate_shop
from kakurenbo.data.transactions import SCHEMA, kept, months
from kakurenbo.methods import registry
from kakurenbo.rulebooks.darc2019.utility import buyer_share


@cache
def shop() -> Table:
    return simulate_shop(stream(1, "shop"), customers=300)


def made(anonymizer: Anonymizer, table: Table | None = None) -> Table:
    return anonymizer(shop() if table is None else table, stream(2, "made")).table


def same(released: Table, *names: str) -> bool:
    return all((released.texts(name) == shop().texts(name)).all() for name in names)


def cells(users: np.ndarray) -> list[tuple[object, int]]:
    return list(zip(users.tolist(), months(shop()).tolist(), strict=True))


def test_a_pseudonym_stands_for_one_customer_in_one_month() -> None:
    released = made(Pseudonyms())
    pairs = set(zip(cells(shop().values("id_user")), released.values("id_user"), strict=True))
    assert (
        len(pairs)
        == len(set(cells(shop().values("id_user"))))
        == len(released.vocabularies["id_user"])
    )
    assert len({len(name) for name in released.vocabularies["id_user"]}) == 1
    assert same(released, "date", "hours", "id_item", "price", "qty")


def test_a_pseudonym_of_the_year_stands_for_one_customer() -> None:
    released = made(Pseudonyms("year"))
    pairs = set(zip(shop().values("id_user"), released.values("id_user"), strict=True))
    assert len(pairs) == 300 == len(released.vocabularies["id_user"])


@pytest.mark.parametrize("which", ["random", "rare_items", "outlying_customers"])
def test_the_asked_share_is_deleted_and_every_user_keeps_a_row(which: str) -> None:
    released = made(Delete(0.3, which))
    alive = kept(released)
    assert (~alive).mean() == pytest.approx(0.3, abs=1e-4)
    assert set(shop().codes["id_user"][alive]) == set(shop().codes["id_user"])


def test_rare_items_and_large_baskets_go_first() -> None:
    counts = np.bincount(shop().codes["id_item"])[shop().codes["id_item"]]
    gone = ~kept(made(Delete(0.1, "rare_items")))
    assert counts[gone].mean() < counts.mean() / 2
    _, basket, counts = np.unique(user_months(shop()), return_inverse=True, return_counts=True)
    sizes = counts[basket]
    gone = ~kept(made(Delete(0.1, "outlying_customers")))
    assert sizes[gone].mean() > 2 * sizes.mean()


@pytest.mark.parametrize("method", ["noise", "shuffle"])
def test_dates_move_within_their_month_and_nothing_else_does(method: str) -> None:
    released = made(Dates(method))
    assert (months(released) == months(shop())).all()
    assert (released.codes["date"] != shop().codes["date"]).mean() > 0.5
    assert same(released, "id_user", "hours", "id_item", "price", "qty")
    if method == "shuffle":
        assert sorted(released.codes["date"]) == sorted(shop().codes["date"])


def test_values_get_noise_only_where_it_is_asked_for() -> None:
    released = made(Values(price=0.2, qty=0))
    assert same(released, "qty", "id_item")
    assert not same(released, "price")
    assert made(Values(price=0, qty=0.5)).values("qty").min() >= 1


@pytest.mark.parametrize("within", ["month", "price", "popularity"])
def test_items_are_permuted_within_their_month(within: str) -> None:
    released = made(SwapItems(0.5, within))
    assert 0.2 < (released.codes["id_item"] != shop().codes["id_item"]).mean() < 0.51
    assert same(released, "id_user", "date", "price", "qty")
    for month in range(13):
        here = months(shop()) == month
        assert sorted(released.codes["id_item"][here]) == sorted(shop().codes["id_item"][here])


def test_swapped_items_are_of_similar_popularity() -> None:
    counts = np.bincount(shop().codes["id_item"])
    before, after = shop().codes["id_item"], made(SwapItems(1.0, "popularity")).codes["id_item"]
    assert np.corrcoef(np.log(counts[before]), np.log(counts[after]))[0, 1] > 0.9


def test_a_swapped_basket_is_another_customers_and_its_pseudonym_follows_it_through_the_year() -> (
    None
):
    released = made(SwapBaskets(k=5))
    alive = kept(released)
    assert alive.mean() > 0.8
    truth = dict(zip(cells(shop().values("id_user")), released.values("id_user"), strict=True))
    assert len(set(truth.values()) - {"DEL"}) <= 300
    # Under its new name the basket holds the items that its owner bought in that month, or some of them.
    owned = {(user, month): set() for user, month in cells(shop().values("id_user"))}
    for cell, item in zip(cells(shop().values("id_user")), shop().values("id_item"), strict=True):
        owned[cell].add(item)
    shown: dict[tuple[object, int], set[object]] = {}
    for cell, item in zip(
        cells(released.values("id_user")), released.values("id_item"), strict=True
    ):
        shown.setdefault(cell, set()).add(item)
    pseudonym = max(
        set(truth.values()) - {"DEL"}, key=lambda name: sum(cell[0] == name for cell in shown)
    )
    months_there = [cell[1] for cell in shown if cell[0] == pseudonym]
    owners = [
        user
        for user in set(shop().values("id_user"))
        if all((user, month) in owned for month in months_there)
    ]
    assert any(
        all(shown[pseudonym, month] <= owned[user, month] for month in months_there)
        for user in owners
    )


# -- mixed crowds -----------------------------------------------------------------------------------------------------


def test_what_a_pseudonym_shows_in_mixed_crowds_was_bought_by_many() -> None:
    """Rows of a pool are dealt out in turn, so a basket of n rows has about n / pool of each of its people, one at least."""
    released = made(MixedCrowds(pool=10))
    rows = np.flatnonzero(kept(released))
    bought: dict[tuple[int, int], set[int]] = {}
    month = months(shop())
    for user, when, item in zip(
        shop().codes["id_user"], month, shop().codes["id_item"], strict=True
    ):
        bought.setdefault((int(user), int(when)), set()).add(int(item))
    shown: dict[int, tuple[int, set[int]]] = {}
    for row in rows:
        name, item = int(released.codes["id_user"][row]), int(released.codes["id_item"][row])
        shown.setdefault(name, (int(month[row]), set()))[1].add(item)
    most = []
    for when, items in (one for one in shown.values() if len(one[1]) >= 20):
        most.append(
            max(len(items & own) for (_, there), own in bought.items() if there == when)
            / len(items)
        )
    assert np.mean(most) < 0.4
    assert buyer_share(shop(), made(Crowds())) > 0.95 > 0.5 > buyer_share(shop(), released)


def test_pseudonyms_of_mixed_crowds_last_for_a_month_and_are_nobodys_own() -> None:
    released = made(MixedCrowds(pool=5))
    alive = kept(released)
    name, month = released.codes["id_user"][alive], months(shop())[alive]
    assert len(np.unique(name)) == len(np.unique(name * 100 + month))
    customer = shop().codes["id_user"][alive].astype(np.int64)
    assert len(np.unique(customer * 100 + month)) == len(np.unique(name))


# -- crowds -----------------------------------------------------------------------------------------------------------


@cache
def crowded() -> Table:
    return made(Crowds())


def test_a_crowd_shows_one_date_per_customer_and_month_and_no_time_of_day() -> None:
    released = crowded()
    alive = kept(released)
    assert set(released.values("hours")[alive]) == {"12:00"}
    dates: dict[tuple[object, int], set[int]] = {}
    for cell, date in zip(
        np.array(cells(released.values("id_user")), dtype=object)[alive].tolist(),
        released.codes["date"][alive],
        strict=True,
    ):
        dates.setdefault(tuple(cell), set()).add(int(date))
    assert {len(days) for days in dates.values()} == {1}


def test_the_members_of_a_crowd_differ_in_nothing_but_the_moved_basket() -> None:
    """Price lists of a month come in crowds: each is shown by at least two pseudonyms, most by five or more."""
    released = crowded()
    alive = kept(released)
    lists: dict[tuple[object, int], list[float]] = {}
    for cell, price in zip(
        np.array(cells(released.values("id_user")), dtype=object)[alive].tolist(),
        released.codes["price"][alive],
        strict=True,
    ):
        lists.setdefault(tuple(cell), []).append(float(price))
    longest: dict[tuple[int, float], int] = {}
    for (_, month), prices in lists.items():
        key = (
            month,
            min(prices),
        )  # a basket that could not fill its places shows the first prices of the list
        longest[key] = longest.get(key, 0) + 1
    assert np.mean([count >= 5 for count in longest.values()]) > 0.9


def test_baskets_move_to_somebody_else() -> None:
    released = crowded()
    alive = kept(released)
    slots = np.array(cells(shop().values("id_user")), dtype=object)[alive].tolist()
    truth = {
        tuple(slot): name
        for slot, name in zip(slots, released.values("id_user")[alive], strict=True)
    }
    own: dict[object, list[object]] = {}
    for (user, _), name in truth.items():
        own.setdefault(user, []).append(name)
    assert (
        np.mean([len(set(names)) == len(names) for names in own.values()]) > 0.8
    )  # the same slot, another basket each month


def test_what_a_pseudonym_buys_in_the_year_is_what_one_customer_bought() -> None:
    released = crowded()
    alive = kept(released)
    bought: dict[object, set[object]] = {}
    for user, item in zip(shop().values("id_user"), shop().values("id_item"), strict=True):
        bought.setdefault(user, set()).add(item)
    shown: dict[object, set[object]] = {}
    for name, item in zip(
        released.values("id_user")[alive], released.values("id_item")[alive], strict=True
    ):
        shown.setdefault(name, set()).add(item)
    for items in list(shown.values())[:50]:
        assert any(items <= others for others in bought.values())


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40), st.integers(1, 6), st.floats(0, 30))
def test_sizes_are_cut_at_the_least_cost(sizes: list[int], smallest: int, price: float) -> None:
    ordered = np.array(sorted(sizes, reverse=True))
    ends = cut_by_size(ordered, smallest, 40, price)
    groups = np.split(ordered, ends[:-1])
    assert ends[-1] == len(sizes)
    assert min(map(len, groups)) >= min(smallest, max(1, len(sizes) // 2))
    cost = sum(group.sum() - len(group) * group.min() + price for group in groups)
    assert cost <= ordered.sum() - len(ordered) * ordered.min() + price + 1e-9


# -- together ---------------------------------------------------------------------------------------------------------


def test_steps_of_a_pipeline_come_one_after_the_other() -> None:
    rng = stream(5, "pipeline")
    by_hand = Delete(0.1)(Pseudonyms()(shop(), rng).table, rng).table
    assert (
        Pipeline("monthly_pseudonyms | delete:share=0.1")(shop(), stream(5, "pipeline")).table
        == by_hand
    )
    assert Pipeline()(shop(), rng).table == shop()


def test_a_pipeline_can_itself_be_named_in_a_list_of_methods() -> None:
    named = registry.build("anonymizers", "pipeline:steps=delete:share=0.1;which=rare_items|dates")
    assert named.methods == (Delete(0.1, "rare_items"), Dates())


def test_deleted_rows_stay_deleted_whatever_comes_after() -> None:
    gone = ~kept(made(Delete(0.2)))
    for step in (
        Dates(),
        Dates("noise"),
        Values(),
        SwapItems(),
        SwapBaskets(),
        Pseudonyms(),
        Crowds(),
    ):
        after = made(step, made(Delete(0.2)))
        assert (~kept(after))[gone].all(), step


def test_a_bad_step_is_told_when_the_pipeline_is_made() -> None:
    with pytest.raises(UsageError, match="no_such"):
        Pipeline("no_such")
    with pytest.raises(ParameterError, match="share"):
        Pipeline("delete:share=7")


def test_a_pipeline_fits_where_all_its_steps_do() -> None:
    assert str(Pipeline("delete|dates").unfit(SCHEMA)) == ""
    assert str(Pipeline("delete|rr").unfit(SCHEMA)).startswith("step rr:")


@given(st.lists(st.integers(0, 3), max_size=30))
def test_a_permutation_within_groups_keeps_groups(groups: list[int]) -> None:
    found = shuffle_within(np.array(groups, dtype=np.int64), np.random.default_rng(0))
    assert sorted(found.tolist()) == list(range(len(groups)))
    assert np.array_equal(np.array(groups, dtype=np.int64)[found], groups)
