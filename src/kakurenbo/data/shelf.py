"""The goods of a simulated shop: codes, popularity by week, prices, and the quantities in which they are bought."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from kakurenbo.core.arrays import Floats, Ints, Rng
from kakurenbo.data.statistics import (
    LEVELS,
    deal,
    pick_between,
    stored_statistics,
    value_at,
)

STATISTICS_FILE = "online_retail_statistics.json"
CURVE = np.round(
    np.concatenate((np.linspace(0, 0.99, 100), [0.992, 0.994, 0.996, 0.998, 0.999, 1])), 4
)
"""Levels of item popularity, which needs a finer grid: its upper end carries the Zipf law."""
CLASS_EDGES = (0.2, 0.4, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)
"""Ends of the popularity classes of items, as shares of the items, least popular first."""
DAYS_PER_PERIOD = 7
PRICE_BANDS = (1.0, 3.0)  # cheap, middling and dear goods, in pounds
POSTAGE = "POST"
TASTES = 40
ANY_TASTE = -1
FEWEST_FOR_WORDS = 100  # a smaller shop has no codes such as POST or BANK CHARGES
SHARPNESS = 1.05
FASHION = 1.5  # shape of the gamma noise on an item's weeks: items of a season do not sell in step
LETTERS = "ABCDEFGLMNPSW"
OTHER_PRICES = ("bulk", "bargain", "changed", "stray")
BULK_FROM = 2.0  # times the median quantity of an item
_BALANCING = 3


def shop_statistics() -> dict[str, Any]:
    """Return the stored statistics of T; ``scripts/make_darc_statistics.py`` computes them."""
    statistics: dict[str, Any] = stored_statistics(STATISTICS_FILE)
    return statistics


def popularity_classes(count: int) -> Ints:
    """Return the class of each of ``count`` items that are ordered by popularity, least popular first."""
    return np.searchsorted(CLASS_EDGES, (np.arange(count) + 0.5) / count)


class Shelf:
    """The items of the shop.

    Attributes
    ----------
    codes : array of str, shape (items,)
        The least popular first, words such as POST last.
    """

    def __init__(self, items: int | None, rng: Rng) -> None:
        known = self._known = shop_statistics()
        count = known["items"] if items is None else items
        self._words = known["words"] if count >= FEWEST_FOR_WORDS else {}
        self._goods = count - len(self._words)
        self._group = popularity_classes(self._goods)
        place = (np.arange(self._goods) + 0.5) / self._goods
        curve = np.interp(place, CURVE, np.log(known["rows_per_item"]))
        # A little more for all, so that few items are never sold; and more for the best, which nobody buys twice in a visit.
        goods = 0.5 + np.exp(SHARPNESS * curve)
        prefix = self._name(rng)
        sold = np.array([facts["rows"] for facts in known["prefixes"].values()])
        expected = np.bincount(prefix, goods, minlength=len(sold))
        goods *= (np.where(expected > 0, sold, 0) / np.maximum(expected, 1e-9))[prefix]
        words = [0 if name == POSTAGE else word["rows"] for name, word in self._words.items()]
        self._price(rng)
        noise = rng.gamma(FASHION, 1 / FASHION, size=(len(known["seasons"][0]), count))
        self._intensity = np.asarray(known["seasons"])[self._season].T * noise
        self._arrange(np.concatenate((goods, words)), rng)

    def _with_words(self, values: Ints, name: str) -> Ints:
        """Append a number of each word to those of the goods."""
        words = [word[name] for word in self._words.values()]
        return np.concatenate((values, words)).astype(np.int64)

    def _name(self, rng: Rng) -> Ints:
        """Draw codes and seasons; return the number of each item's prefix, as frequent in each popularity class as in T."""
        prefixes = self._known["prefixes"]
        tallies = np.array([prefix["items"] for prefix in prefixes.values()])
        which = np.empty(self._goods, dtype=np.int64)
        for number in range(tallies.shape[1]):
            members = np.nonzero(self._group == number)[0]
            which[members] = deal(tallies[:, number], len(members), rng)
        codes, season = np.empty(self._goods, dtype=object), np.empty(self._goods, dtype=np.int64)
        for number, (prefix, facts) in enumerate(prefixes.items()):
            members = np.nonzero(which == number)[0]
            count = len(members)
            # Different codes of five digits, some with a letter after them.
            width = max(5 - len(prefix), len(str(count)))
            digits = rng.choice(10**width, size=count, replace=False)
            has_letter = rng.random(count) < facts["letters"]
            ends = np.where(has_letter, rng.choice(list(LETTERS), size=count), "")
            codes[members] = [
                f"{prefix}{digit:0{width}d}{end}"
                for digit, end in zip(digits.tolist(), ends.tolist(), strict=True)
            ]
            season[members] = deal(facts["seasons"], count, rng)
        self.codes = np.array([*codes, *self._words])
        self._season = self._with_words(season, "season")
        return which

    def _price(self, rng: Rng) -> None:
        """Draw usual price and kind of quantity of every item, and the share of its rows at each other price."""
        known = self._known
        usual = np.zeros(len(self.codes))
        self._other = {why: np.zeros(len(self.codes)) for why in OTHER_PRICES}
        for number, tally in enumerate(known["usual_price"]):
            members = np.nonzero(self._group == number)[0]
            prices, counts = np.transpose(tally)
            usual[members] = prices[deal(counts, len(members), rng)]
            for why in OTHER_PRICES:
                facts = known[f"{why}_prices"][number]
                some = members[rng.random(len(members)) < facts["items"]]
                quantiles = facts["share"] or [0.0] * len(LEVELS)
                self._other[why][some] = np.interp(rng.random(len(some)), LEVELS, quantiles)
        price_class = np.searchsorted(known["price_edges"], usual[: self._goods], side="right")
        kind = np.empty(self._goods, dtype=np.int64)
        for number, tally in enumerate(known["quantity_kinds_of_price"]):
            members = np.nonzero(price_class == number)[0]
            kind[members] = deal(tally, len(members), rng)
        self._kind, self._usual = self._with_words(kind, "quantity_kind"), usual

    def _arrange(self, popularity: Floats, rng: Rng) -> None:
        """Compute running sums of popularity by week and taste, in which a uniform number finds an item."""
        weights = popularity * (self._intensity + 1e-9)
        visits = np.asarray(self._known["visits_per_date"], dtype=np.float64)
        sold = np.add.reduceat(visits, np.arange(0, len(visits), DAYS_PER_PERIOD))
        # Until an item sells over the year what its popularity says, whatever its season.
        for _ in range(_BALANCING):
            expected = (sold[:, None] * weights / weights.sum(axis=1, keepdims=True)).sum(axis=0)
            weights *= np.divide(
                popularity, expected, out=np.zeros_like(expected), where=expected > 0
            )
        taste = rng.integers(0, TASTES, size=len(popularity))
        self._by_taste = np.argsort(taste, kind="stable")
        self._starts = np.searchsorted(taste[self._by_taste], np.arange(TASTES + 1))
        self._passed = np.concatenate(([0.0], np.cumsum(weights[:, self._by_taste])))

    def in_season(self, date: Ints, item: Ints) -> Floats:
        """Return how much more than in an average week each item sells in the week of the date, by the shop's own measure."""
        intensity: Floats = self._intensity[date // DAYS_PER_PERIOD, item]
        return intensity

    def pick(self, date: Ints, taste: Ints, rng: Rng) -> Ints:
        """Draw an item of each taste by popularity in the week of the date; ``ANY_TASTE`` is the whole shop."""
        items = len(self._by_taste)
        week, anywhere = date // DAYS_PER_PERIOD * items, taste == ANY_TASTE
        first = week + np.where(anywhere, 0, self._starts[taste])
        last = week + np.where(anywhere, items, self._starts[taste + 1])
        # A taste without a single item is no taste.
        empty = self._passed[last] <= self._passed[first]
        first, last = np.where(empty, week, first), np.where(empty, week + items, last)
        place = pick_between(self._passed, first, last, rng) - week
        picked: Ints = self._by_taste[np.minimum(place, items - 1)]
        return picked

    def quantities(self, item: Ints, level: Floats, rng: Rng) -> Ints:
        """Return the quantity of each row at this level (0 to 1) of the distribution of its item's kind."""
        passed = np.cumsum(self._known["quantity_kinds"], axis=1)
        passed /= passed[:, -1:]
        kinds, width = passed.shape
        kind = self._kind[item]
        edges = (passed + np.arange(kinds)[:, None]).ravel()
        place = np.searchsorted(edges, kind + level, side="right") - kind * width
        place = np.clip(place, 0, width - 1)
        values = np.asarray(self._known["quantities"])
        gap = np.minimum(place // 2, len(values) - 1)
        exact, below = values[gap], np.concatenate(([0], values))[gap] + 1.0
        # What lies between two frequent quantities is spread evenly in logarithms.
        between = below * (np.maximum(exact - 1, below) / below) ** rng.random(len(item))
        large = value_at(rng.random(len(item)), self._known["large_quantities"])
        others = np.floor(np.where(place == width - 1, large, between) + 1e-9)
        return np.where(place % 2 == 1, exact, others).astype(np.int64)

    def prices(self, item: Ints, date: Ints, qty: Ints, rng: Rng) -> Floats:
        """Return the price of each row: usual, changed since some day, lower for many; a few stray ones, and those of words."""
        # Price lists use the same few points: a changed price is the nearest of the shop's usual prices.
        points, another = np.unique(self._usual), self._another_price("changed", rng)
        place = np.clip(np.searchsorted(points, another), 1, max(1, len(points) - 1))
        below, above = points[place - 1], points[np.minimum(place, len(points) - 1)]
        nearest = np.where(another - below <= above - another, below, above)
        rows = pl.DataFrame({"item": item, "date": date, "qty": qty}).select(
            pl.len().over("item"),
            pl.col("date").rank("min").over("item"),
            pl.col("qty").rank("min", descending=True).over("item"),
            median=pl.col("qty").quantile(0.5, "higher").over("item"),
        )
        number = rows[
            "len"
        ].to_numpy()  # of rows of the same item; equal dates or quantities stay together
        changed = rows["date"].to_numpy() <= np.rint(self._other["changed"][item] * number)
        price = np.where(changed, nearest[item], self._usual[item])

        lower = (self._other["bulk"] + self._other["bargain"])[item]
        bulk = (qty >= BULK_FROM * rows["median"].to_numpy()) & (
            rows["qty"].to_numpy() <= np.rint(lower * number)
        )
        points, bulk_prices = np.transpose(self._known["bulk_price"])
        place = np.minimum(np.searchsorted(points, price), len(points) - 1)
        typical = (price * float(np.median(bulk_prices / points))).round(2)
        listed = np.where(points[place] == price, bulk_prices[place], typical)
        price = np.where(bulk, listed, price)

        bargain = bulk & (rng.random(len(item)) * lower < self._other["bargain"][item])
        price = np.where(bargain, self._another_price("bargain", rng)[item], price)
        stray = rng.random(len(item)) < self._other["stray"][item]
        price = np.where(stray, self._another_price("stray", rng)[item], price)
        for code, word in enumerate(self._words.values(), start=self._goods):
            sold = np.nonzero(item == code)[0]
            level = np.searchsorted(LEVELS, rng.random(len(sold)))
            price[sold] = np.asarray(word["prices"])[level]
        return np.maximum(0.01, price.round(3))

    def _another_price(self, why: str, rng: Rng) -> Floats:
        """Draw a price of each item at one of the stored ratios to its usual price, shape (items,)."""
        band = np.searchsorted(PRICE_BANDS, self._usual, side="right")
        level = rng.random(len(band))
        ratios = [value_at(level, ratios) for ratios in self._known[f"{why}_price_ratio"]]
        price: Floats = (self._usual * np.choose(band, ratios)).round(2)
        return price
