"""One table of several rows per person, as the attacks on pseudonyms take it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.audit.defaults import PERIODS
from kakurenbo.audit.frames import Frame
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.messages import Message

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Persons:
    """What tells the rows of one person.

    Attributes
    ----------
    column : str
        Names the person in original and holdout, the pseudonym in the release.
    time : str
        The column of dates, or of numbers of periods; empty where all rows are one period.
    period : str
        One of ``defaults.PERIODS``.
    key : Frame or None
        Columns ``column`` and ``pseudonym``, and the time column where a pseudonym changes hands.
    """

    column: str
    time: str = ""
    period: str = "month"
    key: Frame | None = None

    def __post_init__(self) -> None:
        if self.period not in PERIODS:
            raise ParameterError(
                "period", Message("expects.choices", {"choices": PERIODS}), self.period
            )
        if self.time == self.column:
            raise ParameterError("time", Message("expects.other_column_than_people"), self.time)


def persons_of(column: str, time: str, period: str, key: Frame | None) -> Persons | None:
    """What was told of people; None where every row is one.

    Raises
    ------
    ParameterError
        Where times or a key are given, but no column of people.
    """
    if column:
        return Persons(column, time, period, key)
    for name, given in (("time", time), ("key", None if key is None else key.name)):
        if given:
            raise ParameterError(name, Message("expects.with_person"), given)
    return None


@dataclass(frozen=True, eq=False)
class Rows:
    """One table.

    Attributes
    ----------
    frame : Frame
        Without deleted rows.
    names : tuple of str
        People or pseudonyms, sorted.
    owner : array of int64, shape (n,)
        Position in ``names``.
    period : array of int64, shape (n,)
        Numbered from 0 over all tables; ``NEVER`` where a released row tells no time.
    time : array of int64, shape (n,)
    lines : array of int64, shape (n,)
        Records of the file, from 0.
    length : int
        Records of the file, deleted ones among them.
    """

    frame: Frame
    names: tuple[str, ...]
    owner: Ints
    period: Ints
    time: Ints
    lines: Ints
    length: int
