"""Files out: byte for byte reproducible, whole or not at all, and nothing but a file is ever replaced."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from kakurenbo.core.errors import UsageError

STANDARD_OUTPUT = Path("/dev/stdout")
"""What ``-`` stands for where a file is written."""


def json_bytes(content: object) -> bytes:
    """JSON that people can read and that is the same every time for the same content."""
    return (json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def write_file(path: str | Path, data: bytes, *, private: bool = False) -> None:
    """Write a file atomically; packed, without name or time, where its name ends in ``.gz``.

    A private file is for its owner alone, whatever the umask and whatever was there before. A link is followed and stays.
    What is there and not a file is never replaced: a device such as ``/dev/null``, or a pipe that somebody reads, is written
    into.
    """
    path = Path(path)
    if path == STANDARD_OUTPUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    check_file(path)
    _write_bytes(
        path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data, private=private
    )


def _write_bytes(path: Path, data: bytes, *, private: bool = False) -> None:
    target = Path(os.path.realpath(path))
    with _told(path):
        if _is_stream(target):
            _write_into(target, data)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o600 if private else 0o666 & ~_umask())
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise


def _write_into(target: Path, data: bytes) -> None:
    # Opening a pipe that nobody reads would wait for ever; this way it is an error.
    handle = os.open(target, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    os.set_blocking(handle, True)
    with os.fdopen(handle, "wb") as file:
        file.write(data)


def write_folder(
    path: str | Path, files: Mapping[str, bytes], *, private: tuple[str, ...] = ()
) -> None:
    """Write a folder atomically.

    Parameters
    ----------
    path : path
        Must not exist yet, or be an empty folder, or a link to one: nothing is ever overwritten.
    files : mapping of relative name to bytes
        As they are to lie there: nothing is packed, whatever its name.
    private : tuple of str
        Subfolders that only their owner may open.
    """
    check_free(path)
    path = Path(os.path.realpath(path))
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
    if Path(path) == STANDARD_OUTPUT:
        raise UsageError("error.several_files")
    check_place(path)
    target = Path(os.path.realpath(path))
    if os.path.lexists(target) and not (target.is_dir() and not any(target.iterdir())):
        raise UsageError("error.something_already", at=path)


def check_file(path: str | Path) -> None:
    """Raise :class:`UsageError` where :func:`write_file` could not write; ask before long work."""
    check_place(path)
    if Path(path).is_dir():
        raise UsageError("error.is_folder", at=path)
    _try_writing(Path(path))


def _try_writing(path: Path) -> None:
    """Make a file as :func:`write_file` does, and take it away: what may be written is known for sure then."""
    target = Path(os.path.realpath(path))
    if path == STANDARD_OUTPUT or _is_stream(target):
        return
    nearest = next(parent for parent in target.parents if parent.exists())
    with _told(path):
        handle, temporary = tempfile.mkstemp(dir=nearest, prefix=f".{target.name}.")
        os.close(handle)
        os.unlink(temporary)


def check_place(path: str | Path) -> None:
    """Raise :class:`UsageError` where neither a file nor a folder can be written; ask before long work."""
    if Path(path) == STANDARD_OUTPUT:
        return
    target = Path(os.path.realpath(path))
    with _told(Path(path)):
        if _is_stream(target):
            return
        if os.path.lexists(target) and not (target.is_file() or target.is_dir()):
            raise UsageError("error.is_device", at=path)
    nearest = next(parent for parent in target.parents if parent.exists())
    if not nearest.is_dir():
        raise UsageError("error.is_file", at=path, nearest=nearest)
    for folder in (nearest, target) if target.is_dir() else (nearest,):
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UsageError("error.may_not_write", at=path, folder=folder)


def _is_stream(target: Path) -> bool:
    """Whether bytes can be written into what is there, without replacing it."""
    try:
        mode = target.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError("error.cannot_write", at=path, reason=error.strerror) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
