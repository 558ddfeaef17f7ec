"""Steps that work on a contest's ten files of the same people: each file by itself, or the whole table before it is split."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.contracts import Anonymizer, Mechanism, Release, has_columns
from kakurenbo.datasets import ratings
from kakurenbo.errors import ParameterError
from kakurenbo.parameters import parameter
from kakurenbo.tables import Schema, Table

UNTOUCHED = Mechanism({})
"""Every cell as it was."""


@dataclass(frozen=True)
class FileStep(Anonymizer):
    """A step that treats each file by itself, or once the whole table from which the files are then cut.

    It sees the original beside what earlier steps made of it, so that a repair can bring the tables back together.
    """

    per_file: bool = parameter(True, "treat each of the ten files by itself; false: the whole table, before it is split")

    @classmethod
    def accepts(cls, schema: Schema) -> bool:
        return has_columns(schema, ratings.widest_schema(names=False))

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        return self.after(table, Release.of(table, UNTOUCHED), rng)

    def after(self, original: Table, release: Release, rng: np.random.Generator) -> Release:
        files = self.files(original, release, rng)
        tables = tuple(self._treat_file(*each) for each in files)
        known = release.mechanism
        if known is not None:
            known = known.then(_of_all([self.mechanism(current) for _, current, _ in files]))
        return Release(tables, known)

    def files(
        self, original: Table, release: Release, rng: np.random.Generator
    ) -> list[tuple[Table, Table, np.random.Generator]]:
        """What is treated by itself: the original's table, the one that earlier steps made of it, and a stream for it alone."""
        before: tuple[Table, ...] = (_without_names(original),)
        now = tuple(map(_without_names, release.tables))
        if ratings.is_split(now) and not self.per_file:
            raise ParameterError("per_file", "true after a step that split the files", self.per_file)
        if self.per_file:
            before = ratings.split(before[0])
            now = now if ratings.is_split(now) else ratings.split(now[0])
        return list(zip(before, now, rng.spawn(len(now)), strict=True))

    @abstractmethod
    def _treat_file(self, original: Table, current: Table, rng: np.random.Generator) -> Table:
        """One file."""


def _without_names(table: Table) -> Table:
    return table.select(name for name in table.schema.names if name != ratings.NAME)


def _of_all(parts: Sequence[Mechanism | None]) -> Mechanism | None:
    """The mechanism of all files from those of each; a column of several files was treated alike in all of them."""
    transitions: dict[str, NDArray[np.float64]] = {}
    for part in parts:
        if part is None:
            return None
        transitions |= part.transitions
    return Mechanism(transitions)
