"""Steps that work on a contest's ten files of the same people, and those that move values between rows of a file."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from kakurenbo.anonymizers.tables.swap import Permute, shuffle_within
from kakurenbo.contest import Anonymizer, Mechanism, Release, has_columns
from kakurenbo.core import Schema, Table
from kakurenbo.core.arrays import Floats, Rng
from kakurenbo.core.errors import ParameterError
from kakurenbo.data import ratings
from kakurenbo.methods.parameters import parameter

_UNCHANGED = Mechanism({})


@dataclass(frozen=True)
class FileStep(Anonymizer):
    """A step that treats each file by itself, or once the whole table from which the files are then cut.

    It sees the original beside what earlier steps made of it, so that a repair can bring the tables back together.
    """

    per_file: bool = parameter(
        True, "treat each of the ten files by itself; false: the whole table, before it is split"
    )

    @classmethod
    def accepts(cls, schema: Schema) -> bool:
        return has_columns(schema, ratings.widest_schema(names=False))

    def __call__(self, table: Table, rng: Rng) -> Release:
        return self.after(table, Release.of(table, _UNCHANGED), rng)

    def after(self, original: Table, release: Release, rng: Rng) -> Release:
        files = self.files(original, release, rng)
        tables = tuple(self._treat_file(*each) for each in files)
        # A column of several files is treated alike in all of them.
        transitions: dict[str, Floats] = {}
        mechanism = release.mechanism
        for _, current, _ in files if mechanism is not None else ():
            part = self.mechanism(current)
            if part is None:
                return Release(tables)
            transitions |= part.transitions
        return Release(tables, mechanism and mechanism.then(Mechanism(transitions)))

    def files(self, original: Table, release: Release, rng: Rng) -> list[tuple[Table, Table, Rng]]:
        """Return the original's table, the one that earlier steps made of it, and a stream, for each file that is treated."""
        before, *now = (
            table.select(name for name in table.schema.names if name != ratings.NAME)
            for table in (original, *release.tables)
        )
        is_split = ratings.is_split(tuple(now))
        if is_split and not self.per_file:
            raise ParameterError(
                "per_file", "true after a step that split the files", self.per_file
            )
        tables = ratings.split(before) if self.per_file else (before,)
        current = now if is_split or not self.per_file else ratings.split(now[0])
        return list(zip(tables, current, rng.spawn(len(current)), strict=True))

    @abstractmethod
    def _treat_file(self, original: Table, current: Table, rng: Rng) -> Table:
        """Return what becomes of one file."""


@dataclass(frozen=True)
class ShuffleRows(FileStep):
    """Put the rows in random order, another one in each file, so that files cannot be joined row by row."""

    def _treat_file(self, original: Table, current: Table, rng: Rng) -> Table:
        return current.take(rng.permutation(len(current)))

    def mechanism(self, table: Table) -> Mechanism:
        return _UNCHANGED


@dataclass(frozen=True)
class PermuteColumns(FileStep):
    """Permute every column by itself: how often values occur stays, nothing else does."""

    def _treat_file(self, original: Table, current: Table, rng: Rng) -> Table:
        return Permute()(current, rng).table


@dataclass(frozen=True)
class GroupShuffle(FileStep):
    """Shuffle each movie's ratings among the people who agree in some attributes, as the contest's sample did."""

    groups: tuple[str, ...] = parameter(("Gender", "Age"), "attributes in which people must agree")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not set(self.groups) <= set(ratings.ATTRIBUTES):
            raise ParameterError("groups", f"some of {', '.join(ratings.ATTRIBUTES)}", self.groups)

    def _treat_file(self, original: Table, current: Table, rng: Rng) -> Table:
        keys = current.keys(self.groups)
        movies = [name for name in current.schema.names if name in ratings.MOVIES]
        return current.with_codes({n: current.codes[n][shuffle_within(keys, rng)] for n in movies})


@dataclass(frozen=True)
class SwapCells(FileStep):
    """Swap two cells of a random column, again and again, as the contest's sample did."""

    swaps: int = parameter(1000, "pairs of cells to swap in each file", low=0, high=10_000_000)

    def _treat_file(self, original: Table, current: Table, rng: Rng) -> Table:
        names, rows = current.schema.names, len(current)
        swaps = np.bincount(rng.integers(len(names), size=self.swaps), minlength=len(names))
        codes = {name: current.codes[name].copy() for name in names}
        for name, count in zip(names, swaps.tolist(), strict=True):
            if rows < 2:
                break
            first = rng.integers(rows, size=count)
            second = (first + rng.integers(1, rows, size=count)) % rows
            column = codes[name]
            # One after the other: later swaps may move the same cell again.
            for left, right in zip(first.tolist(), second.tolist(), strict=True):
                column[left], column[right] = column[right], column[left]
        return current.with_codes(codes)
