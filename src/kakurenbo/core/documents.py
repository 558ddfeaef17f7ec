"""JSON and TOML in: a document that is not plain and of reasonable size is refused with its line, and nothing raises.

Both have documents that are small on disk and huge in memory: what they would become is bounded before they are parsed.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from kakurenbo.core.errors import UsageError
from kakurenbo.core.files import DEFAULT_LIMIT, DOCUMENT_LIMIT, Source
from kakurenbo.core.messages import Message
from kakurenbo.core.problems import InputError, Severity
from kakurenbo.core.texts import plain_text

V = TypeVar("V")

MAX_DEPTH = 100
MAX_DIGITS = 300
MAX_VALUES = 3_000_000  # of a document; a value takes up to about a hundred bytes of memory
_MAX_KEY_PARTS = 8  # of a dotted key: a TOML parser notes every beginning of it
_TOML_LIMIT = 200_000  # bytes
_TOML_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)$")
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Unfit(ValueError):
    """A value that JSON or we do not take; ``code`` says why."""

    def __init__(self, code: str, value: str | None = None) -> None:
        super().__init__(code)
        self.code, self.value = code, value


def read_json(source: Source, limit: int = DEFAULT_LIMIT) -> object:
    """Read a JSON document of at most ``limit`` bytes after unpacking.

    It holds dictionaries, lists, texts, finite numbers, booleans and None. A key that is given twice is refused: readers
    differ in which of its values they take.
    """
    return _parsed(source, limit, _json_content)


def read_toml(source: Source, limit: int = _TOML_LIMIT) -> dict[str, Any]:
    """Read a TOML document; dates, infinity and what else TOML has beside JSON is left to the caller."""
    return _parsed(source, limit, _toml_content)


def _toml_place(error: str, document: bytes) -> tuple[int, int]:
    """The line and character that a parser names; of the end of a document its last line, and 0.

    Its own words are English, whoever reads them, and seldom say more than the place does.

    Examples
    --------
    >>> _toml_place("Invalid value (at line 2, column 5)", b""), _toml_place("Invalid value (at end of document)", b"a = [")
    ((2, 5), (1, 0))
    """
    named = _TOML_PLACE.search(error)
    return (int(named[1]), int(named[2])) if named else (document.rstrip().count(b"\n") + 1, 0)


def _parsed(source: Source, limit: int, parse: Callable[[bytes], V]) -> V:
    data = source.read(limit)
    if not data.strip():
        raise InputError.of("document.empty", source.name, severity=Severity.MALFORMED)
    text = plain_text(data, source.name)

    def refused(code: str, **parameters: Any) -> InputError:
        return InputError.of(code, source.name, severity=Severity.MALFORMED, **parameters)

    try:
        return parse(text)
    except json.JSONDecodeError as error:
        raise refused("json.syntax", row=error.lineno, position=error.colno) from error
    except tomllib.TOMLDecodeError as error:
        row, column = _toml_place(str(error), text)
        place = Message("toml.place", {"position": column}) if column else ""
        raise refused("toml.syntax", row=row, place=place) from error
    except _Unfit as error:
        raise refused(error.code, value=error.value, **_LIMITS) from error
    except RecursionError as error:
        raise refused("json.too_deep", **_LIMITS) from error
    except ValueError as error:  # Python's own limit to the digits of a whole number
        raise refused("json.number_too_long", **_LIMITS) from error


def _json_content(text: bytes) -> object:
    _check_count(text)
    content: object = json.loads(
        text.decode("utf-8"),
        parse_int=_whole,
        parse_float=_finite,
        parse_constant=_constant,
        object_pairs_hook=_object,
    )
    _check_texts(content)
    return content


def _toml_content(text: bytes) -> dict[str, Any]:
    _check_keys(text)
    content = tomllib.loads(text.decode("utf-8").replace("\r\n", "\n"), parse_float=_toml_float)
    _check_numbers(content)
    return content


def json_object(path: Path, writer: str, limit: int = DOCUMENT_LIMIT) -> dict[str, Any]:
    """The JSON object of a file that this software wrote.

    Parameters
    ----------
    path : Path
    writer : str
        The verb that writes such files, for the message.
    limit : int

    Raises
    ------
    UsageError
        Names the path and says why it is not one.
    """
    source = Source.of(path)
    try:
        content = read_json(Source(source.name.removesuffix(".gz"), source.origin), limit)
    except InputError as error:
        raise UsageError(error.problems[0].statement, at=path) from error
    if not isinstance(content, dict):
        raise UsageError("error.not_what_was_written", at=path, writer=writer)
    return content


_LIMITS: dict[str, Any] = {
    "digits": MAX_DIGITS,
    "depth": MAX_DEPTH,
    "values": MAX_VALUES,
    "parts": _MAX_KEY_PARTS,
}


def _check_count(text: bytes) -> None:
    if sum(map(text.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise _Unfit("json.too_many_values")


def _check_keys(text: bytes) -> None:
    """Refuse keys of many parts; looks at what stands before each ``=``, and at headings."""
    for line in text.split(b"\n"):
        keys = [re.split(rb"[,{]", part)[-1] for part in line.split(b"=")[:-1]]
        heading = [line] if line.lstrip().startswith(b"[") else []
        for key in (*keys, *heading):
            if key.count(b".") >= _MAX_KEY_PARTS:
                raise _Unfit("toml.long_key", key.decode(errors="replace").strip())


def _toml_float(digits: str) -> float:
    # Infinity is TOML; whether it fits is for the reader of the value to say.
    if len(digits) > MAX_DIGITS:
        raise _Unfit("json.number_too_long", digits)
    return float(digits)


def _check_numbers(content: Any) -> None:
    """Refuse whole numbers that nobody could print."""
    if isinstance(content, int) and content.bit_length() > MAX_DIGITS * 3:
        raise _Unfit("json.number_too_long")
    if isinstance(content, dict | list):
        for part in content.values() if isinstance(content, dict) else content:
            _check_numbers(part)


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _Unfit("json.number_too_long", digits)
    return int(digits)


def _finite(digits: str) -> float:
    if len(digits) > MAX_DIGITS:
        raise _Unfit("json.number_too_long", digits)
    number = float(digits)
    if not math.isfinite(number):
        raise _Unfit("json.not_finite", digits)
    return number


def _object(members: list[tuple[str, object]]) -> dict[str, object]:
    content = dict(members)
    if len(content) < len(members):
        counts = Counter(name for name, _ in members)
        name = next(name for name, count in counts.items() if count > 1)
        raise _Unfit("json.key_twice", name.encode("utf-8", "backslashreplace").decode())
    return content


def _constant(name: str) -> float:
    raise _Unfit("json.not_finite", name)


def _check_texts(content: Any) -> None:
    """Refuse texts that no file could hold, and nesting beyond any document of ours."""
    level = [content]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for part in level:
            if isinstance(part, str) and _SURROGATE.search(part):
                raise _Unfit("json.surrogate", part.encode("ascii", "backslashreplace").decode())
            if isinstance(part, dict):
                below.extend(part)
                below.extend(part.values())
            elif isinstance(part, list):
                below.extend(part)
        if not below:
            return
        level = below
    raise _Unfit("json.too_deep")
