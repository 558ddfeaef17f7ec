"""Steps that work on a contest's ten files of the same people, alone or one after the other.

A step sees the original beside what earlier steps made of it, so that a repair can bring the tables back together.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kakurenbo.datasets import ratings
from kakurenbo.errors import ParameterError
from kakurenbo.parameters import parameter
from kakurenbo.protocols import Anonymizer, Mechanism, Release
from kakurenbo.tables import Table

UNTOUCHED = Mechanism({})
"""Every cell as it was."""


@dataclass(frozen=True, eq=False)
class Draft:
    """A release in the making.

    Attributes
    ----------
    original, current : tuple of Table
        One table of all columns but the name, or the ten files; both in the same state.
    mechanism : Mechanism or None
        How cells were randomized so far, where every step that touched them says so.
    """

    original: tuple[Table, ...]
    current: tuple[Table, ...]
    mechanism: Mechanism | None

    @classmethod
    def of(cls, table: Table) -> Draft:
        """The beginning: nothing changed, nothing split, the names left out."""
        table = table.select(name for name in table.schema.names if name != ratings.NAME)
        return cls((table,), (table,), UNTOUCHED)

    def split(self) -> Draft:
        """The same draft as ten files."""
        if ratings.is_split(self.current):
            return self
        (original,), (current,) = self.original, self.current
        return replace(self, original=ratings.split(original), current=ratings.split(current))

    def release(self) -> Release:
        return Release(self.current, self.mechanism)


@dataclass(frozen=True)
class FileStep(Anonymizer):
    """A step that treats each file by itself, or once the whole table from which the files are then cut."""

    rulebooks: ClassVar[tuple[str, ...]] = ("pwscup2024",)
    per_file: bool = parameter(True, "treat each of the ten files by itself; false: the whole table, before it is split")

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        return self.refine(Draft.of(table), rng).release()

    def refine(self, draft: Draft, rng: np.random.Generator) -> Draft:
        """Take the draft one step further."""
        if self.per_file:
            draft = draft.split()
        elif ratings.is_split(draft.current):
            raise ParameterError("per_file", "true after a step that split the files", self.per_file)
        tables = self._treat(draft.original, draft.current, rng.spawn(len(draft.current)))
        own = [self.mechanism(table) for table in draft.current]
        return Draft(draft.original, tables, chained(draft.mechanism, _joined(own)))

    def _treat(
        self, original: Sequence[Table], current: Sequence[Table], streams: Sequence[np.random.Generator]
    ) -> tuple[Table, ...]:
        """All files; each has a stream of its own, so that none depends on the others."""
        return tuple(self._treat_file(*each) for each in zip(original, current, streams, strict=True))

    @abstractmethod
    def _treat_file(self, original: Table, current: Table, rng: np.random.Generator) -> Table:
        """One file."""


def chained(*steps: Mechanism | None) -> Mechanism | None:
    """One mechanism after the other; unknown where one of them is."""
    transitions: dict[str, NDArray[np.float64]] = {}
    for step in steps:
        if step is None:
            return None
        for name, matrix in step.transitions.items():
            transitions[name] = transitions[name] @ matrix if name in transitions else matrix
    return Mechanism(transitions)


def _joined(parts: Sequence[Mechanism | None]) -> Mechanism | None:
    """The mechanism of all files from those of each; a column of several files was treated alike in all of them."""
    transitions: dict[str, NDArray[np.float64]] = {}
    for part in parts:
        if part is None:
            return None
        transitions |= part.transitions
    return Mechanism(transitions)
