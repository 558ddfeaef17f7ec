"""A seeded shop simulator: a transaction table that looks like T of darc2019, drawn from its stored statistics.

Items follow T's popularity curve, customers have tastes and a repertoire that they buy from again, months have seasons.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtr

from kakurenbo.datasets.shop_statistics import CLASSES, LEVELS, shop_statistics
from kakurenbo.datasets.transactions import CONTEST, SCHEMA
from kakurenbo.tables import Integer, Schema, Table, Text

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_ROWS = 500  # of one customer, as in the contest's filter
TASTES, TASTES_PER_CUSTOMER = 40, 3
TASTE_SHARE = 0.4  # of a repertoire that comes from the customer's tastes rather than from the whole shop
REPERTOIRE_MARGIN = 1.35  # popular items stand in a repertoire more than once
SEASONAL_MONTHS = (0, 9, 10, 11, 12)  # the first taste sells as Christmas goods
SEASONAL_SHARE = 0.12
LETTER_SHARE = 0.085  # of item codes that end in a letter


def simulate_shop(rng: np.random.Generator, customers: int | None = None, items: int | None = None) -> Table:
    """A year of transactions.

    Parameters
    ----------
    rng : numpy Generator
    customers, items : int, optional
        As many as T has by default: 4,034 and 3,612.

    Returns
    -------
    Table
        About 76 rows per customer in the columns of T, ordered by time.
    """
    known = shop_statistics()
    count = known["customers"] if customers is None else customers
    basket_customer, basket_month, basket_rows = _baskets(known, count, rng)
    row_basket = np.repeat(np.arange(len(basket_rows)), basket_rows)
    customer, month = basket_customer[row_basket], basket_month[row_basket]
    date, minute = _visits(known, basket_month, basket_rows, row_basket, rng)
    shelf = _Shelf(known, known["items"] if items is None else items, rng)
    item = _choose_items(known, shelf, customer, month, count, rng)
    price = _prices(known, shelf.usual_price[item], rng)
    qty = _quantities(known, price, customer, count, rng)
    users = _numbers(count, 12346, rng)
    order = np.lexsort((users[customer], minute, date))
    texts = {"id_user": users.astype(str)[customer[order]], "id_item": shelf.codes[item[order]]}
    named = {name: Table.from_encoded(Schema([Text(name)]), {name: pl.Series(values)}) for name, values in texts.items()}
    assert isinstance(SCHEMA["qty"], Integer)
    numbers = {"date": date, "hours": minute, "price": price, "qty": qty - SCHEMA["qty"].low}
    return Table(
        SCHEMA,
        {**{name: part.codes[name] for name, part in named.items()}, **{name: codes[order] for name, codes in numbers.items()}},
        {name: part.vocabularies[name] for name, part in named.items()},
    )


# -- who buys how much, and when --------------------------------------------------------------------------------------


def _baskets(known: dict[str, Any], count: int, rng: np.random.Generator) -> tuple[Ints, Ints, Ints]:
    """Customer, month and number of rows of every basket (a customer's month)."""
    weights = np.asarray(known["months_per_customer"], dtype=np.float64)
    active = rng.choice(np.arange(1, CONTEST.months + 1), size=count, p=weights / weights.sum())
    # Gumbel noise on log weights: the `active` highest months are a weighted draw without replacement.
    appeal = np.log(known["customers_per_month"]) + rng.gumbel(size=(count, CONTEST.months))
    place = np.argsort(np.argsort(-appeal, axis=1), axis=1)
    customer, month = np.nonzero(place < active[:, None])
    level = _alike(known["basket_likeness"], customer, count, rng)
    rows = np.maximum(1, np.rint(_draw(known["rows_per_basket"], level))).astype(np.int64)
    total = np.bincount(customer, rows, minlength=count)[customer]
    rows = np.where(total > MOST_ROWS, np.maximum(1, rows * MOST_ROWS // np.maximum(total, 1)), rows).astype(np.int64)
    return customer, month, rows


def _visits(
    known: dict[str, Any], basket_month: Ints, basket_rows: Ints, row_basket: Ints, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Date and minute of every row: a basket is bought in one or more visits to the shop."""
    shares = np.cumsum(known["visits_per_basket"], axis=1)
    classes = np.argsort(np.argsort(basket_rows, kind="stable")) * CLASSES // len(basket_rows)
    visits = 1 + (rng.random(len(basket_rows))[:, None] > shares[classes][:, :-1]).sum(axis=1)
    visits = np.minimum(visits, basket_rows)
    first = np.cumsum(visits) - visits
    weights = np.asarray(known["invoices_per_date"], dtype=np.float64)
    passed = np.concatenate(([0.0], np.cumsum(weights)))
    starts = np.searchsorted(CONTEST.month_of_day[: len(weights)], np.arange(CONTEST.months + 1))
    low, high = passed[starts[basket_month]], passed[starts[basket_month + 1]]
    where = np.repeat(low, visits) + rng.random(visits.sum()) * np.repeat(high - low, visits)
    date = np.minimum(np.searchsorted(passed, where, side="right") - 1, len(weights) - 1)
    minute = np.rint(_draw(known["minute_of_invoice"], rng.random(len(date)))).astype(np.int64)
    within = np.arange(len(row_basket)) - np.repeat(np.cumsum(basket_rows) - basket_rows, basket_rows)
    # Every visit gets a row; the others fall where they may.
    chosen = np.where(within < visits[row_basket], within, rng.integers(0, visits[row_basket]))
    visit = first[row_basket] + chosen
    return date[visit], minute[visit]


# -- what they buy ----------------------------------------------------------------------------------------------------


class _Shelf:
    """The items of the shop: popularity, usual price, code, and the taste each belongs to."""

    def __init__(self, known: dict[str, Any], count: int, rng: np.random.Generator) -> None:
        curve = np.asarray(known["rows_per_item"])
        place = (np.arange(count) + 0.5) / count
        # Half a row more, so that few items are never sold at all.
        self.popularity = 0.5 + np.exp(np.interp(place, np.linspace(0, 1, len(curve)), np.log(curve)))
        classes = np.arange(count) * CLASSES // count
        prices = [
            _draw(quantiles, rng.random(int((classes == number).sum())))
            for number, quantiles in enumerate(known["usual_price"])
        ]
        self.usual_price = np.maximum(0.01, np.concatenate(prices).round(2))
        letters = np.where(rng.random(count) < LETTER_SHARE, rng.choice(list("ABCDEFGLMNPSW"), size=count), "")
        self.codes = np.char.add(_numbers(count, 20000, rng).astype(str), letters)
        taste = rng.integers(0, TASTES, size=count)
        self._by_taste = np.argsort(taste, kind="stable")
        self._passed = np.concatenate(([0.0], np.cumsum(self.popularity[self._by_taste])))
        self._starts = np.searchsorted(taste[self._by_taste], np.arange(TASTES + 1))

    def pick(self, taste: Ints, rng: np.random.Generator) -> Ints:
        """An item of each taste by popularity; taste -1 is the whole shop."""
        low = np.where(taste < 0, 0, self._passed[self._starts[taste]])
        high = np.where(taste < 0, self._passed[-1], self._passed[self._starts[taste + 1]])
        where = low + rng.random(len(taste)) * (high - low)
        place = np.minimum(np.searchsorted(self._passed, where, side="right") - 1, len(self._by_taste) - 1)
        found: Ints = self._by_taste[place]
        return found


def _choose_items(
    known: dict[str, Any], shelf: _Shelf, customer: Ints, month: Ints, count: int, rng: np.random.Generator
) -> Ints:
    """Every customer draws rows from a repertoire, whose size gives T's share of repeat purchases."""
    rows = np.bincount(customer, minlength=count)
    size = _repertoire_sizes(known, rows)
    owner = np.repeat(np.arange(count), size)
    tastes = rng.integers(0, TASTES, size=(count, TASTES_PER_CUSTOMER))
    own = tastes[owner, rng.integers(0, TASTES_PER_CUSTOMER, size=len(owner))]
    repertoire = shelf.pick(np.where(rng.random(len(owner)) < TASTE_SHARE, own, -1), rng)
    first = np.cumsum(size) - size
    item: Ints = repertoire[first[customer] + rng.integers(0, size[customer])]
    seasonal = np.isin(month, SEASONAL_MONTHS) & (rng.random(len(month)) < SEASONAL_SHARE)
    item[seasonal] = shelf.pick(np.zeros(int(seasonal.sum()), dtype=np.int64), rng)
    return item


def _repertoire_sizes(known: dict[str, Any], rows: Ints) -> Ints:
    """L so that n draws from L items give T's share of different items: (1 - exp(-n/L)) / (n/L)."""
    at, share = np.transpose(known["distinct_share"])
    wanted = np.interp(np.log(np.maximum(rows, 1)), np.log(at), share)
    load = np.linspace(0.01, 3, 300)
    per_item = np.interp(-wanted, -(1 - np.exp(-load)) / load, load)
    sizes: Ints = np.maximum(1, np.ceil(REPERTOIRE_MARGIN * rows / per_item)).astype(np.int64)
    return sizes


def _prices(known: dict[str, Any], usual: Floats, rng: np.random.Generator) -> Floats:
    other = rng.random(len(usual)) < known["share_of_other_prices"]
    ratio = _draw(known["price_over_usual"], rng.random(len(usual)))
    return np.maximum(0.01, np.where(other, (usual * ratio).round(2), usual))


def _quantities(known: dict[str, Any], price: Floats, customer: Ints, count: int, rng: np.random.Generator) -> Ints:
    """Cheap things are bought by the dozen, and some customers buy more of everything."""
    level = _alike(known["qty_likeness"], customer, count, rng)
    classes = np.argsort(np.argsort(price, kind="stable"), kind="stable") * CLASSES // len(price)
    qty = np.empty(len(price))
    for number, quantiles in enumerate(known["qty_by_price"]):
        qty[classes == number] = _draw(quantiles, level[classes == number])
    return np.maximum(1, np.rint(qty)).astype(np.int64)


# -- draws ------------------------------------------------------------------------------------------------------------


def _draw(quantiles: list[float], level: Floats) -> Floats:
    """Values at these levels of a stored distribution; on a log scale between two levels, as its tails are long."""
    return np.exp(np.interp(level, LEVELS, np.log(quantiles)))


def _alike(likeness: float, customer: Ints, count: int, rng: np.random.Generator) -> Floats:
    """Uniform levels whose normal scores correlate by ``likeness`` within a customer."""
    own = rng.standard_normal(count)[customer]
    level: Floats = ndtr(np.sqrt(likeness) * own + np.sqrt(1 - likeness) * rng.standard_normal(len(customer)))
    return level


def _numbers(count: int, first: int, rng: np.random.Generator) -> Ints:
    """Different numbers from ``first`` on, sorted, with gaps such as customer and item numbers have."""
    numbers: Ints = first + np.sort(rng.choice(int(count * 1.45) + 1, size=count, replace=False))
    return numbers
