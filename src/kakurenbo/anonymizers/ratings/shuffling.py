"""Moving values between rows of a file: whole rows, columns, within groups, or single cells (the contest's sample)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kakurenbo.anonymizers.ratings.files import UNTOUCHED, FileStep
from kakurenbo.contracts import Mechanism
from kakurenbo.datasets.ratings import ATTRIBUTES, MOVIES
from kakurenbo.errors import ParameterError
from kakurenbo.parameters import parameter
from kakurenbo.tables import Table


@dataclass(frozen=True)
class ShuffleRows(FileStep):
    """Put the rows in random order, another one in each file, so that files cannot be joined row by row."""

    def _treat_file(self, original: Table, current: Table, rng: np.random.Generator) -> Table:
        return current.take(rng.permutation(len(current)))

    def mechanism(self, table: Table) -> Mechanism:
        return UNTOUCHED  # rows move, cells keep what they have


@dataclass(frozen=True)
class PermuteColumns(FileStep):
    """Permute every column by itself: how often values occur stays, nothing else does."""

    def _treat_file(self, original: Table, current: Table, rng: np.random.Generator) -> Table:
        return current.with_codes({name: rng.permutation(current.codes[name]) for name in current.schema.names})


@dataclass(frozen=True)
class GroupShuffle(FileStep):
    """Shuffle each movie's ratings among the people who agree in some attributes, as the contest's sample did."""

    groups: tuple[str, ...] = parameter(("Gender", "Age"), "attributes in which people must agree")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not set(self.groups) <= set(ATTRIBUTES):
            raise ParameterError("groups", f"some of {', '.join(ATTRIBUTES)}", self.groups)

    def _treat_file(self, original: Table, current: Table, rng: np.random.Generator) -> Table:
        keys = current.keys(self.groups)
        home = np.argsort(keys, kind="stable")
        changed = {}
        for name in current.schema.names:
            if name in MOVIES:
                # Sorted by group and, within it, at random: a random order of each group.
                order = np.lexsort((rng.random(len(keys)), keys))
                codes = current.codes[name].copy()
                codes[home] = current.codes[name][order]
                changed[name] = codes
        return current.with_codes(changed)


@dataclass(frozen=True)
class SwapCells(FileStep):
    """Swap two cells of a random column, again and again, as the contest's sample did."""

    swaps: int = parameter(1000, "pairs of cells to swap in each file", low=0, high=10_000_000)

    def _treat_file(self, original: Table, current: Table, rng: np.random.Generator) -> Table:
        codes = {name: current.codes[name].copy() for name in current.schema.names}
        chosen = rng.integers(len(codes), size=self.swaps)
        for index, name in enumerate(current.schema.names):
            column = codes[name]
            for first, second in _pairs(len(current), int((chosen == index).sum()), rng):
                column[first], column[second] = column[second], column[first]
        return current.with_codes(codes)


def _pairs(rows: int, count: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Pairs of different rows; later swaps may move the same cell again, so they happen one after the other."""
    if rows < 2:
        return []
    first = rng.integers(rows, size=count)
    second = (first + rng.integers(1, rows, size=count)) % rows
    return list(zip(first.tolist(), second.tolist(), strict=True))
