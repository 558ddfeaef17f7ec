"""JSON as the judge writes it, and nothing beside: by whatever rules somebody reads a file, it says what was checked."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from kakurenbo.core import json_bytes
from kakurenbo.core.messages import shorten
from kakurenbo.proofs.differences import Difference

_SHOWN, _LONGEST = 40, 200
"""So many characters are shown from where a file is not as the judge writes it, and of a value."""


def parsed(data: bytes, file: str) -> Any:
    """What JSON says that has every key once, and no number that is none.

    Raises
    ------
    Difference
        For a key that an object has twice, NaN, and what is too large for a number.
    ValueError
        For what is no JSON.
    """
    number = partial(_number, file)
    try:
        return json.loads(
            data.decode(),
            object_pairs_hook=partial(_object, file),
            parse_constant=number,
            parse_float=number,
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def check_written(content: object, data: bytes, file: str) -> None:
    """Raise :class:`Difference` where ``data`` is not, byte by byte, what the judge's writer makes of its content."""
    try:
        made = json_bytes(content)
    except UnicodeEncodeError as error:  # half a character
        half = error.object[error.start : error.end]
        raise Difference("verification.no_json_value", file, ascii(half)) from None
    if made == data:
        return
    here, should_be = data.decode(), made.decode()
    shorter = min(len(here), len(should_be))
    place = next((at for at in range(shorter) if here[at] != should_be[at]), shorter)
    line, column = here.count("\n", 0, place) + 1, place - here.rfind("\n", 0, place)
    what = f"line {line}, character {column}"
    raise Difference(
        "verification.not_as_written", file, what, _from(here, place), _from(should_be, place)
    )


def check_keys(content: object, known: object, file: str, what: str = "") -> None:
    """Raise :class:`Difference` for a key that the judge does not write: ``known`` is the content without such keys."""
    if isinstance(content, Mapping) and isinstance(known, Mapping):
        for key, value in content.items():
            part = f"{what}.{key}" if what else str(key)
            if key not in known:
                raise Difference("verification.unknown_key", file, part, _told(value))
            check_keys(value, known[key], file, part)
    elif (
        isinstance(content, Sequence)
        and not isinstance(content, str)
        and isinstance(known, Sequence)
    ):
        for place, (value, other) in enumerate(zip(content, known, strict=True)):
            check_keys(value, other, file, f"{what}[{place}]")


def _object(file: str, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise Difference(
                "verification.key_twice", file, _told(key), _told(made[key]), _told(value)
            )
        made[key] = value
    return made


def _number(file: str, written: str) -> float:
    if not math.isfinite(number := float(written)):
        raise Difference("verification.no_json_value", file, written)
    return number


def _told(value: object) -> str:
    """A value, in characters that can be written."""
    return shorten(str(value).encode(errors="replace").decode(), _LONGEST)


def _from(text: str, place: int) -> str:
    """What stands at a place, with line ends and spaces that can be seen."""
    return repr(text[place : place + _SHOWN])
