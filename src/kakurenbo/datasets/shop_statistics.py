"""What is stored of T: quantiles and counts that describe the shop, no row of it. The simulator draws from them.

This module counts customers, visits and repetition; ``shelf_statistics`` counts items, prices and quantities.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import polars as pl

from kakurenbo.datasets.shelf_statistics import LEVELS, item_statistics, likeness, price_statistics, quantiles
from kakurenbo.datasets.transactions import months
from kakurenbo.tables import Table

FILE = "online_retail_statistics.json"
CLASSES = 10  # of baskets by size, and of customers by rows
MOST_VISITS = 8  # of a basket; more are counted as these
WEEK = 7
POSTAGE = "POST"
EARLIER_ROWS = (1, 6, 12, 25, 50, 100, 200)
"""Lower ends of the classes of rows that a customer bought before a visit."""


@cache
def shop_statistics() -> dict[str, Any]:
    """The stored statistics of T."""
    text = resources.files("kakurenbo.datasets").joinpath("data", FILE).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def statistics_of(table: Table) -> dict[str, Any]:
    """Statistics of a transaction table, in the form that is stored of T."""
    frame = _frame(table)
    return {
        "customers": frame["user"].n_unique(),
        "items": frame["item"].n_unique(),
        "rows": len(frame),
        "levels": LEVELS.tolist(),
        **_baskets(frame),
        **_visits(frame),
        **_repetition(frame, table.vocabularies["id_item"]),
        **item_statistics(frame, table.vocabularies["id_item"]),
        **price_statistics(frame, table.vocabularies["id_item"]),
    }


def _frame(table: Table) -> pl.DataFrame:
    """The rows as numbers, ``visit`` numbering what a customer bought in one minute, by customer and time."""
    user, date, minute = (table.codes[name].astype(np.int64) for name in ("id_user", "date", "hours"))
    moment = (user * (int(date.max(initial=0)) + 1) + date) * 24 * 60 + minute
    return pl.DataFrame(
        {
            "user": user,
            "item": table.codes["id_item"],
            "month": months(table),
            "date": date,
            "minute": minute,
            "price": table.codes["price"],
            "qty": table.values("qty"),
            "visit": np.unique(moment, return_inverse=True)[1],
        }
    )


# -- customers and months ---------------------------------------------------------------------------------------------


def _baskets(frame: pl.DataFrame) -> dict[str, Any]:
    """A basket is what a customer bought in a month."""
    baskets = (
        frame.group_by("user", "month")
        .agg(rows=pl.len(), items=pl.col("item").n_unique(), visits=pl.col("visit").n_unique())
        .sort("user", "month")
    )
    customers = frame.group_by("user").agg(
        rows=pl.len(), items=pl.col("item").n_unique(), months=pl.col("month").n_unique(), first=pl.col("month").min()
    )
    count = int(frame["month"].to_numpy().max()) + 1
    by_month = [baskets.filter(pl.col("month") == month) for month in range(count)]
    return {
        "months_per_customer": np.bincount(customers["months"], minlength=count + 1)[1:].tolist(),
        "customers_per_month": [len(part) for part in by_month],
        "new_customers_per_month": np.bincount(customers["first"], minlength=count).tolist(),
        "rows_per_month": [int(part["rows"].sum()) for part in by_month],
        "rows_per_customer": quantiles(customers["rows"]),
        "rows_per_basket": [quantiles(part["rows"]) for part in by_month],
        "items_per_basket": quantiles(baskets["items"]),
        "basket_likeness": likeness(baskets["user"].to_numpy(), baskets["rows"].to_numpy()),
        "visits_per_basket": _visits_per_basket(baskets),
        "distinct_share": _distinct_share(customers),
    }


def _visits_per_basket(baskets: pl.DataFrame) -> list[list[float]]:
    """Share of baskets bought in 1, 2, ... 8 and more visits, in ten classes of basket size."""
    classes = np.argsort(np.argsort(baskets["rows"], kind="stable")) * CLASSES // len(baskets)
    visits = np.minimum(baskets["visits"].to_numpy(), MOST_VISITS)
    counts = [np.bincount(visits[classes == number], minlength=MOST_VISITS + 1)[1:] for number in range(CLASSES)]
    return [(count / max(1, count.sum())).round(4).tolist() for count in counts]


def _distinct_share(customers: pl.DataFrame) -> list[list[float]]:
    """(rows, different items per row) in ten classes of customers by rows: how much of a customer's year is repetition."""
    ordered = customers.sort("rows", "user")
    parts = np.array_split(np.arange(len(ordered)), CLASSES)
    rows, items = ordered["rows"].to_numpy(), ordered["items"].to_numpy()
    return [
        [round(float(rows[part].mean()), 2), round(float(items[part].sum() / rows[part].sum()), 4)]
        for part in parts
        if len(part)
    ]


# -- visits -----------------------------------------------------------------------------------------------------------


def _visits(frame: pl.DataFrame) -> dict[str, Any]:
    visits = frame.group_by("visit").agg(pl.col("date", "minute").first(), rows=pl.len()).sort("visit")
    by_weekday = [visits.filter(pl.col("date") % WEEK == day)["minute"] for day in range(WEEK)]
    return {
        "visits": len(visits),
        "visits_per_date": np.bincount(visits["date"]).tolist(),
        "minute_of_visit": [quantiles(part) for part in by_weekday],
        "rows_per_visit": quantiles(visits["rows"]),
    }


def _repetition(frame: pl.DataFrame, items: tuple[str, ...]) -> dict[str, Any]:
    """Rows that repeat: an item of an earlier visit, an item of the same visit, a whole row; and postage."""
    rows = len(frame)
    first = pl.col("visit").min().over("user", "item")
    visits = frame.unique(["visit", "item"], maintain_order=True).with_columns(again=pl.col("visit") > first)
    before = (pl.col("visit").rank("min").over("user") - 1).alias("before")
    earlier = frame.select("visit", "user", before).unique("visit")
    known = visits.join(earlier.select("visit", "before"), on="visit").filter(pl.col("before") > 0)
    classes = np.searchsorted(EARLIER_ROWS, known["before"].to_numpy(), side="right") - 1
    again = np.bincount(classes, known["again"].to_numpy(), minlength=len(EARLIER_ROWS))
    of = np.bincount(classes, minlength=len(EARLIER_ROWS))
    unlike = frame.unique(["visit", "item", "price", "qty"])
    return {
        "bought_before": (again / np.maximum(1, of)).round(4).tolist(),
        "same_item_in_visit": round((rows - len(visits)) / rows, 5),
        "exact_duplicates": rows - len(unlike),
        "postage": _postage(frame, items),
    }


def _postage(frame: pl.DataFrame, items: tuple[str, ...]) -> dict[str, float]:
    """Share of the customers who ever pay postage, of their other visits in which they do, and of those with it last."""
    if POSTAGE not in items:
        return {"customers": 0.0, "visits": 0.0, "last": 0.0}
    posted = pl.col("item") == items.index(POSTAGE)
    visits = frame.group_by("visit", maintain_order=True).agg(pl.col("user").first(), posted=posted.any(), last=posted.last())
    payers = visits.filter(pl.col("posted").any().over("user"))
    customers, paid = payers["user"].n_unique(), int(payers["posted"].sum())
    return {
        "customers": round(customers / frame["user"].n_unique(), 4),
        "visits": round((paid - customers) / max(1, len(payers) - customers), 4),
        "last": round(int(payers["last"].sum()) / paid, 4),
    }
