"""Files by their names, and the real data of a contest: an own file, or imported ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from kakurenbo.contest import ContestFolder, FilePattern
from kakurenbo.core import InputError, Severity, Source
from kakurenbo.core.errors import UsageError

AUTO, EMBEDDED, IMPORTED, OWN = "auto", "embedded", "imported", "own"
"""Values of the option ``data``; ``auto`` takes an own file, else imported ones, else the embedded statistics."""
T = TypeVar("T")


def real_data(
    rulebook: str,
    data: str,
    load_imported: Callable[[], T | None],
    own_file: str = "",
    read_own: Callable[[Source], T] | None = None,
) -> tuple[str, T] | None:
    """Return the kind of the chosen data and what was read; None for the embedded statistics.

    Parameters
    ----------
    rulebook : str
        Its messages ``error.RULEBOOK_own`` and ``error.RULEBOOK_import`` say what is missing.
    data : str
    load_imported : callable
        Loads the imported data, or returns None.
    own_file : str
        The value of the option ``table``.
    read_own : callable
        Reads such a file.
    """
    if own_file and data not in (AUTO, OWN):
        raise UsageError("error.darc2019_table", data=data)
    if own_file and read_own is not None:
        try:
            return OWN, read_own(Source.of(Path(own_file)))
        except InputError as error:
            raise UsageError(error.message, at=own_file) from error
    if data == OWN:
        raise UsageError(f"error.{rulebook}_own")
    imported = None if data == EMBEDDED else load_imported()
    if imported is None and data == IMPORTED:
        raise UsageError(f"error.{rulebook}_import")
    return None if imported is None else (IMPORTED, imported)


def is_named(source: Source, *patterns: FilePattern) -> bool:
    """Return whether a file has a name of one of these kinds, packed or not."""
    return any(pattern.parse(source.name) is not None for pattern in patterns)


def find_file(folder: ContestFolder, code: str, *patterns: FilePattern, **details: str) -> Source:
    """Return the file that was given, or the only one of such a name in a folder; else raise the problem ``code``."""
    if folder.file is not None:
        return folder.file
    sources = [source for source in folder.sources if is_named(source, *patterns)]
    if len(sources) == 1:
        return sources[0]
    malformed, count = Severity.MALFORMED, len(sources)
    raise InputError.of(code, folder.name, severity=malformed, count=count, **details)
