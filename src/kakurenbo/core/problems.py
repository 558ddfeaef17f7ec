"""`Problem`: where an input is wrong, and what to do about it, in a sentence a player can act on."""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, ParamSpec, TypeVar, cast, overload

from kakurenbo.core import messages
from kakurenbo.core.errors import KakurenboError
from kakurenbo.core.messages import Message, StoredText, Wording, shorten

T = TypeVar("T")
P = ParamSpec("P")

LISTED_PER_FILE = 20
LISTED_ROWS = 4  # of a problem that many rows have
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
        Names the sentence of the catalogue (:mod:`kakurenbo.core.messages`); the same in every language.
    params : mapping of str to object
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
    rows : tuple of int
        The first rows that have this problem, ``row`` included, where several have it.
    count : int
        Number of rows that have this problem.

    Examples
    --------
    >>> problem = Problem("line.empty", file="D.csv", row=3)
    >>> problem.in_language("en")
    'D.csv:3: the line is empty; remove it'
    >>> problem.in_language("ja")
    'D.csv:3: 空の行です。この行を削除してください'
    >>> str(replace(problem, rows=(3, 5, 6, 9), count=40))
    'D.csv:3: the line is empty; remove it (also rows 5, 6, 9 and 36 more)'
    """

    code: str
    params: Mapping[str, Any] = field(default_factory=dict, hash=False)
    file: str = ""
    row: int | None = None
    record: int | None = None
    column: str | None = None
    value: str | None = None
    severity: Severity = Severity.VIOLATION
    rows: tuple[int, ...] = ()
    count: int = 1

    @classmethod
    def of(
        cls,
        code: str,
        file: str,
        *,
        row: int | None = None,
        record: int | None = None,
        column: str | None = None,
        value: str | None = None,
        severity: Severity = Severity.VIOLATION,
        **parameters: Any,
    ) -> Problem:
        """Return a problem; ``parameters`` are those of its sentence, a value may be hostile."""
        shown = None if value is None else shorten(value)
        return cls(code, parameters, file, row, record, column, shown, severity)

    def wording(self, language: str) -> Wording:
        """Return message, with the further rows that have the problem, and fix in a language."""
        message, fix = messages.render(self.code, self._params, language)
        return Wording(self._with_rows(message).text(language), fix)

    @property
    def _params(self) -> dict[str, Any]:
        places = ("file", "row", "record", "column", "value")
        return {**{name: getattr(self, name) for name in places}, **self.params}

    def _with_rows(self, sentence: str | Message) -> Message:
        """Add the further rows that have the problem."""
        others, more = self.rows[1:], self.count - len(self.rows)
        if not others:
            return sentence if isinstance(sentence, Message) else Message(sentence)
        rows = list(map(str, others))
        code = "problem.also_more" if more else "problem.also"
        return Message(code, {"sentence": sentence, "rows": rows, "count": len(rows), "more": more})

    def as_message(self) -> Message:
        """Return place, message and fix as one message."""
        params = {name: value for name, value in self._params.items() if value is not None}
        message = self._with_rows(Message(self.code, params))
        if self.column is not None:
            is_number = self.column.isdecimal()  # as a place it would look like one more row
            place = Message("problem.column", {"column": self.column}) if is_number else self.column
            message = Message("error.at", {"place": place, "error": message})
        if not self.file and self.row is None:
            return message
        file = self.file or Message("problem.input")
        if self.row is None:
            return Message("error.at", {"place": file, "error": message})
        return Message("problem.at_row", {"file": file, "row": self.row, "error": message})

    @property
    def statement(self) -> Message:
        """Message and fix without file, row and column."""
        return self._with_rows(Message(self.code, self._params))

    def in_language(self, language: str) -> str:
        """Return place, message and fix in a language, as one line."""
        return self.as_message().text(language)

    def stored(self) -> StoredText:
        """Return place, message and fix in English, as files hold it."""
        return self.as_message().stored()

    def __str__(self) -> str:
        return self.as_message().text()

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
        return self.statement.text()

    def as_json(self, language: str | None = None) -> dict[str, object]:
        """The problem as the stable JSON object of the command line, in a language or that of the moment.

        What is stored is English, so that a document is the same whoever makes it.
        """
        message, fix = self.wording(language or messages.language())
        grouped = {"rows": list(self.rows), "count": self.count} if self.count > 1 else {}
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
            **grouped,
        }


class Problems(Sequence[Problem]):
    """Why an input was refused: the first problems of each file, and how many there are in all.

    Problems that differ in nothing but their row are one group and listed once.

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
    def of(cls, code: str, file: str, **details: Any) -> Problems:
        """Return a single problem; ``details`` are those of :meth:`Problem.of`."""
        return cls([Problem.of(code, file, **details)])

    @classmethod
    def join(cls, parts: Iterable[Problems]) -> Problems:
        """Return the problems of several inputs as one list."""
        parts = list(parts)
        return cls(
            (problem for part in parts for problem in part), sum(part.total for part in parts)
        )

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

    def check(self) -> None:
        """Raise InputError if there is any problem."""
        if self._listed:
            raise InputError(self)

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
        listed = (
            replace(problem, value=None, params={"value": problem.value, **problem.params})
            for problem in self._listed
        )
        return Problems(listed, self.total)


class InputError(KakurenboError):
    """An input was refused; ``problems`` lists everything that is wrong with it.

    Parameters
    ----------
    problems : iterable of Problem
        Not empty.

    Examples
    --------
    >>> try:
    ...     raise InputError.of("line.empty", "D.csv", row=3)
    ... except InputError as error:
    ...     print(error, error.problems.total)
    D.csv:3: the line is empty; remove it 1
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = problems if isinstance(problems, Problems) else Problems(problems)
        super().__init__(self.problems[0].as_message())

    def __reduce__(self) -> tuple[type[InputError], tuple[Problems]]:
        return type(self), (self.problems,)

    @classmethod
    def of(cls, code: str, file: str, **details: Any) -> InputError:
        """Return the error of a single problem; ``details`` are those of :meth:`Problems.of`."""
        return cls(Problems.of(code, file, **details))


_notices: ContextVar[list[Problem] | None] = ContextVar("notices", default=None)


def notice(code: str, *, file: str = "", **details: Any) -> None:
    """Record that something in an input was corrected, in the list that ``collect_notices`` opened."""
    add_notices([Problem.of(code, file, severity=Severity.NOTICE, **details)])


def add_notices(notices: Iterable[Problem]) -> None:
    """Record notices that were collected elsewhere."""
    collected = _notices.get()
    if collected is not None:
        collected.extend(notices)


@contextmanager
def collect_notices() -> Iterator[list[Problem]]:
    """Collect every notice that is recorded within; an outer collector does not get them.

    Examples
    --------
    >>> with collect_notices() as notices:
    ...     notice("text.bom", file="D.csv", row=1)
    >>> [problem.code for problem in notices]
    ['text.bom']
    """
    collected: list[Problem] = []
    token = _notices.set(collected)
    try:
        yield collected
    finally:
        _notices.reset(token)


class Gathering:
    """Problems of several inputs; see :func:`gather`."""

    def __init__(self) -> None:
        self.refused: list[Problems] = []

    def of(self, read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a reader and return its value; where it refuses its input, keep the problems and return None."""
        try:
            return read(*args, **kwargs)
        except InputError as error:
            self.refused.append(error.problems)
            return cast(T, None)

    def add(self, problems: Problems) -> None:
        """Keep more problems, if there are any."""
        if problems:
            self.refused.append(problems)


@contextmanager
def gather() -> Iterator[Gathering]:
    """Read several inputs and raise the problems of all of them at the end, as one InputError.

    Examples
    --------
    >>> from kakurenbo.core import Source
    >>> with gather() as problems:
    ...     sample = problems.of(Source("A.csv", b"...").read, limit=2)
    ...     test = problems.of(Source("B.csv", b"...").read, limit=2)
    Traceback (most recent call last):
    kakurenbo.core.problems.InputError: A.csv: the file is larger than 2 bytes; files of this kind are far smaller
    """
    gathering = Gathering()
    try:
        yield gathering
    except InputError as error:
        gathering.add(error.problems)
    if gathering.refused:
        raise InputError(Problems.join(gathering.refused))


@contextmanager
def report_in(file: str) -> Iterator[None]:
    """Name this file in every problem that is raised within: what is read may be a part or an unpacked copy of it."""
    try:
        yield
    except InputError as error:
        raise InputError(error.problems.in_file(file)) from error


class ProblemCollector:
    """Collects the problems of one file: lists the first twenty groups and counts all problems.

    Problems with the same code, parameters, column and value are one group. The value of a problem of a whole line (codes
    ``line.…``) is the line itself, which differs from row to row and does not separate groups.

    Examples
    --------
    >>> found = ProblemCollector("D.csv")
    >>> for row in (1, 2, 3):
    ...     found.add("line.empty", row=row)
    >>> [str(problem) for problem in found.problems()]
    ['D.csv:1: the line is empty; remove it (also rows 2, 3)']
    """

    def __init__(
        self,
        file: str,
        listed: int = LISTED_PER_FILE,
        *,
        severity: Severity = Severity.VIOLATION,
    ) -> None:
        self.file, self._limit, self._severity = file, listed, severity
        self._groups: dict[Hashable, Problem] = {}
        self.total = 0

    def __bool__(self) -> bool:
        """Whether the file must be refused."""
        return self.total > 0

    @property
    def room(self) -> int:
        """How many more groups would still be listed."""
        return max(0, self._limit - len(self._groups))

    def add(
        self,
        code: str,
        *,
        row: int | None = None,
        record: int | None = None,
        value: str | None = None,
        also: Sequence[int] = (),
        **details: Any,
    ) -> None:
        """Note one problem of a row and of the rows ``also``; ``details`` are those of :meth:`Problem.of`."""
        details.setdefault("severity", self._severity)
        self.total += 1 + len(also)
        text = None if code.startswith("line.") else value
        key = (code, text, repr(details), self.total if row is None else None)
        rows = () if row is None else (row, *map(int, also[:LISTED_ROWS]))
        problem = self._groups.get(key)
        if problem is not None:
            rows = (*problem.rows, *rows)[:LISTED_ROWS]
            count = problem.count + 1 + len(also)
            self._groups[key] = replace(problem, rows=rows, count=count)
        elif self.room:
            problem = Problem.of(code, self.file, row=row, record=record, value=value, **details)
            self._groups[key] = replace(problem, rows=rows[:LISTED_ROWS], count=1 + len(also))

    def count_unlisted(self, number: int) -> None:
        """Count problems that there was no room to list."""
        self.total += number

    def problems(self) -> Problems:
        """Everything found so far, by row."""
        groups = self._groups.values()
        listed = [group if group.count > 1 else replace(group, rows=()) for group in groups]
        ordered = sorted(listed, key=lambda problem: -1 if problem.row is None else problem.row)
        return Problems(ordered, self.total)

    def error(self) -> InputError:
        """Return everything found so far as an error."""
        return InputError(self.problems())

    def check(self) -> None:
        """Raise InputError if there is any problem."""
        if self.total:
            raise self.error()


def group_notices(notices: Iterable[Problem | str]) -> tuple[Problem | str, ...]:
    """Return the notices, those that say the same of several files as one.

    Examples
    --------
    >>> [notice] = group_notices(Problem("text.bom", file=name, row=1) for name in ("a.csv", "b.csv"))
    >>> str(notice)
    'a.csv, b.csv: the file begins with a byte-order mark: put right'
    """
    groups: dict[str, list[Problem | str]] = {}
    for notice in notices:
        groups.setdefault(_without_place(notice), []).append(notice)
    return tuple(map(_as_one, groups.values()))


def _without_place(notice: Problem | str) -> str:
    if isinstance(notice, str):
        return notice
    return repr(replace(notice, file="", row=None, record=None))


def _as_one(group: Sequence[Problem | str]) -> Problem | str:
    first = group[0]
    files = list(dict.fromkeys(notice.file for notice in group if isinstance(notice, Problem)))
    if isinstance(first, str) or len(files) == 1:
        return first
    listed = [*files[:_LISTED_FILES], *(["…"] if len(files) > _LISTED_FILES else [])]
    return replace(first, file=", ".join(listed), row=None, record=None)
