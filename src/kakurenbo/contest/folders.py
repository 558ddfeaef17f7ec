"""`ContestFolder`: one folder of a contest, on disk or in memory, as rulebooks read it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from kakurenbo.contest.facts import (
    CONTEST_FILE,
    PART_FOLDER,
    ContestFacts,
    parse_facts,
    part_folder,
    read_facts,
    whole_of,
)
from kakurenbo.core import (
    README_FILES,
    STANDARD_INPUT,
    InputError,
    Severity,
    Source,
    read_file,
    read_folder,
    sources_of,
)
from kakurenbo.core.errors import UsageError

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
            raise UsageError(
                "error.other_contest", at=self._facts_place, theirs=facts.rulebook, ours=rulebook
            )
        return facts

    @cached_property
    def _facts(self) -> ContestFacts | None:
        if isinstance(self._place, Path):
            return read_facts(self._place)
        if CONTEST_FILE in self._place:
            shown = f"{self.name}/{CONTEST_FILE}"
            return parse_facts(Source(CONTEST_FILE, self._place[CONTEST_FILE]), shown)
        return self._whole._facts if self._whole is not None else None

    @property
    def _facts_place(self) -> str:
        folder = self.whole
        if folder.file is not None and isinstance(self._place, Path):
            return str(self._place.parent / CONTEST_FILE)
        return f"{folder}/{CONTEST_FILE}"

    @cached_property
    def whole(self) -> ContestFolder:
        """The folder of the target or answer of which this is a part; else itself."""
        if self._whole is not None:
            return self._whole
        if isinstance(self._place, Path) and self.file is None:
            whole = whole_of(self._place)
            return self if whole == self._place else ContestFolder(whole)
        return self

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

    def all_files(self) -> Files:
        """Return all files below the folder by relative name; contest.json and READMEs too."""
        return read_folder(self._place) if isinstance(self._place, Path) else self._place

    def has(self, name: str) -> bool:
        """Whether there is a file of this name; contest.json and READMEs count too."""
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
