"""Phases of a contest: the files of a submission, submission limits, and which submissions are scored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import PurePath
from typing import Any, Generic, TypeVar

from kakurenbo.contest.measure import Credit
from kakurenbo.contest.results import PUBLISHED

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
        """Return the names of all such files of one entry."""
        return [self.name(**{**fields, "number": str(number)}) for number in self.numbers] or [
            self.name(**fields)
        ]

    def name(self, **fields: str) -> str:
        """Return the file name with these fields; an optional one that is not given stays away."""

        def put(place: re.Match[str]) -> str:
            dash, key = place.groups()
            return f"{dash}{fields[key]}" if fields.get(key) or not dash else ""

        return _PLACE.sub(put, self.template)

    def parse(self, name: str) -> dict[str, str] | None:
        """Return the fields of a file name, packed or not; None where it is not such a name."""
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
        """Return the parts of an entry, each with the ways to hand it in: first as the rules say, then what may come in its place."""
        return [
            [part, *(other for other in self.files if other.instead_of == part.template)]
            for part in self.files
            if not part.instead_of
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
        """Return whether a file calls itself a zip in a phase that has no zips."""
        return name.lower().endswith(".zip") and not any(
            pattern.template.endswith(".zip") for pattern in self.files
        )


@dataclass(frozen=True)
class Player:
    """Somebody who takes part: a name to show, and methods as texts that ``registry.build`` takes (empty for none)."""

    name: str
    anonymizer: str = ""
    attack: str = ""


ANONYMIZE, ATTACK = "anonymize", "attack"


def size_limit(patterns: Sequence[FilePattern], name: str) -> int:
    """Return how large a file of this name may be; one of an unknown name, of which the check will tell, as large as any."""
    fitting = [pattern.max_bytes for pattern in patterns if pattern.parse(name) is not None]
    return max(fitting or [pattern.max_bytes for pattern in patterns])


# -- which submissions are scored ------------------------------------------------------------

LATEST, LAST_FEW, BEST, CHOSEN = "latest", "last_few", "best", "chosen"
NOT_CHOSEN, BELOW = "not_chosen", "below_threshold"
ON_TARGETS, BEST_ON_TARGETS = "latest_on_targets", "best_on_targets"
"""Reasons why a submission is scored."""
T = TypeVar("T")


@dataclass(frozen=True)
class JudgedSubmission(Generic[T]):
    """A submission that was judged.

    Attributes
    ----------
    key : T
        What the caller knows it by.
    number : int
        In the order of submission.
    chosen_at : Any
        When the team chose it last; None where it never did.
    record : mapping
        Of a release, what became of it (``ReleaseRecord``).
    targets : tuple of str
        Of guesses, the releases they are about.
    """

    key: T
    number: int
    chosen_at: Any = None
    record: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[str, ...] = ()


def scored_submissions(
    phase: Phase, submissions: Sequence[JudgedSubmission[T]], utility_score: str = ""
) -> list[tuple[T, str]]:
    """Return the submissions of one team that are scored, in order, each with the reason.

    Of releases those that reach every threshold come first; where none does, the latest is scored as it is, and is out. Of
    guesses a submission is scored for the targets it is about, each for itself.

    Parameters
    ----------
    phase : Phase
    submissions : sequence of JudgedSubmission
        One team's, in order.
    utility_score : str
        The measure that makes one release better than another, where the best is scored.
    """
    chosen = [submission for submission in submissions if submission.chosen_at is not None]
    if phase.counts is Counting.CHOSEN and chosen:
        last = max(chosen, key=lambda submission: (submission.chosen_at, submission.number))
        return [(last.key, CHOSEN)]
    if phase.name != ANONYMIZE and phase.counts is Counting.BEST:
        return [(submission.key, BEST_ON_TARGETS) for submission in submissions]
    if phase.name != ANONYMIZE:
        latest = {
            target: submission.number for submission in submissions for target in submission.targets
        }
        numbers = set(latest.values())
        return [
            (submission.key, ON_TARGETS)
            for submission in submissions
            if submission.number in numbers
        ]
    valid = [
        submission for submission in submissions if submission.record.get("state") == PUBLISHED
    ]
    if not valid:
        return [(submission.key, BELOW) for submission in submissions[-1:]]
    if phase.counts is Counting.LAST_FEW:
        return [(submission.key, LAST_FEW) for submission in valid[-phase.keep :]]
    if phase.counts is Counting.BEST:
        best = max(valid, key=lambda item: (_utility(item.record, utility_score), item.number))
        return [(best.key, BEST)]
    return [(valid[-1].key, NOT_CHOSEN if phase.counts is Counting.CHOSEN else LATEST)]


def _utility(record: Mapping[str, Any], name: str) -> float:
    """Return the score of a release, turned so that more is better."""
    for measured in record.get("measurements", ()):
        if measured["name"] == name:
            value = float(measured["value"])
            return value if measured["higher_is_better"] else -value
    return float("-inf")


def scores_per_target(
    phase: Phase, scores: Iterable[tuple[str, Credit]]
) -> tuple[Mapping[str, Credit], Mapping[str, tuple[Credit, ...]]]:
    """Return an attacker's score at each target: the best or the latest; and all tries where there were more."""
    tries: dict[str, tuple[Credit, ...]] = {}
    for target, score in scores:
        tries[target] = (*tries.get(target, ()), score)
    is_best = phase.counts is Counting.BEST
    counting = {
        target: max(credits, key=lambda credit: credit.accuracy) if is_best else credits[-1]
        for target, credits in tries.items()
    }
    return counting, {target: credits for target, credits in tries.items() if len(credits) > 1}
