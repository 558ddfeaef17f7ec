"""``backup``: a judge that goes on running, as one file.

The database comes first, as it was at one moment; then every file that it names, of both stores. Files are never changed, and
what is deleted meanwhile is what nothing refers to: so whatever was acknowledged before that moment is in the backup, whole.
Nothing is locked: whoever hands in notices nothing.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from kakurenbo import __version__
from kakurenbo.core.errors import UsageError
from kakurenbo.judge.operations.container import Writer, written
from kakurenbo.judge.operations.database import Moment, moment_of, running_database
from kakurenbo.judge.operations.manifest import (
    DATABASE,
    FORMAT,
    OPEN_FOLDER,
    SECRET_FOLDER,
    SECRET_KEY,
    Manifest,
)
from kakurenbo.judge.operations.stores import load_django, store

if TYPE_CHECKING:
    from django.core.files import File

_ON_ITS_WAY_SECONDS, _LOOK_SECONDS = 10.0, 0.1
"""A file has its row in the database a moment before it has its name in the store."""


def back_up(home: Path, out: Path) -> Manifest:
    """Write a backup of the judge in a folder; it may run.

    Raises
    ------
    UsageError
        Where there is no judge, something is in the way, or a file of a store is missing or damaged: it is named.
    """
    if not out.parent.is_dir():
        raise UsageError("usage.no_place", path=str(out.parent))
    if out.is_symlink() or out.exists():
        raise UsageError("backup.exists", path=str(out))
    with running_database(home) as dsn:
        load_django(home, dsn)
        return write_backup(home, dsn, out)


def write_backup(home: Path, dsn: str, out: Path) -> Manifest:
    """Write a backup of a judge whose database is reached by ``dsn``, and whose stores Django knows."""
    with (
        tempfile.TemporaryDirectory(prefix=".kakurenbo-", dir=out.parent) as folder,
        written(out) as writer,
    ):
        dump = Path(folder) / DATABASE
        with moment_of(dsn) as moment:
            moment.dump(dump)
        for place in (dump, *_secret_key(home)):
            with place.open("rb") as file:
                writer.add(place.name, file, place.stat().st_size)
        dump.unlink()
        _copy(writer, SECRET_FOLDER, moment.secret_blobs)
        _copy(writer, OPEN_FOLDER, moment.open_blobs)
        manifest = _manifest(home, moment, writer)
        writer.close(manifest)
    return manifest


def _secret_key(home: Path) -> Iterator[Path]:
    place = home / SECRET_KEY
    if place.exists():  # one that never ran with this folder has none
        yield place


def _copy(writer: Writer, name: str, blobs: Mapping[str, int]) -> None:
    from kakurenbo.judge.submissions.store import name_of

    for digest in blobs:
        place = name_of(digest)
        file = _opened(name, digest)
        if file is None:
            continue
        with closing(file):
            part = writer.add(f"{name}/{place}", file, file.size)
        if part.sha256 != digest:
            raise UsageError("backup.damaged_store", place=f"{name}/{place}")


def _opened(name: str, digest: str) -> File[bytes] | None:
    """A file of a store; None for one that nothing refers to any more, which may be gone."""
    from kakurenbo.judge.submissions.store import is_needed, name_of

    until = time.monotonic() + _ON_ITS_WAY_SECONDS
    while True:
        try:
            return store(name).open(name_of(digest), "rb")
        except FileNotFoundError:
            if name == OPEN_FOLDER and not is_needed(digest):
                return None
        if time.monotonic() > until:
            raise UsageError("backup.lacks_file", place=f"{name}/{name_of(digest)}")
        time.sleep(_LOOK_SECONDS)


def _manifest(home: Path, moment: Moment, writer: Writer) -> Manifest:
    demo = (home / "demo").exists()
    return Manifest(
        FORMAT, __version__, moment.postgres, moment.at, demo, moment.trees, tuple(writer.parts)
    )
