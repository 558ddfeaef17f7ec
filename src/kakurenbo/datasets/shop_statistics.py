"""What is stored of T: quantiles and counts that describe the shop, no row of it. The simulator draws from them."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.datasets.transactions import Calendar, months
from kakurenbo.tables import Table

FILE = "online_retail_statistics.json"
LEVELS = np.round(
    np.concatenate(([0, 0.001, 0.005, 0.01, 0.02], np.arange(0.05, 0.96, 0.05), [0.98, 0.99, 0.995, 0.999, 1])), 4
)
"""Levels at which quantiles are stored."""
_CURVE = np.linspace(0, 1, 101)  # item popularity needs a finer grid: its two ends carry the Zipf law
CLASSES = 10  # popularity and price classes


@cache
def shop_statistics() -> dict[str, Any]:
    """The stored statistics of T."""
    text = resources.files("kakurenbo.datasets").joinpath("data", FILE).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def statistics_of(table: Table) -> dict[str, Any]:
    """Statistics of a transaction table, in the form that is stored of T."""
    frame = pl.DataFrame(
        {
            "user": table.codes["id_user"],
            "item": table.codes["id_item"],
            "month": months(table),
            "date": table.codes["date"],
            "minute": table.codes["hours"],
            "price": table.codes["price"],
            "qty": table.values("qty"),
        }
    )
    invoices = frame.unique(["user", "date", "minute"])
    baskets = frame.group_by("user", "month").agg(rows=pl.len(), items=pl.col("item").n_unique()).sort("user", "month")
    visits = invoices.group_by("user", "month").agg(visits=pl.len())
    baskets = baskets.join(visits, on=["user", "month"], maintain_order="left")
    customers = frame.group_by("user").agg(rows=pl.len(), items=pl.col("item").n_unique(), months=pl.col("month").n_unique())
    items = (
        frame.group_by("item", "price").len().sort("len", "price", descending=True)
        .group_by("item", maintain_order=True).agg(usual=pl.col("price").first(), rows=pl.col("len").sum())
        .sort("rows", "item")
    )  # fmt: skip
    priced = frame.join(items.select("item", "usual"), on="item")
    unusual = priced.filter(pl.col("price") != pl.col("usual"))
    return {
        "customers": len(customers),
        "items": len(items),
        "rows": len(frame),
        "levels": LEVELS.tolist(),
        "months_per_customer": np.bincount(customers["months"], minlength=Calendar.of(table).months + 1)[1:].tolist(),
        "customers_per_month": np.bincount(baskets["month"], minlength=Calendar.of(table).months).tolist(),
        "invoices_per_date": np.bincount(invoices["date"]).tolist(),
        "minute_of_invoice": _quantiles(invoices["minute"]),
        "rows_per_customer": _quantiles(customers["rows"]),
        "rows_per_basket": _quantiles(baskets["rows"]),
        "items_per_basket": _quantiles(baskets["items"]),
        "visits_per_basket": _visits(baskets),
        "rows_per_item": np.quantile(items["rows"].to_numpy(), _CURVE).round(2).tolist(),
        "usual_price": _by_class(np.argsort(np.argsort(items["rows"], kind="stable")), items["usual"].to_numpy()),
        "share_of_other_prices": round(len(unusual) / len(frame), 4),
        "price_over_usual": _quantiles(unusual["price"] / unusual["usual"]),
        "price": _quantiles(frame["price"]),
        "qty": _quantiles(frame["qty"]),
        "qty_by_price": _by_class(np.argsort(np.argsort(frame["price"], kind="stable")), frame["qty"].to_numpy()),
        "qty_likeness": _likeness(frame["user"].to_numpy(), frame["qty"].to_numpy()),
        "basket_likeness": _likeness(baskets["user"].to_numpy(), baskets["rows"].to_numpy()),
        "distinct_share": _distinct_share(customers),
    }


def _quantiles(values: pl.Series) -> list[float]:
    return [float(f"{value:.5g}") for value in np.quantile(values.to_numpy(), LEVELS)]


def _by_class(place: NDArray[np.int64], values: NDArray[Any]) -> list[list[float]]:
    """Quantiles of ``values`` in ten classes of equal size by ``place``."""
    classes = place * CLASSES // len(place)
    return [_quantiles(pl.Series(values[classes == number])) for number in range(CLASSES)]


def _visits(baskets: pl.DataFrame) -> list[list[float]]:
    """Share of baskets bought in 1, 2, ... 8 and more visits, in ten classes of basket size."""
    classes = np.argsort(np.argsort(baskets["rows"], kind="stable")) * CLASSES // len(baskets)
    visits = np.minimum(baskets["visits"].to_numpy(), 8)
    counts = [np.bincount(visits[classes == number], minlength=9)[1:] for number in range(CLASSES)]
    return [(count / count.sum()).round(4).tolist() for count in counts]


def _likeness(users: NDArray[Any], values: NDArray[Any]) -> float:
    """Correlation of the normal scores of two values of the same user (intraclass)."""
    from scipy.stats import norm, rankdata

    scores = norm.ppf((rankdata(values) - 0.5) / len(values))
    total, squares, count = (np.bincount(users, weights) for weights in (scores, scores**2, None))
    return round(float((total**2 - squares).sum() / (count * (count - 1.0)).sum()), 4)


def _distinct_share(customers: pl.DataFrame) -> list[list[float]]:
    """(rows, different items per row) in ten classes of customers by rows: how much of a customer's year is repetition."""
    ordered = customers.sort("rows", "user")
    parts = np.array_split(np.arange(len(ordered)), CLASSES)
    rows, items = ordered["rows"].to_numpy(), ordered["items"].to_numpy()
    return [[round(float(rows[part].mean()), 2), round(float(items[part].sum() / rows[part].sum()), 4)] for part in parts]
