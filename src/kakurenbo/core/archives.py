"""Zip archives of submissions: normalised where that is harmless, refused before anything is unpacked where it is not."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import PurePosixPath

from kakurenbo.core.files import DEFAULT_LIMIT, README_FILES, Source
from kakurenbo.core.messages import shorten
from kakurenbo.core.problems import ProblemCollector, Severity, notice
from kakurenbo.core.texts import ZIP

MAX_FILES = 20
MAX_UNPACKED = 100 * 1000 * 1000  # bytes
MAX_RATIO = 200  # unpacked to packed size
_MAX_ENTRIES = 200  # with folders and what operating systems leave behind
_ARCHIVES = (".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".7z", ".rar", ".lzh", ".zst", ".jar")
_LEFT_BEHIND = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", *README_FILES)
_UNIX = 3
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_READER_ERRORS = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    NotImplementedError,
    EOFError,
    zlib.error,
    OSError,
    ValueError,
)
"""What the zip reader raises for damaged directories; none of it is for players."""


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
    problems = ProblemCollector(source.name, severity=Severity.MALFORMED)
    sources = []
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name, entry in sorted(_files(archive.infolist(), problems).items()):
                with archive.open(entry) as packed:
                    content = packed.read(entry.file_size + 1)  # the directory may understate it
                if len(content) != entry.file_size:
                    problems.add("entry.larger_than_said", value=name)
                elif content.startswith(ZIP):
                    problems.add("entry.archive", value=name)
                sources.append(Source(name, content))
    except _READER_ERRORS as error:
        problems.add("archive.unreadable")
        raise problems.error() from error
    problems.check()
    return sources


def _files(
    entries: list[zipfile.ZipInfo], problems: ProblemCollector
) -> dict[str, zipfile.ZipInfo]:
    """Return the entries to unpack by file name; raise InputError with the problems of all entries."""
    if len(entries) > _MAX_ENTRIES:
        problems.add("archive.too_many_entries", count=len(entries), limit=MAX_FILES)
        raise problems.error()
    left_behind = [part for entry in entries if (part := _left_behind(entry))]
    kept = [entry for entry in entries if not entry.is_dir() and not _left_behind(entry)]
    if len(kept) > MAX_FILES:
        problems.add("archive.too_many_files", count=len(kept), limit=MAX_FILES)
    for entry in entries:
        if code := _entry_problem(entry):
            raw = getattr(entry, "orig_filename", entry.filename)
            value = raw if code == "entry.no_name" else entry.filename
            problems.add(code, value=value)
    unpacked = sum(entry.file_size for entry in kept)
    packed = sum(entry.compress_size for entry in kept)
    ratios = [(unpacked, packed), *((entry.file_size, entry.compress_size) for entry in kept)]
    if unpacked > MAX_UNPACKED:
        problems.add("archive.too_large", size=unpacked, limit=MAX_UNPACKED)
    if any(large > MAX_RATIO * max(small, 1) for large, small in ratios):
        problems.add("archive.bomb", ratio=MAX_RATIO)
    problems.check()
    folders = {PurePosixPath(entry.filename).parent.as_posix() for entry in kept}
    if len(folders) > 1 or any("/" in folder for folder in folders):
        problems.add("archive.several_folders", value=", ".join(sorted(folders)))
    elif folders and folders != {"."}:
        notice("archive.one_folder", file=problems.file, folder=shorten(folders.pop()))
    if left_behind:
        names = sorted(set(left_behind))[:3]
        notice("archive.left_behind", file=problems.file, count=len(left_behind), names=names)
    files: dict[str, zipfile.ZipInfo] = {}
    for entry in kept:
        name = PurePosixPath(entry.filename).name
        if name.casefold() in map(str.casefold, files):
            problems.add("entry.twice", value=name)
        files[name] = entry
    problems.check()
    return files


def _left_behind(entry: zipfile.ZipInfo) -> str:
    """Return the path as far as the part that an operating system left there; empty for any other."""
    parts = PurePosixPath(entry.filename).parts
    for number, part in enumerate(parts, start=1):
        if part in _LEFT_BEHIND or (number == len(parts) and part.startswith("._")):
            return PurePosixPath(*parts[:number]).as_posix()
    return ""


def _entry_problem(entry: zipfile.ZipInfo) -> str:
    """Return the code of what is wrong with an entry; empty for nothing."""
    name, kind = entry.filename, stat.S_IFMT(entry.external_attr >> 16)
    path = PurePosixPath(name.replace("\\", "/"))
    checks = {
        "no_name": "\0" in getattr(entry, "orig_filename", name) or not name,
        "absolute": path.is_absolute() or name[1:2] == ":",
        "leads_out": ".." in path.parts,
        "backslash": "\\" in name,
        "link": kind == stat.S_IFLNK,
        "special": kind not in (0, stat.S_IFREG, stat.S_IFDIR),
        "encrypted": bool(entry.flag_bits & 0x1),
        "archive": name.lower().endswith(_ARCHIVES),
        "unusual_method": entry.compress_type not in _METHODS,
    }
    return next((f"entry.{code}" for code, is_wrong in checks.items() if is_wrong), "")
