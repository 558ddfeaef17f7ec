"""Tables of several rows per person: whose each row is, which period it falls into, and whom each pseudonym stands for.

The unit is the person. Whom a pseudonym stands for is told by a key, by the order of the rows where the release still has
that of the original, or by the names where nobody changed them; without any of these, nobody could say what an attack hit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from kakurenbo.audit.clock import NEVER, Clock, is_left_out
from kakurenbo.audit.frames import Frame
from kakurenbo.audit.persons import Ints, Persons, Rows
from kakurenbo.audit.schema import MISSING
from kakurenbo.audit.truth import truth_of
from kakurenbo.core import InputError, gather
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.messages import Message, text
from kakurenbo.core.problems import ProblemCollector, Severity


@dataclass(frozen=True, eq=False)
class Transactions:
    """Original, release and holdout of several rows per person.

    Attributes
    ----------
    persons : Persons
    original, release : Rows
    holdout : Rows or None
    truth : array of int64, shape (k, 3), or None
        Person, period and pseudonym that belong together; None where nothing tells.
    periods : int
    """

    persons: Persons
    original: Rows
    release: Rows
    holdout: Rows | None
    truth: Ints | None
    periods: int

    @property
    def lasting(self) -> bool:
        """Whether every person has one pseudonym for all periods, which stands for nobody else."""
        if self.truth is None:
            return False
        pairs = np.unique(self.truth[:, [0, 2]], axis=0)
        return len(pairs) == len(np.unique(pairs[:, 0])) == len(np.unique(pairs[:, 1]))


def read_transactions(
    persons: Persons, original: Frame, release: Frame, holdout: Frame | None
) -> Transactions | None:
    """The tables by person; None where the release has no column of pseudonyms.

    Raises
    ------
    InputError
        With every problem and its place.
    ParameterError
        Where a column is named that the original or the holdout does not have.
    """
    people = [("original", original), *([("holdout", holdout)] if holdout is not None else [])]
    for what, name in (("person", persons.column), ("time", persons.time)):
        for role, frame in people:
            if name and name not in frame.columns:
                raise ParameterError(
                    what, Message(f"expects.column_of.{role}", {"columns": frame.columns}), name
                )
    if persons.column not in release.columns:
        return None
    timed = bool(persons.time) and persons.time in release.columns
    clock = Clock.of(original.cells[persons.time]) if timed else None
    own = [(frame, clock) for _, frame in people]
    theirs = (
        release,
        _released_clock(clock, release.cells[persons.time]) if clock is not None else None,
    )
    with gather() as problems:
        tables = [
            problems.of(_rows, persons, frame, ticking, released=False) for frame, ticking in own
        ]
        tables.append(problems.of(_rows, persons, *theirs, released=True))
    rows, periods = _numbered(tables)
    held = rows[1] if holdout is not None else None
    if held is not None and (shared := sorted(set(rows[0].names) & set(held.names))):
        raise ParameterError(
            "holdout",
            Message("expects.strangers"),
            text("expects.people_of_original", people=len(shared)),
        )
    truth = truth_of(persons, rows[0], rows[-1], clock)
    return Transactions(persons, rows[0], rows[-1], held, truth, periods)


def _released_clock(clock: Clock, texts: pl.Series) -> Clock:
    """The original's clock, or another where the release writes its times otherwise."""
    told = texts.filter(~is_left_out(texts))
    return clock if (clock.times(told) != NEVER).all() else Clock.of(told)


def _rows(persons: Persons, frame: Frame, clock: Clock | None, *, released: bool) -> Rows:
    names = frame.cells[persons.column]
    others = [name for name in frame.columns if name != persons.column]
    nobody = names.str.strip_chars().is_in(MISSING)
    if released:  # what was deleted keeps its line at most
        empty = (
            pl.all_horizontal(pl.col(name).str.strip_chars() == "" for name in others)
            if others
            else pl.lit(value=False)
        )
        nobody = nobody | frame.cells.select(empty.alias("empty"))["empty"]
    found = ProblemCollector(frame.name)
    if not released:
        for line in nobody.arg_true().to_list():
            found.add(
                "audit.nobody",
                row=line + 2,
                column=persons.column,
                value=names[line],
                severity=Severity.MALFORMED,
            )
    times = np.zeros(len(frame), dtype=np.int64)
    if clock is not None:
        texts = frame.cells[persons.time]
        times = clock.times(texts)
        excused = (
            (is_left_out(texts) | nobody).to_numpy()
            if released
            else np.zeros(len(frame), dtype=bool)
        )
        for line in np.flatnonzero((times == NEVER) & ~excused).tolist():
            found.add(
                "audit.time",
                row=line + 2,
                column=persons.time,
                value=texts[line],
                severity=Severity.MALFORMED,
            )
    found.check()
    lines = np.flatnonzero(~nobody.to_numpy())
    if not len(lines):
        raise InputError.of("audit.no_records", frame.name, severity=Severity.MALFORMED)
    kept = Frame(frame.name, frame.cells[lines.tolist()], frame.digest)
    sorted_names, owner = np.unique(
        kept.cells[persons.column].to_numpy().astype(object), return_inverse=True
    )
    periods = (
        clock.periods(times[lines], persons.period)
        if clock is not None
        else np.zeros(len(lines), dtype=np.int64)
    )
    return Rows(
        kept,
        tuple(sorted_names.tolist()),
        owner.astype(np.int64),
        periods,
        times[lines],
        lines,
        len(frame),
    )


def _numbered(tables: Sequence[Rows]) -> tuple[list[Rows], int]:
    """The tables with periods numbered from 0, and how many there are."""
    known = np.unique(np.concatenate([table.period for table in tables]))
    known = known[known != NEVER]
    numbered = []
    for table in tables:
        period = np.where(table.period == NEVER, NEVER, np.searchsorted(known, table.period))
        numbered.append(replace(table, period=period))
    return numbered, len(known)
