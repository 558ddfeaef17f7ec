"""`Problem`: where an input is wrong, and what to do about it, in a sentence a player can act on."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, overload

from kakurenbo import messages
from kakurenbo.messages import Sentence, shorten

LISTED_PER_FILE = 20
Place = TypeVar("Place")
_LISTED_FILES = 3  # of those that a notice is about


class Severity(enum.Enum):
    """How bad a problem is."""

    NOTICE = "notice"  # put right by us, and the receipt says so
    VIOLATION = "violation"  # well-formed, but against the rules
    MALFORMED = "malformed"  # not readable as the kind of file it should be


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with an input.

    Attributes
    ----------
    code : str
        Names the sentence of the catalogue (:mod:`kakurenbo.messages`); the same in every language.
    parameters : mapping of str to object
        What varies in the sentence. ``file``, ``row``, ``record``, ``column`` and ``value`` need not be repeated here.
    file : str
        Name of the file, never a path of the machine that checks it.
    row : int or None
        Line of the file, counted from 1 as an editor shows it.
    record : int or None
        Record of the table, counted from 0 (a header is not a record).
    column : str or None
    value : str or None
        The offending value as it stands in the file, escaped and shortened so that it is safe to print.
    severity : Severity

    Examples
    --------
    >>> problem = Problem("line.empty", file="D.csv", row=3)
    >>> problem.in_language("en")
    'D.csv:3: the line is empty; remove it'
    >>> problem.in_language("ja")
    'D.csv:3: 空の行です。この行を削除してください'
    """

    code: str
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    file: str = ""
    row: int | None = None
    record: int | None = None
    column: str | None = None
    value: str | None = None
    severity: Severity = Severity.VIOLATION

    def wording(self, language: str) -> Sentence:
        """Message and fix in a language."""
        place = {"file": self.file, "row": self.row, "record": self.record, "column": self.column, "value": self.value}
        return messages.render(self.code, {**place, **self.parameters}, language)

    def in_language(self, language: str) -> str:
        """Place, message and fix in a language, as one line."""
        column = f"{messages.escaped(self.column)}: " if self.column is not None else ""
        said = f"{column}{self._sentence(language)}"
        if not self.file and self.row is None:
            return said
        where = messages.escaped(self.file) or messages.render("problem.input", {}, language).message
        return f"{where}: {said}" if self.row is None else f"{where}:{self.row}: {said}"

    def _sentence(self, language: str) -> str:
        words = self.wording(language)
        return messages.render("problem.sentence", words._asdict(), language).message if words.fix else words.message

    def __str__(self) -> str:
        return self.in_language(messages.language())

    @property
    def message(self) -> str:
        """What is wrong."""
        return self.wording(messages.language()).message

    @property
    def fix(self) -> str:
        """What to do about it; may be empty where the message says it."""
        return self.wording(messages.language()).fix

    @property
    def sentence(self) -> str:
        """Message and fix in one sentence."""
        return self._sentence(messages.language())

    def as_json(self, language: str | None = None) -> dict[str, object]:
        """The problem as the stable JSON object of the command line, in a language or that of the moment.

        What is stored is English, so that a document is the same whoever makes it.
        """
        message, fix = self.wording(language or messages.language())
        return {
            "code": self.code,
            "file": self.file,
            "row": self.row,
            "record": self.record,
            "column": self.column,
            "value": self.value,
            "message": message,
            "fix": fix,
            "severity": self.severity.value,
        }


class Problems(Sequence[Problem]):
    """Why an input was refused: the first problems of each file, and how many there are in all.

    Parameters
    ----------
    listed : iterable of Problem
    total : int, optional
        Count of all problems, listed or not.
    """

    def __init__(self, listed: Iterable[Problem], total: int | None = None) -> None:
        self._listed = tuple(listed)
        self.total = len(self._listed) if total is None else total

    @classmethod
    def of(cls, *readings: object) -> Problems:
        """All problems of several readings; what was read is passed over, so this is empty (false) where all went well."""
        refused = [reading for reading in readings if isinstance(reading, Problems)]
        return cls((problem for part in refused for problem in part), sum(part.total for part in refused))

    @overload
    def __getitem__(self, index: int) -> Problem: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Problem]: ...
    def __getitem__(self, index: int | slice) -> Problem | Sequence[Problem]:
        return self._listed[index]

    def __len__(self) -> int:
        return len(self._listed)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._listed)

    def __repr__(self) -> str:
        return f"Problems({self.total}: {'; '.join(map(str, self._listed[:3]))})"

    @property
    def malformed(self) -> bool:
        """Whether the input could not even be read as what it should be (exit code 2 rather than 1)."""
        return any(problem.severity is Severity.MALFORMED for problem in self._listed)

    def in_file(self, name: str) -> Problems:
        """The same problems under another file name."""
        return Problems((replace(problem, file=name) for problem in self._listed), self.total)

    def without_values(self) -> Problems:
        """The same problems in the same words without the values that stand in the file: for logs that others read."""
        kept = (replace(one, value=None, parameters={"value": one.value, **one.parameters}) for one in self._listed)
        return Problems(kept, self.total)

    def map(self, function: Callable[[Any], object]) -> Problems:
        """These problems: there is no value to work on (see :meth:`Read.map`)."""
        return self


class ProblemCollector:
    """Collects the problems of one file: lists the first twenty, counts them all, and keeps notices apart."""

    def __init__(self, file: str, listed: int = LISTED_PER_FILE) -> None:
        self.file, self._limit = file, listed
        self._found: list[Problem] = []
        self._notices: list[Problem] = []
        self.total = 0

    def __bool__(self) -> bool:
        """Whether the file must be refused; notices alone are no reason."""
        return self.total > 0

    @property
    def room(self) -> int:
        """How many more problems would still be listed."""
        return max(0, self._limit - len(self._found))

    def add(
        self,
        code: str,
        *,
        row: int | None = None,
        record: int | None = None,
        column: str | None = None,
        value: str | None = None,
        severity: Severity = Severity.VIOLATION,
        **parameters: Any,
    ) -> None:
        """Note one problem, or something that was put right (a notice)."""
        shown = None if value is None else shorten(value)
        problem = Problem(code, parameters, self.file, row, record, column, shown, severity)
        if severity is Severity.NOTICE:
            self._notices.append(problem)
            return
        if self.room:
            self._found.append(problem)
        self.total += 1

    def to_list(self, places: Sequence[Place]) -> Sequence[Place]:
        """Those of the places of a problem, in order, that there is room to list; the others are counted."""
        shown = places[: self.room]
        self.total += len(places) - len(shown)
        return shown

    def count_unlisted(self, number: int) -> None:
        """Count problems that there was no room to list."""
        self.total += number

    def problems(self) -> Problems:
        """Everything found so far, by row."""
        ordered = sorted(self._found, key=lambda problem: -1 if problem.row is None else problem.row)
        return Problems(ordered, self.total)

    @property
    def notices(self) -> tuple[Problem, ...]:
        """What was put right so far."""
        return tuple(self._notices)


def summed_up(notices: Iterable[Problem | str], language: str | None = None) -> tuple[str, ...]:
    """Notices as lines, those that say the same of several files as one.

    Examples
    --------
    >>> summed_up([Problem("text.bom", file=name, row=1) for name in ("a.csv", "b.csv")], "en")
    ('a.csv, b.csv: the file begins with a byte-order mark: put right',)
    """
    spoken = language or messages.language()
    groups: dict[str, list[Problem | str]] = {}
    for notice in notices:
        same = notice if isinstance(notice, str) else replace(notice, file="", row=None, record=None).in_language(spoken)
        groups.setdefault(same, []).append(notice)
    return tuple(_one_line(group, spoken) for group in groups.values())


def _one_line(group: Sequence[Problem | str], language: str) -> str:
    first = group[0]
    if isinstance(first, str):
        return first
    files = list(dict.fromkeys(one.file for one in group if isinstance(one, Problem)))
    if len(files) == 1:
        return first.in_language(language)
    listed = [*files[:_LISTED_FILES], *(["…"] if len(files) > _LISTED_FILES else [])]
    return replace(first, file=", ".join(listed), row=None, record=None).in_language(language)


def refused(
    code: str,
    file: str,
    *,
    row: int | None = None,
    record: int | None = None,
    column: str | None = None,
    value: str | None = None,
    severity: Severity = Severity.VIOLATION,
    **parameters: Any,
) -> Problems:
    """A refusal for one reason."""
    found = ProblemCollector(file)
    found.add(code, row=row, record=record, column=column, value=value, severity=severity, **parameters)
    return found.problems()
