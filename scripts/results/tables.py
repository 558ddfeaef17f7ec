"""What is played: the tables of ``tables.toml``, typed."""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.contest import AnyRulebook
from kakurenbo.contest.commitments import digest
from kakurenbo.methods import registry

HERE = Path(__file__).resolve().parent
DATA = (Path(os.environ.get("KAKURENBO_DATA", "")), HERE.parent.parent.parent / "shared" / "data")


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A method of a table, and in how many draws it plays where that is fewer than the table has.

    An attack that takes long may play ``against`` some anonymizers alone.
    """

    method: str
    draws: int | None = None
    against: tuple[str, ...] = ()


class _Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table as ``tables.toml`` has it."""

    rulebook: str
    page: str
    about: str
    draws: int
    anonymizers: list[str | Row]
    attacks: list[str | Row]
    told: list[str | Row] = []
    options: dict[str, Any] = {}
    also: list[dict[str, Any]] = []
    beside: list[str] = []
    file: str = ""
    file_option: str = ""


@dataclass(frozen=True)
class Column:
    """An attack, whether it is told which method made the release, and which anonymizers it plays against (empty for all)."""

    attack: str
    told: bool
    draws: int
    against: tuple[str, ...] = ()

    def plays(self, anonymizer: str, draw: int) -> bool:
        """Whether it attacks this release."""
        return draw < self.draws and (not self.against or anonymizer in self.against)

    @property
    def title(self) -> str:
        return f"{self.attack}, told" if self.told else self.attack


@dataclass(frozen=True)
class ResultsTable:
    """A contest with its options, and who plays.

    Attributes
    ----------
    name, page, about : str
        ``about`` is told above the table.
    rulebook : str
    variants : tuple of mapping
        Options of the rulebook under which the same releases and guesses are judged; attackers look at those of the first.
    draws : int
    anonymizers : mapping of method to number of draws
    columns : tuple of Column
    beside : tuple of str
        Figures of the release itself that are shown before the attacks.
    data : str
        Digest of the file that is played on; empty where the contest draws its own data.
    """

    name: str
    page: str
    about: str
    rulebook: str
    variants: tuple[Mapping[str, Any], ...]
    draws: int
    anonymizers: Mapping[str, int]
    columns: tuple[Column, ...]
    beside: tuple[str, ...] = ()
    data: str = ""

    def rules(self, variant: int = 0) -> AnyRulebook:
        """The rulebook under the options of a variant."""
        rules: AnyRulebook = registry.load("rulebooks", self.rulebook)(**self.variants[variant])
        return rules


def read_tables(path: Path = HERE / "tables.toml", *, out: Path) -> dict[str, ResultsTable | str]:
    """Every table by name; where its file is not on this machine, what is missing.

    Parameters
    ----------
    path : Path
    out : Path
        Where files are laid that a rulebook wants in a folder of their own.
    """
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        name: _table(name, msgspec.convert(one, _Written), out) for name, one in content.items()
    }


def _table(name: str, written: _Written, out: Path) -> ResultsTable | str:
    options, data = dict(written.options), ""
    if written.file:
        place = next(
            (folder / written.file for folder in DATA if (folder / written.file).is_file()), None
        )
        if place is None:
            return f"{name}: {written.file} is not here; put it into a folder and name that folder with KAKURENBO_DATA"
        data = digest(place.read_bytes())
        options[written.file_option] = str(
            place if written.file_option == "table" else _folder_of(place, out / "files" / name)
        )
    draws = {True: written.told, False: written.attacks}
    return ResultsTable(
        name=name,
        page=written.page,
        about=written.about,
        rulebook=written.rulebook,
        variants=(options, *({**options, **changed} for changed in written.also)),
        draws=written.draws,
        anonymizers={row.method: row.draws or written.draws for row in _rows(written.anonymizers)},
        columns=tuple(
            Column(row.method, told, row.draws or written.draws, row.against)
            for told in (False, True)
            for row in _rows(draws[told])
        ),
        beside=tuple(written.beside),
        data=data,
    )


def _rows(written: Sequence[str | Row]) -> list[Row]:
    return [Row(one) if isinstance(one, str) else one for one in written]


def _folder_of(file: Path, folder: Path) -> Path:
    """A folder with this B file alone, under a name that pwscup2024 knows."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, folder / f"Bi01{''.join(file.suffixes)}")
    return folder
