"""Figures as people read them: counts as counts, shares in percent, few digits elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping


def shown_value(value: object, digits: int = 6) -> str:
    """A value in a cell: whole numbers whole, lists and mappings in words.

    Examples
    --------
    >>> shown_value(1152.0), shown_value(0.123456789), shown_value(1234567.5), shown_value(["age", "sex"]), shown_value(None)
    ('1,152', '0.123457', '1,234,568', 'age × sex', '–')
    """
    if isinstance(value, bool) or value is None:
        return "–" if value is None else str(value).lower()
    if isinstance(value, int | float):
        return number(value, digits)
    if isinstance(value, list | tuple):
        return " × ".join(shown_value(item, digits) for item in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {shown_value(item, digits)}" for key, item in value.items())
    return str(value)


def number(value: float, digits: int = 6) -> str:
    """A number with so many digits, and never fewer than its whole part has.

    Examples
    --------
    >>> number(99.0), number(1152, 3), number(1152.6, 3), number(0.00012345, 3), number(float("inf"))
    ('99', '1,152', '1,153', '0.000123', 'inf')
    """
    if not math.isfinite(value):
        return str(value)
    counts = float(value).is_integer() or abs(value) >= 10**digits
    return f"{value:,.0f}" if counts else f"{value:,.{digits}g}"


def percent(share: float, digits: int = 3) -> str:
    """A share in percent, without the sign.

    Examples
    --------
    >>> percent(0.12345), percent(1.0)
    ('12.3', '100')
    """
    return f"{100 * share:.{digits}g}"


def plus_minus(half: float | None, scale: float = 1) -> str:
    """Half an interval behind its mean; nothing where there is none."""
    return "" if half is None else f" ± {scale * half:.2g}"
