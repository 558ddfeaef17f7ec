"""Local differential privacy cell by cell: optimal local hashing (`olh`) and team 09's variation of it (`pseudo_olh`)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kakurenbo.anonymizers.ratings.split_files import FileStep
from kakurenbo.contest import Mechanism
from kakurenbo.core import Codes, Table
from kakurenbo.core.arrays import Floats, Rng
from kakurenbo.core.errors import ParameterError
from kakurenbo.data import ratings
from kakurenbo.methods.parameters import parameter

_LARGEST_EPSILON = 50.0
_BLOCK = 2048  # rows that are hashed at once


@dataclass(frozen=True)
class PseudoOLH(FileStep):
    """Keep a cell of a column with d values with probability e^eps / (e^eps + d - 1), else one of the others.

    The team's "pseudo OLH": the hash range is the column's own, so it is generalized randomized response. Every cell is
    randomized by itself, with an epsilon for all columns or one per column.
    """

    epsilon: float = parameter(
        2.0, "privacy budget of a cell; smaller hides more", low=0, high=_LARGEST_EPSILON
    )
    columns: str = parameter("", "budgets of single columns, such as ZIP-code=6/Gender=1")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._budgets()

    def mechanism(self, table: Table) -> Mechanism:
        budgets = self._columns(table)
        return Mechanism({name: self._transition(*budget) for name, budget in budgets.items()})

    def _treat_file(self, original: Table, current: Table, rng: Rng) -> Table:
        changed = {}
        for name, budget in self._columns(current).items():
            codes = current.codes[name].astype(np.int64)
            changed[name] = self._randomized(codes, *budget, rng)
        return current.with_codes(changed)

    def _columns(self, table: Table) -> dict[str, tuple[int, float]]:
        """Return the size and the epsilon of each column."""
        budgets = self._budgets()
        columns = (column for column in table.schema if column.name != ratings.NAME)
        return {c.name: (c.size or 0, budgets.get(c.name, self.epsilon)) for c in columns}

    def _budgets(self) -> dict[str, float]:
        expectation = f"COLUMN=BUDGET/COLUMN=BUDGET/... with budgets from 0 to {_LARGEST_EPSILON:g}"
        budgets = {}
        for part in filter(None, self.columns.split("/")):
            name, _, text = part.partition("=")
            try:
                budgets[name] = float(text)
            except ValueError:
                budgets[name] = math.nan
            is_known = name in ratings.ATTRIBUTES + ratings.MOVIES
            if not is_known or not 0 <= budgets[name] <= _LARGEST_EPSILON:
                raise ParameterError("columns", expectation, part)
        return budgets

    def _randomized(self, codes: Codes, size: int, epsilon: float, rng: Rng) -> Codes:
        """Return released codes of a column."""
        if size == 1:
            return codes
        keep = rng.random(len(codes)) < math.exp(epsilon) / (math.exp(epsilon) + size - 1)
        other = (codes + rng.integers(1, size, size=len(codes))) % size
        return np.where(keep, codes, other)

    def _transition(self, size: int, epsilon: float) -> Floats:
        """P(released | original), shape (size, size)."""
        stay, other = self._probabilities(size, epsilon)
        return np.full((size, size), other) + np.eye(size) * (stay - other)

    def _probabilities(self, size: int, epsilon: float) -> tuple[float, float]:
        """Return P(the original value) and P(one particular other value)."""
        other = 1 / (math.exp(epsilon) + size - 1)
        return math.exp(epsilon) * other, other


@dataclass(frozen=True)
class OLH(PseudoOLH):
    """Optimal local hashing: hash the value to g = e^eps + 1 cells, randomize the hash, release a value of that cell.

    Every cell of the table has a hash function of its own. A release holds values, not hashes, so one of the values that
    the reported hash stands for is drawn; where there is none, any value.
    """

    def _randomized(self, codes: Codes, size: int, epsilon: float, rng: Rng) -> Codes:
        released = np.empty_like(codes)
        cells = _hash_range(epsilon)
        for begin in range(0, len(codes), _BLOCK):
            block = codes[begin : begin + _BLOCK]
            hashes = rng.integers(cells, size=(len(block), size))  # a random function per row
            hashed = hashes[np.arange(len(block)), block]
            reported = super()._randomized(hashed, cells, epsilon, rng)
            # The largest random number among the values with the reported hash picks one of them at random.
            marks = rng.random((len(block), size)) + (hashes == reported[:, None])
            released[begin : begin + _BLOCK] = marks.argmax(axis=1)
        return released

    def _probabilities(self, size: int, epsilon: float) -> tuple[float, float]:
        """With probability p the true hash is reported: then the value is one of 1 + Binomial(size - 1, 1/g) candidates.

        Else another hash is reported, whose candidates are others; only when there are none, any value is drawn.
        """
        cells = _hash_range(epsilon)
        p, share = math.exp(epsilon) / (math.exp(epsilon) + cells - 1), 1 / cells
        drawn = (1 - (1 - share) ** size) / (size * share)  # E[1 / (1 + Binomial(size - 1, share))]
        none = (1 - share) ** (size - 1)  # no other value has the reported wrong hash
        stay = p * drawn + (1 - p) * none / size
        return stay, (1 - stay) / (size - 1) if size > 1 else 0.0


def _hash_range(epsilon: float) -> int:
    """g = e^eps + 1, rounded; more cells than this tell values apart anyhow."""
    return min(2**31, round(math.exp(epsilon)) + 1)
