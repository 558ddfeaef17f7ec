"""How many tries a team has left, and exactly when it gets the next: plain arithmetic on times, no database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

RATE, RATE_SPAN = 60, timedelta(minutes=10)
"""So many submissions a team may begin in such a span, whatever becomes of them: what costs no try costs work."""


@dataclass(frozen=True)
class Quota:
    """What a phase allows; None for no limit.

    Attributes
    ----------
    in_all, per_day, per_target : int or None
    reset_hour : int
        O'clock in ``zone``, when a day begins.
    zone : str
    """

    in_all: int | None = None
    per_day: int | None = None
    per_target: int | None = None
    reset_hour: int = 0
    zone: str = "Asia/Tokyo"

    def day_of(self, moment: datetime) -> tuple[datetime, datetime]:
        """Beginning and end of the day that a moment belongs to, in UTC.

        Where clocks are turned, a day has 23 or 25 hours; where the hour of the reset is left out that day, it is the first
        moment after it.
        """
        zone = ZoneInfo(self.zone)
        local = moment.astimezone(zone)
        begins = self._reset(local, zone, 0)
        if begins > moment:
            return self._reset(local, zone, -1), begins
        return begins, self._reset(local, zone, 1)

    def left(self, tries: Sequence[datetime], now: datetime) -> Left:
        """What is left after tries at these moments, those that count alone."""
        begins, ends = self.day_of(now)
        today = sum(begins <= moment < ends for moment in tries)
        left_in_all = None if self.in_all is None else max(0, self.in_all - len(tries))
        left_today = None if self.per_day is None else max(0, self.per_day - today)
        limits = [limit for limit in (left_in_all, left_today) if limit is not None]
        again = ends if left_today == 0 and left_in_all != 0 else None
        resets = ends if self.per_day is not None else None
        return Left(min(limits) if limits else None, again, resets, used_up=left_in_all == 0)

    def exceeded_on(self, tries: Counter[str], named: Collection[str]) -> list[str]:
        """The targets on which one more submission is a try too many; an empty name stands for those that no file names.

        Parameters
        ----------
        tries : Counter
            How often each target was tried; under an empty name what named none, which is a try on each.
        named : collection of str
            The targets that the files of the submission name, one for each file; none is a try on each.
        """
        limit = self.per_target
        if limit is None:
            return []
        wanted = Counter(named) or Counter({*tries, ""})
        return [
            target
            for target, count in sorted(wanted.items())
            if tries[target] + (tries[""] if target else 0) + count > limit
        ]

    def _reset(self, local: datetime, zone: ZoneInfo, days: int) -> datetime:
        date = local.date() + timedelta(days=days)
        wall = datetime(date.year, date.month, date.day, self.reset_hour, tzinfo=zone)
        # A wall time that clocks skip is read, after a round trip, as the same moment on the other side of the gap.
        return wall.astimezone(UTC)


@dataclass(frozen=True)
class Left:
    """Tries that are left.

    Attributes
    ----------
    count : int or None
        None for no limit.
    again_at : datetime or None
        When there is one again, where there is none now and there will be.
    resets_at : datetime or None
        When the day ends, where days count.
    used_up : bool
        Whether no day brings another one: those of the whole phase are used.
    """

    count: int | None
    again_at: datetime | None
    resets_at: datetime | None
    used_up: bool = False

    @property
    def exhausted(self) -> bool:
        return self.count == 0

    def until(self, end: datetime) -> Left:
        """The same in a phase that ends: a day that begins afterwards brings nothing."""
        again, resets = (
            moment if moment is not None and moment < end else None
            for moment in (self.again_at, self.resets_at)
        )
        return Left(self.count, again, resets, self.used_up)

    def at_most(self, count: int) -> Left:
        """The same where another limit leaves so many; one that never comes back leaves nothing to wait for."""
        if count > 0 and self.count is not None and self.count <= count:
            return self
        return Left(max(0, count), None, self.resets_at, count <= 0 or self.used_up)
