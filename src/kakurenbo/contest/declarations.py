"""What a rulebook declares of its contest: phases, the files of an entry, how many tries there are, and which of them count."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import PurePath

_FIELDS = {
    "round": r"[a-z][a-z0-9]*",
    "team": r"[0-9]{2,4}",
    "attacker": r"[0-9]{2,4}",
    "target": r"[0-9]{2,4}(?:-[1-9][0-9]{0,8})?",
    "number": r"[0-9]{1,2}",
    "try": r"[1-9][0-9]{0,8}",
}
_PLACE = re.compile(r"\{(-?)(\w+)\}")


@dataclass(frozen=True)
class FilePattern:
    """Names of the files of an entry, to make and to take apart.

    Attributes
    ----------
    template : str
        A name with fields: ``{round}``, ``{team}``, ``{attacker}``, ``{target}``, ``{number}``. ``{-try}`` is an optional
        number after a dash: the second table of a team, the third attack on a target.
    max_bytes : int
        Size limit of such a file after unpacking.
    optional : bool
        Whether an entry may lack it.
    numbers : range
        The numbers of the files of one entry, where ``{number}`` counts them; empty for one file alone.
    instead_of : str
        The template of the files of the same phase in whose place this one may come, such as a zip of them.
    attachment : bool
        Whether it comes with an entry and gets a verdict of its own: where it is refused, the entry counts without it.

    Examples
    --------
    >>> pattern = FilePattern("guess_{target}_{attacker}{-try}.csv")
    >>> pattern.name(target="01-2", attacker="07")
    'guess_01-2_07.csv'
    >>> pattern.parse("guess_01_07-3.csv.gz")
    {'target': '01', 'attacker': '07', 'try': '3'}
    >>> FilePattern("C{team}_{number}.csv", numbers=range(3)).names(team="07")
    ['C07_0.csv', 'C07_1.csv', 'C07_2.csv']
    """

    template: str
    max_bytes: int = 100_000_000
    optional: bool = False
    numbers: range = range(0)
    instead_of: str = ""
    attachment: bool = False

    def names(self, **fields: str) -> list[str]:
        """The names of all such files of one entry."""
        return [self.name(**{**fields, "number": str(number)}) for number in self.numbers] or [
            self.name(**fields)
        ]

    def name(self, **fields: str) -> str:
        """The file name with these fields; an optional one that is not given stays away."""

        def put(place: re.Match[str]) -> str:
            dash, key = place.groups()
            return f"{dash}{fields[key]}" if fields.get(key) or not dash else ""

        return _PLACE.sub(put, self.template)

    def parse(self, name: str) -> dict[str, str] | None:
        """The fields of a file name, packed or not; None where it is not such a name."""
        match = self._expression.fullmatch(name)
        return (
            None
            if match is None
            else {
                key.strip("_"): text for key, text in match.groupdict().items() if text is not None
            }
        )

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        parts, end = [], 0
        for place in _PLACE.finditer(self.template):
            dash, key = place.groups()
            parts.append(re.escape(self.template[end : place.start()]))
            group = f"(?P<{key}_>{_FIELDS[key]})"
            parts.append(f"(?:-{group})?" if dash else group)
            end = place.end()
        parts.append(re.escape(self.template[end:]))
        return re.compile("".join(parts) + r"(?:\.gz)?")

    def __str__(self) -> str:
        """The name as people are told it: ``guess_NN_NN.csv``."""
        shown = {"round": "ROUND", "number": "N"}
        return _PLACE.sub(
            lambda place: "" if place[1] else shown.get(place[2], "NN"), self.template
        )


class Counting(Enum):
    """Which of a team's valid entries count."""

    LATEST = "latest"
    """The latest valid one."""
    LAST_FEW = "last_few"
    """The last few valid ones (``Phase.keep``), each for itself."""
    BEST = "best"
    """The best one."""
    CHOSEN = "chosen"
    """The one that the team chose; the latest where it chose none."""


class Feedback(Enum):
    """What a player learns of an entry before the end."""

    CHECK = "check"
    """Whether it is well-formed, with every problem."""
    SCORES = "scores"
    """Also every figure that needs no secret."""


@dataclass(frozen=True)
class Tries:
    """How often a team may hand in; None for no limit.

    Attributes
    ----------
    in_all : int or None
    per_day : int or None
        Counted from ``reset_hour`` o'clock in ``zone``.
    per_target : int or None
        In a phase whose entries are about other teams' releases.
    reset_hour : int
    zone : str
        Name of a time zone.
    """

    in_all: int | None = None
    per_day: int | None = None
    per_target: int | None = None
    reset_hour: int = 0
    zone: str = "Asia/Tokyo"


@dataclass(frozen=True)
class Phase:
    """One phase of a round.

    Attributes
    ----------
    name : str
        ``anonymize`` or ``attack``.
    files : tuple of FilePattern
        The files of one entry.
    tries : Tries
    counts : Counting
    keep : int
        How many entries of a team count with ``Counting.LAST_FEW``.
    feedback : Feedback
    cost : float
        Rough seconds of work that judging one entry takes.
    """

    name: str
    files: tuple[FilePattern, ...]
    tries: Tries = field(default_factory=Tries)
    counts: Counting = Counting.LATEST
    keep: int = 1
    feedback: Feedback = Feedback.SCORES
    cost: float = 1.0

    def ways(self) -> list[list[FilePattern]]:
        """The parts of an entry, each with the ways to hand it in: first as the rules say, then what may come in its place."""
        own = [pattern for pattern in self.files if not pattern.instead_of]
        return [
            [one, *(other for other in self.files if other.instead_of == one.template)]
            for one in own
        ]

    @property
    def attachments(self) -> tuple[FilePattern, ...]:
        """Files that come with an entry, each with a verdict of its own."""
        return tuple(pattern for pattern in self.files if pattern.attachment)

    def is_attachment(self, name: str) -> bool:
        """Return whether a file is an attachment: by its ending, whatever the team called it."""
        endings = tuple(PurePath(pattern.template).suffix for pattern in self.attachments)
        return name.removesuffix(".gz").endswith(endings)

    def takes_no_zip(self, name: str) -> bool:
        """Whether a file calls itself a zip in a phase that has no zips."""
        return name.lower().endswith(".zip") and not any(
            pattern.template.endswith(".zip") for pattern in self.files
        )


ANONYMIZE, ATTACK = "anonymize", "attack"


def size_limit(patterns: Sequence[FilePattern], name: str) -> int:
    """How large a file of this name may be; one of an unknown name, of which the check will tell, as large as any."""
    fitting = [pattern.max_bytes for pattern in patterns if pattern.parse(name) is not None]
    return max(fitting or [pattern.max_bytes for pattern in patterns])
