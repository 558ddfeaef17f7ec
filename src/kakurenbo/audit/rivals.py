"""A rival, who knows the method: rehearses it on people of her own choice, and learns from what it did to them.

She holds a population table, draws half of it by lot, releases that half by the same method, and knows of each rehearsal who
was in it. What tells members there tells them in the real release (Shokri et al., "Membership inference attacks against machine
learning models", 2017).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.audit.anonymizing import anonymized
from kakurenbo.audit.frames import Frame
from kakurenbo.audit.methods import check_fit
from kakurenbo.audit.schema import TableSchema
from kakurenbo.contest import Anonymizer
from kakurenbo.core import InputError, rng
from kakurenbo.core.errors import UsageError

REHEARSALS = 4
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """A release that the rival made.

    Attributes
    ----------
    release : Frame
    members : array of bool, shape (n + h,)
        Which rows of the original, then of the holdout, it was made of.
    """

    release: Frame
    members: Flags

    def of(self, asked: NDArray[np.int64], controls: NDArray[np.int64], size: int) -> Flags:
        """Whether rows of an original of this size, and then of the holdout, were in it, shape (k,)."""
        return np.concatenate([self.members[:size][asked], self.members[size:][controls]])


def rehearsals(
    method: Anonymizer, tables: tuple[Frame, Frame, Frame], schema: TableSchema, seed: int
) -> tuple[Rehearsal, ...]:
    """Releases of halves of everybody, drawn by lot; of the columns that the real release has.

    Parameters
    ----------
    method : Anonymizer
    tables : Frames of the original, the release and the holdout
    schema : TableSchema
        Columns that it does not name take no part.
    seed : int

    Raises
    ------
    UsageError
        Where the method does not fit the table, or lacks a library.
    """
    original, release, holdout = tables
    names = [column for column in schema.names if column in release.columns]
    everybody = Frame(
        original.name, pl.concat([frame.cells.select(names) for frame in (original, holdout)]), ""
    )
    columns = schema.only(names)
    check_fit(everybody, columns, method)
    found = []
    for number in range(REHEARSALS):
        lot = rng.stream(seed, "audit", "rehearsal", str(number))
        members = np.zeros(len(everybody), dtype=bool)
        members[lot.permutation(len(everybody))[: len(everybody) // 2]] = True
        half = Frame(everybody.name, everybody.cells.filter(pl.Series(members)), "")
        try:
            cells, _ = anonymized(half, columns, method, lot)
        except InputError as error:
            raise UsageError(error.message) from error
        found.append(Rehearsal(Frame(f"rehearsal {number + 1}", cells, ""), members))
    return tuple(found)
