"""JSON in: any document that is not plain JSON of reasonable size is refused with its line, and nothing raises."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from kakurenbo.tables.problems import ProblemCollector, Problems, Severity
from kakurenbo.tables.readings import Read
from kakurenbo.tables.sources import DEFAULT_LIMIT, Source
from kakurenbo.tables.texts import plain_text

MAX_DEPTH = 100
MAX_DIGITS = 300
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Unfit(ValueError):
    """A value that JSON or we do not take; ``code`` says why."""

    def __init__(self, code: str, value: str | None = None) -> None:
        super().__init__(code)
        self.code, self.value = code, value


def read_json(source: Source, limit: int = DEFAULT_LIMIT) -> Read[object] | Problems:
    """Read a JSON document.

    Parameters
    ----------
    source : Source
    limit : int
        Bytes, after unpacking.

    Returns
    -------
    Read of object, or Problems
        Dictionaries, lists, texts, finite numbers, booleans and None; a key that is given twice has its last value.
    """
    data = source.read(limit)
    if isinstance(data, Problems):
        return data
    found = ProblemCollector(source.name)
    text = plain_text(data, found)
    if text is not None:
        try:
            content = json.loads(text.decode("utf-8"), parse_int=_whole, parse_float=_finite, parse_constant=_constant)
            _check_texts(content)
            return Read(content, found.notices)
        except json.JSONDecodeError as error:
            found.add("json.syntax", row=error.lineno, severity=Severity.MALFORMED, position=error.colno)
        except _Unfit as error:
            found.add(error.code, value=error.value, severity=Severity.MALFORMED, digits=MAX_DIGITS, depth=MAX_DEPTH)
        except RecursionError:
            found.add("json.too_deep", severity=Severity.MALFORMED, depth=MAX_DEPTH)
    return found.problems()


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
