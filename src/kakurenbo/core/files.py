"""Files in and out: read with a limit because every byte is hostile; written whole or not at all, and reproducibly."""

from __future__ import annotations

import contextlib
import copy
import gzip
import io
import json
import os
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TextIO

from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message
from kakurenbo.core.problems import InputError, Severity

DEFAULT_LIMIT = 100 * 1000 * 1000  # bytes after unpacking
FOLDER_FILE_LIMIT = 250 * 1000 * 1000  # bytes of one file in a folder of a contest
DOCUMENT_LIMIT = 20 * 1000 * 1000  # bytes of a document that this software wrote
STANDARD_INPUT = Path("/dev/stdin")
"""What ``-`` stands for where a file is read: read once, and whole. No listing of a folder leads there."""
STANDARD_OUTPUT = Path("/dev/stdout")
"""What ``-`` stands for where a file is written."""
README_FILES = ("README.md", "README.ja.md")
"""What explains a folder to people, in English and Japanese; no reader of a contest's data looks at it."""
_NAMED = 5  # files that a message names
_GZIP = 16 + zlib.MAX_WBITS  # makes zlib expect gzip's frame
_ERRORS = {
    FileNotFoundError: "source.missing",
    IsADirectoryError: "source.folder",
    PermissionError: "source.forbidden",
}


@dataclass(frozen=True)
class Source:
    """One input file.

    Attributes
    ----------
    name : str
        The name that messages show.
    origin : Path or bytes
        Where the bytes are. A name that ends in ``.gz`` is unpacked while reading.
    """

    name: str
    origin: Path | bytes

    @classmethod
    def of(cls, path: str | Path) -> Source:
        """The source of a path, under the path's own name; standard input goes by ``-``."""
        return cls("-" if Path(path) == STANDARD_INPUT else Path(path).name, Path(path))

    def read(self, limit: int = DEFAULT_LIMIT) -> bytes:
        """Return all bytes; raise InputError where they cannot be had.

        Never holds more than ``limit`` + 1 bytes unpacked, never waits for a pipe or a device, and refuses a file that is
        too large by its size, without reading it.
        """
        return self._read(limit, unpack=self.name.endswith(".gz"))

    def read_packed(self, limit: int = DEFAULT_LIMIT) -> bytes:
        """All bytes as they were handed in, packed or not."""
        return self._read(limit, unpack=False)

    def loaded(self) -> Source:
        """Return the source with its bytes in memory, packed or not; one that cannot be read stays as it is."""
        try:
            return Source(self.name, self.read_packed())
        except InputError:
            return self

    def _read(self, limit: int, *, unpack: bool) -> bytes:
        origin = self.origin
        try:
            data = origin if isinstance(origin, bytes) else self._file_bytes(origin, limit)
            if unpack:
                data = _unpacked(data, limit)
        except (OSError, EOFError, ValueError, zlib.error) as error:
            for kind, code in _ERRORS.items():
                if isinstance(error, kind):
                    raise self._refused(code) from error
            # A path with a NUL in it is a ValueError to Python; what zlib says helps nobody.
            said = error.strerror if isinstance(error, OSError) else str(error)
            reason = "" if isinstance(error, zlib.error) else said
            raise self._refused(
                "source.unreadable", reason=reason or type(error).__name__
            ) from error
        if len(data) > limit:
            raise self._refused("source.too_large", limit=limit)
        return data

    def _file_bytes(self, path: Path, limit: int) -> bytes:
        if path == STANDARD_INPUT:
            return _standard_input(sys.stdin)
        # Asked before opening, which would wake a writer that waits at a pipe; asked again of what was opened in the end.
        self._check_regular(path.stat(), limit)
        # O_NONBLOCK: not even a pipe that took the file's place since can make us wait.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            self._check_regular(status, limit)
            data = file.read(status.st_size + 1)
            # A file that grows while it is read is read to its end, or to where it is too large.
            if len(data) > status.st_size:
                data += file.read(_packed_limit(limit) - status.st_size)
        return data

    def _check_regular(self, status: os.stat_result, limit: int) -> None:
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError
        if not stat.S_ISREG(status.st_mode):
            raise self._refused("source.not_a_file")
        if status.st_size > _packed_limit(limit):
            raise self._refused("source.too_large", limit=limit)

    def _refused(self, code: str, **parameters: Any) -> InputError:
        return InputError.of(code, self.name, severity=Severity.MALFORMED, **parameters)


@cache  # what was read of a stream cannot be read again, and a reader may look twice
def _standard_input(stream: TextIO) -> bytes:
    return stream.buffer.read(DEFAULT_LIMIT + 1)


def _packed_limit(limit: int) -> int:
    """Bytes that a file may have before unpacking: gzip makes what it cannot pack a little larger, never much."""
    return limit + limit // 1000 + 1000


def _unpacked(data: bytes, limit: int) -> bytes:
    """What a gzip file holds, up to ``limit`` + 1 bytes."""
    packed = zlib.decompressobj(_GZIP)
    with contextlib.suppress(zlib.error):
        unpacked = packed.decompress(data, limit + 1)
        if packed.eof and not packed.unused_data:
            return unpacked
    # Several members, a cut-off end, or no gzip at all: the standard reader tells them apart.
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        return file.read(limit + 1)


def sources_of(path: str | Path) -> list[Source]:
    """The files that a path stands for: itself, or what lies in the folder (hidden files, READMEs and folders aside), by name.

    A pipe or a device in the folder is among them, so that its reader refuses it.
    """
    path = Path(path)
    if not path.is_dir():
        return [Source.of(path)]
    files = [file for file in sorted(path.iterdir()) if not file.is_dir()]
    return [
        Source.of(file)
        for file in files
        if not file.name.startswith(".") and file.name not in README_FILES
    ]


def few_names(sources: Sequence[Source]) -> list[str]:
    """Return the first names of files, and how many more there are, as a message lists them.

    Examples
    --------
    >>> few_names([Source(f"{number}.csv", b"") for number in range(7)])
    ['0.csv', '1.csv', '2.csv', '3.csv', '4.csv', '... (+2)']
    """
    names = [source.name for source in sources]
    more = len(names) - _NAMED
    return [*names[:_NAMED], f"... (+{more})"] if more > 1 else names


def read_file(path: str | Path, limit: int = DOCUMENT_LIMIT) -> bytes:
    """All bytes of a file that must be there.

    Raises
    ------
    UsageError
        Names the path and says why it cannot be read.
    """
    try:
        return Source.of(path).read_packed(limit)
    except InputError as error:
        raise UsageError(error.problems[0].statement, at=path) from error


class Folder(Mapping[str, bytes]):
    """All files below a folder by relative name, each read as it lies there when it is asked for.

    Parameters
    ----------
    path : path
    limit : int
        Bytes of a file.
    with_strays : bool
        Keep links, pipes and empty folders apart, in ``strays``, for somebody who lists what is there.

    Attributes
    ----------
    strays : mapping of relative name to str
        What is no file, and what it is instead; empty folders end in a slash.

    Raises
    ------
    UsageError
        Where there is no such folder, or something in it cannot be read as a file.
    """

    def __init__(
        self, path: str | Path, limit: int = FOLDER_FILE_LIMIT, *, with_strays: bool = False
    ) -> None:
        self.path, self._limit = Path(path), limit
        if not self.path.is_dir():
            raise UsageError("error.no_folder", at=path)
        self._files: dict[str, Path] = {}
        self.strays: dict[str, str] = {}
        for entry in sorted(self.path.rglob("*")):
            name = entry.relative_to(self.path).as_posix()
            if entry.is_symlink() and not with_strays:
                raise UsageError("error.link", at=entry)
            if entry.is_symlink():
                self.strays[name] = Message("word.is_link").stored()
            elif with_strays and entry.is_dir() and not any(entry.iterdir()):
                self.strays[f"{name}/"] = Message("word.is_empty_folder").stored()
            elif with_strays and not entry.is_dir() and not entry.is_file():
                self.strays[name] = Message("word.is_pipe").stored()
            elif not entry.is_dir():
                self._files[name] = entry

    def __getitem__(self, name: str) -> bytes:
        return read_file(self._files[name], self._limit)

    def without(self, *names: str) -> Folder:
        """The same folder without some of its files."""
        other = copy.copy(self)
        other._files = {name: path for name, path in self._files.items() if name not in names}
        return other

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def read_folder(path: str | Path, limit: int = FOLDER_FILE_LIMIT) -> dict[str, bytes]:
    """All files below a folder by relative name; see :class:`Folder`, which holds one at a time."""
    return dict(Folder(path, limit))


# -- out ---------------------------------------------------------------------------------------------------------------


def json_bytes(content: object) -> bytes:
    """JSON that people can read and that is the same every time for the same content."""
    return (json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def write_file(path: str | Path, data: bytes, *, private: bool = False) -> None:
    """Write a file atomically; packed, without name or time, where its name ends in ``.gz``.

    A private file is for its owner alone, whatever the umask and whatever was there before. A link is followed and stays.
    What is there and not a file is never replaced: bytes are written into a device such as ``/dev/null`` or a pipe.
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
    with _writing(path):
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
    with _writing(path):
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
    with _writing(path):
        handle, temporary = tempfile.mkstemp(dir=nearest, prefix=f".{target.name}.")
        os.close(handle)
        os.unlink(temporary)


def check_place(path: str | Path) -> None:
    """Raise :class:`UsageError` where neither a file nor a folder can be written; ask before long work."""
    if Path(path) == STANDARD_OUTPUT:
        return
    target = Path(os.path.realpath(path))
    with _writing(Path(path)):
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
def _writing(path: Path) -> Iterator[None]:
    """Raise UsageError for errors of the system."""
    try:
        yield
    except OSError as error:
        raise UsageError("error.cannot_write", at=path, reason=error.strerror) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
