"""An archive on disk, from a zip or a folder: its files, and what its JSON files say, in types."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from kakurenbo.contest.commitments import digest
from kakurenbo.contest.submissions import MAX_BYTES
from kakurenbo.core import read_file
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text
from kakurenbo.proofs import strict
from kakurenbo.proofs.differences import Difference

REJUDGINGS = "rejudgings.json"
CONTEST, LOG, STANDINGS, SUBMISSIONS, EARNED, README = (
    "contest.json",
    "log.json",
    "standings.json",
    "submissions.json",
    "earned.json",
    "README.txt",
)
_MOST_BYTES = 50_000_000_000
_ZIP = b"PK"
"""How every zip begins."""
T = TypeVar("T")


class LogRow(Struct, omit_defaults=True):
    """An entry; salt and content are told at the end, and left out before it."""

    number: int
    leaf: str
    salt: str | None = None
    entry: str | None = None


class SignedRow(Struct):
    size: int
    root: str
    at: str
    signature: str


class LogFile(Struct):
    contest: str
    public_key: str
    entries: list[LogRow]
    checkpoints: list[SignedRow]


class PhaseRow(Struct):
    kind: str
    state: str
    visibility: str
    opens_at: str
    closes_at: str
    tries_in_all: int | None
    tries_per_day: int | None
    tries_per_target: int | None
    reset_hour: int


class EntryRow(Struct):
    team: str
    disqualified: str
    excused: str


class RoundRow(Struct):
    name: str
    fingerprint: str
    prepared_at: str | None
    phases: list[PhaseRow]
    entries: list[EntryRow]

    def phase_state(self, kind: str) -> str:
        """Where a phase is; empty where the round has none of this kind."""
        return next((phase.state for phase in self.phases if phase.kind == kind), "")


class TeamRow(Struct):
    number: str
    name: str
    unranked: bool


class AnnouncementRow(Struct):
    at: str
    title: str
    text: str


class ContestFile(Struct):
    slug: str
    title: str
    rulebook: str
    options: dict[str, Any]
    zone: str
    places: int
    rehearsal: bool
    created_at: str
    ended_at: str | None
    rounds: list[RoundRow]
    teams: list[TeamRow]
    announcements: list[AnnouncementRow]


class FileRow(Struct):
    name: str
    target: str
    sha256: str


class JudgingRow(Struct):
    fingerprint: str
    verdict: str
    result: dict[str, Any]
    in_effect: bool
    made_at: str


class SubmissionRow(Struct):
    id: str
    folder: str
    state: str
    received_at: str
    chosen_at: str | None
    files: list[FileRow]
    judgings: list[JudgingRow]

    @property
    def judging(self) -> JudgingRow | None:
        """The judging that is in effect."""
        return next((one for one in self.judgings if one.in_effect), None)


class EarnedRow(Struct):
    target: str
    attacker: str
    file: str
    submission: str | None
    credit: dict[str, Any]


class RejudgingRow(Struct):
    id: int
    round: str
    submission: str
    reason: str
    at: str
    changes: dict[str, Any]


class StandingsFile(Struct):
    taken_at: str
    standings: dict[str, Any]
    results: dict[str, Any]


class Archive:
    """The folder of an archive; remembers which of its files somebody accounted for.

    Parameters
    ----------
    root : Path
        The folder in which ``contest.json`` and ``log.json`` lie.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._accounted: set[str] = {README}
        self.names, self.empty_folders = self._names()

    def _names(self) -> tuple[frozenset[str], frozenset[str]]:
        found, empty = set(), set()
        for folder, folders, files in os.walk(self.root):
            for name in (*folders, *files):
                place = Path(folder) / name
                if place.is_symlink() or not (place.is_file() or place.is_dir()):
                    raise Difference(
                        "verification.no_file", place.relative_to(self.root).as_posix()
                    )
            found |= {(Path(folder) / name).relative_to(self.root).as_posix() for name in files}
            if not folders and not files:
                empty.add(Path(folder).relative_to(self.root).as_posix())
        return frozenset(found), frozenset(empty)

    def read(self, name: str, kind: type[T]) -> T:
        """What a JSON file says, which is written as the judge writes it and has no key that it does not know."""
        if name not in self.names:
            raise Difference("verification.lacks_file", name)
        self.account(name)
        data = read_file(self.root / name)
        try:
            content = strict.parsed(data, name)
            strict.check_written(content, data, name)
            told = msgspec.convert(content, type=kind)
        except ValueError as error:
            raise UsageError(
                text("verification.unreadable_file", file=name, error=str(error))
            ) from None
        strict.check_keys(content, msgspec.to_builtins(told), name)
        return told

    def sha256(self, name: str) -> str:
        """The digest of a file, which is accounted for with that."""
        if name not in self.names:
            raise Difference("verification.lacks_file", name)
        self.account(name)
        return digest(
            read_file(self.root / name, MAX_BYTES)
        )  # of what teams handed in: whatever the judge took

    def account(self, *names: str) -> None:
        """Note that files were looked at."""
        self._accounted.update(names)

    def below(self, folder: str) -> dict[str, Path]:
        """The files below a folder by their names in it, as paths are sorted."""
        inside = sorted(PurePosixPath(name) for name in self.names if name.startswith(f"{folder}/"))
        return {path.relative_to(folder).as_posix(): self.root / path for path in inside}

    def check_all_accounted(self) -> None:
        """Raise :class:`Difference` for a file of which nothing speaks."""
        for name in sorted(self.names - self._accounted):
            raise Difference("verification.stray_file", name)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """The archive in a zip or a folder: itself, or the one folder in it."""
    if path.is_dir():
        yield Archive(_root(path, path))
        return
    with tempfile.TemporaryDirectory(prefix="kakurenbo-") as folder:
        _unpack(path, folder)
        root = _root(Path(folder), path)
        for beside in sorted(Path(folder).iterdir()) if root != Path(folder) else ():
            if beside != root:
                raise Difference("verification.stray_file", f"../{beside.name}")
        yield Archive(root)


def _unpack(path: Path, folder: str) -> None:
    """Everything in a zip; what is damaged is named where its name can be read."""
    name = ""
    with path.open("rb") as file:
        if file.read(len(_ZIP)) != _ZIP:
            raise UsageError(text("verification.no_zip", path=str(path)))
    try:
        with zipfile.ZipFile(path) as packed:
            if sum(member.file_size for member in packed.infolist()) > _MOST_BYTES:
                raise UsageError(text("verification.too_large", path=str(path)))
            check_members(packed.infolist())
            for member in packed.infolist():
                name = member.filename
                if member.header_offset < 0:  # no place that could be read
                    raise zipfile.BadZipFile("it begins before the file")
                packed.extract(member, folder)
    except (
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        EOFError,
        ValueError,
        struct.error,
    ) as error:
        told = f"{name}: {error}" if name and name not in str(error) else str(error)
        raise UsageError(text("verification.bad_zip", path=str(path), error=told)) from None


def _root(folder: Path, path: Path) -> Path:
    inner = [one for one in folder.iterdir() if one.is_dir()]
    places = [folder, *inner] if len(inner) == 1 else [folder]
    for place in places:
        if (place / CONTEST).is_file() and (place / LOG).is_file():
            return place
    raise UsageError(text("verification.no_archive", path=str(path)))


# -- members of a zip ----------------------------------------------------------------------------------------------------

_HANDED_IN = re.compile(r"(?:[^/]+/)?rounds/[^/]+/(?:submissions|guesses)/")
"""Where names are those that teams gave: two of them may differ by case alone."""


def check_members(members: Iterable[zipfile.ZipInfo]) -> None:
    """Refuse links, names that lead elsewhere, and names that stand for one file twice.

    Raises
    ------
    Difference
        Names the member.
    """
    seen: dict[str, str] = {}
    for member in members:
        name = member.orig_filename
        if not _is_plain(name) or stat.S_IFMT(member.external_attr >> 16) not in (
            0,
            stat.S_IFREG,
            stat.S_IFDIR,
        ):
            raise Difference("verification.no_file", name)
        key = name.rstrip("/")
        if not _HANDED_IN.match(name):
            key = unicodedata.normalize("NFC", key).casefold()
        if key in seen:
            raise Difference("verification.member_twice", name, "", seen[key])
        seen[key] = name


def _is_plain(name: str) -> bool:
    parts = name.removesuffix("/").split("/")
    return (
        not set(name) & {"\\", "\0"}
        and not re.match("[A-Za-z]:", name)
        and not {"", ".", ".."} & set(parts)
    )
