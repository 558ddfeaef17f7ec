"""Zip archives of submissions: normalised where that is harmless, refused before anything is unpacked where it is not."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from kakurenbo.core.messages import shorten
from kakurenbo.core.problems import ProblemCollector, Severity, notice
from kakurenbo.core.sources import DEFAULT_LIMIT, README_FILES, Source
from kakurenbo.core.texts import ZIP

MAX_FILES = 20
MAX_UNPACKED = 100 * 1000 * 1000  # bytes
MAX_RATIO = 200  # unpacked to packed size
_MAX_ENTRIES = 200  # with folders and what operating systems leave behind
_ARCHIVES = (".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".7z", ".rar", ".lzh", ".zst", ".jar")
_LEFT_BEHIND = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", *README_FILES)
_UNIX = 3
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def is_archive(source: Source) -> bool:
    """Whether a file calls itself a zip archive."""
    return source.name.lower().endswith(".zip")


def archive_bytes(files: Mapping[str, bytes]) -> bytes:
    """A zip archive of files, the same bytes every time and everywhere.

    Nothing is compressed: compressors differ between machines, and what compresses too well is refused as a bomb.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name)  # of 1980, the first year that zip knows
            entry.create_system, entry.external_attr = _UNIX, (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, data)
    return packed.getvalue()


def open_archive(source: Source) -> list[Source]:
    """Return the files of a flat zip archive, or of one whose only entry is a folder of them, by name without folder."""
    data = source.read(DEFAULT_LIMIT)
    found = ProblemCollector(source.name)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _unpacked(archive, _files(archive, found), found)
    except (
        zipfile.BadZipFile,
        zipfile.LargeZipFile,
        NotImplementedError,
        EOFError,
        zlib.error,
        OSError,
        ValueError,
    ) as error:
        # The zip reader says ValueError, EOFError and more for damaged directories; none of it is for players.
        _refuse(found, "archive.unreadable")
        raise found.error() from error


def _files(archive: zipfile.ZipFile, found: ProblemCollector) -> dict[str, zipfile.ZipInfo]:
    """The entries to unpack by file name; problems of any entry go to ``found``."""
    entries = archive.infolist()
    if len(entries) > _MAX_ENTRIES:
        _refuse(found, "archive.too_many_entries", count=len(entries), limit=MAX_FILES)
        raise found.error()
    left_behind = [entry for entry in entries if _is_left_behind(entry)]
    kept = [entry for entry in entries if not entry.is_dir() and entry not in left_behind]
    if len(kept) > MAX_FILES:
        _refuse(found, "archive.too_many_files", count=len(kept), limit=MAX_FILES)
    for entry in entries:
        _check_entry(entry, found)
    _check_sizes(kept, found)
    found.check()
    folders = {PurePosixPath(entry.filename).parent.as_posix() for entry in kept}
    if len(folders) > 1 or any("/" in folder for folder in folders):
        _refuse(found, "archive.several_folders", value=", ".join(sorted(folders)))
    elif folders and folders != {"."}:
        notice("archive.one_folder", file=found.file, folder=shorten(folders.pop()))
    if left_behind:
        names = _shown(left_behind)
        notice("archive.left_behind", file=found.file, count=len(left_behind), names=names)
    return _by_name(kept, found)


def _is_left_behind(entry: zipfile.ZipInfo) -> bool:
    parts = PurePosixPath(entry.filename).parts
    return any(part in _LEFT_BEHIND for part in parts) or (
        bool(parts) and parts[-1].startswith("._")
    )


def _check_entry(entry: zipfile.ZipInfo, found: ProblemCollector) -> None:
    name = entry.filename
    raw = getattr(entry, "orig_filename", name)
    path = PurePosixPath(name.replace("\\", "/"))
    mode = entry.external_attr >> 16
    if "\0" in raw or not name:
        _refuse(found, "entry.no_name", value=raw)
    elif path.is_absolute() or (len(name) > 1 and name[1] == ":"):
        _refuse(found, "entry.absolute", value=name)
    elif ".." in path.parts:
        _refuse(found, "entry.leads_out", value=name)
    elif "\\" in name:
        _refuse(found, "entry.backslash", value=name)
    elif stat.S_ISLNK(mode):
        _refuse(found, "entry.link", value=name)
    elif stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        _refuse(found, "entry.special", value=name)
    elif entry.flag_bits & 0x1:
        _refuse(found, "entry.encrypted", value=name)
    elif name.lower().endswith(_ARCHIVES):
        _refuse(found, "entry.archive", value=name)
    elif entry.compress_type not in _METHODS:
        _refuse(found, "entry.unusual_method", value=name)


def _check_sizes(entries: list[zipfile.ZipInfo], found: ProblemCollector) -> None:
    unpacked, packed = (
        sum(entry.file_size for entry in entries),
        sum(entry.compress_size for entry in entries),
    )
    if unpacked > MAX_UNPACKED:
        _refuse(found, "archive.too_large", size=unpacked, limit=MAX_UNPACKED)
    if unpacked > MAX_RATIO * max(packed, 1) or any(
        e.file_size > MAX_RATIO * max(e.compress_size, 1) for e in entries
    ):
        _refuse(found, "archive.bomb", ratio=MAX_RATIO)


def _by_name(entries: list[zipfile.ZipInfo], found: ProblemCollector) -> dict[str, zipfile.ZipInfo]:
    files: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        name = PurePosixPath(entry.filename).name
        if name.casefold() in {known.casefold() for known in files}:
            _refuse(found, "entry.twice", value=name)
        files[name] = entry
    found.check()
    return files


def _unpacked(
    archive: zipfile.ZipFile, files: dict[str, zipfile.ZipInfo], found: ProblemCollector
) -> list[Source]:
    sources = []
    for name, entry in sorted(files.items()):
        with archive.open(entry) as packed:
            content = packed.read(
                entry.file_size + 1
            )  # the directory's word on the size is not trusted
        if len(content) != entry.file_size:
            _refuse(found, "entry.larger_than_said", value=name)
        elif content.startswith(ZIP):
            _refuse(found, "entry.archive", value=name)
        sources.append(Source(name, content))
    found.check()
    return sources


def _refuse(
    found: ProblemCollector, code: str, *, value: str | None = None, **parameters: Any
) -> None:
    found.add(code, value=value, severity=Severity.MALFORMED, **parameters)


def _shown(entries: list[zipfile.ZipInfo]) -> list[str]:
    """The first few by name: a folder that was left behind stands for all that it holds."""
    return sorted({_left_behind_part(PurePosixPath(entry.filename)) for entry in entries})[:3]


def _left_behind_part(path: PurePosixPath) -> str:
    """A path as far as the part that the operating system put there."""
    known = next(
        (number for number, part in enumerate(path.parts) if part in _LEFT_BEHIND),
        len(path.parts) - 1,
    )
    return PurePosixPath(*path.parts[: known + 1]).as_posix()
