"""What a released value may stand for: itself, a band such as ``30-39``, a prefix such as ``123*``, a list, or anything."""

from __future__ import annotations

import bisect
import re
import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SUPPRESSED = re.compile(
    r"\*+|-+|suppressed|removed|redacted|masked|withheld|hidden|unknown|any|all|不明|非公開|秘匿",
    re.IGNORECASE,
)
"""Texts that stand for any value; so does a missing value where the original had one."""
_LONGEST = 64  # characters of a text that may be a number or a band
_DIGITS = r"[+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
_TIMES = {"": 1.0, "k": 1e3, "千": 1e3, "万": 1e4, "m": 1e6, "億": 1e8}
_NUMBER = rf"({_DIGITS}) ?(k|m|千|万|億)?"
_UNITS = re.compile(
    r"[$€£¥]|円|歳|才| ?(?:years?|yrs?)(?: old)?\b"
)  # say nothing of how much it is
_BETWEEN = r"(?:-|–|—|~|〜|to|through|and|\.\.+|…)"
_BAND = re.compile(
    rf"(?:from |between )?([\[(]?) ?{_NUMBER} ?{_BETWEEN} ?(<?) ?{_NUMBER} ?([\])]?)"
)
_INTERVAL = re.compile(rf"([\[(]) ?{_NUMBER} ?[,;] ?(<?) ?{_NUMBER} ?([\])])")
_BELOW = re.compile(rf"(<=|≤|≦|<|under |below |less than |up to |at most ) ?{_NUMBER}")
_ABOVE = re.compile(rf"(>=|≥|≧|>|over |above |more than |from |at least ) ?{_NUMBER}")
_PLUS = re.compile(
    rf"{_NUMBER} ?(?:\+|or (?:more|over|above|older)|and (?:more|over|above|older|up)|以上)"
)
_MINUS = re.compile(
    rf"{_NUMBER} ?(?:or (?:less|under|below|younger)|and (?:under|below|younger)|以下|(未満))"
)
_DECADE = re.compile(r"(\d*0)(?:'?s|年?代)")
_ONE = re.compile(_NUMBER)
_STRICT = ("<", "under ", "below ", "less than ", ">", "over ", "above ", "more than ")
_LIST = re.compile(r"\s*(?:\||;|/| or )\s*")
Bools = NDArray[np.bool_]


def covered_numbers(text: str, values: NDArray[np.float64]) -> Bools | None:
    """Which of the numbers a released text may stand for, shape (values,); None where it is no band.

    Both ends of a band belong to it unless a round bracket says otherwise. What ends before it begins is no band.

    Examples
    --------
    >>> ages = np.array([29.0, 30, 39, 40])
    >>> covered_numbers("30-39", ages).tolist(), covered_numbers("[30, 40)", ages).tolist()
    ([False, True, True, False], [False, True, True, False])
    >>> covered_numbers("40+", ages).tolist(), covered_numbers("<30", ages).tolist()
    ([False, False, False, True], [True, False, False, False])
    >>> covered_numbers("30s", ages).tolist(), covered_numbers("1980-02", ages)
    ([False, True, True, False], None)
    """
    if len(text) > _LONGEST:
        return None
    plain = _UNITS.sub("", " ".join(unicodedata.normalize("NFKC", text).lower().split())).strip()
    if band := _BAND.fullmatch(plain) or _INTERVAL.fullmatch(plain):
        return _covered_band(band, values)
    if below := _BELOW.fullmatch(plain):
        bound = _number(below.group(2), below.group(3))
        return np.asarray(values < bound if below.group(1) in _STRICT else values <= bound)
    if above := _ABOVE.fullmatch(plain):
        bound = _number(above.group(2), above.group(3))
        return np.asarray(values > bound if above.group(1) in _STRICT else values >= bound)
    if plus := _PLUS.fullmatch(plain):
        return np.asarray(values >= _number(plus.group(1), plus.group(2)))
    if minus := _MINUS.fullmatch(plain):
        bound = _number(minus.group(1), minus.group(2))
        return np.asarray(values < bound if minus.group(3) else values <= bound)
    if decade := _DECADE.fullmatch(plain):
        return np.asarray(
            (values >= float(decade.group(1))) & (values < float(decade.group(1)) + 10)
        )
    if one := _ONE.fullmatch(plain):
        return _covered_one(one.group(1), one.group(2), values)
    return None


def _covered_band(band: re.Match[str], values: NDArray[np.float64]) -> Bools | None:
    """The numbers of a band; None where its end comes before its beginning, so that it is none."""
    left, first, times, before, last, last_times, right = band.groups()
    low, high = _number(first, times or last_times), _number(last, last_times)
    if low > high and first.isdigit() and last.isdigit() and len(last) < len(first):
        high = float(first[: -len(last)] + last)  # 1980-84
    if low > high:
        return None
    above = values > low if left == "(" else values >= low
    return np.asarray(above & (values < high if right == ")" or before else values <= high))


def _covered_one(digits: str, times: str | None, values: NDArray[np.float64]) -> Bools:
    """The numbers that are written so; ``85k`` may be rounded or cut off."""
    number = _number(digits, times)
    if not times:
        return np.asarray(values == number)
    unit = _TIMES[times] / 10 ** len(digits.partition(".")[2])
    return np.asarray((values >= number - unit / 2) & (values < number + unit))


def _number(digits: str, times: str | None) -> float:
    return float(digits.replace(",", "")) * _TIMES[times or ""]


def covered_texts(text: str, levels: Sequence[str], *, cut: bool = False) -> Bools | None:
    """Which of the sorted levels a released text that is none of them may stand for, shape (levels,); None if nobody can tell.

    The beginning of several levels stands for them; that of a single one only where the whole column was ``cut``.

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
        same_length[started] = [
            len(levels[place]) == len(plain) for place in np.flatnonzero(started).tolist()
        ]
        found = same_length if same_length.any() else started
        return found if found.any() else None
    parts = parts_of_list(plain)
    if len(parts) > 1:
        places = [_place(part, levels) for part in parts]
        if all(place >= 0 for place in places):
            found = np.zeros(len(levels), dtype=bool)
            found[places] = True
            return found
    started = _started(plain, levels)
    return started if plain and started.sum() > (0 if cut else 1) else None


def parts_of_list(text: str) -> list[str]:
    """The values of a list such as ``{a|b}``; a text that is none is its own part.

    Examples
    --------
    >>> parts_of_list("{a | b}"), parts_of_list("a")
    (['a', 'b'], ['a'])
    """
    return [part.strip() for part in _LIST.split(text.strip("{}[]()")) if part.strip()]


def are_prefixes(texts: Sequence[str], levels: Sequence[str]) -> bool:
    """Whether texts that are none of the sorted levels are all the beginning of one, and not all empty.

    Examples
    --------
    >>> are_prefixes(["702", "703"], ["70214", "70215", "70301"]), are_prefixes(["702", "999"], ["70214", "70301"])
    (True, False)
    """
    plain = [text.strip() for text in texts]
    return bool(plain) and all(text and _begins(text, levels) for text in plain)


def _begins(stem: str, levels: Sequence[str]) -> bool:
    place = bisect.bisect_left(levels, stem)
    return place < len(levels) and levels[place].startswith(stem)


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
