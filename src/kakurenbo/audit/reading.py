"""How the released texts of a column of numbers or dates are read: as a value, as the beginning of some, or as a set."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.audit.clock import NEVER, Clock, is_left_out
from kakurenbo.audit.schema import DATE_PATTERNS, ColumnSchema
from kakurenbo.audit.spans import Span, covered_days
from kakurenbo.audit.values import are_prefixes, covered_numbers, covered_texts

_WHOLE_DATE = r"^[0-9]+([-/.]?[0-9]+){2}([ T][0-9]{1,2}:[^ ]+)?$"  # and the time of day
_FEWEST_ROUNDED = 3  # different dates on one day of their months that are no chance
_MOST_ON_ONE_DAY = 0.5  # share of the original's dates on that day, above which it is how they are, and not rounded
Floats = NDArray[np.float64]


class Reader:
    """Reads the different released texts of a column.

    Parameters
    ----------
    schema : ColumnSchema
        Of a numeric column.
    shown : Series of String, shape (texts,)
    pooled : array, shape (n,)
        The numbers of original and holdout.

    Attributes
    ----------
    released : array, shape (texts,)
        The number that each text is; not a number where it is none, or the beginning of some.
    everything : array, shape (values,)
        All different numbers of the pool and the release, sorted.
    """

    def __init__(self, schema: ColumnSchema, shown: pl.Series, pooled: Floats) -> None:
        self._schema = schema
        self.released = schema.numbers(shown).to_numpy().copy()
        self._rounded: dict[
            str, Span
        ] = {}  # the days of each text, where the release has one day of each month
        self._digits = 0  # of every original number, where the release has their beginnings
        if schema.kind == "date":
            self._read_other_dates(shown)
            self._note_rounded_dates(shown, pooled)
        else:
            self._note_beginnings(shown, pooled)
        everything = np.unique(np.concatenate([pooled, self.released]))
        self.everything: Floats = everything[~np.isnan(everything)]

    def _read_other_dates(self, shown: pl.Series) -> None:
        """Dates that are whole, but written otherwise than in the original."""
        whole = shown.str.strip_chars().str.contains(_WHOLE_DATE).to_numpy()
        unread = np.flatnonzero(np.isnan(self.released) & whole)
        if not len(unread):
            return
        clock = Clock.of(shown.gather(unread))
        if clock.pattern in DATE_PATTERNS:
            times = clock.times(shown.gather(unread))
            self.released[unread] = np.where(times == NEVER, np.nan, times)

    def _note_rounded_dates(self, shown: pl.Series, pooled: Floats) -> None:
        """Whether all released dates are the same day of their months, and few original ones are: months, quarters or years."""
        told = np.flatnonzero(~np.isnan(self.released))
        if len(told) < _FEWEST_ROUNDED or np.isnan(pooled).all():
            return
        months, days = _months_and_days(self.released[told])
        _, own_days = _months_and_days(pooled[~np.isnan(pooled)])
        if (days != days[0]).any() or (own_days == days[0]).mean() > _MOST_ON_ONE_DAY:
            return
        length = next(
            length for length in (12, 6, 3, 1) if not ((months - months[0]) % length).any()
        )
        first = months // length * length
        spans = zip(
            _first_days(first).tolist(), (_first_days(first + length) - 1).tolist(), strict=True
        )
        self._rounded = dict(zip(shown.gather(told).to_list(), spans, strict=True))
        self.released[told] = np.nan

    def _note_beginnings(self, shown: pl.Series, pooled: Floats) -> None:
        """Whether all original numbers have as many digits and all released ones are beginnings of some: a cut postal code."""
        different = np.unique(pooled[~np.isnan(pooled)])
        plain = shown.str.strip_chars()
        cut = plain.filter(~is_left_out(plain) & ~plain.str.ends_with("*"))
        if not len(different) or different[0] < 0 or (different % 1).any() or not len(cut):
            return
        shortest, longest = (len(text) for text in _written([different[0], different[-1]]))
        if (
            shortest != longest
            or shortest < 2
            or not cut.str.contains(rf"^[0-9]{{1,{shortest - 1}}}$").all()
        ):
            return
        if are_prefixes(cut.to_list(), _written(different.tolist())):
            self._digits = shortest
            self.released[:] = np.nan

    def covered(self, text: str) -> NDArray[np.bool_] | None:
        """Which numbers of everything a text that is none of them may stand for, shape (values,); None if nobody can tell."""
        if text in self._rounded:
            first, last = self._rounded[text]
            return np.asarray((self.everything >= first) & (self.everything <= last))
        if self._schema.kind == "date":
            return covered_days(text, self._schema.pattern, self.everything)
        plain = text.strip()
        if self._digits and plain.isdecimal():
            return self._covered_digits(plain.ljust(self._digits, "*"))
        band = covered_numbers(text, self.everything)
        return self._covered_digits(text) if band is None else band

    def _covered_digits(self, text: str) -> NDArray[np.bool_] | None:
        """Which numbers a text such as ``12*`` may stand for by how they are written, shape (values,)."""
        order, written = self._sorted_texts
        found = covered_texts(text, written)
        if found is None:
            return None
        covered = np.zeros(len(self.everything), dtype=bool)
        covered[order[found]] = True
        return covered

    @cached_property
    def _sorted_texts(self) -> tuple[NDArray[np.int64], list[str]]:
        """Everything in the order of how it is written, and how it is."""
        written = _written(self.everything.tolist())
        order = sorted(range(len(written)), key=written.__getitem__)
        return np.array(order, dtype=np.int64), [written[place] for place in order]


def _months_and_days(times: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The month, since 1970, of each day since 1970, and which day of it that is, counted from 0; shapes (n,)."""
    dates = times.astype(np.int64).astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    return months.astype(np.int64), (dates - months.astype("datetime64[D]")).astype(np.int64)


def _first_days(months: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first day, since 1970, of each month since 1970, shape (n,)."""
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


def _written(numbers: Sequence[float]) -> list[str]:
    return [f"{number:.15g}" for number in numbers]
