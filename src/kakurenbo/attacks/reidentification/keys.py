"""Baselines F1..F6 of darc2019: a row of S belongs to the customer of a row of T that has the same key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.attacks.reidentification import (
    NOBODY,
    ReidentificationGuess,
    ReidentificationKnowledge,
)
from kakurenbo.contest import Attack
from kakurenbo.core.compiling import compiled
from kakurenbo.data.transactions import comparable_prices, months
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
_DENSE = (
    2**23
)  # up to this many keys that can be thought of, a table of all of them is quicker than to number those that are
_FOLDED = (
    "id_item",
    "price",
    "qty",
    "date",
    "month",
)  # what an item fixes comes before what it does not
ITEM_PREFIX = 2  # characters of an item that a key of the rules looks at

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class KeyMatch(Attack[ReidentificationKnowledge, ReidentificationGuess]):
    """Match rows of S and T on a key (baselines 1 to 6); where a key or a cell is met again, the last row wins.

    Mode ``rules`` looks at the first two characters of an item and takes pseudonyms of the row's own month. Mode ``aicrowd``
    is the competition's evaluator: whole items, any month, and price instead of quantity in baseline 6.
    """

    knowledge: ClassVar[type] = ReidentificationKnowledge
    number: int = parameter(4, "which baseline", low=1, high=6)
    mode: str = parameter(
        "rules", "keys of the rules or of the competition's evaluator", choices=("rules", "aicrowd")
    )

    def __call__(
        self, knowledge: ReidentificationKnowledge, rng: np.random.Generator
    ) -> ReidentificationGuess:
        rules = self.mode == "rules"
        names = (KEYS if rules else EVALUATOR_KEYS)[self.number]
        if rules and "date" not in names:  # a date has its month in it
            names = (*names, "month")
        place = _last_equal(*_keys(knowledge, names, ITEM_PREFIX if rules else None))
        found = np.flatnonzero(place != NOBODY)
        guess = ReidentificationGuess.blank(knowledge)
        owner, month = knowledge.original.codes["id_user"][found], months(knowledge.original)[found]
        # NumPy writes a repeated place in order: the last row of T in a cell stays.
        guess.cells[owner, month, 0] = knowledge.released.codes["id_user"][place[found]]
        return guess


def _keys(
    knowledge: ReidentificationKnowledge, names: tuple[str, ...], prefix: int | None
) -> tuple[Ints, Ints, int]:
    """The key of each row of T and of S as one number below the third figure, equal exactly for equal keys."""
    tables = (knowledge.original, knowledge.released)
    key, span = np.zeros(sum(map(len, tables)), dtype=np.int64), 1
    for name in sorted(names, key=_FOLDED.index):
        codes, size = _codes(knowledge, name, prefix)
        if span * size > _DENSE:
            key, span = renumbered(key)
        key, span = key * size + codes, span * size
    if span > _DENSE:
        key, span = renumbered(key)
    return key[: len(tables[0])], key[len(tables[0]) :], span


def _codes(knowledge: ReidentificationKnowledge, name: str, prefix: int | None) -> tuple[Ints, int]:
    """A column of T with that of S below it as numbers from 0, and how many numbers there are."""
    tables = (knowledge.original, knowledge.released)
    if name in ("month", "date"):
        values = [months(table) if name == "month" else table.codes["date"] for table in tables]
        return np.concatenate(values).astype(
            np.int64
        ), knowledge.calendar.months if name == "month" else knowledge.calendar.days
    if name == "id_item":
        words = [
            pl.Series(table.vocabularies[name], dtype=pl.String).str.slice(0, prefix)
            for table in tables
        ]
        known = pl.concat(words).unique().sort()
        lookup = [
            own.cast(pl.Enum(known)).to_physical().to_numpy().astype(np.int64) for own in words
        ]
        return np.concatenate(
            [own[table.codes[name]] for own, table in zip(lookup, tables, strict=True)]
        ), len(known)
    values = [
        comparable_prices(table) if name == "price" else table.codes[name] for table in tables
    ]
    return renumbered(np.concatenate(values))


def renumbered(values: NDArray[Any]) -> tuple[Ints, int]:
    """Numbers from 0, equal for equal values, in the order in which these are first met; and how many there are.

    Examples
    --------
    >>> renumbered(np.array([70, -5, 70]))
    (array([0, 1, 0]), 2)
    """
    numbers, count = _first_met(values.astype(np.int64))
    return numbers, int(count)


@compiled
def _first_met(values: Any) -> Any:  # pragma: no cover
    """The loop of ``renumbered``: a table with open addressing that grows with what it holds, and so stays near the core."""
    numbers = np.empty(len(values), dtype=np.int64)
    known, count = np.empty(1024, dtype=np.int64), 0
    table = np.full(4096, -1, dtype=np.int64)  # four places for one value: hardly any two meet
    for row in range(len(values)):
        slot = _slot(table, known, values[row])
        if table[slot] < 0:
            if count == len(known):
                known = np.append(known, np.empty(count, dtype=np.int64))
                table = np.full(2 * len(table), -1, dtype=np.int64)
                for number in range(count):
                    table[_slot(table, known, known[number])] = number
                slot = _slot(table, known, values[row])
            table[slot], known[count] = count, values[row]
            count += 1
        numbers[row] = table[slot]
    return numbers, count


@compiled
def _slot(table: Any, known: Any, value: Any) -> Any:  # pragma: no cover
    """Where in the table the number of a value stands, or the free place where it would."""
    last = np.uint64(len(table) - 1)
    mixed = np.uint64(value)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(
        0x9E3779B97F4A7C15
    )  # round prices differ in their high bits only
    slot = (mixed ^ (mixed >> np.uint64(32))) & last
    while table[slot] >= 0 and known[table[slot]] != value:
        slot = (slot + np.uint64(1)) & last
    return slot


def _last_equal(original: Ints, released: Ints, span: int) -> NDArray[np.int32]:
    """For each key of T the last row of S that has it, -1 where none has, shape (rows of T,)."""
    last = np.full(span, NOBODY, dtype=np.int32)
    last[released] = np.arange(len(released))  # NumPy writes a repeated place in order
    return last[original]
