"""Baseline F7 of darc2019: pseudonyms that bought the same items, |a & t| / |t| on the item sets of a month."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reidentification import ReidentificationGuess, ReidentificationKnowledge
from kakurenbo.attacks.reidentification.matching import assigned_three, best_three, write_month
from kakurenbo.attacks.reidentification.monthly import Month, months_of
from kakurenbo.contracts import Attack
from kakurenbo.parameters import parameter
from kakurenbo.tables import Table

_BLOCK = 2048  # customers compared at once: bounds the memory of a large month
_EVALUATOR_BLIND_DAY = 30  # 2010/12/31, which the evaluator's window of that month leaves out


@dataclass(frozen=True)
class Overlap(Attack[ReidentificationKnowledge, ReidentificationGuess]):
    """The three pseudonyms that share most of a customer's items of the month (baseline 7), ties by pseudonym."""

    knowledge: ClassVar[type] = ReidentificationKnowledge
    mode: str = parameter("rules", "aicrowd leaves out 2010/12/31, as the evaluator did", choices=("rules", "aicrowd"))
    one_to_one: bool = parameter(False, "give every pseudonym of a month to one customer; the baseline does not")

    def __call__(self, knowledge: ReidentificationKnowledge, rng: np.random.Generator) -> ReidentificationGuess:
        if self.mode == "aicrowd":
            knowledge = replace(knowledge, original=_seen(knowledge.original), released=_seen(knowledge.released))
        guess = ReidentificationGuess.blank(knowledge)
        for month in months_of(knowledge):
            if self.one_to_one:
                places = assigned_three(np.concatenate(list(_overlaps(month))))
            else:
                places = np.concatenate([best_three(block) for block in _overlaps(month)])
            write_month(guess, month, places)
        return guess


def _overlaps(month: Month) -> Iterator[NDArray[np.float32]]:
    """|a & t|, customers by pseudonyms, in blocks of customers; |t| does not change a customer's order."""
    customers, pseudonyms = month.item_sets()
    across = pseudonyms.T.tocsr()
    for start in range(0, customers.shape[0], _BLOCK):
        yield (customers[start : start + _BLOCK] @ across).toarray()


def _seen(table: Table) -> Table:
    return table.take(table.codes["date"] != _EVALUATOR_BLIND_DAY)
