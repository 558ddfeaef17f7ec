"""The row model of any table: how well each released row explains what is known of a person, whatever columns that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kakurenbo.audit.encoding import Coded, Codes, Floats
from kakurenbo.audit.engine import likelihoods
from kakurenbo.audit.mechanism import transitions


@dataclass(frozen=True, eq=False)
class RowModel:
    """P(released row | person), column by column.

    Attributes
    ----------
    release : array of int32, shape (m, columns)
    matrices : list of arrays, shape (size, released)
        P(released code | original code).
    """

    release: Codes
    matrices: list[Floats]

    @classmethod
    def of(cls, coded: Coded, pool: Codes) -> RowModel:
        """The model of a release, its noise estimated by people of whom nobody knows whether they are members."""
        return cls(coded.release, transitions(coded, pool))

    def blocks(self, people: Codes, places: Sequence[int]) -> Iterator[Floats]:
        """P(row | what is known of each person), shape (block, n), for one block of released rows after the other."""
        own = list(places)
        return likelihoods(people[:, own], self.release[:, own], [self.matrices[place] for place in own])


def as_if_released(coded: Coded, people: Codes) -> Coded:
    """The same tables with people of the holdout in the place of the released rows: what anybody learns from others."""
    columns = tuple(
        replace(column, covers=np.eye(column.size, dtype=bool), exact=np.arange(column.size, dtype=np.int32))
        for column in coded.columns
    )
    return replace(coded, columns=columns, release=people)
