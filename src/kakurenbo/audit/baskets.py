"""Two tables of several rows per person, period by period, in the form that the attacks on pseudonyms of contests take.

Which columns are items, numbers and words follows from the schema; the attacks themselves know no column by its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.attacks.reidentification.months import Month, Side, Vector
from kakurenbo.audit.clock import NEVER
from kakurenbo.audit.encoding import encode
from kakurenbo.audit.persons import Ints, Rows
from kakurenbo.audit.schema import TableSchema
from kakurenbo.audit.tracing import released_form

ITEM, TIME, SIZE = "item", "date", "size"
_MOST_PAIRS = 40_000_000  # people by pseudonyms of a period that are compared at once
_FEWEST_PEOPLE = 40  # of them in any case
_KNOWN = 0.5  # share of released values that must occur in the original, or values are taken to be coarser


@dataclass(frozen=True)
class Fields:
    """What the rows of two tables are compared by, in the order in which the attacks weigh it.

    Attributes
    ----------
    item : str
        The column of words with most values; empty where there is none.
    words, amounts, counts : tuple of str
        Columns of other words, of decimals, and of whole numbers.
    timed : bool
        Whether rows have a time.
    """

    item: str
    words: tuple[str, ...]
    amounts: tuple[str, ...]
    counts: tuple[str, ...]
    timed: bool

    @classmethod
    def of(cls, schema: TableSchema, names: Sequence[str], *, timed: bool) -> Fields:
        """By the kinds of the columns ``names``."""
        kinds = {
            kind: [name for name in names if schema[name].kind == kind]
            for kind in ("decimal", "integer")
        }
        words = [name for name in names if schema[name].kind in ("category", "text", "date")]
        item = max(words, key=lambda name: len(schema[name].levels) or len(names), default="")
        others = tuple(name for name in words if name != item)
        return cls(item, others, tuple(kinds["decimal"]), tuple(kinds["integer"]), timed)

    @property
    def vectors(self) -> dict[str, Vector]:
        """Numbers of a basket in ascending order: amounts are thought to be less noisy than counts."""
        found = {f"sorted {name}": Vector(name, 0.15, counted=False) for name in self.amounts}
        return {
            **found,
            **{f"sorted {name}": Vector(name, 0.4, counted=True) for name in self.counts},
        }

    @property
    def all(self) -> tuple[str, ...]:
        """Everything, items first: the first field leads."""
        numbers = (*self.amounts, *self.counts)
        return (
            *self._leading,
            *((TIME,) if self.timed else ()),
            *numbers,
            *self.words,
            SIZE,
            *self.vectors,
        )

    @property
    def profile(self) -> tuple[str, ...]:
        """What is left where items tell nothing."""
        numbers = self.amounts or self.counts
        return (*numbers, *((TIME,) if self.timed else ()), SIZE)

    @property
    def _leading(self) -> tuple[str, ...]:
        return (ITEM,) if self.item else ()


def paired_periods(
    schema: TableSchema, fields: Fields, people: Rows, release: Rows, periods: int
) -> list[Month]:
    """The periods in which both tables have rows; some people of those that have too many."""
    values = [_values(schema, fields, people, release, side) for side in (0, 1)]
    items = 1 + max((int(part[ITEM].max()) for part in values if ITEM in part), default=0)
    sides = [
        _by_period(rows, part, periods)
        for rows, part in zip((people, release), values, strict=True)
    ]
    found = []
    for number, (original, released) in enumerate(zip(*sides, strict=True)):
        if len(original.owners) and len(released.owners):
            period = Month(number, original, released, items, fields.vectors)
            most = max(_FEWEST_PEOPLE, _MOST_PAIRS // len(released.owners))
            found.append(period.with_customers(most) if len(original.owners) > most else period)
    return found


def _by_period(rows: Rows, values: dict[str, NDArray[np.generic]], periods: int) -> list[Side]:
    order = np.argsort(rows.period, kind="stable")
    starts = np.searchsorted(rows.period[order], np.arange(periods + 1))
    sides = []
    for number in range(periods):
        own = order[starts[number] : starts[number + 1]]
        owners, owner = np.unique(rows.owner[own], return_inverse=True)
        sides.append(Side(owners, owner, {name: column[own] for name, column in values.items()}))
    return sides


def _values(
    schema: TableSchema, fields: Fields, people: Rows, release: Rows, side: int
) -> dict[str, NDArray[np.generic]]:
    """The fields of one of the two tables, each comparable with the other's, shape (rows,)."""
    tables = (people, release)
    found: dict[str, NDArray[np.generic]] = {}
    for name in (*fields.amounts, *fields.counts):
        numbers = [schema[name].numbers(rows.frame.cells[name]) for rows in tables]
        if numbers[1].null_count() > _KNOWN * len(numbers[1]):
            found[name] = _coarser(schema, name, people, release)[side].astype(np.float64)
        else:
            found[name] = numbers[side].fill_null(0.0).to_numpy()
    for name in (fields.item, *fields.words):
        if name:
            found[ITEM if name == fields.item else name] = _word_codes(
                schema, name, people, release
            )[side]
    if fields.timed:
        found[TIME] = np.where(tables[side].time == NEVER, -1, tables[side].time)
    return found


def _word_codes(schema: TableSchema, name: str, people: Rows, release: Rows) -> tuple[Ints, Ints]:
    """Positions in the sorted words of the first table; a word that it lacks has the place after the last."""
    ours, theirs = (rows.frame.cells[name] for rows in (people, release))
    words = ours.unique().sort()
    if theirs.unique().is_in(words.implode()).mean() < _KNOWN:  # type: ignore[operator]  # a share, as it is of no null
        return _coarser(schema, name, people, release)
    known = {word: code for code, word in enumerate(words.to_list())}
    codes = [
        texts.replace_strict(known, default=len(known), return_dtype=pl.Int64).to_numpy()
        for texts in (ours, theirs)
    ]
    return codes[0], codes[1]


def _coarser(schema: TableSchema, name: str, people: Rows, release: Rows) -> tuple[Ints, Ints]:
    """Both as the release shows them, where that is bands, prefixes or lists of values."""
    coded = encode(
        replace(schema, columns=(schema[name],)), [name], people.frame, release.frame, None
    )
    return released_form(coded, coded.original)[:, 0].astype(np.int64), coded.release[:, 0].astype(
        np.int64
    )
