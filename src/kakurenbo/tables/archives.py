"""Zip archives of submissions: normalised where that is harmless, refused before anything is unpacked where it is not."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from pathlib import PurePosixPath

from kakurenbo.tables.problems import Problem, ProblemCollector, Problems, Severity, shorten
from kakurenbo.tables.sources import DEFAULT_LIMIT, Source

MAX_FILES = 20
MAX_UNPACKED = 100 * 1000 * 1000  # bytes
MAX_RATIO = 200  # unpacked to packed size
_MAX_ENTRIES = 200  # with folders and what operating systems leave behind
_ARCHIVES = (".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".7z", ".rar", ".lzh", ".zst", ".jar")
_MAGIC = b"PK\x03\x04"
_LEFT_BEHIND = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def is_archive(source: Source) -> bool:
    """Whether a file calls itself a zip archive."""
    return source.name.lower().endswith(".zip")


def open_archive(source: Source, notices: list[Problem] | None = None) -> list[Source] | Problems:
    """The files of a flat zip archive, or of one whose only entry is a folder of them.

    Parameters
    ----------
    source : Source
    notices : list of Problem, optional
        Gets a notice for everything that was put right.

    Returns
    -------
    list of Source or Problems
        Files by name without folder, or why nothing was unpacked.
    """
    data = source.read(DEFAULT_LIMIT)
    if isinstance(data, Problems):
        return data
    found = ProblemCollector(source.name)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = _files(archive, found, notices)
            return found.problems() if found else _unpacked(archive, files, found)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, zlib.error, OSError, ValueError):
        # The zip reader says ValueError, EOFError and more for damaged directories; none of it is for players.
        found.add("the file is not a zip archive that can be read", "pack the files again", severity=Severity.MALFORMED)
        return found.problems()


def _files(archive: zipfile.ZipFile, found: ProblemCollector, notices: list[Problem] | None) -> dict[str, zipfile.ZipInfo]:
    """The entries to unpack by file name; problems of any entry go to ``found``."""
    entries = archive.infolist()
    if len(entries) > _MAX_ENTRIES:
        _refuse(found, f"the archive has {len(entries):,} entries", f"pack the files of the release only, at most {MAX_FILES}")
        return {}
    left_behind = [entry for entry in entries if _is_left_behind(entry)]
    kept = [entry for entry in entries if not entry.is_dir() and entry not in left_behind]
    if len(kept) > MAX_FILES:
        _refuse(found, f"the archive has {len(kept)} files", f"at most {MAX_FILES} are allowed")
    for entry in entries:
        _check_entry(entry, found)
    _check_sizes(kept, found)
    if found:
        return {}
    folders = {PurePosixPath(entry.filename).parent.as_posix() for entry in kept}
    if len(folders) > 1 or any("/" in folder for folder in folders):
        _refuse(found, "the files lie in several folders", "pack them without folders", value=", ".join(sorted(folders)))
    elif folders and folders != {"."}:
        _notice(notices, found.file, f'the files lie in the folder "{shorten(folders.pop())}": taken out of it')
    if left_behind:
        _notice(notices, found.file, f"{len(left_behind)} entries of the operating system ({_shown(left_behind)}): left out")
    return _by_name(kept, found)


def _is_left_behind(entry: zipfile.ZipInfo) -> bool:
    parts = PurePosixPath(entry.filename).parts
    return any(part in _LEFT_BEHIND for part in parts) or (bool(parts) and parts[-1].startswith("._"))


def _check_entry(entry: zipfile.ZipInfo, found: ProblemCollector) -> None:
    name = entry.filename
    raw = getattr(entry, "orig_filename", name)
    path = PurePosixPath(name.replace("\\", "/"))
    mode = entry.external_attr >> 16
    if "\0" in raw or not name:
        _refuse(found, "an entry has no proper name", "pack the files again", value=raw)
    elif path.is_absolute() or (len(name) > 1 and name[1] == ":"):
        _refuse(found, "an entry has an absolute path", "pack the files without folders", value=name)
    elif ".." in path.parts:
        _refuse(found, 'an entry leads out of its folder ("..")', "pack the files without folders", value=name)
    elif "\\" in name:
        _refuse(found, "an entry has a backslash in its name", "pack the files without folders", value=name)
    elif stat.S_ISLNK(mode):
        _refuse(found, "an entry is a link", "pack the file itself", value=name)
    elif stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        _refuse(found, "an entry is neither a file nor a folder", "pack files only", value=name)
    elif entry.flag_bits & 0x1:
        _refuse(found, "an entry is encrypted", "pack without a password", value=name)
    elif name.lower().endswith(_ARCHIVES):
        _refuse(found, "an entry is an archive itself", "pack the files, not archives of them", value=name)
    elif entry.compress_type not in _METHODS:
        _refuse(found, "an entry is packed in an unusual way", "pack with the usual method (deflate)", value=name)


def _check_sizes(entries: list[zipfile.ZipInfo], found: ProblemCollector) -> None:
    unpacked, packed = sum(entry.file_size for entry in entries), sum(entry.compress_size for entry in entries)
    if unpacked > MAX_UNPACKED:
        _refuse(found, f"the archive unpacks to {unpacked:,} bytes", f"at most {MAX_UNPACKED:,} are allowed")
    if unpacked > MAX_RATIO * max(packed, 1) or any(e.file_size > MAX_RATIO * max(e.compress_size, 1) for e in entries):
        _refuse(found, f"the archive unpacks to more than {MAX_RATIO} times its size", "pack the real files")


def _by_name(entries: list[zipfile.ZipInfo], found: ProblemCollector) -> dict[str, zipfile.ZipInfo]:
    files: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        name = PurePosixPath(entry.filename).name
        if name.casefold() in {known.casefold() for known in files}:
            _refuse(found, "a file name occurs twice", "pack every file once", value=name)
        files[name] = entry
    return files


def _unpacked(archive: zipfile.ZipFile, files: dict[str, zipfile.ZipInfo], found: ProblemCollector) -> list[Source] | Problems:
    sources = []
    for name, entry in sorted(files.items()):
        with archive.open(entry) as packed:
            content = packed.read(entry.file_size + 1)  # the directory's word on the size is not trusted
        if len(content) != entry.file_size:
            _refuse(found, "an entry is larger than the archive says", "pack the files again", value=name)
        elif content.startswith(_MAGIC):
            _refuse(found, "an entry is an archive itself", "pack the files, not archives of them", value=name)
        sources.append(Source(name, content))
    return found.problems() if found else sources


def _refuse(found: ProblemCollector, message: str, fix: str, value: str | None = None) -> None:
    shown = f'{message} ("{shorten(value)}")' if value is not None else message
    found.add(shown, fix, value=value, severity=Severity.MALFORMED)


def _notice(notices: list[Problem] | None, file: str, message: str) -> None:
    if notices is not None:
        notices.append(Problem(message, file=file, severity=Severity.NOTICE))


def _shown(entries: list[zipfile.ZipInfo]) -> str:
    return ", ".join(sorted({next(part for part in PurePosixPath(e.filename).parts) for e in entries})[:3])
