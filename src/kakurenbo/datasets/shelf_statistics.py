"""What is stored of the items of T: popularity, codes, seasons, prices and quantities, in classes and kinds of items."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LEVELS = np.round(
    np.concatenate(([0, 0.001, 0.005, 0.01, 0.02], np.arange(0.05, 0.96, 0.05), [0.98, 0.99, 0.995, 0.999, 1])), 4
)
"""Levels at which quantiles are stored."""
CURVE = np.round(np.concatenate((np.linspace(0, 0.99, 100), [0.992, 0.994, 0.996, 0.998, 0.999, 1])), 4)
"""Levels of item popularity, which needs a finer grid: its upper end carries the Zipf law."""
CLASS_EDGES = (0.2, 0.4, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)
"""Ends of the popularity classes of items, as shares of the items, least popular first."""
DAYS_PER_PERIOD = 7
SEASONS, QUANTITY_KINDS, PRICE_CLASSES = 24, 100, 10
VISIT_SIZES = (1, 2, 4, 8, 16, 32, 64)  # fewest rows of each class of visits
PRICE_BANDS = (1.0, 3.0)  # cheap, middling and dear goods, in pounds
PREFIX = 2  # characters of an item code that keys of the rules look at
_WELL_KNOWN = 30  # rows from which an item's own season and quantities can be told
_FREQUENT_QUANTITY = 1 / 2500  # share of rows from which a quantity is stored as itself
_ROUNDS = 25
_BULK, _CHANGED_DAYS = 2.0, 60  # a bulk price is for twice the usual quantity; dates of a changed price lie this far off


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
    return round(float((total**2 - squares).sum() / pairs / (scores**2).mean()), 4) if pairs else 0.0


def popularity_classes(count: int) -> Ints:
    """Class of each of ``count`` items that are ordered by popularity, least popular first."""
    return np.searchsorted(CLASS_EDGES, (np.arange(count) + 0.5) / count)


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
    kind, kinds = _kinds(_counts(frame["item"].to_numpy(), bins, len(codes), 2 * len(values) + 1), rows, QUANTITY_KINDS)
    edges = np.quantile(usual[goods], np.arange(1, PRICE_CLASSES) / PRICE_CLASSES)
    of_price = np.zeros((PRICE_CLASSES, QUANTITY_KINDS), dtype=np.int64)
    well_known = goods[rows[goods] >= _WELL_KNOWN]
    np.add.at(of_price, (np.searchsorted(edges, usual[well_known], side="right"), kind[well_known]), 1)
    return {
        "rows_per_item": np.quantile(rows[goods], CURVE).round(2).tolist(),
        "words": {codes[item]: _word(frame.filter(pl.col("item") == item), season, kind) for item in np.nonzero(words)[0]},
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
    return {"rows": len(frame), "season": int(season[item]), "quantity_kind": int(kind[item]), "prices": prices}


def _prefixes(codes: list[str], rows: Ints, season: Ints) -> dict[str, dict[str, Any]]:
    """For each two characters: goods in each popularity class, share of codes that end in letters, goods of each season."""
    classes = popularity_classes(len(codes))
    found = {}
    prefixes = np.array([code[:PREFIX] for code in codes])
    for prefix in sorted(set(prefixes.tolist())):
        own = prefixes == prefix
        told = own & (rows >= _WELL_KNOWN) if (own & (rows >= _WELL_KNOWN)).any() else own
        letters = [not code[5:].isdigit() and len(code) > 5 for code, mine in zip(codes, own, strict=True) if mine]
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
    season, shares = _kinds(_counts(frame["item"].to_numpy(), week, len(rows), weeks), rows, SEASONS)
    return season, np.divide(shares, shop, out=np.zeros_like(shares), where=shop > 0)


def _quantity_bins(qty: Ints) -> tuple[Ints, Ints]:
    """The frequent quantities v, and the bin of each row: 2j + 1 for v[j] itself, 2j for what lies below it."""
    values, counts = np.unique(qty, return_counts=True)
    values = values[counts >= _FREQUENT_QUANTITY * len(qty)]
    return values, np.searchsorted(values, qty) + np.searchsorted(values, qty, side="right")


def _counts(first: Ints, second: Ints, rows: int, columns: int) -> Floats:
    return np.bincount(first.astype(np.int64) * columns + second, minlength=rows * columns).reshape(rows, columns).astype(float)


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
    placed = frame.with_columns(kind=pl.Series(kind[frame["item"].to_numpy()]), rows=pl.len().over("visit"))
    score = norm.ppf(placed.select(place).to_series().to_numpy())
    size = np.searchsorted(VISIT_SIZES, placed["rows"].to_numpy(), side="right") - 1
    by_size = [score[size == number] for number in range(len(VISIT_SIZES))]
    mean, spread = (np.array([f(own) if len(own) else 0.0 for own in by_size]) for f in (np.mean, np.std))
    left = (score - mean[size]) / np.maximum(spread[size], 1e-9)
    return {
        "quantity_level": [mean.round(4).tolist(), (spread / score.std()).round(4).tolist()],
        "quantity_likeness": {of: likeness(frame[of].to_numpy(), left) for of in ("user", "visit")},
    }


# -- prices -----------------------------------------------------------------------------------------------------------


def usual_prices(frame: pl.DataFrame, items: int) -> Floats:
    """The price at which most rows of an item were sold, shape (items,)."""
    found = np.zeros(items)
    points = frame.group_by("item", "price").len().sort("len", "price", "item").unique("item", keep="last")
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
        rows=pl.len(), qty=pl.col("qty").median(), early=pl.col("date").quantile(0.1), late=pl.col("date").quantile(0.9)
    )
    ordered = points.sort("rows", "price", "item", descending=True)
    usual = ordered.group_by("item", maintain_order=True).agg(
        pl.col("price", "qty", "early", "late").first().name.prefix("usual_"), of=pl.col("rows").sum()
    )
    usual = usual.sort("of", "item").with_columns(group=pl.Series(popularity_classes(len(usual))))
    bulk = (pl.col("price") < pl.col("usual_price")) & (pl.col("qty") >= _BULK * pl.col("usual_qty"))
    apart = (pl.col("early") + pl.col("late") - pl.col("usual_early") - pl.col("usual_late")).abs() / 2 >= _CHANGED_DAYS
    others = points.join(usual, on="item").filter(pl.col("price") != pl.col("usual_price"))
    others = others.with_columns(
        why=pl.when(bulk)
        .then(pl.lit("bulk"))
        .when(apart & (pl.col("rows") > 2))
        .then(pl.lit("changed"))
        .otherwise(pl.lit("stray")),
        ratio=pl.col("price") / pl.col("usual_price"),
    ).sort("item", "rows", "price")
    bargained = (pl.col("why") == "bulk") & (pl.int_range(pl.len()).over("item", "why") < pl.len().over("item", "why") - 1)
    others = others.with_columns(why=pl.when(bargained).then(pl.lit("bargain")).otherwise(pl.col("why")))
    by_why = {why: others.filter(pl.col("why") == why) for why in ("bulk", "bargain", "changed", "stray")}
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
    return [quantiles(others["ratio"].to_numpy()[bands == band]) for band in range(len(PRICE_BANDS) + 1)]


def _bulk_prices(bulk: pl.DataFrame) -> list[list[float]]:
    """(usual price, its most frequent bulk price) of usual prices that have one in three items or more."""
    pairs = bulk.group_by("usual_price", "price").agg(items=pl.len()).sort("items", "price", "usual_price")
    best = pairs.unique("usual_price", keep="last").filter(pl.col("items") >= 3).sort("usual_price")
    return [[usual, price] for usual, price in best.select("usual_price", "price").iter_rows()]


def _other_prices(usual: pl.DataFrame, others: pl.DataFrame) -> list[dict[str, Any]]:
    """By class: share of the items that have such prices, and quantiles of the share of their rows that has one."""
    shares = others.group_by("item").agg(pl.col("group").first(), share=pl.col("rows").sum() / pl.col("of").first())
    return [
        {"items": round(len(own) / max(1, len(part)), 4), "share": quantiles(own["share"])}
        for part, own in zip(_by_class(usual), _by_class(shares), strict=True)
    ]
