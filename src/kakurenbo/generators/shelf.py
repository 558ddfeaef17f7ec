"""The goods of a simulated shop: codes, popularity by week, and the rules by which each is priced and bought in numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo.datasets.shelf_statistics import CURVE, DAYS_PER_PERIOD, LEVELS, PRICE_BANDS, popularity_classes
from kakurenbo.datasets.shop_statistics import POSTAGE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TASTES = 40
ANY_TASTE = -1
FEWEST_FOR_WORDS = 100  # a smaller shop has no codes such as POST or BANK CHARGES
SHARPNESS = 1.05
FASHION = 1.5  # shape of the gamma noise on an item's weeks: items of a season do not sell in step
LETTERS = "ABCDEFGLMNPSW"
OTHER_PRICES = ("bulk", "bargain", "changed", "stray")
_BALANCING = 3
BULK_FROM = 2.0  # times the median quantity of an item


class Shelf:
    """The items of the shop.

    Attributes
    ----------
    codes : array of str, shape (items,)
        The least popular first, words such as POST last.
    """

    def __init__(self, known: dict[str, Any], count: int, rng: np.random.Generator) -> None:
        self._known = known
        self._words = known["words"] if count >= FEWEST_FOR_WORDS else {}
        self._goods = count - len(self._words)
        self._group = popularity_classes(self._goods)
        curve = np.asarray(known["rows_per_item"])
        place = (np.arange(self._goods) + 0.5) / self._goods
        # A little more for all, so that few items are never sold; and more for the best, which nobody buys twice in a visit.
        goods = 0.5 + np.exp(SHARPNESS * np.interp(place, CURVE, np.log(curve)))
        prefix = self._name(rng)
        sold = np.array([facts["rows"] for facts in known["prefixes"].values()])
        expected = np.bincount(prefix, goods, minlength=len(sold))
        goods *= (np.where(expected > 0, sold, 0) / np.maximum(expected, 1e-9))[prefix]
        popularity = np.concatenate((goods, [0 if name == POSTAGE else word["rows"] for name, word in self._words.items()]))
        self._price_and_number(rng)
        noise = rng.gamma(FASHION, 1 / FASHION, size=(len(known["seasons"][0]), count))
        self._intensity = np.asarray(known["seasons"])[self._season].T * noise
        self._arrange(popularity, rng)

    def _name(self, rng: np.random.Generator) -> Ints:
        """Prefixes as frequent in each popularity class as in T; the season comes with the prefix, whose number is returned."""
        prefixes = self._known["prefixes"]
        tallies = np.array([prefix["items"] for prefix in prefixes.values()])
        which = np.empty(self._goods, dtype=np.int64)
        for number in range(tallies.shape[1]):
            own = np.nonzero(self._group == number)[0]
            which[own] = rng.permutation(np.repeat(np.arange(len(prefixes)), shared_out(tallies[:, number], len(own))))
        codes, season = np.empty(self._goods, dtype=object), np.empty(self._goods, dtype=np.int64)
        for number, (prefix, facts) in enumerate(prefixes.items()):
            own = np.nonzero(which == number)[0]
            codes[own] = _codes(prefix, facts["letters"], len(own), rng)
            season[own] = rng.permutation(np.repeat(np.arange(len(facts["seasons"])), shared_out(facts["seasons"], len(own))))
        self.codes = np.array([*codes, *self._words])
        self._season = np.array([*season, *(word["season"] for word in self._words.values())], dtype=np.int64)
        return which

    def _price_and_number(self, rng: np.random.Generator) -> None:
        """Usual price and kind of quantity of every item, and which of its rows are sold at another price."""
        usual, shares = np.zeros(self._goods), np.zeros((len(OTHER_PRICES), self._goods))
        for number, tally in enumerate(self._known["usual_price"]):
            own = np.nonzero(self._group == number)[0]
            prices, counts = np.transpose(tally)
            usual[own] = rng.permutation(np.repeat(prices, shared_out(counts, len(own))))
            for row, why in enumerate(OTHER_PRICES):
                facts = self._known[f"{why}_prices"][number]
                some = own[rng.random(len(own)) < facts["items"]]
                shares[row, some] = np.interp(rng.random(len(some)), LEVELS, facts["share"] or [0.0] * len(LEVELS))
        price_class = np.searchsorted(self._known["price_edges"], usual, side="right")
        kind = np.empty(self._goods, dtype=np.int64)
        for number, tally in enumerate(self._known["quantity_kinds_of_price"]):
            own = np.nonzero(price_class == number)[0]
            kind[own] = rng.permutation(np.repeat(np.arange(len(tally)), shared_out(tally, len(own))))
        self._kind = np.array([*kind, *(word["quantity_kind"] for word in self._words.values())], dtype=np.int64)
        self._usual = np.concatenate((usual, np.zeros(len(self._words))))
        shares = np.hstack((shares, np.zeros((len(OTHER_PRICES), len(self._words)))))
        self._other = dict(zip(OTHER_PRICES, shares, strict=True))

    def _arrange(self, popularity: Floats, rng: np.random.Generator) -> None:
        """Running sums of popularity by week and taste, in which a uniform number finds an item."""
        weights = popularity * (self._intensity + 1e-9)
        visits = np.asarray(self._known["visits_per_date"], dtype=np.float64)
        sold = np.add.reduceat(visits, np.arange(0, len(visits), DAYS_PER_PERIOD))
        for _ in range(_BALANCING):  # until an item sells over the year what its popularity says, whatever its season
            expected = (sold[:, None] * weights / weights.sum(axis=1, keepdims=True)).sum(axis=0)
            weights *= np.divide(popularity, expected, out=np.zeros_like(expected), where=expected > 0)
        taste = rng.integers(0, TASTES, size=len(popularity))
        self._by_taste = np.argsort(taste, kind="stable")
        self._starts = np.searchsorted(taste[self._by_taste], np.arange(TASTES + 1))
        self._passed = np.concatenate(([0.0], np.cumsum(weights[:, self._by_taste])))

    def in_season(self, date: Ints, item: Ints) -> Floats:
        """How much more than in an average week each item sells in the week of the date, by the shop's own measure."""
        found: Floats = self._intensity[date // DAYS_PER_PERIOD, item]
        return found

    def pick(self, date: Ints, taste: Ints, rng: np.random.Generator) -> Ints:
        """An item of each taste by popularity in the week of the date; ``ANY_TASTE`` is the whole shop."""
        anywhere = taste == ANY_TASTE
        week = date // DAYS_PER_PERIOD * len(self._by_taste)
        low = self._passed[week + np.where(anywhere, 0, self._starts[taste])]
        high = self._passed[week + np.where(anywhere, len(self._by_taste), self._starts[taste + 1])]
        # A taste without a single item is no taste.
        empty = high <= low
        low, high = np.where(empty, self._passed[week], low), np.where(empty, self._passed[week + len(self._by_taste)], high)
        place = np.searchsorted(self._passed, low + rng.random(len(date)) * (high - low), side="right") - 1
        found: Ints = self._by_taste[np.minimum(place - week, len(self._by_taste) - 1)]
        return found

    def quantities(self, item: Ints, level: Floats, rng: np.random.Generator) -> Ints:
        """Quantity of each row at this level (0 to 1) of the distribution of its item's kind."""
        passed = np.cumsum(self._known["quantity_kinds"], axis=1)
        passed /= passed[:, -1:]
        kind = self._kind[item]
        place = np.searchsorted((passed + np.arange(len(passed))[:, None]).ravel(), kind + level, side="right")
        place = np.clip(place - kind * passed.shape[1], 0, passed.shape[1] - 1)
        values = np.asarray(self._known["quantities"])
        gap = np.minimum(place // 2, len(values) - 1)
        exact, below = values[gap], np.concatenate(([0], values))[gap] + 1.0
        # What lies between two frequent quantities is spread evenly in logarithms.
        between = below * (np.maximum(exact - 1, below) / below) ** rng.random(len(item))
        large = np.exp(np.interp(rng.random(len(item)), LEVELS, np.log(self._known["large_quantities"])))
        others = np.where(place == passed.shape[1] - 1, large, between)
        found: Ints = np.where(place % 2 == 1, exact, np.floor(others + 1e-9)).astype(np.int64)
        return found

    def prices(self, item: Ints, date: Ints, qty: Ints, rng: np.random.Generator) -> Floats:
        """Price of each row: usual, changed since some day, lower for many; a few stray ones, and those of words."""
        changed = _first_share(item, date, self._other["changed"])
        price = np.where(changed, self._to_known_price(self._another_price("changed", rng))[item], self._usual[item])
        many = qty >= BULK_FROM * _medians(item, qty)[item]
        lower = self._other["bulk"] + self._other["bargain"]
        bulk = many & _first_share(item, -qty, lower)
        price = np.where(bulk, self._bulk_price(price), price)
        bargain = bulk & (rng.random(len(item)) * lower[item] < self._other["bargain"][item])
        price = np.where(bargain, self._another_price("bargain", rng)[item], price)
        stray = rng.random(len(item)) < self._other["stray"][item]
        price = np.where(stray, self._another_price("stray", rng)[item], price)
        for number, word in enumerate(self._words.values(), start=self._goods):
            own = np.nonzero(item == number)[0]
            price[own] = np.asarray(word["prices"])[np.searchsorted(LEVELS, rng.random(len(own)))]
        return np.maximum(0.01, price.round(3))

    def _another_price(self, why: str, rng: np.random.Generator) -> Floats:
        """A price of each item at one of the stored ratios to its usual price, shape (items,)."""
        band = np.searchsorted(PRICE_BANDS, self._usual, side="right")
        level = rng.random(len(band))
        found = [np.exp(np.interp(level, LEVELS, np.log(quantiles))) for quantiles in self._known[f"{why}_price_ratio"]]
        another: Floats = (self._usual * np.choose(band, found)).round(2)
        return another

    def _to_known_price(self, price: Floats) -> Floats:
        """The nearest of the shop's usual prices: price lists use the same few points."""
        points = np.unique(self._usual)
        place = np.clip(np.searchsorted(points, price), 1, max(1, len(points) - 1))
        below, above = points[place - 1], points[np.minimum(place, len(points) - 1)]
        return np.where(price - below <= above - price, below, above)

    def _bulk_price(self, price: Floats) -> Floats:
        usual, bulk = np.transpose(self._known["bulk_price"])
        place = np.minimum(np.searchsorted(usual, price), len(usual) - 1)
        typical = float(np.median(bulk / usual))
        return np.where(usual[place] == price, bulk[place], (price * typical).round(2))


def shared_out(tally: Any, count: int) -> Ints:
    """``count`` shared out as in ``tally``: whole numbers that sum to it, the largest remainders rounded up."""
    exact = np.asarray(tally, dtype=np.float64) * count / max(1, np.sum(tally))
    if not exact.any() and count:
        exact = np.full(len(exact), count / len(exact))
    whole: Ints = np.floor(exact + 1e-9).astype(np.int64)
    whole[np.argsort(whole - exact, kind="stable")[: count - int(whole.sum())]] += 1
    return whole


def _codes(prefix: str, letters: float, count: int, rng: np.random.Generator) -> list[str]:
    """Different codes of five digits, some with a letter after them."""
    width = max(5 - len(prefix), len(str(count)))
    numbers = rng.choice(10**width, size=count, replace=False)
    ends = np.where(rng.random(count) < letters, rng.choice(list(LETTERS), size=count), "")
    return [f"{prefix}{number:0{width}d}{end}" for number, end in zip(numbers.tolist(), ends.tolist(), strict=True)]


def _first_share(item: Ints, value: Ints, share: Floats) -> NDArray[np.bool_]:
    """Which rows are among the first ``share`` of their item's rows by ``value``; equal values stay together."""
    order = np.lexsort((value, item))
    sizes = np.bincount(item, minlength=len(share))
    starts = np.cumsum(sizes) - sizes
    last = starts + np.minimum(np.rint(share * sizes).astype(np.int64), sizes) - 1
    some = (last >= starts) & (share > 0)
    bound = np.where(some, value[order][np.where(some, last, 0)], np.iinfo(np.int64).min)
    return np.asarray(value <= bound[item])


def _medians(item: Ints, value: Ints) -> Floats:
    """Median value of each item's rows, shape (largest item + 1,)."""
    order = np.lexsort((value, item))
    sizes = np.bincount(item)
    starts = np.cumsum(sizes) - sizes
    found: Floats = value[order][np.minimum(starts + sizes // 2, len(value) - 1)].astype(np.float64)
    return found
