"""Pseudonyms that a tool may change unseen: the rules allow any string, so they are published, and everybody is told."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import polars as pl

from kakurenbo.core import Problem, Severity
from kakurenbo.core.messages import shorten


def is_easily_lost(name: str) -> bool:
    """Whether blanks at the ends, signs that nobody sees, or composed letters make a text that tools do not keep as it is.

    Examples
    --------
    >>> [is_easily_lost(name) for name in ("p1", "p 1", " p1", "p\\u200b1", "e\\u0301")]
    [False, False, True, True, True]
    """
    return (
        name != name.strip() or not name.isprintable() or not unicodedata.is_normalized("NFC", name)
    )


def as_seen(name: str) -> str:
    """What is left of a text when a tool strips it, drops what nobody sees, and composes its letters.

    Examples
    --------
    >>> as_seen(" p\\u200b1 "), len(as_seen("e\\u0301"))
    ('p1', 1)
    """
    return unicodedata.normalize(
        "NFC", "".join(char for char in name if char == " " or char.isprintable()).strip()
    )


def easily_lost(users: pl.Series, file: str, first_line: int) -> list[Problem]:
    """A notice of the first row with such a pseudonym, and of how many rows there are; nothing where there is none."""
    names = [name for name in users.unique().to_list() if is_easily_lost(name)]
    rows = users.is_in(names)
    if not names:
        return []
    record = rows.arg_max() or 0
    shown = (
        users[record].encode("unicode_escape").decode()
    )  # also what can be seen, but may be written in two ways
    count = {"count": int(rows.sum())}
    row, code = record + first_line, "darc2019.easily_lost"
    return [
        Problem(code, count, file, row, record, "id_user", shorten(shown), severity=Severity.NOTICE)
    ]


def notices_text(notices: Iterable[Problem]) -> str:
    """Notices for people who do not read with this software, in both languages, so that it is the same bytes anywhere."""
    told = list(notices)
    return "".join(
        f"{notice.in_language(language)}\n" for language in ("en", "ja") for notice in told
    )
