"""`ContestFacts`: what every folder of a contest says of itself in ``contest.json``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.contest.schedule import NO_SCHEDULE, Schedule
from kakurenbo.core import STANDARD_INPUT, InputError, Message, Source, json_bytes, read_json
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import messages_of, with_message

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
        """The same facts in another folder."""
        return replace(self, folder=folder, **changes)  # type: ignore[arg-type]

    def as_bytes(self) -> bytes:
        """The content of ``contest.json``; keys that came later are left out where they are empty."""
        later = {"judges": self.judges, "schedule": self.schedule, "messages": self.messages}
        content: dict[str, Any] = msgspec.to_builtins(self)
        return json_bytes({key: value for key, value in content.items() if later.get(key, True)})


def part_folder(attacker: str) -> str:
    """The folder, inside that of a target or an answer, of the part that is dealt to one attacker alone."""
    return f"for_{attacker}"


def whole_of(folder: Path) -> Path:
    """The folder of the target or answer of which this is a part that was dealt to one attacker; else the folder itself."""
    dealt = PART_FOLDER.fullmatch(folder.name) and not os.path.lexists(folder / CONTEST_FILE)
    return folder.parent if dealt else folder


def parts_in(folder: Path) -> list[Path]:
    """The parts that were dealt to single attackers, of those that lie in the folder of a target."""
    return sorted(
        path for path in folder.iterdir() if PART_FOLDER.fullmatch(path.name) and path.is_dir()
    )


def parse_facts(source: Source, place: str) -> ContestFacts:
    """Parse a ``contest.json``; ``place`` names it in the message of the UsageError."""
    try:
        return msgspec.convert(read_json(source, _MAX_BYTES), ContestFacts)
    except InputError as error:
        raise UsageError(error.problems[0].statement, at=place) from error
    except msgspec.ValidationError as error:
        raise UsageError("error.no_contest_file", at=place, reason=error) from None


def read_facts(path: Path, rulebook: str = "") -> ContestFacts | None:
    """What the ``contest.json`` of a folder, or beside a file, says; None where there is none.

    A part of a target or an answer has none of its own: that of the whole is its.

    Raises
    ------
    UsageError
        Where it is not a ``contest.json`` of ours, or of another contest than ``rulebook``.
    """
    place = whole_of(path if path.is_dir() else path.parent) / CONTEST_FILE
    if path == STANDARD_INPUT or not os.path.lexists(place):
        return None
    facts = parse_facts(Source.of(place), str(place))
    if rulebook and facts.rulebook != rulebook:
        raise UsageError("error.other_contest", at=place, theirs=facts.rulebook, ours=rulebook)
    return facts
