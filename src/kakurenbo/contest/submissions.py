"""What lies in a folder that somebody handed in: files to judge, and everything else named and refused before a byte is read.

Nothing that one team puts there may stop the others: no name that cannot be written, no link to somebody else's file, no
pipe that waits, no more bytes than a contest needs.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from kakurenbo.core import README_FILES, Problems, Severity, Source
from kakurenbo.core.sources import DEFAULT_LIMIT

MOST_FILES = 200
MOST_BYTES = 1_000_000_000
LONGEST_NAME = 200
_OF_FILE_MANAGERS = frozenset(
    {"thumbs.db", "desktop.ini", "__macosx"}
)  # beside those that begin with a dot
_DEVICE = re.compile(r"con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]", re.IGNORECASE)
"""What Windows keeps for itself, whatever comes after a dot."""
_NEVER_IN_NAMES = frozenset('<>:"|?*\ufffd')
"""What Windows has no names with; and the sign for bytes that are no text, under which two names may be one."""

Refused = tuple[str, Problems]
"""A file by the name that may be shown, and why it is refused."""


def handed_in(path: Path) -> tuple[list[Source], list[Refused]]:
    """The files of a folder, or the one file, that may be judged, and what was refused; see :func:`left_aside`."""
    try:
        entries = list(_entries(path))
    except OSError:  # not even a folder that nobody may look into stops the others
        return [], [
            (
                printable(path.name),
                Problems.of("source.forbidden", printable(path.name), severity=Severity.MALFORMED),
            )
        ]
    sources: list[Source] = []
    strangers: list[Refused] = []
    total = 0
    for entry in entries:
        shown = printable(entry.name)
        code = _unfit(entry)
        if code is None:
            total += entry.stat().st_size
            if len(sources) >= MOST_FILES:
                code = "release.too_many_files"
            elif total > MOST_BYTES:
                code = "release.too_many_bytes"
        if code is None:
            sources.append(Source.of(entry))
        else:
            strangers.append(
                (
                    shown,
                    Problems.of(
                        code, shown, files=MOST_FILES, bytes=MOST_BYTES, limit=DEFAULT_LIMIT
                    ),
                )
            )
    return sources, strangers


def folders_in(entries: Iterable[Path]) -> frozenset[str]:
    """The names of those entries that are folders themselves, and no links to one."""
    return frozenset(entry.name for entry in entries if entry.is_dir() and not entry.is_symlink())


def left_aside(name: str) -> bool:
    """Whether a file manager put this file or folder there, or it is the README of a handout.

    Examples
    --------
    >>> [left_aside(name) for name in (".DS_Store", "README.md", "D.csv")]
    [True, True, False]
    """
    return name.startswith(".") or name.lower() in _OF_FILE_MANAGERS or name in README_FILES


def is_unsafe(name: str) -> bool:
    """Whether some system or program would take a file of this name for something else, or keep it under another one.

    Examples
    --------
    >>> [is_unsafe(name) for name in ("C01_1.csv", "CON", "nul.csv", "-rf", "a.csv ", "a\ufffd.csv", "a:b")]
    [False, True, True, True, True, True, True]
    """
    device = _DEVICE.fullmatch(name.partition(".")[0].rstrip())
    return bool(device or name[:1] in "- " or name[-1:] in ". " or set(name) & _NEVER_IN_NAMES)


def printable(name: str) -> str:
    """A file name that can be shown and written, whatever it is made of.

    Examples
    --------
    >>> printable("a\\x1b[31m.csv")
    'a\\\\x1b[31m.csv'
    """
    safe = "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in name
    )
    return safe[:LONGEST_NAME]


def _entries(path: Path) -> Iterator[Path]:
    if path.is_symlink() or not path.is_dir():
        yield path
        return
    yield from (entry for entry in sorted(path.iterdir()) if not left_aside(entry.name))


def _unfit(entry: Path) -> str | None:
    """Why an entry of a folder is no file that could be judged; None where it is one."""
    if printable(entry.name) != entry.name:
        return "release.bad_name"
    mode = entry.lstat().st_mode
    if stat.S_ISLNK(mode):
        return "release.link"
    if not stat.S_ISREG(mode):
        return "release.not_a_file"
    return (
        "release.too_large" if entry.lstat().st_size > DEFAULT_LIMIT else None
    )  # what is judged can be kept whole
