"""`Source`: the bytes of one input file, wherever they lie, read with a limit because every byte is hostile."""

from __future__ import annotations

import copy
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, TextIO

from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message
from kakurenbo.core.problems import InputError, Severity

DEFAULT_LIMIT = 100 * 1000 * 1000  # bytes after unpacking
FOLDER_FILE_LIMIT = 250 * 1000 * 1000  # bytes of one file in a folder of a contest
DOCUMENT_LIMIT = (
    20 * 1000 * 1000
)  # bytes of a file that this software wrote to say something of others
STANDARD_INPUT = Path("/dev/stdin")
"""What ``-`` stands for where a file is read: read once, and whole. No listing of a folder leads there."""
README_FILES = ("README.md", "README.ja.md")
"""What explains a folder to people, in English and Japanese; no reader of a contest's data looks at it."""
_NAMED = 5  # files that a message names
_GZIP = 16 + zlib.MAX_WBITS  # how zlib is told to expect gzip's frame


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
        try:
            data = (
                self.origin
                if isinstance(self.origin, bytes)
                else _regular_bytes(self.origin, limit)
            )
            if unpack:
                data = _unpacked(data, limit)
        except FileNotFoundError as error:
            raise self._refused("source.missing") from error
        except IsADirectoryError as error:
            raise self._refused("source.folder") from error
        except PermissionError as error:
            raise self._refused("source.forbidden") from error
        except _NotAFile as error:
            raise self._refused("source.not_a_file") from error
        except _TooLarge as error:
            raise self._refused("source.too_large", limit=limit) from error
        except (OSError, EOFError, ValueError, zlib.error) as error:
            # A path with a NUL in it is a ValueError to Python.
            told = (
                error.strerror
                if isinstance(error, OSError)
                else ""
                if isinstance(error, zlib.error)
                else str(error)
            )
            raise self._refused("source.unreadable", reason=told or type(error).__name__) from error
        if len(data) > limit:
            raise self._refused("source.too_large", limit=limit)
        return data

    def _refused(self, code: str, **parameters: Any) -> InputError:
        return InputError.of(code, self.name, severity=Severity.MALFORMED, **parameters)


class _NotAFile(Exception):
    """A pipe, a socket or a device."""


class _TooLarge(Exception):
    """A file beyond the limit."""


def _regular_bytes(path: Path, limit: int) -> bytes:
    if path == STANDARD_INPUT:
        return _standard_input(sys.stdin)
    # Asked before opening, which would wake a writer that waits at a pipe; asked again of what was opened in the end.
    _check_regular(path.stat(), limit)
    with _open_at_once(path) as file:
        status = os.fstat(file.fileno())
        _check_regular(status, limit)
        data = file.read(status.st_size + 1)
        # A file that grows while it is read is read to its end, or to where it is too large.
        return (
            data
            if len(data) <= status.st_size
            else data + file.read(_packed_limit(limit) - status.st_size)
        )


@cache  # what was read of a stream cannot be read again, and a reader may look twice
def _standard_input(stream: TextIO) -> bytes:
    return stream.buffer.read(DEFAULT_LIMIT + 1)


def _open_at_once(path: Path) -> IO[bytes]:
    # O_NONBLOCK: not even a pipe that took the file's place since can make us wait.
    return open(
        path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
    )


def _check_regular(status: os.stat_result, limit: int) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError
    if not stat.S_ISREG(status.st_mode):
        raise _NotAFile
    if status.st_size > _packed_limit(limit):
        raise _TooLarge


def _packed_limit(limit: int) -> int:
    """Bytes that a file may have before unpacking: gzip makes what it cannot pack a little larger, never much."""
    return limit + limit // 1000 + 1000


def _unpacked(data: bytes, limit: int) -> bytes:
    """What a gzip file holds, up to ``limit`` + 1 bytes."""
    whole = zlib.decompressobj(_GZIP)
    try:
        found = whole.decompress(data, limit + 1)
    except zlib.error:
        found = b""
    if whole.eof and not whole.unused_data:
        return found
    # Several members, a cut-off end, or no gzip at all: the standard reader tells them apart.
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
        return packed.read(limit + 1)


def sources_of(path: str | Path) -> list[Source]:
    """The files that a path stands for: itself, or what lies in the folder (hidden files, READMEs and folders aside), by name.

    A pipe or a device in the folder is among them, so that whoever reads it is told.
    """
    path = Path(path)
    if path.is_dir():
        files = [
            file
            for file in sorted(path.iterdir())
            if not file.is_dir() and not file.name.startswith(".")
        ]
        return [Source.of(file) for file in files if file.name not in README_FILES]
    return [Source.of(path)]


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
