"""Baselines of darc2019: F1..F6 match rows on a key, F7 counts shared items; and the control of all
attacks.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from kakurenbo.attacks.reidentification.assignment import (
    assigned_three,
    best_three,
    write_month,
)
from kakurenbo.attacks.reidentification.months import months_of
from kakurenbo.attacks.reidentification.types import (
    ReidentificationAttack,
    ReidentificationGuess,
    ReidentificationKnowledge,
)
from kakurenbo.core import Table
from kakurenbo.data.transactions import Calendar, comparable_prices, months
from kakurenbo.methods.parameters import parameter

KEYS = {
    1: ("date", "qty"),
    2: ("id_item", "price"),
    3: ("id_item", "qty"),
    4: ("id_item", "date"),
    5: ("id_item", "price", "qty"),
    6: ("id_item", "date", "qty"),
}
EVALUATOR_KEYS = {**KEYS, 6: ("id_item", "date", "price")}
_ITEM_PREFIX = 2  # characters of an item that a key of the rules looks at
_EVALUATOR_BLIND_DAY = datetime.date(2010, 12, 31)  # its window of that month leaves it out


@dataclass(frozen=True)
class BlindShop(ReidentificationAttack):
    """Guess for each customer of a month a pseudonym of that month at random, each once."""

    knowledge: ClassVar[type] = ReidentificationKnowledge

    def __call__(
        self, knowledge: ReidentificationKnowledge, rng: np.random.Generator
    ) -> ReidentificationGuess:
        guess = ReidentificationGuess.blank(knowledge)
        for month in range(knowledge.calendar.months):
            customers, pseudonyms = (
                rng.permutation(np.unique(table.codes["id_user"][months(table) == month]))
                for table in (knowledge.original, knowledge.released)
            )
            count = min(len(customers), len(pseudonyms))
            guess.cells[customers[:count], month, 0] = pseudonyms[:count]
        return guess


@dataclass(frozen=True)
class KeyMatch(ReidentificationAttack):
    """Match rows of S and T on a key (baselines 1 to 6); where a key or a cell is met again, the last row wins.

    Mode ``rules`` looks at the first two characters of an item and takes pseudonyms of the row's
    own month. Mode ``aicrowd`` is the competition's evaluator: whole items, any month, and price
    instead of quantity in baseline 6.
    """

    knowledge: ClassVar[type] = ReidentificationKnowledge
    number: int = parameter(4, "which baseline", low=1, high=6)
    mode: str = parameter(
        "rules", "keys of the rules or of the competition's evaluator", choices=("rules", "aicrowd")
    )

    def __call__(
        self, knowledge: ReidentificationKnowledge, rng: np.random.Generator
    ) -> ReidentificationGuess:
        is_rules = self.mode == "rules"
        names = (KEYS if is_rules else EVALUATOR_KEYS)[self.number]
        if is_rules and "date" not in names:  # a date has its month in it
            names = (*names, "month")
        original, released = (
            _key_frame(table, names, _ITEM_PREFIX if is_rules else None)
            for table in (knowledge.original, knowledge.released)
        )
        last = released.with_row_index("place").group_by(names).agg(pl.col("place").max())
        matched = original.with_row_index("row").join(last, on=names).sort("row")
        rows, places = matched["row"].to_numpy(), matched["place"].to_numpy()
        guess = ReidentificationGuess.blank(knowledge)
        owner = knowledge.original.codes["id_user"][rows]
        # NumPy writes a repeated place in order: the last row of T in a cell stays.
        month = months(knowledge.original)[rows]
        guess.cells[owner, month, 0] = knowledge.released.codes["id_user"][places]
        return guess


def _key_frame(table: Table, names: tuple[str, ...], prefix: int | None) -> pl.DataFrame:
    """Return the columns of a key, comparable between tables."""
    columns = {}
    for name in names:
        if name == "id_item":
            items = pl.Series(table.vocabularies[name], dtype=pl.String).str.slice(0, prefix)
            columns[name] = items.gather(table.codes[name])
        elif name == "price":
            columns[name] = pl.Series(comparable_prices(table))
        else:
            values = months(table) if name == "month" else table.codes[name]
            columns[name] = pl.Series(values.astype(np.int64))
    return pl.DataFrame(columns)


@dataclass(frozen=True)
class Overlap(ReidentificationAttack):
    """The three pseudonyms that share most of a customer's items of the month (baseline 7), ties by pseudonym."""

    knowledge: ClassVar[type] = ReidentificationKnowledge
    mode: str = parameter(
        "rules", "aicrowd leaves out 2010/12/31, as the evaluator did", choices=("rules", "aicrowd")
    )
    one_to_one: bool = parameter(
        False, "give every pseudonym of a month to one customer; the baseline does not"
    )

    def __call__(
        self, knowledge: ReidentificationKnowledge, rng: np.random.Generator
    ) -> ReidentificationGuess:
        if self.mode == "aicrowd":
            knowledge = replace(
                knowledge,
                original=_without_blind_day(knowledge.original),
                released=_without_blind_day(knowledge.released),
            )
        guess = ReidentificationGuess.blank(knowledge)
        for month in months_of(knowledge):
            # |a & t|: dividing by |t| would not change a customer's order.
            customers, pseudonyms = month.item_sets()
            overlaps = np.asarray((customers @ pseudonyms.T).toarray(), dtype=np.float32)
            places = assigned_three(overlaps) if self.one_to_one else best_three(overlaps)
            write_month(guess, month, places)
        return guess


def _without_blind_day(table: Table) -> Table:
    return table.take(table.codes["date"] != Calendar.of(table).day(_EVALUATOR_BLIND_DAY))
