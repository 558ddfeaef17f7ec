"""Numbers that are written with a comma: told, and left as the words that they are.

``1,234`` is a little more than one in Germany and more than a thousand in Japan, so nobody but who wrote them can say; and a
column that is silently no number hides how near two people are.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from kakurenbo.core.messages.catalogue import derived_name
from kakurenbo.core.problems import Problem, notice

_WHOLE = r"[+-]?[0-9]+"
_DECIMAL_COMMA = rf"^\s*([+-]?[0-9]{{1,3}}(\.[0-9]{{3}})+|{_WHOLE}),[0-9]+\s*$"
_THOUSANDS = r"^\s*[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?\s*$"
_NUMBER = rf"^\s*{_WHOLE}(\.[0-9]+)?\s*$"
_CODES = ("audit.decimal_commas", "audit.thousands_commas")
_LOOKED_AT = (
    100  # cells that tell of most columns that they hold no such numbers, before all are looked at
)


def note_comma_numbers(cells: pl.DataFrame, file: str) -> None:
    """A notice for each column whose cells are all numbers, some of them with a comma; missing ones aside."""
    for name in cells.columns:
        told = cells[name].filter(cells[name].str.len_chars() > 0)
        if (
            len(told)
            and _are_comma_numbers(told.head(_LOOKED_AT)) is not None
            and (code := _are_comma_numbers(told))
        ):
            made = repr(derived_name(file, "points"))
            notice(code, file=file, column=name, path=repr(file), quoted=repr(name), made=made)


def notices_that_hold(own: Sequence[Problem], released: Sequence[Problem]) -> list[Problem]:
    """Notices of all tables, without those of commas in columns that are numbers in the original and the holdout.

    What the release alone writes with commas is read as the numbers that it stands for, or told as not understood.

    Parameters
    ----------
    own : sequence of Problem
        Of the original and the holdout, which say what a column is.
    released : sequence of Problem
    """
    words = {notice.column for notice in own if notice.code in _CODES}
    return [
        *own,
        *(notice for notice in released if notice.code not in _CODES or notice.column in words),
    ]


def _are_comma_numbers(texts: pl.Series) -> str | None:
    """The code of what is to be told of numbers; empty where none has a comma, and None where some text is no number."""
    decimal, thousands, plain = (
        texts.str.contains(pattern) for pattern in (_DECIMAL_COMMA, _THOUSANDS, _NUMBER)
    )
    if not (decimal | thousands | plain).all():
        return None
    if (decimal & ~thousands).any():
        return "audit.decimal_commas"
    return "audit.thousands_commas" if thousands.any() else ""
