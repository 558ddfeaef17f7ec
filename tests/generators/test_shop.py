"""The shop simulator: seeded, of T's size, and like T in baskets, items, prices, quantities and repeat purchases."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kakurenbo.datasets.shop_statistics import LEVELS, shop_statistics, statistics_of
from kakurenbo.datasets.transactions import SCHEMA
from kakurenbo.generators.shop import MOST_ROWS, simulate_shop
from kakurenbo.rng import stream
from kakurenbo.tables import Layout, Problems, Source, read_table, table_bytes


@cache
def simulated() -> dict[str, Any]:
    return statistics_of(simulate_shop(stream(1, "shop")))


def test_the_stored_statistics_are_those_of_t(reference_data: Path) -> None:
    table = read_table(Source.of(reference_data / "darc" / "ground_truth.csv.gz"), SCHEMA, Layout(header=True))
    assert not isinstance(table, Problems)
    assert statistics_of(table.value) == shop_statistics()


def test_the_same_seed_gives_the_same_shop() -> None:
    shops = [table_bytes(simulate_shop(stream(seed, "shop"), customers=50)) for seed in (1, 1, 2)]
    assert shops[0] == shops[1] != shops[2]


def test_the_shop_has_the_size_of_t() -> None:
    known, found = shop_statistics(), simulated()
    assert found["customers"] == known["customers"]
    assert found["rows"] == pytest.approx(known["rows"], rel=0.1)
    assert found["items"] == pytest.approx(known["items"], rel=0.05)
    assert max(found["rows_per_customer"]) <= MOST_ROWS


@pytest.mark.parametrize(
    "name", ["rows_per_customer", "rows_per_basket", "items_per_basket", "price", "qty", "minute_of_invoice"]
)
def test_the_quantiles_are_those_of_t(name: str) -> None:
    """From the 10th to the 95th percentile, within a fifth or one unit."""
    inner = (LEVELS >= 0.1) & (LEVELS <= 0.95)
    known, found = np.array(shop_statistics()[name])[inner], np.array(simulated()[name])[inner]
    assert (np.abs(found - known) <= np.maximum(0.2 * known, 0.45 if name == "price" else 1)).all(), (known, found)


def test_items_are_as_unequally_popular_as_in_t() -> None:
    known, found = (np.array(stats["rows_per_item"]) for stats in (shop_statistics(), simulated()))
    assert (np.abs(found - known)[10:99] <= np.maximum(0.25 * known, 4)[10:99]).all()


def test_customers_buy_again_as_often_as_in_t() -> None:
    known, found = (np.array(stats["distinct_share"])[:, 1] for stats in (shop_statistics(), simulated()))
    assert np.abs(known - found).max() < 0.05


def test_months_are_as_busy_as_in_t() -> None:
    for name in ("customers_per_month", "months_per_customer"):
        known, found = np.array(shop_statistics()[name]), np.array(simulated()[name])
        assert (np.abs(found - known) <= np.maximum(0.2 * known, 25)).all(), name
    dates = np.array(simulated()["invoices_per_date"]), np.array(shop_statistics()["invoices_per_date"])
    assert len(dates[0]) == len(dates[1])
    assert (dates[0][dates[1] == 0] == 0).all()  # nobody buys when the shop is closed
