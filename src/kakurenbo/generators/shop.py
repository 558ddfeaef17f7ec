"""A seeded shop simulator: a transaction table that looks like T of darc2019, drawn from its stored statistics.

Items follow T's popularity curve and seasons, prices have few points, customers have tastes and buy again what they bought.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import rankdata

from kakurenbo.datasets.shelf_statistics import LEVELS, VISIT_SIZES
from kakurenbo.datasets.shop_statistics import CLASSES, EARLIER_ROWS, POSTAGE, WEEK, shop_statistics
from kakurenbo.datasets.transactions import SCHEMA, months
from kakurenbo.generators.shelf import ANY_TASTE, TASTES, Floats, Ints, Shelf, shared_out
from kakurenbo.tables import Integer, Schema, Table, Text

FEWEST_ROWS, MOST_ROWS = 5, 500  # of one customer, as in the contest's filter
TASTES_PER_CUSTOMER = 3
TASTE_SHARE = 0.3  # of new items that come from the customer's tastes rather than from the whole shop
LOYALTY = 0.1  # spread of customers between early and late months, per month
IN_SEASON = 0.3  # of its mean weekly sales, below which an item is bought again less
COARSENESS = 0.72  # how alike quantities are for levels that are quite alike: most levels share their quantity with others
UNEVENNESS = 1.0  # shape of the gamma weights by which a basket's rows fall on its visits
_FITTING, _REDRAWS, _TRIES = 12, 3, 3


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
    visits = _visits(known, _baskets(known, count, rng), rng)
    shelf = Shelf(known, known["items"] if items is None else items, rng)
    customer, date, minute = (part[visits.of_row] for part in (visits.customer, visits.date, visits.minute))
    item, again = _choose_items(known, shelf, visits, count, rng)
    qty, price = _amounts(known, shelf, visits, item, again, rng)
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


@dataclass(frozen=True, eq=False)
class _Baskets:
    """What customers buy in a month: customer, month and number of rows of each, shape (baskets,)."""

    customer: Ints
    month: Ints
    rows: Ints


@dataclass(frozen=True, eq=False)
class _Visits:
    """Visits to the shop by customer and time: customer, date, minute and number of rows of each, shape (visits,)."""

    customer: Ints
    date: Ints
    minute: Ints
    rows: Ints

    @cached_property
    def of_row(self) -> Ints:
        """Visit of each row, shape (rows,)."""
        return np.repeat(np.arange(len(self.rows)), self.rows)

    @cached_property
    def begins(self) -> Ints:
        """First row of each visit, shape (visits,)."""
        found: Ints = np.cumsum(self.rows) - self.rows
        return found


def _baskets(known: dict[str, Any], count: int, rng: np.random.Generator) -> _Baskets:
    there = _presence(known, count, rng)
    customer, month = np.nonzero(there)
    own = rng.standard_normal(count)[customer]
    alike = known["basket_likeness"]
    score = np.sqrt(alike) * own + np.sqrt(1 - alike) * rng.standard_normal(len(customer))
    rows = np.empty(len(customer))
    for number in range(there.shape[1]):
        here = np.nonzero(month == number)[0]
        level = (np.argsort(np.argsort(score[here])) + rng.random(len(here))) / max(1, len(here))
        drawn = np.exp(np.interp(level, LEVELS, np.log(known["rows_per_basket"][number])))
        # Quantiles at some levels miss a little of the sum: T's rows per customer of this month make it good.
        mean = known["rows_per_month"][number] / known["customers_per_month"][number]
        rows[here] = drawn * mean / max(1.0, drawn.mean()) if len(here) >= CLASSES else drawn
    total = np.bincount(customer, rows, minlength=count)[customer]
    rows *= np.minimum(1.0, MOST_ROWS / np.maximum(total, 1))
    whole = np.maximum(1, np.floor(rows + rng.random(len(rows)))).astype(np.int64)
    over = np.bincount(customer, whole, minlength=count)[customer] > MOST_ROWS
    whole = np.where(over, np.maximum(1, np.floor(rows)), whole).astype(np.int64)
    first = np.searchsorted(customer, np.arange(count))
    whole[first] += np.maximum(0, FEWEST_ROWS - np.bincount(customer, whole, minlength=count).astype(np.int64))
    return _Baskets(customer, month, whole)


def _presence(known: dict[str, Any], count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which customers buy in which months, shape (customers, months): months per customer and customers per month as in T."""
    number = len(known["customers_per_month"])
    active = rng.permutation(np.repeat(np.arange(1, number + 1), shared_out(known["months_per_customer"], count)))
    wanted = np.asarray(known["customers_per_month"]) * active.sum() / np.sum(known["customers_per_month"])
    # Gumbel noise on log weights: the `active` highest months are a weighted draw without replacement.
    noise = rng.gumbel(size=(count, number)) + LOYALTY * rng.standard_normal(count)[:, None] * np.arange(number)
    weight = np.log(wanted)
    for _ in range(_FITTING):
        appeal = noise + weight
        least = np.take_along_axis(-np.sort(-appeal, axis=1), active[:, None] - 1, axis=1)
        there: NDArray[np.bool_] = appeal >= least
        weight += np.log(wanted / np.maximum(0.5, there.sum(axis=0)))
    return there


def _visits(known: dict[str, Any], baskets: _Baskets, rng: np.random.Generator) -> _Visits:
    """A basket is bought in one or more visits, on days and at times as busy as in T."""
    shares = np.cumsum(known["visits_per_basket"], axis=1)
    classes = np.argsort(np.argsort(baskets.rows, kind="stable")) * CLASSES // len(baskets.rows)
    number = 1 + (rng.random(len(classes))[:, None] > shares[classes][:, :-1]).sum(axis=1)
    number = np.minimum(number, baskets.rows)
    basket = np.repeat(np.arange(len(number)), number)
    date = _dates(known, baskets.month[basket], rng)
    minutes = np.array([quantiles or [0.0] * len(LEVELS) for quantiles in known["minute_of_visit"]])
    level = np.interp(rng.random(len(date)), LEVELS, np.arange(len(LEVELS)))
    low, part = np.floor(level).astype(np.int64), level % 1
    high = np.minimum(low + 1, len(LEVELS) - 1)
    weekday = date % WEEK
    minute = np.rint((1 - part) * minutes[weekday, low] + part * minutes[weekday, high]).astype(np.int64)
    rows = _rows_per_visit(baskets.rows, number, basket, rng)
    order = np.lexsort((minute, date, baskets.customer[basket]))
    return _Visits(baskets.customer[basket][order], date[order], minute[order], rows[order])


def _dates(known: dict[str, Any], month: Ints, rng: np.random.Generator) -> Ints:
    weights = np.asarray(known["visits_per_date"], dtype=np.float64)
    passed = np.concatenate(([0.0], np.cumsum(weights)))
    month_of_day = months(Table(Schema([SCHEMA["date"]]), {"date": np.arange(len(weights))}))
    low = passed[np.searchsorted(month_of_day, month)]
    high = passed[np.searchsorted(month_of_day, month, side="right")]
    where = low + rng.random(len(month)) * (high - low)
    date: Ints = np.minimum(np.searchsorted(passed, where, side="right") - 1, len(weights) - 1)
    return date


def _rows_per_visit(basket_rows: Ints, number: Ints, basket: Ints, rng: np.random.Generator) -> Ints:
    """Every visit gets a row; the others fall on the visits of their basket by uneven weights."""
    passed = np.concatenate(([0.0], np.cumsum(rng.gamma(UNEVENNESS, size=len(basket)) + 1e-6)))
    first = np.cumsum(number) - number
    owner = np.repeat(np.arange(len(number)), basket_rows - number)
    low, high = passed[first[owner]], passed[first[owner] + number[owner]]
    place = np.searchsorted(passed, low + rng.random(len(owner)) * (high - low), side="right") - 1
    place = np.clip(place, first[owner], first[owner] + number[owner] - 1)
    return 1 + np.bincount(place, minlength=len(basket))


# -- what they buy ----------------------------------------------------------------------------------------------------


def _choose_items(
    known: dict[str, Any], shelf: Shelf, visits: _Visits, count: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Item of every row: bought before by the same customer, or new; few twice in a visit; and postage.

    Returns
    -------
    item, again : arrays of int, shape (rows,)
        ``again`` is the row of the same visit whose item a row repeats, -1 for most.
    """
    visit = visits.of_row
    customer, date = visits.customer[visit], visits.date[visit]
    tastes = rng.integers(0, TASTES, size=(count, TASTES_PER_CUSTOMER))
    own = tastes[customer, rng.integers(0, TASTES_PER_CUSTOMER, size=len(visit))]
    taste = np.where(rng.random(len(visit)) < TASTE_SHARE, own, ANY_TASTE)
    item = shelf.pick(date, taste, rng)
    item = _bought_again(known, shelf, visits, item, rng)
    for _ in range(_REDRAWS):
        seen = np.nonzero(_seen_in_visit(visit, item))[0]
        item[seen] = shelf.pick(date[seen], np.full(len(seen), ANY_TASTE), rng)
    again = _within_visit(known, visits, item, rng)
    posted = _add_postage(known, shelf, visits, item, rng)
    again[posted | posted[again]] = -1
    return item, again


def _bought_again(known: dict[str, Any], shelf: Shelf, visits: _Visits, item: Ints, rng: np.random.Generator) -> Ints:
    """Some rows take the item of a row of the customer's earlier visits, if it is in season."""
    visit = visits.of_row
    first = visits.begins[np.searchsorted(visits.customer, visits.customer)][visit]
    earlier = visits.begins[visit] - first
    share = np.concatenate(([0.0], known["bought_before"]))[np.searchsorted(EARLIER_ROWS, earlier, side="right")]
    source = np.arange(len(visit))
    copies = rng.random(len(visit)) < share
    source[copies] = first[copies] + (rng.random(int(copies.sum())) * earlier[copies]).astype(np.int64)
    while (source != (further := source[source])).any():  # a copy of a copy is a copy of the first
        source = further
    new, item = item, item[source]
    date, bound = visits.date[visit], IN_SEASON * rng.random(len(visit))
    for _ in range(_TRIES):
        out = np.nonzero(copies & (shelf.in_season(date, item) < bound))[0]
        item[out] = item[first[out] + (rng.random(len(out)) * earlier[out]).astype(np.int64)]
    return np.where(copies & (shelf.in_season(date, item) < bound), new, item)


def _seen_in_visit(visit: Ints, item: Ints) -> NDArray[np.bool_]:
    """Which rows have an item that an earlier row of their visit has."""
    order = np.lexsort((item, visit))
    same = np.zeros(len(item), dtype=bool)
    same[order[1:]] = (visit[order[1:]] == visit[order[:-1]]) & (item[order[1:]] == item[order[:-1]])
    return same


def _within_visit(known: dict[str, Any], visits: _Visits, item: Ints, rng: np.random.Generator) -> Ints:
    """Let some rows repeat the item of the row before them; the first row of the item in the visit, -1 for most."""
    share = known["same_item_in_visit"] * len(item) / max(1, len(item) - len(visits.rows))
    again = rng.random(len(item)) < share
    again[visits.begins] = False
    source = np.arange(len(item))
    source[again] -= 1
    while (source != (further := source[source])).any():
        source = further
    item[again] = item[source[again]]
    return np.where(again, source, -1)


def _add_postage(
    known: dict[str, Any], shelf: Shelf, visits: _Visits, item: Ints, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Customers abroad pay postage in most visits, mostly as the last row; which rows became postage, shape (rows,)."""
    facts, posted = known["postage"], np.zeros(len(item), dtype=bool)
    if POSTAGE not in shelf.codes:
        return posted
    abroad = rng.random(int(visits.customer.max()) + 1) < facts["customers"]
    first = np.arange(len(visits.rows)) == np.searchsorted(visits.customer, visits.customer)
    paid = np.nonzero(abroad[visits.customer] & (first | (rng.random(len(first)) < facts["visits"])))[0]
    last = rng.random(len(paid)) < facts["last"]
    posted[visits.begins[paid] + np.where(last, visits.rows[paid] - 1, rng.integers(0, visits.rows[paid]))] = True
    item[posted] = np.nonzero(shelf.codes == POSTAGE)[0][0]
    return posted


# -- how many, and at what price --------------------------------------------------------------------------------------


def _amounts(
    known: dict[str, Any], shelf: Shelf, visits: _Visits, item: Ints, again: Ints, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """Quantity and price of every row.

    A second row of an item in a visit is there because of another quantity, or it is an exact duplicate.
    """
    qty = shelf.quantities(item, _quantity_levels(known, visits, rng), rng)
    repeated = again >= 0
    exact = repeated & (rng.random(len(item)) * known["same_item_in_visit"] * known["rows"] < known["exact_duplicates"])
    for _ in range(_REDRAWS):
        equal = np.nonzero(repeated & ~exact & (qty == qty[again]))[0]
        qty[equal] = shelf.quantities(item[equal], rng.random(len(equal)), rng)
    qty[exact] = qty[again[exact]]
    price = shelf.prices(item, visits.date[visits.of_row], qty, rng)
    price[exact] = price[again[exact]]
    return qty, price


def _quantity_levels(known: dict[str, Any], visits: _Visits, rng: np.random.Generator) -> Floats:
    """Uniform levels whose normal scores are alike within a customer and more so within a visit, shape (rows,).

    Who buys few things buys more of each.
    """
    of_user, of_visit = (known["quantity_likeness"][of] / COARSENESS for of in ("user", "visit"))
    own = np.sqrt(of_user) * rng.standard_normal(int(visits.customer.max()) + 1)[visits.customer]
    then = own + np.sqrt(of_visit - of_user) * rng.standard_normal(len(own))
    mean, spread = np.asarray(known["quantity_level"])[:, np.searchsorted(VISIT_SIZES, visits.rows, side="right") - 1]
    visit = visits.of_row
    score = then[visit] + np.sqrt(1 - of_visit) * rng.standard_normal(len(visit))
    # Ranks, as a mixture of normal scores has longer tails than one.
    level: Floats = (rankdata(mean[visit] + spread[visit] * score) - rng.random(len(score))) / len(score)
    return level


def _numbers(count: int, first: int, rng: np.random.Generator) -> Ints:
    """Different numbers from ``first`` on, sorted, with gaps such as customer numbers have."""
    numbers: Ints = first + np.sort(rng.choice(int(count * 1.45) + 1, size=count, replace=False))
    return numbers
