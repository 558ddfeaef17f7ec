"""For callers that still write their own sentences and take notices apart from values; goes when they do not."""

from __future__ import annotations

from typing import TypeVar

from kakurenbo.messages import shorten
from kakurenbo.tables.problems import Problem, Problems, Severity
from kakurenbo.tables.readings import Read

T = TypeVar("T")


def plain(
    message: str,
    fix: str = "",
    file: str = "",
    row: int | None = None,
    record: int | None = None,
    column: str | None = None,
    value: str | None = None,
    severity: Severity = Severity.VIOLATION,
) -> Problem:
    """A problem whose sentence is written where it is found."""
    shown = None if value is None else shorten(value)
    return Problem("plain", {"message": message, "fix": fix}, file, row, record, column, shown, severity)


def taken(reading: Read[T] | Problems, notices: list[Problem] | None = None) -> T | Problems:
    """The value alone; its notices go to ``notices``."""
    if isinstance(reading, Problems):
        return reading
    if notices is not None:
        notices.extend(reading.notices)
    return reading.value
