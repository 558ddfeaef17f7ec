"""Baseline F7 of darc2019: pseudonyms that bought the same items, |a & t| / |t| on the item sets of a month."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from kakurenbo.attacks.reidentification import (
    GUESSES,
    NOBODY,
    ReidentificationGuess,
    ReidentificationKnowledge,
)
from kakurenbo.attacks.reidentification.matching import Scores, assigned_three, write_month
from kakurenbo.attacks.reidentification.monthly import Month, months_of
from kakurenbo.contest import Attack
from kakurenbo.core import Table
from kakurenbo.core.compiling import compiled
from kakurenbo.data.transactions import Calendar
from kakurenbo.methods.parameters import parameter

_EVALUATOR_BLIND_DAY = datetime.date(
    2010, 12, 31
)  # the evaluator's window of that month leaves it out


@dataclass(frozen=True)
class Overlap(Attack[ReidentificationKnowledge, ReidentificationGuess]):
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
                knowledge, original=_seen(knowledge.original), released=_seen(knowledge.released)
            )
        guess = ReidentificationGuess.blank(knowledge)
        for month in months_of(knowledge):
            if self.one_to_one:
                places = assigned_three(_overlaps(month))
            else:
                customers, pseudonyms = month.item_sets()
                holders = pseudonyms.tocsc()
                places = _three_most_shared(
                    (customers.indptr, customers.indices),
                    (holders.indptr, holders.indices),
                    pseudonyms.shape[0],
                )
            write_month(guess, month, places)
        return guess


def _overlaps(month: Month) -> Scores:
    """|a & t|, shape (customers, pseudonyms); |t| does not change a customer's order."""
    customers, pseudonyms = month.item_sets()
    return np.asarray((customers @ pseudonyms.T).toarray(), dtype=np.float32)


@compiled
def _three_most_shared(customers: Any, holders: Any, pseudonyms: int) -> Any:  # pragma: no cover
    """Columns of the three largest overlaps of each customer, ties by column; -1 where there are fewer, shape (n, 3).

    ``customers`` has the items of each customer, ``holders`` the pseudonyms of each item, both as (starts, entries).
    """
    found = np.full((len(customers[0]) - 1, GUESSES), NOBODY, dtype=np.int64)
    shared = np.zeros(pseudonyms, dtype=np.int32)
    for customer in range(len(found)):
        shared[:] = 0
        for item in customers[1][customers[0][customer] : customers[0][customer + 1]]:
            for holder in holders[1][holders[0][item] : holders[0][item + 1]]:
                shared[holder] += 1
        best = np.full(GUESSES, -1, dtype=np.int32)
        for column in range(pseudonyms):
            if shared[column] > best[GUESSES - 1]:
                place = GUESSES - 1
                while place > 0 and shared[column] > best[place - 1]:
                    best[place], found[customer, place] = (
                        best[place - 1],
                        found[customer, place - 1],
                    )
                    place -= 1
                best[place], found[customer, place] = shared[column], column
    return found


def _seen(table: Table) -> Table:
    return table.take(table.codes["date"] != Calendar.of(table).day(_EVALUATOR_BLIND_DAY))
