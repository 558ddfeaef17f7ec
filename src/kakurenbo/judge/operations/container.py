"""The one file of a backup: a plain tar, so that every part can also be taken out by hand, in which every byte counts.

The manifest comes last, since only then is it known what could be copied; its own digest is in its name. Contents are checked
against the manifest, headers against their sums, and what is between them must be zeros: whatever byte changed is noticed.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import system_error, text
from kakurenbo.judge.halves import keep_names
from kakurenbo.judge.operations.manifest import Manifest, Part

_CHUNK = 1 << 20
_MANIFEST = "manifest-{}.json"
_MOST_MANIFEST_BYTES = 1 << 30
_NAME_BYTES = 100
"""With which the header of a part begins."""


class Readable(Protocol):
    """All that a part needs of a file."""

    def read(self, size: int = -1, /) -> bytes:
        """The next so many bytes."""


class Writer:
    """A backup that is being written; it has its name when all of it is there."""

    def __init__(self, file: IO[bytes]) -> None:
        self._tar = tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT)  # noqa: SIM115 - closed by ``close``
        self.parts: list[Part] = []

    def add(self, name: str, file: Readable, size: int) -> Part:
        """One more part, which has so many bytes.

        Raises
        ------
        OSError
            Where the file ends early.
        """
        read = _Digested(file)
        self._tar.addfile(_member(name, size), read)
        part = Part(name, size, read.digest.hexdigest())
        self.parts.append(part)
        return part

    def close(self, manifest: Manifest) -> None:
        """The end: what the backup holds."""
        content = manifest.as_bytes()
        name = _MANIFEST.format(hashlib.sha256(content).hexdigest())
        self._tar.addfile(_member(name, len(content)), io.BytesIO(content))
        self._tar.close()


@contextmanager
def written(out: Path) -> Iterator[Writer]:
    """A new backup, whole or not at all, that its owner alone can read."""
    beside = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as file:
            yield Writer(file)
            file.flush()
            os.fsync(file.fileno())
        if os.path.lexists(out):
            raise UsageError("backup.exists", path=str(out))
        beside.rename(out)
        keep_names(out.parent)
    finally:
        beside.unlink(missing_ok=True)


class Backup:
    """A backup to read.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise UsageError(
                "backup.unreadable", path=str(path), error=system_error(error)
            ) from None

    def checked(self) -> Manifest:
        """What it holds, when every byte of it was looked at.

        Raises
        ------
        UsageError
            Names the first part that is damaged, missing, or not of this backup, and from which byte on it is.
        """
        found: list[Part] = []
        starts: list[int] = []
        content, last, end = b"", "", 0
        for member in self._members():
            self._check_zeros(end, member.offset, last)
            last, end = member.name, member.offset_data + member.size
            if _is_manifest(member):
                content = self._manifest(member)
            elif content:
                raise self._damaged(member.name, member.offset)
            else:
                found.append(Part(member.name, member.size, self._digest(member)))
                starts.append(member.offset_data)
        self._check_end(end, last, complete=bool(content))
        manifest = Manifest.from_bytes(content, str(self.path))
        for here, told, start in zip(found, manifest.parts, starts, strict=False):
            if here != told:
                raise self._damaged(told.name, start)
        if len(found) != len(manifest.parts):
            longer = max(found, manifest.parts, key=len)
            raise self._damaged(longer[min(len(found), len(manifest.parts))].name, end)
        return manifest

    def _check_end(self, end: int, last: str, *, complete: bool) -> None:
        """Nothing but zeros follows the manifest; where there was none, a header that cannot be read was taken for the end."""
        header, size = _next_block(end), self._file.seek(0, os.SEEK_END)
        self._check_zeros(end, min(header, size), last)
        if complete:
            self._check_zeros(header, size, last)
        elif header < size:
            raise self._damaged_header(header, last)
        else:
            raise self._damaged(_MANIFEST.format("*"), size)

    def contents(self) -> Iterator[tuple[str, Readable]]:
        """Every part but the manifest, in order; each is to be read before the next."""
        for member in self._members():
            if not _is_manifest(member):
                yield member.name, self._opened(member)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _members(self) -> Iterator[tarfile.TarInfo]:
        self._file.seek(0)
        last, end = "", 0
        try:
            with tarfile.open(fileobj=self._file, mode="r:") as tar:
                for member in tar:
                    if not member.isreg():
                        raise self._damaged(member.name, member.offset)
                    last, end = member.name, member.offset_data + member.size
                    yield member
        except tarfile.TarError:
            raise self._damaged_header(_next_block(end), last) from None

    def _manifest(self, member: tarfile.TarInfo) -> bytes:
        if member.size > _MOST_MANIFEST_BYTES:
            raise self._damaged(member.name, member.offset)
        content = self._opened(member).read()
        if member.name != _MANIFEST.format(hashlib.sha256(content).hexdigest()):
            raise self._damaged(member.name, member.offset_data)
        return content

    def _digest(self, member: tarfile.TarInfo) -> str:
        digest, left, file = hashlib.sha256(), member.size, self._opened(member)
        while left and (chunk := file.read(min(left, _CHUNK))):
            digest.update(chunk)
            left -= len(chunk)
        if left:
            raise self._damaged(member.name, member.offset_data + member.size - left)
        return digest.hexdigest()

    def _check_zeros(self, start: int, end: int, part: str) -> None:
        self._file.seek(start)
        while start < end:
            chunk = self._file.read(min(end - start, _CHUNK))
            if not chunk or chunk.strip(b"\0"):
                raise self._damaged(part, start + len(chunk) - len(chunk.lstrip(b"\0")))
            start += len(chunk)

    def _opened(self, member: tarfile.TarInfo) -> Readable:
        return _Span(self._file, member.offset_data, member.size)

    def _damaged_header(self, start: int, last: str) -> UsageError:
        """Of a header that cannot be read: the part that it names, as far as it still does, and the one before."""
        self._file.seek(start)
        name = self._file.read(_NAME_BYTES).partition(b"\0")[0].decode("utf-8", "backslashreplace")
        return self._damaged(
            text("backup.header", name=name, part=last) if last else text("backup.beginning"), start
        )

    def _damaged(self, part: str, start: int) -> UsageError:
        return UsageError("backup.damaged", path=str(self.path), part=part, start=start)


class _Digested:
    """A file that is digested while it is read."""

    def __init__(self, file: Readable) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(size)
        self.digest.update(chunk)
        return chunk


class _Span(io.RawIOBase):
    """A part of a file as a file of its own; others may read the same file in between."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        self._file, self._at, self._end = file, start, start + size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._at)
        chunk = self._file.read(min(len(buffer), self._end - self._at))
        buffer[: len(chunk)] = chunk
        self._at += len(chunk)
        return len(chunk)


def _next_block(end: int) -> int:
    """Where the next header begins."""
    return -(-end // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    return member


def _is_manifest(member: tarfile.TarInfo) -> bool:
    before, after = _MANIFEST.split("{}")
    return member.name.startswith(before) and member.name.endswith(after)
