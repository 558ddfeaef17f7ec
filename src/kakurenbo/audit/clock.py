"""The time column of a table of several rows per person, and the periods that its rows fall into."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.audit.schema import DATE_PATTERNS, MISSING, dates_of
from kakurenbo.audit.values import SUPPRESSED

NEVER = np.iinfo(np.int64).min
"""The time of a row that tells none."""
_MONTH_PATTERNS = ("%Y-%m", "%Y/%m")  # of releases that were made coarser
_PERIOD_NUMBER = r"^[0-9]{1,6}$"
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Clock:
    """How times are written.

    Attributes
    ----------
    pattern : str
        Of the date, as for ``strftime``; what follows after a blank or a ``T`` is the time of day. Empty for numbers, each of
        which is a period of its own.
    """

    pattern: str

    @classmethod
    def of(cls, texts: pl.Series) -> Clock:
        """The clock that reads most of the texts."""
        dates = _dates(texts.unique())
        read = {
            pattern: len(dates) - _days(dates, pattern).null_count()
            for pattern in (*DATE_PATTERNS, *_MONTH_PATTERNS)
        }
        best = max(read, key=lambda pattern: read[pattern])
        numbers = int(dates.str.contains(_PERIOD_NUMBER).sum())
        return cls("" if numbers > read[best] else best)

    def times(self, texts: pl.Series) -> Ints:
        """Days since 1970 of each text, or the number of its period; ``NEVER`` where it is none, shape (n,)."""
        dates = _dates(texts)
        if self.pattern:
            found = _days(dates, self.pattern)
        else:
            found = dates.set(~dates.str.contains(_PERIOD_NUMBER), None).cast(
                pl.Int64, strict=False
            )
        return np.asarray(found.fill_null(int(NEVER)).to_numpy(), dtype=np.int64)

    def periods(self, times: Ints, length: str) -> Ints:
        """The period of each time, ``NEVER`` where there is none, shape (n,)."""
        told = times != NEVER
        days = np.where(told, times, 0)
        if not self.pattern:
            found = days
        elif length == "week":
            found = (days + 3) // 7  # 1970 began on a Thursday; weeks begin on Mondays
        else:
            months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
            found = months // {"month": 1, "quarter": 3, "year": 12}[length]
        return np.where(told, found, NEVER)


def is_left_out(texts: pl.Series) -> pl.Series:
    """Whether a text tells no time on purpose: missing or suppressed."""
    plain = texts.str.strip_chars()
    return plain.is_in(MISSING) | plain.str.contains(rf"(?i)^(?:{SUPPRESSED.pattern})$")


def _dates(texts: pl.Series) -> pl.Series:
    return texts.str.strip_chars().str.replace(r"^(\S*[\d日])[ T]\S.*$", "$1")


def _days(dates: pl.Series, pattern: str) -> pl.Series:
    whole = f"{pattern}{pattern[2]}%d" if pattern in _MONTH_PATTERNS else ""
    return dates_of(dates, pattern, whole).to_physical().cast(pl.Int64)
