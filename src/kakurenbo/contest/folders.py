"""Folders of a contest: what ``contest.json`` says of each, and its files on disk or in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.contest.schedule import NO_SCHEDULE, Schedule
from kakurenbo.core import (
    README_FILES,
    STANDARD_INPUT,
    InputError,
    Severity,
    Source,
    json_bytes,
    read_file,
    read_folder,
    read_json,
    sources_of,
)
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message, messages_of, with_message

CONTEST_FILE = "contest.json"
_MAX_BYTES = 1_000_000
PART_FOLDER = re.compile(r"for_[0-9]+")

PUBLIC, TEAM, ATTACKERS, TARGET, ANSWER, SECRET = (
    "public",
    "team",
    "attackers",
    "target",
    "answer",
    "secret",
)
"""Kinds of folders: who may see one follows from its kind."""


@dataclass(frozen=True, kw_only=True)
class ContestFacts:
    """What is true of a whole round, and which of its folders this is.

    Attributes
    ----------
    rulebook, rulebook_version, version : str
        Name and version of the rulebook, and of this software.
    folder : str
        ``public``, ``team``, ``attackers``, ``target``, ``answer`` or ``secret``.
    round : str
    settings : mapping of option to value
        Every option of the rulebook with the value that was used, whether given or not.
    teams : tuple of str
        All who anonymize.
    unranked : tuple of str
        Teams that take part without rank or award, such as the organizers' own.
    judges : tuple of str
        Teams with members of the committee; they are ranked like every team. Left out where there is none.
    schedule : Schedule
        Dates of the contest: ``phases`` (round, phase, opens, closes) and ``events`` (name, date).
        Left out where there are none.
    data : mapping
        Where the data came from, and what is needed to make it again; ready for JSON.
    team, target : str
        Whose folder it is; what was published in it.
    commitments : str
        In a folder made at publication: SHA-256 of the commitments of the preparation before it.
    messages : mapping of str to Message
        The messages of the texts in ``data``, by these texts. Left out where there are none.
    """

    rulebook: str
    rulebook_version: str = "1"
    version: str = ""
    folder: str = PUBLIC
    round: str = ""
    settings: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
    teams: tuple[str, ...] = ()
    unranked: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    schedule: Schedule = NO_SCHEDULE
    data: Mapping[str, Any] = field(default_factory=dict)
    team: str = ""
    target: str = ""
    commitments: str = ""
    messages: Mapping[str, Message] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if messages := messages_of(self.data):
            object.__setattr__(self, "data", msgspec.to_builtins(self.data, enc_hook=str))
            object.__setattr__(self, "messages", messages)

    @property
    def source(self) -> str:
        """Where the data came from, in words."""
        return with_message(self.data.get("source", ""), self.messages)

    def of(self, folder: str, **changes: str) -> ContestFacts:
        """Return the same facts in another folder."""
        return replace(self, folder=folder, **changes)  # type: ignore[arg-type]

    def as_bytes(self) -> bytes:
        """Return the content of ``contest.json``; keys that came later are left out where they are empty."""
        later = {"judges": self.judges, "schedule": self.schedule, "messages": self.messages}
        content: dict[str, Any] = msgspec.to_builtins(self)
        return json_bytes({key: value for key, value in content.items() if later.get(key, True)})


def part_folder(attacker: str) -> str:
    """Return the folder, inside that of a target or an answer, of the part that is dealt to one attacker alone."""
    return f"for_{attacker}"


def read_facts(path: Path, rulebook: str = "") -> ContestFacts | None:
    """Read the ``contest.json`` of a folder, or beside a file; None where there is none.

    A part of a target or an answer has none of its own: that of the whole is its.

    Raises
    ------
    UsageError
        Where it is not a ``contest.json`` of ours, or of another contest than ``rulebook``.
    """
    return ContestFolder(path).facts(rulebook)


Files = Mapping[str, bytes]
"""Relative file name to content."""


class ContestFolder:
    """The files of one folder of a contest, on disk or in memory; or one file in such a folder.

    Parameters
    ----------
    place : Path or Files
        A folder, a single file, or the files of a folder by relative name.
    name : str
        What messages call it; by default the name of the path.

    Examples
    --------
    >>> folder = ContestFolder({"a.csv": b"1", "README.md": b"", "for_02/b.csv": b"2"}, "01")
    >>> [source.name for source in folder.sources], folder.parts["02"].required("b.csv").read()
    (['a.csv'], b'2')
    """

    def __init__(self, place: Path | Files, name: str = "", whole: ContestFolder | None = None):
        self._place = place
        self.name = name or (place.name if isinstance(place, Path) else "")
        self._whole = whole

    @classmethod
    def of(cls, place: Path | ContestFolder) -> ContestFolder:
        """Return the folder of a path; a folder stays as it is."""
        return place if isinstance(place, ContestFolder) else cls(place)

    @cached_property
    def file(self) -> Source | None:
        """The file that was given in place of a folder; None for a folder."""
        if not isinstance(self._place, Path) or self._place.is_dir():
            return None
        return Source.of(self._place)

    @property
    def files(self) -> tuple[Source, ...]:
        """The file that was given, or all sources of the folder."""
        return self.sources if self.file is None else (self.file,)

    @property
    def path(self) -> Path:
        """Where the folder or the file lies; only for folders on disk."""
        if not isinstance(self._place, Path):
            raise TypeError(f"{self.name} is a folder in memory")
        return self._place

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """Its files by name, without contest.json, READMEs and hidden files; of a file, those beside it."""
        if isinstance(self._place, Path):
            if self._place == STANDARD_INPUT:
                return (Source.of(self._place),)
            folder = self._place if self.file is None else self._place.parent
            return tuple(source for source in sources_of(folder) if source.name != CONTEST_FILE)
        names = sorted(name for name in self._place if "/" not in name and name[:1] != ".")
        aside = (*README_FILES, CONTEST_FILE)
        return tuple(Source(name, self._place[name]) for name in names if name not in aside)

    def loaded(self) -> ContestFolder:
        """Return the folder with its files in memory."""
        if self.file is not None:
            return self
        folder = ContestFolder(self._place, self.name, self._whole)
        folder.sources = tuple(source.loaded() for source in self.sources)
        return folder

    def source(self, name: str) -> Source | None:
        """Return the file of this name, packed or not; None where there is none."""
        by_name = {source.name: source for source in self.sources}
        return by_name.get(name) or by_name.get(f"{name}.gz")

    def required(self, name: str) -> Source:
        """Return the file that was given, or the one of this name; InputError where there is none."""
        source = self.file or self.source(name)
        if source is None:
            raise InputError.of("source.missing", name, severity=Severity.MALFORMED)
        return source

    def find(self, pattern: str | re.Pattern[str]) -> list[Source]:
        """Return the file that was given, or all files of the folder whose whole name matches."""
        if self.file is not None:
            return [self.file]
        return [source for source in self.sources if re.fullmatch(pattern, source.name)]

    def facts(self, rulebook: str = "") -> ContestFacts | None:
        """Return what ``contest.json`` says; None where there is none. See :func:`read_facts`."""
        facts = self._facts
        if facts is not None and rulebook and facts.rulebook != rulebook:
            home = self._home if isinstance(self._place, Path) else self.whole
            shown = {"theirs": facts.rulebook, "ours": rulebook}
            raise UsageError("error.other_contest", at=f"{home}/{CONTEST_FILE}", **shown)
        return facts

    @cached_property
    def _facts(self) -> ContestFacts | None:
        if isinstance(self._place, Path):
            place: Path | str = self._home / CONTEST_FILE
            if self._place == STANDARD_INPUT or not os.path.lexists(place):
                return None
            source = Source.of(self._home / CONTEST_FILE)
        elif CONTEST_FILE in self._place:
            place = f"{self.name}/{CONTEST_FILE}"
            source = Source(CONTEST_FILE, self._place[CONTEST_FILE])
        else:
            return self._whole._facts if self._whole is not None else None
        try:
            return msgspec.convert(read_json(source, _MAX_BYTES), ContestFacts)
        except InputError as error:
            raise UsageError(error.problems[0].statement, at=place) from error
        except msgspec.ValidationError as error:
            raise UsageError("error.no_contest_file", at=place, reason=error) from None

    @cached_property
    def _home(self) -> Path:
        """The folder on disk whose ``contest.json`` holds here: of a part, that of the whole."""
        assert isinstance(self._place, Path)
        folder = self._place if self.file is None else self._place.parent
        is_part = PART_FOLDER.fullmatch(folder.name) and not os.path.lexists(folder / CONTEST_FILE)
        return folder.parent if is_part else folder

    @cached_property
    def whole(self) -> ContestFolder:
        """The folder of the target or answer of which this is a part; else itself."""
        if self._whole is not None:
            return self._whole
        if not isinstance(self._place, Path) or self.file or self._home == self._place:
            return self
        return ContestFolder(self._home)

    @cached_property
    def parts(self) -> Mapping[str, ContestFolder]:
        """The parts that were dealt to single attackers, by attacker."""
        if isinstance(self._place, Path):
            if self.file is not None:
                return {}
            names = [path.name for path in self._place.iterdir() if path.is_dir()]
        else:
            names = [name.partition("/")[0] for name in self._place if "/" in name]
        dealt = sorted({name for name in names if PART_FOLDER.fullmatch(name)})
        return {name.removeprefix(part_folder("")): self.folder(name) for name in dealt}

    def target_folders(self, attacker: str | None) -> list[ContestFolder]:
        """Return the folders in which one attacker has this target, or this part of it.

        ``attacker`` is empty for what is everybody's, and None for the only part that lies there.
        """
        whole = self.whole
        if whole is not self:
            return [whole, self]
        parts = [part for name, part in self.parts.items() if attacker in (None, name)]
        return [self, *(parts if attacker is not None or len(parts) == 1 else [])]

    def attackers_beside(self) -> list[ContestFolder]:
        """Return what attackers get beside this target, where that lies in the same phase folder."""
        if not isinstance(self._place, Path):
            return []
        beside = self.whole.path.absolute().parent.parent / "attackers"
        return [ContestFolder(beside)] if beside.is_dir() else []

    def all_files(self) -> Files:
        """Return all files below the folder by relative name; contest.json and READMEs too."""
        return read_folder(self._place) if isinstance(self._place, Path) else self._place

    def has(self, name: str) -> bool:
        """Return whether there is a file of this name; contest.json and READMEs count too."""
        if isinstance(self._place, Path):
            return os.path.lexists(self._place / name)
        return name in self._place

    def read(self, name: str) -> bytes:
        """Return a file of the folder; UsageError where it cannot be read."""
        if isinstance(self._place, Path):
            return read_file(self._place / name)
        if name not in self._place:
            raise UsageError("source.missing", at=f"{self.name}/{name}")
        return self._place[name]

    def folder(self, name: str) -> ContestFolder:
        """Return a folder below this one."""
        if isinstance(self._place, Path):
            return ContestFolder(self._place / name)
        files = {
            file.removeprefix(f"{name}/"): data
            for file, data in self._place.items()
            if file.startswith(f"{name}/")
        }
        return ContestFolder(files, name.rpartition("/")[2], self)

    def check_exists(self) -> None:
        """Raise UsageError where there is no such file or folder."""
        if isinstance(self._place, Path) and not self._place.exists():
            raise UsageError("error.no_file", at=self._place)

    def __str__(self) -> str:
        return str(self._place) if isinstance(self._place, Path) else self.name
