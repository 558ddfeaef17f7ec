"""What counts as a person: a row of its own, or all rows of one name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kakurenbo.audit.frames import Frame
from kakurenbo.audit.limits import ONE_ROW_EACH
from kakurenbo.audit.persons import Ints, Persons, Rows
from kakurenbo.audit.pseudonyms import attack_pseudonyms
from kakurenbo.audit.rates import Risk
from kakurenbo.audit.schema import TableSchema
from kakurenbo.audit.summaries import summarized
from kakurenbo.audit.transactions import read_transactions
from kakurenbo.core import InputError
from kakurenbo.core.errors import UsageError


@dataclass(frozen=True, eq=False)
class Unit:
    """How the rows of the tables that are attacked stand for people.

    Attributes
    ----------
    pseudonyms : Risk
    p_value : float
        That pseudonyms tell nothing; 1 where that was not assessed.
    why_not : str
        Why the risks that count rows as people were not assessed; empty where every row is one.
    frames : mapping of str to Frame
        The files as they are, by role, where the tables are made of them.
    lines : array of int64 or None
        Record of the original that each row of the tables begins with; None where they are the same.
    """

    pseudonyms: Risk = field(default_factory=lambda: Risk("pseudonyms", False, ONE_ROW_EACH))
    p_value: float = 1.0
    why_not: str = ""
    frames: Mapping[str, Frame] = field(default_factory=dict)
    lines: Ints | None = None


@dataclass(frozen=True, eq=False)
class ByPerson:
    """The tables that are attacked in the place of those of several rows per person."""

    original: Frame
    release: Frame
    holdout: Frame | None
    unit: Unit


def by_person(
    persons: Persons,
    schema: TableSchema,
    left_out: Sequence[str],
    tables: tuple[Frame, Frame, Frame | None],
    rng: np.random.Generator,
) -> ByPerson:
    """Attack pseudonyms; where they last, give the other risks a row per person to work on, else say why they have none.

    Raises
    ------
    UsageError, ParameterError
        Where columns are missing or cells are wrong; ``read_transactions`` tells every place.
    """
    original, release, holdout = tables
    try:
        found = read_transactions(persons, *tables)
    except InputError as error:
        raise UsageError(error.message) from error
    frames = {
        "original": original,
        "release": release,
        **({"holdout": holdout} if holdout is not None else {}),
    }
    if found is None or found.truth is None:
        why = "no_pseudonyms" if found is None else "no_key"
        unit = Unit(Risk("pseudonyms", False, why), why_not="several_rows", frames=frames)
        return _row_by_row(persons, tables, unit)
    apart = {persons.column, persons.time, *left_out}
    names = [name for name in schema.names if name in release.columns and name not in apart]
    risk, p_value = attack_pseudonyms(found, schema, names, rng)
    unit = Unit(risk, p_value, "several_rows", frames)
    columns = [
        name
        for name in schema.names
        if name in release.columns and name not in {persons.column, *left_out}
    ]
    if not found.lasting or not columns:
        held = None if found.holdout is None else found.holdout.frame
        return _row_by_row(persons, (found.original.frame, found.release.frame, held), unit)
    rows: list[Rows] = [
        found.original,
        found.release,
        *([found.holdout] if found.holdout is not None else []),
    ]
    made = summarized(schema, columns, rows)
    _, first = np.unique(found.original.owner, return_index=True)
    unit = replace(unit, why_not="", lines=found.original.lines[first])
    return ByPerson(made[0], made[1], made[2] if found.holdout is not None else None, unit)


def _row_by_row(
    persons: Persons, tables: tuple[Frame, Frame, Frame | None], unit: Unit
) -> ByPerson:
    """The rows as they are, the person aside: their values may be compared, but they are no people."""
    original, release, holdout = (
        None
        if frame is None
        else replace(frame, cells=frame.cells.drop(persons.column, strict=False))
        for frame in tables
    )
    assert original is not None
    assert release is not None
    return ByPerson(original, release, holdout, unit)
