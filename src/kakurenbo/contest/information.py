"""How much an answer tells, in bits: for rulebooks that say how large their answers are."""

from __future__ import annotations

import math

DOUBLE_BITS = 53.0
"""What one figure can tell at most, where nothing else is known of it: the digits of a floating-point number."""


def log2_orders(count: int) -> float:
    """Bits of an order of so many things.

    Examples
    --------
    >>> round(log2_orders(4), 6) == round(math.log2(24), 6)
    True
    """
    return math.lgamma(count + 1) / math.log(2)


def log2_choices(of: int, count: int) -> float:
    """Bits of a choice of so many things of others.

    Examples
    --------
    >>> round(log2_choices(5, 2), 6) == round(math.log2(10), 6)
    True
    """
    return log2_orders(of) - log2_orders(count) - log2_orders(of - count)
