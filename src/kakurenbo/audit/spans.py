"""What a released text of a date may stand for: a month, a quarter, a year, a decade, a band of them, all before or after."""

from __future__ import annotations

import datetime
import re
import unicodedata

import numpy as np
from numpy.typing import NDArray

Span = tuple[float, float]
"""The first and the last day, since 1970; infinite where there is none."""
_LONGEST = 64  # characters of a text that may be a time
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_YEAR = r"(?P<year>[12]\d{3})"
_NAME = r"(?P<name>[a-z]{3,9})\.?"
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"{_YEAR}年?",
        rf"{_YEAR}(?P<month>\d\d)",
        rf"{_YEAR}[-/.](?P<month>\d\d?)",
        rf"{_YEAR}年 ?(?P<month>\d\d?)月",
        rf"(?P<month>\d\d?)[-/. ]{_YEAR}",
        rf"{_NAME}[-/, ]*{_YEAR}",
        rf"{_YEAR}[-/, ]*{_NAME}",
        rf"{_YEAR}[-/.](?P<month>\d\d?)[-/.](?P<day>\d\d?)",
        rf"{_YEAR}年 ?(?P<month>\d\d?)月 ?(?P<day>\d\d?)日",
        rf"{_YEAR}[-/. ]?q(?P<quarter>[1-4])",
        rf"q(?P<quarter>[1-4])[-/. ]?{_YEAR}",
        rf"{_YEAR}年? ?第?(?P<quarter>[1-4])四半期",
        rf"{_YEAR}[-/. ]?h(?P<half>[12])",
        rf"h(?P<half>[12])[-/. ]?{_YEAR}",
        rf"{_YEAR}-?w(?P<week>\d\d?)",
        r"(?P<decade>[12]\d\d)0(?:'?s|年代)",
        r"(?P<decade>[12]\d\d)[*x](?:[-/.][*x]+)*",
    )
)
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
# The stars of 1980-02-** and **/02/1980.
_LEFT_OUT = re.compile(r"[-/.*x#?]*[*x#?]$|^[-/.*x#?]*[*x#?][-/.]|[-/.][*x#?]+(?=[-/.])")
_PADDED = re.compile(r"(?<![0-9])0([0-9])(?![0-9])")  # a day or a month with its leading zero
_SHORT_BAND = re.compile(r"(\d\d)(\d\d) ?[-/] ?(\d\d)")  # 1980-84
_BETWEEN = re.compile(r"[-/–—~〜,]|\.\.+| to | through | until |から")
_BRACKETS = re.compile(r"([\[(]?)(.*?)([\])]?)")
_BEFORE = re.compile(r"(<=|≤|≦|<|before |until |up to ) ?(.+)")
_AFTER = re.compile(r"(>=|≥|≧|>|after |since |from ) ?(.+)")
_ON = re.compile(r"(.+?) ?(?:\+|or later|and later|以降)")
_BACK = re.compile(r"(.+?) ?(?:or earlier|and earlier|以前)")


def covered_days(text: str, pattern: str, days: NDArray[np.float64]) -> NDArray[np.bool_] | None:
    """Which of the days a released text may stand for, shape (days,); None where it is no time.

    Parameters
    ----------
    text : str
    pattern : str
        Of dates in the original, as for ``strftime``; for the ends of bands.
    days : array, shape (days,)
        Since 1970.

    Examples
    --------
    >>> days = np.array([3694.0, 3695, 4017])  # 1980-02-12, 1980-02-13, 1980-12-31
    >>> covered_days("Feb 1980", "%Y-%m-%d", days).tolist(), covered_days("1980年", "%Y-%m-%d", days).tolist()
    ([True, True, False], [True, True, True])
    """
    if len(text) > _LONGEST:
        return None
    plain = " ".join(unicodedata.normalize("NFKC", text).lower().split())
    span = _span(plain, pattern) or _open_span(plain, pattern) or _band(plain, pattern)
    return None if span is None else np.asarray((days >= span[0]) & (days <= span[1]))


def _span(plain: str, pattern: str) -> Span | None:
    """The days of one day, month, quarter, half year, year or decade."""
    try:
        date = datetime.datetime.strptime(plain, pattern).date()
    except ValueError:
        date = None
    if date is not None and _unpadded(date.strftime(pattern)) == _unpadded(
        plain
    ):  # strptime would read 198011 as the first of January
        return date.toordinal() - _EPOCH, date.toordinal() - _EPOCH
    return _form(plain) or _form(_LEFT_OUT.sub("", plain))


def _unpadded(plain: str) -> str:
    return _PADDED.sub(r"\1", plain)


def _form(plain: str) -> Span | None:
    for form in _FORMS:
        if told := form.fullmatch(plain):
            try:
                return _days_of(
                    {name: part for name, part in told.groupdict().items() if part is not None}
                )
            except ValueError:
                continue  # a thirteenth month, or a word that is no month
    return None


def _days_of(told: dict[str, str]) -> Span:
    if "decade" in told:
        return _months(10 * int(told["decade"]), 1, 120)
    year = int(told["year"])
    if "week" in told:
        monday = datetime.date.fromisocalendar(year, int(told["week"]), 1).toordinal() - _EPOCH
        return monday, monday + 6
    if "day" in told:
        day = datetime.date(year, int(told["month"]), int(told["day"])).toordinal() - _EPOCH
        return day, day
    if "name" in told:
        places = [
            place for place, name in enumerate(_MONTHS, start=1) if name.startswith(told["name"])
        ]
        return _months(year, places[0] if places else 0, 1)
    if "month" in told:
        return _months(year, int(told["month"]), 1)
    for part, length in (("quarter", 3), ("half", 6)):
        if part in told:
            return _months(year, length * (int(told[part]) - 1) + 1, length)
    return _months(year, 1, 12)


def _months(year: int, month: int, count: int) -> Span:
    """The days of so many months from one on; ValueError where there is no such month."""
    first = datetime.date(year, month, 1).toordinal()
    after = 12 * year + month - 1 + count
    return first - _EPOCH, datetime.date(after // 12, after % 12 + 1, 1).toordinal() - 1 - _EPOCH


def _open_span(plain: str, pattern: str) -> Span | None:
    """All days before or after a time."""
    if (told := _BEFORE.fullmatch(plain)) and (span := _span(told.group(2), pattern)):
        return -np.inf, span[0] - 1 if told.group(1) in ("<", "before ") else span[1]
    if (told := _AFTER.fullmatch(plain)) and (span := _span(told.group(2), pattern)):
        return span[1] + 1 if told.group(1) in (">", "after ") else span[0], np.inf
    if (told := _ON.fullmatch(plain)) and (span := _span(told.group(1), pattern)):
        return span[0], np.inf
    if (told := _BACK.fullmatch(plain)) and (span := _span(told.group(1), pattern)):
        return -np.inf, span[1]
    return None


def _band(plain: str, pattern: str) -> Span | None:
    """The days from one time to another; a round bracket leaves its end out."""
    if (short := _SHORT_BAND.fullmatch(plain)) and short.group(3) > short.group(2):
        plain = f"{short.group(1)}{short.group(2)}-{short.group(1)}{short.group(3)}"
    brackets = _BRACKETS.fullmatch(plain)
    left, inner, right = brackets.groups() if brackets else ("", plain, "")
    inner = inner.removeprefix("from ")
    for between in _BETWEEN.finditer(inner):
        low = _span(inner[: between.start()].strip(), pattern)
        high = _span(inner[between.end() :].strip(), pattern)
        if low is None or high is None:
            continue
        first = low[1] + 1 if left == "(" else low[0]
        last = high[0] - 1 if right == ")" else high[1]
        if first <= last:
            return first, last
    return None
