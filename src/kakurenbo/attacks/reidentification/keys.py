"""Baselines F1..F6 of darc2019: a row of S belongs to the customer of a row of T that has the same key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from kakurenbo.attacks.reidentification import ReidentificationGuess, ReidentificationKnowledge
from kakurenbo.contracts import Attack
from kakurenbo.datasets.transactions import months
from kakurenbo.parameters import parameter
from kakurenbo.tables import Table

KEYS = {
    1: ("date", "qty"),
    2: ("id_item", "price"),
    3: ("id_item", "qty"),
    4: ("id_item", "date"),
    5: ("id_item", "price", "qty"),
    6: ("id_item", "date", "qty"),
}
EVALUATOR_KEYS = {**KEYS, 6: ("id_item", "date", "price")}
ITEM_PREFIX = 2  # characters of an item that a key of the rules looks at


@dataclass(frozen=True)
class KeyMatch(Attack[ReidentificationKnowledge, ReidentificationGuess]):
    """Match rows of S and T on a key (baselines 1 to 6); where a key or a cell is met again, the last row wins.

    Mode ``rules`` looks at the first two characters of an item and takes pseudonyms of the row's own month. Mode ``aicrowd``
    is the competition's evaluator: whole items, any month, and price instead of quantity in baseline 6.
    """

    knowledge: ClassVar[type] = ReidentificationKnowledge
    number: int = parameter(4, "which baseline", low=1, high=6)
    mode: str = parameter("rules", "keys of the rules or of the competition's evaluator", choices=("rules", "aicrowd"))

    def __call__(self, knowledge: ReidentificationKnowledge, rng: np.random.Generator) -> ReidentificationGuess:
        names: tuple[str, ...] = (KEYS if self.mode == "rules" else EVALUATOR_KEYS)[self.number]
        original, released = _frames(
            (knowledge.original, knowledge.released), names, ITEM_PREFIX if self.mode == "rules" else None
        )
        if self.mode == "rules":
            names = (*names, "month")
        last = released.unique(names, keep="last").select(*names, pseudonym="owner")
        found = original.join(last, on=names, how="inner", maintain_order="left")
        guess = ReidentificationGuess.blank(knowledge)
        cells = guess.cells[:, :, 0].copy()
        # NumPy writes a repeated place in order: the last row of T in a cell stays.
        cells[found["owner"].to_numpy(), found["month"].to_numpy()] = found["pseudonym"].to_numpy()
        guess.cells[:, :, 0] = cells
        return guess


def _frames(tables: tuple[Table, Table], names: tuple[str, ...], prefix: int | None) -> list[pl.DataFrame]:
    """Owner, month and key columns of both tables, items as numbers that mean the same in both."""
    words = [pl.Series(table.vocabularies["id_item"], dtype=pl.String).str.slice(0, prefix) for table in tables]
    numbers = pl.Enum(pl.concat(words).unique().sort())
    frames = []
    for table, own in zip(tables, words, strict=True):
        columns: dict[str, Any] = {"owner": table.codes["id_user"], "month": months(table)}
        for name in names:
            item = name == "id_item"
            columns[name] = own.cast(numbers).to_physical().gather(table.codes[name]) if item else table.codes[name]
        frames.append(pl.DataFrame(columns))
    return frames
