"""What an audit is told beside its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kakurenbo.audit.defaults import MOST_TARGETS
from kakurenbo.audit.frames import Frame
from kakurenbo.audit.limits import DEFAULTS
from kakurenbo.audit.persons import Persons
from kakurenbo.audit.rivals import Rehearsal
from kakurenbo.audit.schema import TableSchema


@dataclass(frozen=True)
class Options:
    """What an audit is told.

    Attributes
    ----------
    know : tuple of str
        Columns that attackers may know; empty: all.
    secret : tuple of str
        Columns that they want; empty: every column in turn.
    identifiers : tuple of str
        Columns that are left out: they are removed before any release.
    limits : mapping of str to float
    seed : int
    show_records : bool
        Whether exposed records are shown as they are, and not by their hashes alone.
    strict : bool
        Whether what could not be assessed counts as a failure.
    baseline : mapping
        The JSON of an earlier audit.
    schema : TableSchema or None
        Inferred where there is none.
    persons : Persons or None
        What tells the rows of one person; None where every row is a person.
    targets : int
        People of the original, and as many of the holdout, whose membership is tried; drawn by lot where there are more.
    earlier : tuple of Frame
        What was released before of the same people.
    rehearsals : tuple of Rehearsal
        What a rival made of the same people, by the method that made the release.
    method : str
        That method, where it is known.
    ignored : tuple of str
        Columns of the release alone that are known to tell nothing of anybody.
    """

    know: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=lambda: dict(DEFAULTS))
    seed: int = 0
    show_records: bool = False
    strict: bool = False
    baseline: Mapping[str, object] = field(default_factory=dict)
    schema: TableSchema | None = None
    persons: Persons | None = None
    targets: int = MOST_TARGETS
    earlier: tuple[Frame, ...] = ()
    rehearsals: tuple[Rehearsal, ...] = ()
    method: str = ""
    ignored: tuple[str, ...] = ()
