"""Files that are still being written are named after who writes them: those of a process that is gone are nobody's."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def prefix() -> str:
    """How the name of a file begins that this process writes."""
    return f"{socket.gethostname()}:{os.getpid()}:"


def remove_orphans(folder: Path) -> int:
    """Remove what processes of this machine left half that are gone; says how many files that were."""
    orphans = (
        [place for place in folder.iterdir() if _is_orphan(place.name)] if folder.is_dir() else []
    )
    for place in orphans:
        place.unlink(missing_ok=True)
    return len(orphans)


def keep_names(folder: Path) -> None:
    """Write a folder's names to disk: a file that has become whole is kept only when its name is, too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _is_orphan(name: str) -> bool:
    host, pid, *_ = (*name.split(":"), "", "")
    return host == socket.gethostname() and pid.isdecimal() and not Path("/proc", pid).exists()
