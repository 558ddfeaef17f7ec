"""The one way in which an entry of the log is written, and in which large content is named by its digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from kakurenbo.trust.tree import leaf_hash

SALT_BYTES = 32


def entry_bytes(number: int, kind: str, body: Mapping[str, Any], at: datetime) -> bytes:
    """An entry as it is hashed: JSON without spaces, keys sorted, times in UTC with microseconds."""
    _check_exact(body)
    whole = {
        "number": number,
        "kind": kind,
        "body": body,
        "at": at.astimezone(UTC).isoformat(timespec="microseconds"),
    }
    return _written(whole)


def leaf_of(salt: bytes, entry: bytes) -> bytes:
    """The leaf that hides an entry: SHA-256 of a zero byte, the salt and the entry."""
    return leaf_hash(salt + entry)


def content_digest(content: object) -> str:
    """SHA-256, in hexadecimal, of content that may have gone through a database: numbers without a fraction are whole.

    Examples
    --------
    >>> content_digest({"a": 1.0, "b": -0.0}) == content_digest({"b": 0, "a": 1})
    True
    """
    return hashlib.sha256(_written(_plain(content))).hexdigest()


def _written(content: object) -> bytes:
    return json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def _plain(content: object) -> object:
    if isinstance(content, Mapping):
        return {key: _plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(value) for value in content]
    return int(content) if isinstance(content, float) and content.is_integer() else content


def _check_exact(value: object) -> None:
    """Refuse what a database could give back in other words."""
    if isinstance(value, Mapping):
        for part in value.values():
            _check_exact(part)
    elif isinstance(value, list | tuple):
        for part in value:
            _check_exact(part)
    elif value is not None and not isinstance(value, str | int):
        raise TypeError(
            f"a log entry holds texts and whole numbers, not {type(value).__name__}: give it as text"
        )
