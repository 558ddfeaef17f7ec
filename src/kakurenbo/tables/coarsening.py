"""Wide columns numbered anew: what needs a number per value of a domain works on any domain, as finely as the data allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.tables.schema import Codes, Column, Integer, Schema
from kakurenbo.tables.table import Table


@dataclass(frozen=True, eq=False)
class Coarsening:
    """Groups of neighbouring codes for the columns of more than so many values; the other columns stay as they are.

    Attributes
    ----------
    schema : Schema
        Of a coarsened table: a wide column is a range of integers, the numbers of its groups.
    firsts : mapping of column name to array of int64, shape (groups,)
        For each wide column the lowest code of every group, ascending.
    """

    schema: Schema
    firsts: dict[str, NDArray[np.int64]]

    @classmethod
    def of(cls, tables: Sequence[Table], most: int) -> Coarsening:
        """Groups for tables of one schema: a group per value that occurs or, where those are more than ``most``, groups of
        about equally many values that occur.
        """
        columns: list[Column] = []
        firsts = {}
        for column in tables[0].schema:
            if column.size is not None and column.size > most:
                values = np.unique(np.concatenate([table.codes[column.name] for table in tables]))
                firsts[column.name] = values[:: -(-len(values) // most)].astype(np.int64)
                columns.append(Integer(column.name, 0, len(firsts[column.name]) - 1))
            else:
                columns.append(column)
        return cls(Schema(columns), firsts)

    def apply(self, table: Table) -> Table:
        """One of the tables that the groups were made for, coarsened."""
        groups = {name: self.groups(name, table.codes[name]) for name in self.firsts}
        return Table(self.schema, {**table.codes, **groups}, table.vocabularies)

    def groups(self, name: str, codes: Codes) -> NDArray[np.int64]:
        """The group of each code of a wide column."""
        return np.searchsorted(self.firsts[name], codes, side="right") - 1

    def undo(self, coarse: Table, source: Table, rng: np.random.Generator) -> Table:
        """A table of ``source``'s schema: in place of each group the code of a random row of ``source`` in that group."""
        codes = dict(coarse.codes)
        for name in self.firsts:
            groups = self.groups(name, source.codes[name])
            order = np.argsort(groups, kind="stable")
            ends = np.cumsum(np.bincount(groups, minlength=len(self.firsts[name])))
            begins = np.concatenate(([0], ends[:-1]))
            places = rng.integers(begins[coarse.codes[name]], ends[coarse.codes[name]])
            codes[name] = source.codes[name][order[places]]
        return Table(source.schema, codes, coarse.vocabularies)
