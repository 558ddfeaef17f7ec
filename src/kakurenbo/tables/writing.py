"""Files out: byte for byte reproducible, and whole or not at all."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from kakurenbo.errors import UsageError
from kakurenbo.tables.table import Table


def table_bytes(table: Table, *, header: bool = False) -> bytes:
    """A table as CSV: UTF-8, ``\\n``, quotation marks only where a cell needs them."""
    frame = pl.DataFrame([table.texts(name) for name in table.schema.names])
    return frame.write_csv(include_header=header, line_terminator="\n").encode()


def json_bytes(content: object) -> bytes:
    """JSON that people can read and that is the same every time for the same content."""
    return (json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def write_file(path: str | Path, data: bytes) -> None:
    """Write a file atomically; packed, without name or time, where its name ends in ``.gz``.

    A link is followed and stays; what is there and not a file (a folder, a pipe, a device) is never replaced.
    """
    path = Path(path)
    _write_bytes(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _write_bytes(path: Path, data: bytes) -> None:
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise UsageError(f"{path}: this is a folder; name a file to write")
    if os.path.lexists(target) and not target.is_file():
        raise UsageError(f"{path}: this is a pipe, a device or a broken link; name a file to write")
    with _told(path):
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise


def write_folder(path: str | Path, files: Mapping[str, bytes], *, private: tuple[str, ...] = ()) -> None:
    """Write a folder atomically.

    Parameters
    ----------
    path : path
        Must not exist yet, or be an empty folder: nothing is ever overwritten.
    files : mapping of relative name to bytes
        As they are to lie there: nothing is packed, whatever its name.
    private : tuple of str
        Subfolders that only their owner may open.
    """
    path = Path(path)
    check_free(path)
    with _told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        try:
            for name, data in files.items():
                _write_bytes(temporary / name, data)
            os.chmod(temporary, 0o777 & ~_umask())
            for name in private:
                os.chmod(temporary / name, 0o700)
            if path.exists():
                path.rmdir()
            os.rename(temporary, path)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def check_free(path: str | Path) -> None:
    """Raise :class:`UsageError` where :func:`write_folder` could not write; ask before long work."""
    path = Path(path)
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise UsageError(f"{path}: there is something already; name a new folder or empty this one")


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
