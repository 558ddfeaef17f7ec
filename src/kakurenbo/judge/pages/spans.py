"""Spans of time in words."""

from __future__ import annotations

from datetime import timedelta

from kakurenbo.core.messages import text

UNITS = ("days", "hours", "minutes", "seconds")


def in_words(span: timedelta) -> str:
    """The two largest units of a span, in the viewer's language.

    Examples
    --------
    >>> in_words(timedelta(days=2, hours=3, minutes=4)), in_words(timedelta(seconds=7))
    ('2 d 3 h', '7 s')
    """
    minutes, seconds = divmod(max(0, int(span.total_seconds())), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    counts = (days, hours, minutes, seconds)
    first = next((place for place, count in enumerate(counts) if count), len(counts) - 1)
    parts = list(zip(counts, UNITS, strict=True))[first : first + 2]
    return " ".join(text(f"page.span.{unit}", count=count) for count, unit in parts)
