"""Simulate a shop: a transaction table like T of darc2019, drawn from its stored statistics.

Items follow T's popularity curve and seasons, prices have few points, customers have tastes and buy again what they bought.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.stats import rankdata

from kakurenbo.core import Table
from kakurenbo.core.arrays import Bools, Floats, Ints, Rng
from kakurenbo.data.shelf import ANY_TASTE, POSTAGE, TASTES, Shelf, shop_statistics
from kakurenbo.data.statistics import LEVELS, deal, pick_between, value_at
from kakurenbo.data.transactions import CONTEST, LARGEST_QUANTITY, SCHEMA

CLASSES = 10  # of baskets by size, and of customers by rows
WEEK = 7
VISIT_SIZES = (1, 2, 4, 8, 16, 32, 64)  # fewest rows of each class of visits
EARLIER_ROWS = (1, 6, 12, 25, 50, 100, 200)
"""Lower ends of the classes of rows that a customer bought before a visit."""
FEWEST_ROWS, MOST_ROWS = 5, 500  # of one customer, as in the contest's filter
TASTES_PER_CUSTOMER = 3
TASTE_SHARE = 0.3  # of new items that come from the customer's tastes, not from all items
LOYALTY = 0.1  # spread of customers between early and late months, per month
IN_SEASON = 0.3  # of its mean weekly sales, below which an item is bought again less
COARSENESS = 0.72  # likeness of quantities for equal levels: many levels share a quantity
UNEVENNESS = 1.0  # shape of the gamma weights by which a basket's rows fall on its visits
_FITTING, _REDRAWS, _TRIES = 12, 3, 3


def simulate_shop(rng: Rng, customers: int | None = None, items: int | None = None) -> Table:
    """Simulate a year of transactions.

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
    return _Shop(customers, items, rng).table


class _Shop:
    """A shop while its rows are drawn; they are grouped by visit, visits are ordered by customer and time."""

    def __init__(self, customers: int | None, items: int | None, rng: Rng) -> None:
        self.known, self.rng = shop_statistics(), rng
        self.count: int = self.known["customers"] if customers is None else customers
        # Customer, date, minute and number of rows of each visit.
        self.customer, self.date, self.minute, self.rows = self._draw_visits(*self._draw_baskets())
        self.begins: Ints = np.cumsum(self.rows) - self.rows  # first row of each visit
        self.visit = np.repeat(np.arange(len(self.rows)), self.rows)  # of each row
        self.row_date = self.date[self.visit]
        self.shelf = Shelf(items, rng)
        item, again = self._choose_items()
        qty, price = self._draw_amounts(item, again)
        # Customer numbers have gaps.
        numbers = rng.choice(int(self.count * 1.45) + 1, size=self.count, replace=False)
        users = (12346 + np.sort(numbers))[self.customer[self.visit]]
        columns = {
            "id_user": users.astype(str),
            "date": self.row_date,
            "hours": self.minute[self.visit],
            "id_item": self.shelf.codes[item],
            "price": price,
            "qty": qty + LARGEST_QUANTITY,
        }
        order = np.lexsort((users, columns["hours"], self.row_date))
        self.table = Table.from_encoded(
            SCHEMA, {name: pl.Series(values[order]) for name, values in columns.items()}
        )

    # -- who buys how much, and when ---------------------------------------------------------------

    def _draw_baskets(self) -> tuple[Ints, Ints, Ints]:
        """Draw baskets, what a customer buys in a month: customer, month and number of rows of each."""
        known, rng, count = self.known, self.rng, self.count
        customer, month = np.nonzero(self._draw_presence())
        taste_for_size = rng.standard_normal(count)[customer]
        alike = known["basket_likeness"]
        score = np.sqrt(alike) * taste_for_size + np.sqrt(1 - alike) * rng.standard_normal(
            len(customer)
        )
        size = np.empty(len(customer))
        for number, quantiles in enumerate(known["rows_per_basket"]):
            here = np.nonzero(month == number)[0]
            rank = np.argsort(np.argsort(score[here]))
            drawn = value_at((rank + rng.random(len(here))) / max(1, len(here)), quantiles)
            # Quantiles miss a little of the sum: T's rows per customer of this month make it good.
            mean = known["rows_per_month"][number] / known["customers_per_month"][number]
            size[here] = drawn * mean / max(1.0, drawn.mean()) if len(here) >= CLASSES else drawn
        total = np.bincount(customer, size, minlength=count)[customer]
        size *= np.minimum(1.0, MOST_ROWS / np.maximum(total, 1))
        rows = np.maximum(1, np.floor(size + rng.random(len(size))))
        over = np.bincount(customer, rows, minlength=count)[customer] > MOST_ROWS
        rows = np.where(over, np.maximum(1, np.floor(size)), rows)
        first = np.searchsorted(customer, np.arange(count))
        rows[first] += np.maximum(0, FEWEST_ROWS - np.bincount(customer, rows, minlength=count))
        return customer, month, rows.astype(np.int64)

    def _draw_presence(self) -> Bools:
        """Draw which customers buy in which months, shape (customers, months), as many of each as in T."""
        per_month, rng = np.asarray(self.known["customers_per_month"]), self.rng
        active = 1 + deal(self.known["months_per_customer"], self.count, rng)
        wanted = per_month * active.sum() / per_month.sum()
        # Gumbel noise on log weights: the highest months are a weighted draw without replacement.
        noise = rng.gumbel(size=(self.count, len(per_month)))
        trend = LOYALTY * rng.standard_normal(self.count)[:, None] * np.arange(len(per_month))
        noise, weight = noise + trend, np.log(wanted)
        for _ in range(_FITTING):
            appeal = noise + weight
            least = np.take_along_axis(-np.sort(-appeal, axis=1), active[:, None] - 1, axis=1)
            present: Bools = appeal >= least
            weight += np.log(wanted / np.maximum(0.5, present.sum(axis=0)))
        return present

    def _draw_visits(self, customer: Ints, month: Ints, rows: Ints) -> tuple[Ints, ...]:
        """Split baskets into visits, on days and at times as busy as in T."""
        known, rng = self.known, self.rng
        shares = np.cumsum(known["visits_per_basket"], axis=1)
        classes = np.argsort(np.argsort(rows, kind="stable")) * CLASSES // len(rows)
        visits = 1 + (rng.random(len(classes))[:, None] > shares[classes][:, :-1]).sum(axis=1)
        visits = np.minimum(visits, rows)
        basket = np.repeat(np.arange(len(visits)), visits)

        busy = np.concatenate(([0.0], np.cumsum(known["visits_per_date"], dtype=np.float64)))
        of_day, of_visit = CONTEST.month_of_day[: len(busy) - 1], month[basket]
        first, last = (np.searchsorted(of_day, of_visit, side) for side in ("left", "right"))
        date = np.minimum(pick_between(busy, first, last, rng), len(busy) - 2)
        level, minute = rng.random(len(date)), np.empty(len(date))
        for weekday, quantiles in enumerate(known["minute_of_visit"]):
            here = np.nonzero(date % WEEK == weekday)[0]
            minute[here] = np.interp(level[here], LEVELS, quantiles or [0.0] * len(LEVELS))

        # Every visit gets a row; the others fall on the visits of their basket by uneven weights.
        weights = rng.gamma(UNEVENNESS, size=len(basket)) + 1e-6
        passed = np.concatenate(([0.0], np.cumsum(weights)))
        owner = np.repeat(np.arange(len(visits)), rows - visits)
        first = (np.cumsum(visits) - visits)[owner]
        last = first + visits[owner]
        place = np.clip(pick_between(passed, first, last, rng), first, last - 1)
        rows = 1 + np.bincount(place, minlength=len(basket))
        columns = (customer[basket], date, np.rint(minute).astype(np.int64), rows)
        order = np.lexsort((columns[2], date, columns[0]))
        return tuple(column[order] for column in columns)

    # -- what they buy -----------------------------------------------------------------------------

    def _choose_items(self) -> tuple[Ints, Ints]:
        """Choose the item of every row: new, or bought before; few twice in a visit; and postage.

        The second array is the row of the same visit whose item a row repeats, -1 for most.
        """
        rng, shelf, visit = self.rng, self.shelf, self.visit
        tastes = rng.integers(0, TASTES, size=(self.count, TASTES_PER_CUSTOMER))
        taste = tastes[self.customer[visit], rng.integers(0, TASTES_PER_CUSTOMER, size=len(visit))]
        taste = np.where(rng.random(len(visit)) < TASTE_SHARE, taste, ANY_TASTE)
        item = self._buy_again(shelf.pick(self.row_date, taste, rng))
        for _ in range(_REDRAWS):
            order = np.lexsort((item, visit))
            same = (np.diff(visit[order]) == 0) & (np.diff(item[order]) == 0)
            repeated = np.sort(order[1:][same])
            any_taste = np.full(len(repeated), ANY_TASTE)
            item[repeated] = shelf.pick(self.row_date[repeated], any_taste, rng)

        share = self.known["same_item_in_visit"] * len(item) / max(1, len(item) - len(self.rows))
        repeats = rng.random(len(item)) < share
        repeats[self.begins] = False
        source = _first_sources(np.arange(len(item)) - repeats)
        item = item[source]
        again = np.where(repeats, source, -1)
        posted = self._add_postage(item)
        again[posted | posted[again]] = -1
        return item, again

    def _buy_again(self, new: Ints) -> Ints:
        """Let some rows take the item of a row of the customer's earlier visits, if it is in season."""
        visit, rng, shelf = self.visit, self.rng, self.shelf
        first = self.begins[np.searchsorted(self.customer, self.customer)][visit]
        earlier = self.begins[visit] - first
        shares = np.concatenate(([0.0], self.known["bought_before"]))
        copies = (
            rng.random(len(visit)) < shares[np.searchsorted(EARLIER_ROWS, earlier, side="right")]
        )

        def earlier_row(rows: Ints) -> Ints:
            steps: Ints = (rng.random(len(rows)) * earlier[rows]).astype(np.int64)
            return first[rows] + steps

        source = np.arange(len(visit))
        source[copies] = earlier_row(np.nonzero(copies)[0])
        item = new[_first_sources(source)]
        bound = IN_SEASON * rng.random(len(visit))
        for _ in range(_TRIES):
            out = np.nonzero(copies & (shelf.in_season(self.row_date, item) < bound))[0]
            item[out] = item[earlier_row(out)]
        return np.where(copies & (shelf.in_season(self.row_date, item) < bound), new, item)

    def _add_postage(self, item: Ints) -> Bools:
        """Let customers abroad pay postage in most visits, mostly as the last row; return which rows became postage."""
        facts, rng, posted = self.known["postage"], self.rng, np.zeros(len(item), dtype=bool)
        if POSTAGE not in self.shelf.codes:
            return posted
        abroad = rng.random(self.count) < facts["customers"]
        first = np.arange(len(self.rows)) == np.searchsorted(self.customer, self.customer)
        pays = first | (rng.random(len(first)) < facts["visits"])
        paid = np.nonzero(abroad[self.customer] & pays)[0]
        last = rng.random(len(paid)) < facts["last"]
        rows = self.rows[paid]
        posted[self.begins[paid] + np.where(last, rows - 1, rng.integers(0, rows))] = True
        item[posted] = np.nonzero(self.shelf.codes == POSTAGE)[0][0]
        return posted

    # -- how many, and at what price ---------------------------------------------------------------

    def _draw_amounts(self, item: Ints, again: Ints) -> tuple[Ints, Floats]:
        """Draw quantity and price of every row.

        A second row of an item in a visit has another quantity, or it is an exact duplicate.
        """
        known, rng, shelf = self.known, self.rng, self.shelf
        qty = shelf.quantities(item, self._quantity_levels(), rng)
        repeated = again >= 0
        chance = rng.random(len(item)) * known["same_item_in_visit"] * known["rows"]
        exact = repeated & (chance < known["exact_duplicates"])
        for _ in range(_REDRAWS):
            equal = np.nonzero(repeated & ~exact & (qty == qty[again]))[0]
            qty[equal] = shelf.quantities(item[equal], rng.random(len(equal)), rng)
        qty[exact] = qty[again[exact]]
        price = shelf.prices(item, self.row_date, qty, rng)
        price[exact] = price[again[exact]]
        return qty, price

    def _quantity_levels(self) -> Floats:
        """Draw uniform levels whose normal scores are alike within a customer and more so within a visit.

        Who buys few things buys more of each.
        """
        known, rng, visit = self.known, self.rng, self.visit
        of_user, of_visit = (
            known["quantity_likeness"][name] / COARSENESS for name in ("user", "visit")
        )
        score = np.sqrt(of_user) * rng.standard_normal(self.count)[self.customer]
        score = score + np.sqrt(of_visit - of_user) * rng.standard_normal(len(score))
        score = score[visit] + np.sqrt(1 - of_visit) * rng.standard_normal(len(visit))
        sizes = np.searchsorted(VISIT_SIZES, self.rows, side="right") - 1
        mean, spread = np.asarray(known["quantity_level"])[:, sizes[visit]]
        # Ranks, as a mixture of normal scores has longer tails than one.
        level: Floats = (rankdata(mean + spread * score) - rng.random(len(score))) / len(score)
        return level


def _first_sources(source: Ints) -> Ints:
    """Follow copies of copies to the row that is no copy."""
    while (source != (further := source[source])).any():
        source = further
    return source
