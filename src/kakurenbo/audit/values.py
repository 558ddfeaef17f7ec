"""What a released value may stand for: itself, a band such as ``30-39``, a prefix such as ``123*``, a list, or anything."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SUPPRESSED = re.compile(r"\*+|-+|suppressed|removed|redacted|masked|any|all", re.IGNORECASE)
"""Texts that stand for any value; so does a missing value where the original had one."""
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_BAND = re.compile(rf"([\[(]?)\s*({_NUMBER})\s*(?:-|–|—|~|〜|,|to|\.\.+|…)\s*({_NUMBER})\s*([\])]?)")
_BELOW = re.compile(rf"(<=|≤|<|under |below |up to )\s*({_NUMBER})")
_ABOVE = re.compile(rf"(>=|≥|>|over |above |from )\s*({_NUMBER})")
_PLUS = re.compile(rf"({_NUMBER})\s*(?:\+|or more|and over)")
_LIST = re.compile(r"\s*(?:\||;|/| or )\s*")
Bools = NDArray[np.bool_]


def covered_numbers(text: str, values: NDArray[np.float64]) -> Bools | None:
    """Which of the numbers a released text may stand for, shape (values,); None where it is no band.

    Both ends of a band belong to it unless a round bracket says otherwise.

    Examples
    --------
    >>> ages = np.array([29.0, 30, 39, 40])
    >>> covered_numbers("30-39", ages).tolist(), covered_numbers("[30, 40)", ages).tolist()
    ([False, True, True, False], [False, True, True, False])
    >>> covered_numbers("40+", ages).tolist(), covered_numbers("<30", ages).tolist()
    ([False, False, False, True], [True, False, False, False])
    """
    plain = text.strip()
    if band := _BAND.fullmatch(plain):
        left, low, high, right = band.groups()
        above = values > float(low) if left == "(" else values >= float(low)
        below = values < float(high) if right == ")" else values <= float(high)
        return np.asarray(above & below)
    if below_one := _BELOW.fullmatch(plain):
        bound = float(below_one.group(2))
        return np.asarray(values < bound if below_one.group(1) in ("<", "under ", "below ") else values <= bound)
    if above_one := _ABOVE.fullmatch(plain):
        bound = float(above_one.group(2))
        return np.asarray(values > bound if above_one.group(1) in (">", "over ", "above ") else values >= bound)
    if plus := _PLUS.fullmatch(plain):
        return np.asarray(values >= float(plus.group(1)))
    return None


def covered_texts(text: str, levels: Sequence[str]) -> Bools | None:
    """Which of the sorted levels a released text that is none of them may stand for, shape (levels,); None if nobody can tell.

    Examples
    --------
    >>> covered_texts("12*", ["120", "121", "130"]).tolist()
    [True, True, False]
    >>> covered_texts("{a|b}", ["a", "b", "c"]).tolist()
    [True, True, False]
    """
    plain = text.strip()
    if plain.endswith("*") and (stem := plain.rstrip("*")):
        # One star may stand for one character or for any number of them; where the length fits, it tells more.
        started = _started(stem, levels)
        same_length = started.copy()
        same_length[started] = [len(levels[place]) == len(plain) for place in np.flatnonzero(started).tolist()]
        found = same_length if same_length.any() else started
        return found if found.any() else None
    parts = [part.strip() for part in _LIST.split(plain.strip("{}[]()")) if part.strip()]
    if len(parts) > 1:
        places = [_place(part, levels) for part in parts]
        if all(place >= 0 for place in places):
            found = np.zeros(len(levels), dtype=bool)
            found[places] = True
            return found
    started = _started(plain, levels)
    return started if plain and started.sum() > 1 else None


def _started(stem: str, levels: Sequence[str]) -> Bools:
    """Which of the sorted levels begin so: those from the stem on, up to what begins otherwise."""
    begin = bisect.bisect_left(levels, stem)
    end = bisect.bisect_right(levels, stem, key=lambda level: level[: len(stem)])
    found = np.zeros(len(levels), dtype=bool)
    found[begin:end] = True
    return found


def _place(text: str, levels: Sequence[str]) -> int:
    """Where a text stands among the sorted levels; -1 where it is none of them."""
    place = bisect.bisect_left(levels, text)
    return place if place < len(levels) and levels[place] == text else -1
