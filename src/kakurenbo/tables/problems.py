"""`Problem`: where an input is wrong, and what to do about it, in a sentence a player can act on."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import overload

LISTED_PER_FILE = 20
_SHOWN_VALUE_LENGTH = 60


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
    message : str
        What is wrong.
    fix : str
        What to do about it; may be empty where the message says it.
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
    >>> print(Problem("91 is not an integer from 17 to 90", "keep ages up to 90", "D.csv", 3, 2, "age", "91"))
    D.csv:3: age: 91 is not an integer from 17 to 90; keep ages up to 90
    """

    message: str
    fix: str = ""
    file: str = ""
    row: int | None = None
    record: int | None = None
    column: str | None = None
    value: str | None = None
    severity: Severity = Severity.VIOLATION

    def __str__(self) -> str:
        where = self.file or "input"
        if self.row is not None:
            where += f":{self.row}"
        column = f"{self.column}: " if self.column is not None else ""
        return f"{where}: {column}{self.sentence}"

    @property
    def sentence(self) -> str:
        """Message and fix in one sentence."""
        return f"{self.message}; {self.fix}" if self.fix else self.message

    def as_json(self) -> dict[str, object]:
        """The problem as the stable JSON object of the command line."""
        return {
            "file": self.file,
            "row": self.row,
            "record": self.record,
            "column": self.column,
            "value": self.value,
            "message": self.message,
            "fix": self.fix,
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

    @classmethod
    def merge(cls, parts: Iterable[Problems]) -> Problems:
        """All problems of several files together."""
        parts = tuple(parts)
        return cls((problem for part in parts for problem in part), sum(part.total for part in parts))


class ProblemCollector:
    """Collects the problems of one file; lists the first twenty and counts them all."""

    def __init__(self, file: str, listed: int = LISTED_PER_FILE) -> None:
        self.file, self._limit = file, listed
        self._found: list[Problem] = []
        self.total = 0

    def __bool__(self) -> bool:
        return self.total > 0

    @property
    def room(self) -> int:
        """How many more problems would still be listed."""
        return max(0, self._limit - len(self._found))

    def add(
        self,
        message: str,
        fix: str = "",
        *,
        row: int | None = None,
        record: int | None = None,
        column: str | None = None,
        value: str | None = None,
        severity: Severity = Severity.VIOLATION,
    ) -> None:
        """Note one problem."""
        self.total += 1
        if self.room:
            shown = None if value is None else shorten(value)
            self._found.append(Problem(message, fix, self.file, row, record, column, shown, severity))

    def count_unlisted(self, number: int) -> None:
        """Count problems that there was no room to list."""
        self.total += number

    def problems(self) -> Problems:
        """Everything found so far, by row."""
        ordered = sorted(self._found, key=lambda problem: -1 if problem.row is None else problem.row)
        return Problems(ordered, self.total)


def shorten(value: str) -> str:
    r"""A hostile value made safe and short for messages.

    Examples
    --------
    >>> shorten("a\x1b[31m")
    'a\\x1b[31m'
    """
    safe = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in value[:_SHOWN_VALUE_LENGTH]
    )
    return safe if len(value) <= _SHOWN_VALUE_LENGTH else safe + "…"
