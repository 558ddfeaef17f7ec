"""Make the stored statistics of T (darc2019): ``python scripts/make_darc_statistics.py T.csv[.gz]``.

Quantiles and counts that describe the shop, no row of it; :mod:`kakurenbo.data.shop` draws from them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from kakurenbo.core import InputError, Layout, Source, Table, read_table
from kakurenbo.data.shelf import (
    CLASS_EDGES,
    CURVE,
    DAYS_PER_PERIOD,
    POSTAGE,
    PRICE_BANDS,
    STATISTICS_FILE,
    popularity_classes,
)
from kakurenbo.data.shop import CLASSES, EARLIER_ROWS, VISIT_SIZES, WEEK
from kakurenbo.data.statistics import LEVELS, Floats, Ints
from kakurenbo.data.transactions import SCHEMA, months

TARGET = Path(__file__).parents[1] / "src" / "kakurenbo" / "data" / "stored" / STATISTICS_FILE
SEASONS, QUANTITY_KINDS, PRICE_CLASSES = 24, 100, 10
PREFIX = 2  # characters of an item code that keys of the rules look at
MOST_VISITS = 8  # of a basket; more are counted as these
_WELL_KNOWN = 30  # rows from which an item's own season and quantities can be told
_FREQUENT_QUANTITY = 1 / 2500  # share of rows from which a quantity is stored as itself
_ROUNDS = 25
_BULK = 2.0  # a bulk price is for twice the usual quantity
_CHANGED_DAYS = 60  # dates of a changed price lie this far off


def main(path: str) -> None:
    try:
        table = read_table(Source.of(path), SCHEMA, Layout(header=True))
    except InputError as error:
        sys.exit("\n".join(map(str, error.problems)))
    lines = [
        f" {json.dumps(name)}: {json.dumps(value)}" for name, value in statistics_of(table).items()
    ]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


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
    user, date, minute = (
        table.codes[name].astype(np.int64) for name in ("id_user", "date", "hours")
    )
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
        rows=pl.len(),
        items=pl.col("item").n_unique(),
        months=pl.col("month").n_unique(),
        first=pl.col("month").min(),
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
    counts = [
        np.bincount(visits[classes == number], minlength=MOST_VISITS + 1)[1:]
        for number in range(CLASSES)
    ]
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
    visits = (
        frame.group_by("visit").agg(pl.col("date", "minute").first(), rows=pl.len()).sort("visit")
    )
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
    visits = frame.unique(["visit", "item"], maintain_order=True).with_columns(
        again=pl.col("visit") > first
    )
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
    visits = frame.group_by("visit", maintain_order=True).agg(
        pl.col("user").first(), posted=posted.any(), last=posted.last()
    )
    payers = visits.filter(pl.col("posted").any().over("user"))
    customers, paid = payers["user"].n_unique(), int(payers["posted"].sum())
    return {
        "customers": round(customers / frame["user"].n_unique(), 4),
        "visits": round((paid - customers) / max(1, len(payers) - customers), 4),
        "last": round(int(payers["last"].sum()) / paid, 4),
    }


# -- shared -----------------------------------------------------------------------------------------------------------


def quantiles(values: pl.Series | NDArray[Any]) -> list[float]:
    """The values at ``LEVELS``, five digits; nothing of nothing."""
    array = np.asarray(values)
    return [float(f"{value:.5g}") for value in np.quantile(array, LEVELS)] if len(array) else []


def likeness(owners: NDArray[Any], values: NDArray[Any]) -> float:
    """Correlation of the normal scores of two values of the same owner (intraclass)."""
    scores = norm.ppf((rankdata(values) - 0.5) / len(values))
    total, squares, count = (np.bincount(owners, weights) for weights in (scores, scores**2, None))
    pairs = (count * (count - 1.0)).sum()
    # Scores of values with many ties vary less than normal ones.
    return (
        round(float((total**2 - squares).sum() / pairs / (scores**2).mean()), 4) if pairs else 0.0
    )


def are_goods(codes: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which item codes begin with five digits; the others are words such as POST or BANK CHARGES, which are no goods."""
    return np.array([code[:5].isdigit() for code in codes], dtype=bool)


# -- items ------------------------------------------------------------------------------------------------------------


def item_statistics(frame: pl.DataFrame, codes: tuple[str, ...]) -> dict[str, Any]:
    """Popularity, codes, seasons and quantities of goods; words on their own."""
    rows = np.bincount(frame["item"], minlength=len(codes))
    words = ~are_goods(codes)
    goods = np.nonzero(~words)[0]
    goods = goods[np.argsort(rows[goods], kind="stable")]
    usual = usual_prices(frame, len(codes))
    season, seasons = _seasons(frame, rows)
    values, bins = _quantity_bins(frame["qty"].to_numpy())
    kind, kinds = _kinds(
        _counts(frame["item"].to_numpy(), bins, len(codes), 2 * len(values) + 1),
        rows,
        QUANTITY_KINDS,
    )
    edges = np.quantile(usual[goods], np.arange(1, PRICE_CLASSES) / PRICE_CLASSES)
    of_price = np.zeros((PRICE_CLASSES, QUANTITY_KINDS), dtype=np.int64)
    well_known = goods[rows[goods] >= _WELL_KNOWN]
    np.add.at(
        of_price, (np.searchsorted(edges, usual[well_known], side="right"), kind[well_known]), 1
    )
    return {
        "rows_per_item": np.quantile(rows[goods], CURVE).round(2).tolist(),
        "words": {
            codes[item]: _word(frame.filter(pl.col("item") == item), season, kind)
            for item in np.nonzero(words)[0]
        },
        "prefixes": _prefixes([codes[item] for item in goods], rows[goods], season[goods]),
        "seasons": seasons.round(3).tolist(),
        "quantities": values.tolist(),
        "large_quantities": quantiles(frame.filter(pl.col("qty") > values[-1])["qty"]),
        "quantity_kinds": kinds.round(5).tolist(),
        "quantity_kinds_of_price": of_price.tolist(),
        "price_edges": edges.round(4).tolist(),
        **_quantity_levels(frame, kind),
        "qty": quantiles(frame["qty"]),
    }


def _word(frame: pl.DataFrame, season: Ints, kind: Ints) -> dict[str, Any]:
    item = int(frame["item"][0])
    prices = np.quantile(frame["price"].to_numpy(), LEVELS, method="nearest").tolist()
    return {
        "rows": len(frame),
        "season": int(season[item]),
        "quantity_kind": int(kind[item]),
        "prices": prices,
    }


def _prefixes(codes: list[str], rows: Ints, season: Ints) -> dict[str, dict[str, Any]]:
    """For each two characters: goods in each popularity class, share of codes that end in letters, goods of each season."""
    classes = popularity_classes(len(codes))
    found = {}
    prefixes = np.array([code[:PREFIX] for code in codes])
    for prefix in sorted(set(prefixes.tolist())):
        own = prefixes == prefix
        told = own & (rows >= _WELL_KNOWN) if (own & (rows >= _WELL_KNOWN)).any() else own
        letters = [
            not code[5:].isdigit() and len(code) > 5
            for code, mine in zip(codes, own, strict=True)
            if mine
        ]
        found[prefix] = {
            "items": np.bincount(classes[own], minlength=len(CLASS_EDGES) + 1).tolist(),
            "rows": int(rows[own].sum()),
            "letters": round(float(np.mean(letters)), 4),
            "seasons": np.bincount(season[told], minlength=SEASONS).tolist(),
        }
    return found


def _seasons(frame: pl.DataFrame, rows: Ints) -> tuple[Ints, Floats]:
    """Season of each item, and of each season how much more it sells in a week than the shop does, shape (seasons, weeks)."""
    week = frame["date"].to_numpy() // DAYS_PER_PERIOD
    weeks = int(week.max()) + 1
    shop = np.bincount(week, minlength=weeks) / len(week)
    season, shares = _kinds(
        _counts(frame["item"].to_numpy(), week, len(rows), weeks), rows, SEASONS
    )
    return season, np.divide(shares, shop, out=np.zeros_like(shares), where=shop > 0)


def _quantity_bins(qty: Ints) -> tuple[Ints, Ints]:
    """The frequent quantities v, and the bin of each row: 2j + 1 for v[j] itself, 2j for what lies below it."""
    values, counts = np.unique(qty, return_counts=True)
    values = values[counts >= _FREQUENT_QUANTITY * len(qty)]
    return values, np.searchsorted(values, qty) + np.searchsorted(values, qty, side="right")


def _counts(first: Ints, second: Ints, rows: int, columns: int) -> Floats:
    return (
        np.bincount(first.astype(np.int64) * columns + second, minlength=rows * columns)
        .reshape(rows, columns)
        .astype(float)
    )


def _kinds(counts: Floats, rows: Ints, number: int) -> tuple[Ints, Floats]:
    """Items in kinds that sell alike: a mixture of multinomial distributions, fitted by assigning each item to its likeliest.

    Returns
    -------
    kind : array of int, shape (items,)
    shares : array, shape (number, columns)
        Distribution of each kind, from its well-known items.
    """
    known = counts[rows >= _WELL_KNOWN] if (rows >= _WELL_KNOWN).sum() >= number else counts
    overall = (known.sum(axis=0) + 1e-9) / (known.sum() + 1e-9 * known.shape[1])
    smooth = (known + overall) / (known.sum(axis=1, keepdims=True) + 1)
    roots = np.sqrt(smooth)
    distance = ((roots - np.sqrt(overall)) ** 2).sum(axis=1)
    chosen = [int(distance.argmin())]
    distance = np.full(len(known), np.inf)
    for _ in range(number - 1):  # the farthest from all that were chosen
        distance = np.minimum(distance, ((roots - roots[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(distance.argmax()))
    shares = smooth[chosen]
    for _ in range(_ROUNDS):
        kind = (known @ np.log(shares).T).argmax(axis=1)
        sums = _sums(known, kind, number) + overall
        shares = sums / sums.sum(axis=1, keepdims=True)
    exact = _sums(known, kind, number) + 1e-9 * overall
    return (counts @ np.log(shares).T).argmax(axis=1), exact / exact.sum(axis=1, keepdims=True)


def _sums(counts: Floats, kind: Ints, number: int) -> Floats:
    sums = np.zeros((number, counts.shape[1]))
    np.add.at(sums, kind, counts)
    return sums


def _quantity_levels(frame: pl.DataFrame, kind: Ints) -> dict[str, Any]:
    """Normal scores of quantities among those of their item's kind: by rows of the visit, and how alike they are."""
    place = (pl.col("qty").rank().over("kind") - 0.5) / pl.len().over("kind")
    placed = frame.with_columns(
        kind=pl.Series(kind[frame["item"].to_numpy()]), rows=pl.len().over("visit")
    )
    score = norm.ppf(placed.select(place).to_series().to_numpy())
    size = np.searchsorted(VISIT_SIZES, placed["rows"].to_numpy(), side="right") - 1
    by_size = [score[size == number] for number in range(len(VISIT_SIZES))]
    mean, spread = (
        np.array([f(own) if len(own) else 0.0 for own in by_size]) for f in (np.mean, np.std)
    )
    left = (score - mean[size]) / np.maximum(spread[size], 1e-9)
    return {
        "quantity_level": [mean.round(4).tolist(), (spread / score.std()).round(4).tolist()],
        "quantity_likeness": {of: likeness(frame[of].to_numpy(), left) for of in ("user", "visit")},
    }


# -- prices -----------------------------------------------------------------------------------------------------------


def usual_prices(frame: pl.DataFrame, items: int) -> Floats:
    """The price at which most rows of an item were sold, shape (items,)."""
    found = np.zeros(items)
    points = (
        frame.group_by("item", "price")
        .len()
        .sort("len", "price", "item")
        .unique("item", keep="last")
    )
    found[points["item"].to_numpy()] = points["price"].to_numpy()
    return found


def price_statistics(frame: pl.DataFrame, codes: tuple[str, ...]) -> dict[str, Any]:
    """Usual prices of goods, and the others: for large quantities, bargained, before or after a change, and stray ones.

    Each of an item's price points is one of these; shares of rows and of items are by popularity class.
    """
    per_item = frame.group_by("item").agg(pl.col("price").n_unique())["price"]
    return {
        "prices_per_item": np.bincount(per_item).tolist(),
        "price": quantiles(frame["price"]),
        **_price_points(frame.filter(pl.Series(are_goods(codes)[frame["item"].to_numpy()]))),
    }


def _price_points(frame: pl.DataFrame) -> dict[str, Any]:
    points = frame.group_by("item", "price").agg(
        rows=pl.len(),
        qty=pl.col("qty").median(),
        early=pl.col("date").quantile(0.1),
        late=pl.col("date").quantile(0.9),
    )
    ordered = points.sort("rows", "price", "item", descending=True)
    usual = ordered.group_by("item", maintain_order=True).agg(
        pl.col("price", "qty", "early", "late").first().name.prefix("usual_"),
        of=pl.col("rows").sum(),
    )
    usual = usual.sort("of", "item").with_columns(group=pl.Series(popularity_classes(len(usual))))
    bulk = (pl.col("price") < pl.col("usual_price")) & (
        pl.col("qty") >= _BULK * pl.col("usual_qty")
    )
    apart = (
        pl.col("early") + pl.col("late") - pl.col("usual_early") - pl.col("usual_late")
    ).abs() / 2 >= _CHANGED_DAYS
    others = points.join(usual, on="item").filter(pl.col("price") != pl.col("usual_price"))
    others = others.with_columns(
        why=pl.when(bulk)
        .then(pl.lit("bulk"))
        .when(apart & (pl.col("rows") > 2))
        .then(pl.lit("changed"))
        .otherwise(pl.lit("stray")),
        ratio=pl.col("price") / pl.col("usual_price"),
    ).sort("item", "rows", "price")
    bargained = (pl.col("why") == "bulk") & (
        pl.int_range(pl.len()).over("item", "why") < pl.len().over("item", "why") - 1
    )
    others = others.with_columns(
        why=pl.when(bargained).then(pl.lit("bargain")).otherwise(pl.col("why"))
    )
    by_why = {
        why: others.filter(pl.col("why") == why) for why in ("bulk", "bargain", "changed", "stray")
    }
    return {
        "usual_price": [_tally(part["usual_price"]) for part in _by_class(usual)],
        "bulk_price": _bulk_prices(by_why["bulk"]),
        **{f"{why}_price_ratio": _ratios(by_why[why]) for why in ("bargain", "changed", "stray")},
        **{f"{why}_prices": _other_prices(usual, part) for why, part in by_why.items()},
    }


def _by_class(items: pl.DataFrame) -> list[pl.DataFrame]:
    return [items.filter(pl.col("group") == number) for number in range(len(CLASS_EDGES) + 1)]


def _tally(values: pl.Series) -> list[list[float]]:
    """(value, how often), by value."""
    counted = values.value_counts().sort(values.name)
    return [[value, count] for value, count in counted.iter_rows()]


def _ratios(others: pl.DataFrame) -> list[list[float]]:
    """Quantiles of the ratio to the usual price, of cheap, middling and dear goods."""
    bands = np.searchsorted(PRICE_BANDS, others["usual_price"].to_numpy(), side="right")
    return [
        quantiles(others["ratio"].to_numpy()[bands == band]) for band in range(len(PRICE_BANDS) + 1)
    ]


def _bulk_prices(bulk: pl.DataFrame) -> list[list[float]]:
    """(usual price, its most frequent bulk price) of usual prices that have one in three items or more."""
    pairs = (
        bulk.group_by("usual_price", "price")
        .agg(items=pl.len())
        .sort("items", "price", "usual_price")
    )
    best = pairs.unique("usual_price", keep="last").filter(pl.col("items") >= 3).sort("usual_price")
    return [[usual, price] for usual, price in best.select("usual_price", "price").iter_rows()]


def _other_prices(usual: pl.DataFrame, others: pl.DataFrame) -> list[dict[str, Any]]:
    """By class: share of the items that have such prices, and quantiles of the share of their rows that has one."""
    shares = others.group_by("item").agg(
        pl.col("group").first(), share=pl.col("rows").sum() / pl.col("of").first()
    )
    return [
        {"items": round(len(own) / max(1, len(part)), 4), "share": quantiles(own["share"])}
        for part, own in zip(_by_class(usual), _by_class(shares), strict=True)
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
